// ShrinkToolTests.swift — `tidemark bisect` and `tidemark shrink` as processes: what they print,
// and how they end.

import Foundation
import TestSupport
import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkReplay
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite(.enabled(if: BuiltTool.isThere, BuiltTool.missing))
struct `bisect and shrink on the command line` {
    /// A store with six edits of two tasks.
    private func withStore(_ body: (HistoryTool, _ store: String) throws -> Void) throws {
        let tool = try HistoryTool()
        defer { tool.delete() }
        let model = #"{"name":"todo","collections":[{"name":"tasks"}]}"#
        try Data(model.utf8).write(to: tool.folder.appending(path: "model.json"))
        for arguments in [
            ["init", "a.store", "--model", "model.json"],
            ["put", "a.store", "tasks/tea", #"{"title":"tea","note":"green"}"#],
            ["put", "a.store", "tasks/bin", #"{"title":"bin"}"#],
            ["patch", "a.store", "tasks/tea", #"{"done":true}"#],
            ["patch", "a.store", "tasks/bin", #"{"done":true}"#],
            ["delete", "a.store", "tasks/tea"],
            ["patch", "a.store", "tasks/bin", #"{"done":false}"#],
        ] {
            let made = try tool.run(arguments)
            #expect(made.code == 0, "\(made.complaints)")
        }
        try body(tool, "a.store")
    }

    @Test func `bisect names the event, how it came to it, and what it changed`() throws {
        try withStore { tool, store in
            let found = try tool.run(
                ["bisect", store, "--predicate", "tasks/tea.done == true", "--to", "@6"])

            #expect(
                found.text == """
                    @5 makes it true: tasks/tea.done == true
                      commit    @5
                      before    it is false up to @4
                      event     @5 local.updated tasks/tea {"set":{"done":true},"unset":[]}
                      changes   ~ tasks/tea                created
                                    done  - → true
                                + @5     local.updated  tasks/tea              pending  (done)
                      look at   tidemark show a.store @5
                                tidemark why a.store tasks/tea

                    """)
            #expect(found.code == 0 && found.complaints == "")
        }
    }

    @Test func `bisect prints an object for programs`() throws {
        try withStore { tool, store in
            let found = try tool.run(
                ["bisect", store, "--predicate", "tasks/tea exists", "--from", "@4", "-o", "json"])

            let line =
                #"{"position":7,"becomes":false,"question":"tasks/tea exists","#
                + #""before":6,"commit":[7,7],"skipped":[],"#
            #expect(found.text.hasPrefix(line), "\(found.text)")
        }
    }

    @Test func `bisect names no event where it is so from the first one that is here`() throws {
        try withStore { tool, store in
            let made = try tool.run(["capsule", store, "-o", "end.capsule", "--last", "2"])
            #expect(made.code == 0, "\(made.complaints)")

            let found = try tool.run(["bisect", "end.capsule", "--check", "exit 1"])

            #expect(found.code == 1 && found.text == "")
            #expect(found.complaints.contains("it is so at @7, the first event that is here"))
            #expect(found.complaints.contains("only a longer capsule"))
        }
    }

    @Test func `bisect asks a check, by the exit codes of git`() throws {
        try withStore { tool, store in
            let check = #"! "$tidemark" list "$TIDEMARK_CAPSULE" tasks | grep -q '"done":true'"#
            let found = try tool.run(["bisect", store, "--check", check, "--to", "@6"])
            #expect(found.text.hasPrefix("@5 makes it true: the check fails\n"))

            let unsure = try tool.run(
                [
                    "bisect", store, "--check",
                    #"case $TIDEMARK_POSITION in @4|@5|@6) exit 125;; @7|@8) exit 1;; esac"#,
                ])
            #expect(unsure.text.hasPrefix("@7 makes it true"))
            #expect(
                unsure.complaints
                    == "tidemark: the check could not tell at @4, @5, @6: "
                    + "it may be any of them\n")

            let stopped = try tool.run(["bisect", store, "--check", "exit 130"])
            #expect(stopped.code == 2)
            #expect(stopped.complaints == "tidemark: the check ended with 130 at @8: stopped\n")
        }
    }

    @Test func `bisect takes no part of a commit for one that differs`() throws {
        let tool = try HistoryTool()
        defer { tool.delete() }
        let store = try HistoryStore()
        var maker = HistoryMaker(seed: 5)
        try maker.write(10, to: store)
        let key = EntityKey.task("x")
        let third = try store.commit(
            .of(.localCreated, key, #"{"id":"x","n":1}"#),
            .of(.localUpdated, key, #"{"set":{"n":2},"unset":[]}"#),
            .of(.localUpdated, key, #"{"set":{"n":3},"unset":[]}"#))
        try maker.write(10, to: store)
        let good = try store.capsule()
        try good.write(to: tool.folder.path + "/good.capsule")
        var bad = good
        let index = try #require(good.commits.firstIndex { $0.last == third })
        let view = try #require(
            good.commits[index].views.firstIndex { $0.view == View.entities.rawValue })
        bad.commits[index].views[view].digest[0] ^= 1
        try bad.write(to: tool.folder.path + "/bad.capsule")
        let replay = #""$tidemark" replay "$TIDEMARK_CAPSULE" --mode fold"#

        let found = try tool.run(["bisect", "bad.capsule", "--check", replay])
        let second = Position(third.rawValue - 1)
        let none = try tool.run(
            ["bisect", "good.capsule", "--check", replay, "--to", "\(second)"])

        #expect(found.text.hasPrefix("\(third) makes it true: the check fails\n"), "\(found)")
        #expect(none.code == 1 && none.text == "")
        #expect(none.complaints.contains("it is false at @0 as at \(second)"), "\(none)")
    }

    @Test func `numbers that nobody has use for are told`() throws {
        try withStore { tool, store in
            let last = String(UInt64.max)
            let behind = try tool.run(
                ["bisect", store, "--predicate", "tasks/tea exists", "--from", last])
            #expect(behind.code == 2)
            #expect(behind.complaints == "tidemark: there is nothing after @\(last)\n")

            for seconds in ["inf", "nan", "1e300", "0"] {
                let asked = try tool.run(
                    [
                        "shrink", store, "-o", "b", "--predicate", "tasks/tea exists",
                        "--seconds", seconds,
                    ])
                #expect(asked.code == 2 && asked.complaints.contains("--seconds takes more than 0"))
            }
        }
    }

    @Test func `what can't be found or understood is told`() throws {
        try withStore { tool, store in
            let none = try tool.run(["bisect", store, "--predicate", "tasks/none exists"])
            #expect(none.code == 1 && none.text == "")
            #expect(
                none.complaints == """
                    tidemark: it is false at @0 as at @8: tasks/none exists
                      Name a position at which it is not, with --from or --to.

                    """)
            let wrong = try tool.run(["shrink", store, "--predicate", "tasks/tea", "-o", "x"])
            #expect(wrong.code == 2)
            #expect(wrong.complaints.contains("--predicate, column 10: a comparison is missing"))
            let passing = try tool.run(
                ["shrink", store, "--predicate", "tasks/none exists", "-o", "x"])
            #expect(passing.code == 1)
            #expect(
                passing.complaints == """
                    tidemark: a.store does not show it at its end, @8: tasks/none exists
                      Where it does: tidemark bisect a.store --predicate …

                    """)
            #expect(try tool.run(["bisect", store]).code == 2)
            #expect(try tool.run(["shrink", store, "--diverges", "-o", "x"]).code == 1)
            #expect(!FileManager.default.fileExists(atPath: tool.folder.path + "/x"))
        }
    }

    @Test func `shrink writes a capsule and prints a test to paste`() throws {
        try withStore { tool, store in
            let bin = try tool.run(
                ["shrink", store, "--predicate", "tasks/bin.done == false", "-o", "min.capsule"])
            let lines = bin.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines[0].hasPrefix("min.capsule: 3 of 7 commits, 4 of 8 events, "))
            #expect(lines[3] == #"  @4     local.created tasks/bin {}"#)
            #expect(
                lines[4] == #"  @8     local.updated tasks/bin {"set":{"done":false},"unset":[]}"#)
            #expect(
                lines[5...].joined(separator: "\n") == """

                    @Test func `min.capsule does not end as it did`() throws {
                        let replay = Replay(.fixture("min.capsule"))
                        #expect(try !replay.holds("tasks/bin.done == false"))
                    }

                    """)
            #expect(bin.complaints == "commits 7 → 3\nevents 8 → 4\nfields 2 → 1\n")
            let file = tool.folder.appending(path: "min.capsule").path
            #expect(try Replay(.file(file)).holds("tasks/bin.done == false"))
            let again = try tool.run(
                ["shrink", store, "--predicate", "tasks/bin.done == false", "-o", "min.capsule"])
            #expect(again.code == 2)
            #expect(again.complaints.contains("--force"))
        }
    }

    @Test(arguments: [(#""green""#, "#"), (##""#cecece""##, "##"), (##""a\\#(b)""##, "##")])
    func `shrink prints a test that compiles, whatever the predicate quotes`(
        _ value: String, _ marks: String
    ) throws {
        try withStore { tool, store in
            let predicate = "tasks/bin exists and tasks/bin.title != \(value)"
            let shrunk = try tool.run(
                ["shrink", store, "--predicate", predicate, "-o", "min.capsule"])

            let literal = marks + "\"" + predicate + "\"" + marks
            #expect(shrunk.text.contains("replay.holds(\(literal)))\n"), "\(shrunk)")
        }
    }

    @Test func `shrink keeps the exit code of a check`() throws {
        try withStore { tool, store in
            let check =
                #"test $("$tidemark" list "$TIDEMARK_CAPSULE" | wc -l) = 1 && exit 3; exit 0"#
            let shrunk = try tool.run(
                ["shrink", store, "--check", check, "-o", "min.capsule", "--tries", "100"])
            #expect(shrunk.text.hasPrefix("min.capsule: 2 of 7 commits, 3 of 8 events"))
            // A replay of the capsule would pass: the check is the test.
            let file = "\nexport TIDEMARK_CAPSULE=min.capsule TIDEMARK_POSITION=@"
            #expect(shrunk.text.contains(file), "\(shrunk.text)")
            #expect(shrunk.text.hasSuffix("\n\(check)\n") && !shrunk.text.contains("Replay("))
        }
    }
}

/// The built tool in a folder of its own.
struct HistoryTool {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-shrink-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func delete() { try? FileManager.default.removeItem(at: folder) }

    func run(_ arguments: [String]) throws -> Command {
        let path = try #require(BuiltTool.path)
        return try Command.run(path, arguments, environment: ["tidemark": path], in: folder.path)
    }
}
