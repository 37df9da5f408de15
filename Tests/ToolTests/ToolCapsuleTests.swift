// ToolCapsuleTests.swift — what the tool says of a capsule: of an entity in one that is only a part
// of a log, and of what waits in it.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool on a capsule` {
    private static let day: Int64 = 86_400_000_000

    /// A capsule of the last events of a store, which has words of the server about some tasks:
    /// one a day, from @3 on.
    private func withCapsule(
        last: Int, _ body: (_ file: String, _ store: String) async throws -> Void
    ) async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        for number in 0..<60 {
            let id = "t\(number % 7)"
            let json = Array(#"{"id":"\#(id)","title":"title \#(number)"}"#.utf8)
            let time = Timestamp(microseconds: Int64(number) * Self.day)
            try await replica.journal.write(at: time) { draft in
                let key = EntityKey("tasks", id)
                try draft.append(Event(.serverUpserted, recordedAt: time, key: key, json: json))
            }
        }
        try await replica.close()
        let file = replica.directory + ".capsule"
        let made = try await SyncTool.run(
            "capsule", replica.directory, "-o", file, "--last", "\(last)")
        #expect(made.code == 0, "\(made.err)")
        try await body(file, replica.directory)
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    @Test func `says that it begins later, and nothing of what was before`() async throws {
        try await withCapsule(last: 3) { file, store in
            let begins = "the capsule begins at @60: what was before is not in it\n"
            let never = "tidemark: the log never heard of tasks/never\n"

            let none = try await SyncTool.run("history", file, "tasks/t4")
            #expect(none.code == 0 && none.out == "")
            #expect(none.err == begins + "nothing changed it since @60\n")
            let some = try await SyncTool.run("history", file, "tasks/t1")
            #expect(some.code == 0 && some.err == begins)
            #expect(some.lines.first?.hasPrefix("@60 ") == true, "\(some.lines)")
            let whole = try await SyncTool.run("history", store, "tasks/t1")
            #expect(whole.err == "" && whole.lines.first?.hasPrefix("@4 ") == true)

            let why = try await SyncTool.run("why", file, "tasks/t4")
            #expect(why.code == 0 && why.err == begins)
            #expect(why.lines.contains("  the server's word: @56  before @60, not in it"))
            for verb in ["history", "why"] {
                let unknown = try await SyncTool.run(verb, file, "tasks/never")
                #expect(unknown.code == 1 && unknown.err == begins + never, "\(unknown.err)")
            }
            let dump = try await SyncTool.run("dump", file)
            #expect(dump.code == 0 && dump.err == begins && dump.lines.count == 3)
            #expect(try await SyncTool.run("dump", file, "--from", "@60").err == "")
            let show = try await SyncTool.run("show", file, "@12")
            #expect(show.code == 1 && show.err == "tidemark: there is no event at @12; " + begins)
        }
    }

    @Test func `replaces a file alone, and no link and no pipe, by --force`() async throws {
        try await withCapsule(last: 3) { file, store in
            let (link, pipe) = (store + ".link", store + ".pipe")
            defer {
                for path in [link, pipe] { try? FileManager.default.removeItem(atPath: path) }
            }
            let made = try await SyncTool.bash("ln -s '\(file)' '\(link)'; mkfifo '\(pipe)'")
            #expect(made.code == 0)
            let before = try Data(contentsOf: URL(filePath: file))

            for path in [link, pipe] {
                for words in [
                    ["capsule", store], ["shrink", store, "--predicate", "refused > 0"],
                ] {
                    let run = words + ["-o", path, "--force"]
                    let refused = try await SyncTool.run(run)
                    #expect(refused.code == 2, "\(run)")
                    #expect(refused.err.contains("no regular file"), "\(refused.err)")
                }
            }
            let left = try await SyncTool.bash("test -L '\(link)' && test -p '\(pipe)'")
            #expect(left.code == 0)
            #expect(try Data(contentsOf: URL(filePath: file)) == before)

            let force = ["capsule", store, "-o", file]
            let refused = try await SyncTool.run(force)
            #expect(refused.code == 2 && refused.err.contains("with --force it is replaced"))
            #expect(try await SyncTool.run(force + ["--force"]).code == 0)
        }
    }

    @Test func `blames nobody for a field that it never saw`() async throws {
        try await withCapsule(last: 3) { file, _ in
            let begins = "the capsule begins at @60: what was before is not in it\n"
            let known = try await SyncTool.run("why", "--blame", file, "tasks/t4.title")
            #expect(known.code == 0 && known.err == begins)
            #expect(known.out.contains("before") && known.out.contains("\"title 53\""))
            let typo = try await SyncTool.run("why", "--blame", file, "tasks/t4.typo")
            #expect(typo.code == 1 && typo.out == "")
            #expect(
                typo.err == begins + "tidemark: tasks/t4 since @60 never had the field typo\n")
        }
    }

    @Test func `tells what is next by the time of the last event`() async throws {
        let world = SyncWorld([
            FaultRule(.answer(status: 503, fields: [.retryAfter: "30"]), method: .put, nth: 1)
        ])
        try await SyncDevice.with(world) { device in
            try device.put("lists/a", #"{"title":"x"}"#)
            try await device.sync()
            let file = device.replica.directory + ".capsule"
            defer { try? FileManager.default.removeItem(atPath: file) }
            let made = try await SyncTool.run("capsule", device.replica.directory, "-o", file)
            #expect(made.code == 0, "\(made.err)")

            let status = try await SyncTool.run("status", file)
            #expect(status.code == 0)
            #expect(status.lines.contains { $0.hasPrefix("next run  in ") }, "\(status.lines)")
            #expect(status.err.hasPrefix("as of @"))
            #expect(status.err.contains(", the last event, recorded 2026-11-18"))
            let outbox = try await SyncTool.run("outbox", file, "--explain")
            #expect(outbox.code == 0 && outbox.err == status.err)
            #expect(outbox.out.contains("2026-11-18T11:07:10Z"), "\(outbox.out)")
        }
    }
}
