// ToolVerifyTests.swift — `tidemark verify`, `checkpoint` and `rebuild --check`: what they print,
// and the code they end with.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's verification` {
    /// A store with 42 events, and a folder for what a test needs besides.
    private func withStore(
        _ body: (_ store: String, _ folder: SyncFolder) async throws -> Void
    ) async throws {
        let store = try makeStore()
        let folder = try SyncFolder()
        try await body(store, folder)
        folder.delete()
        try FileManager.default.removeItem(atPath: store)
    }

    private func makeStore() throws -> String {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        for number in 1...20 {
            let key = EntityKey("tasks", "t\(number)")
            try replica.write { tx in try tx.put(key, Array(#"{"n":1}"#.utf8)) }
            try replica.write { tx in
                try tx.put(key, Array(#"{"n":\#(number),"text":"\#(key)"}"#.utf8))
            }
        }
        try replica.close()
        return replica.directory
    }

    private func change(_ store: String, _ body: (Journal) throws -> Void) throws {
        let journal = try Journal.open(at: store)
        try body(journal)
        try journal.close()
    }

    @Test func `says the same on every level, and changes nothing`() async throws {
        try await withStore { store, folder in
            let file = URL(filePath: store + "/data.mdb")
            let before = try Data(contentsOf: file)
            let whole = try await SyncTool.run("verify", store)
            #expect(whole.code == 0 && whole.err == "")
            #expect(whole.lines.first == "fine: 42 events in 41 commits")
            for level in ["--quick", "--deep"] {
                let result = try await SyncTool.run(
                    "verify", level, store, environment: ["TMPDIR": folder.path])
                #expect(result.code == 0 && result.out == whole.out, "\(level)")
            }
            let check = try await SyncTool.run("rebuild", store, "--check")
            #expect(check.code == 0)
            #expect(check.out == "equal: 42 events make the rows that are there\n")
            #expect(try Data(contentsOf: file) == before)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }

    @Test func `a row that differs is found by full, deep and rebuild --check, not by quick`()
        async throws
    {
        try await withStore { store, _ in
            try change(store) { journal in
                let key = RowKey.entity(EntityKey("tasks", "t7"))
                try journal.environment.write { transaction in
                    try transaction.put(journal.views.table(.rows, .a), key.bytes, [8, 1])
                }
            }

            #expect(try await SyncTool.run("verify", "--quick", store).code == 0)
            for words in [["verify"], ["verify", "--deep"], ["rebuild", "--check"]] {
                let result = try await SyncTool.bash(
                    "\"$tidemark\" \(words.joined(separator: " ")) '\(store)'")
                #expect(result.code == 1 && result.err == "", "\(words)")
                #expect(result.out.hasPrefix("@16: corruptRow: the row tasks/t7 of view entities "))
            }
            #expect(try await SyncTool.run("rebuild", store).code == 0)
            #expect(try await SyncTool.run("verify", "--deep", store).code == 0)
        }
    }

    @Test func `an event of a newer format is code 3`() async throws {
        try await withStore { store, _ in
            try change(store) { journal in
                try journal.environment.write { transaction in
                    let key = Position(42).bigEndianBytes
                    var frame = try #require(try transaction.get(journal.log.log, key))
                    frame[0] = 99
                    let crc = CRC32C.checksum(of: Array(frame[0..<4] + frame[8...]))
                    for index in 0..<4 {
                        frame[4 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index)))
                    }
                    try transaction.put(journal.log.log, key, frame)
                }
            }

            for level in [[], ["--quick"], ["--deep"]] as [[String]] {
                let result = try await SyncTool.bash(
                    "\"$tidemark\" verify \(level.joined()) '\(store)'")
                #expect(result.code == 3)
                #expect(result.out.hasPrefix("@42: newerFormat: format 99 is not known"))
            }
        }
    }

    @Test func `a checkpoint is proven to be a prefix, of the same log`() async throws {
        try await withStore { store, folder in
            let now = try await SyncTool.run("checkpoint", store)
            let lines = now.out.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(now.code == 0 && lines.count == 5 && lines[1] == "42")
            #expect(lines[0].hasPrefix("tidemark/"))
            let then = try await SyncTool.run("checkpoint", store, "--at", "@10")
            #expect(then.code == 0 && then.lines[1] == "10")
            try Data(now.out.utf8).write(to: URL(filePath: folder / "now"))
            try Data(then.out.utf8).write(to: URL(filePath: folder / "then"))

            let both = try await SyncTool.run(
                "verify", "--checkpoint", folder / "then", "--checkpoint", folder / "now", store)
            #expect(both.code == 0, "\(both.out)\(both.err)")
            let piped = try await SyncTool.run("verify", "--checkpoint", "-", store, input: now.out)
            #expect(piped.code == 0)

            // The same with another root, of another log, and longer than the log.
            let root = String(then.lines[2])
            for (text, finding) in [
                (now.out.replacing(now.lines[2], with: root), "@42: otherCheckpoint: the check"),
                (
                    now.out.replacing("\n42\n", with: "\n43\n"),
                    "@42: otherCheckpoint: the checkpoint cov"
                ),
                ("x" + now.out, "@42: otherCheckpoint: the checkpoint is of the log xtidemark/"),
            ] {
                let other = try await SyncTool.run(
                    "verify", "--checkpoint", "-", store, input: text)
                #expect(other.code == 1 && other.out.hasPrefix(finding), "\(other.out)")
            }
        }
    }

    @Test func `mistakes on the command line are code 2`() async throws {
        try await withStore { store, folder in
            try Data("no checkpoint".utf8).write(to: URL(filePath: folder / "text"))
            for (words, complaint) in [
                ("verify --quick --deep '\(store)'", "--quick and --deep"),
                ("verify --quick --checkpoint - '\(store)'", "leave --quick out"),
                ("verify --checkpoint '\(folder / "none")' '\(store)'", "can't be read"),
                ("verify --checkpoint '\(folder / "text")' '\(store)'", "is no checkpoint"),
                ("verify '\(folder / "none")'", "there is no store"),
                (
                    "verify '\(folder / "no store")'",
                    "make one: tidemark init '\(folder / "no store")' --model"
                ),
                ("rebuild --check '\(folder / "none")'", "there is no store"),
                ("checkpoint '\(folder / "none")'", "there is no store"),
                ("checkpoint --at x '\(store)'", "is no position"),
                (
                    "checkpoint --at 43 '\(store)'",
                    "tidemark: there is no event at @43; the log ends at @42\n"
                ),
            ] {
                let result = try await SyncTool.bash("\"$tidemark\" \(words)")
                #expect(result.code == 2 && result.out == "", "\(words): \(result)")
                #expect(result.err.contains(complaint), "\(words): \(result.err)")
            }
        }
    }

    @Test func `a damaged page is a finding, and ends no verb by a signal or with other data`()
        async throws
    {
        try await withStore { store, _ in
            let file = URL(filePath: store + "/data.mdb")
            let whole = try Data(contentsOf: file)
            let verbs = [
                ["list", "-o", "json"], ["dump", "-o", "json"], ["status", "-o", "json"],
                ["replay", "--mode", "fold"],
            ]
            var right: [String] = []
            for verb in verbs { right.append(try await SyncTool.run(verb + [store]).out) }
            var found = 0
            // The headers of pages, one after another: LMDB would take what they say.
            for page in 2..<whole.count / 4096 {
                for byte in [10, 12] {
                    var data = whole
                    data[page * 4096 + byte] ^= 0xFF
                    try data.write(to: file)
                    let result = try await SyncTool.run("verify", store)
                    guard result.code != 0 else { continue }
                    found += 1
                    let named = ["Table", "Row"].contains { sort in
                        result.out.contains("corrupt\(sort): page \(page) ")
                    }
                    #expect(result.code == 1 && named, "\(result.out)")
                    // What the log makes anew needs no salvage.
                    let isOfRows = !result.out.contains("corruptTable")
                    #expect(result.err.contains("tidemark salvage") != isOfRows, "\(result.err)")
                    for (verb, right) in zip(verbs, right) {
                        let read = try await SyncTool.run(verb + [store])
                        // What a reader reads from the log instead is right, and told.
                        let isMended = read.code == 0 && read.out.contains(#""damage":"in the"#)
                        let isTold = !read.err.isEmpty && (read.code > 0 || isMended)
                        let isRight = read.code == 0 && read.out == right
                        #expect(isTold || isRight, "\(verb), byte \(byte) of page \(page)")
                    }
                }
            }
            #expect(found > 10, "no page was damaged")
        }
    }

    @Test func `tables of another version are outdated and not damaged, and can be copied`()
        async throws
    {
        try await withStore { store, folder in
            try change(store) { journal in
                try journal.environment.write { transaction in
                    var state = try journal.views.state(transaction) ?? ViewTables.State()
                    state.fingerprints = [9, 9, 9, 9]
                    try journal.views.setState(state, transaction)
                }
            }

            let status = try await SyncTool.run("status", store)
            #expect(status.code == 0)
            #expect(status.lines.contains { $0.hasPrefix("outdated  another version") })
            #expect(!status.out.contains("damaged"))
            let json = try await SyncTool.run("status", store, "-o", "json")
            #expect(json.out.contains(#""outdated":true"#) && !json.out.contains("damage"))
            let deep = try await SyncTool.run("verify", "--deep", store)
            #expect(deep.code == 0 && deep.err.contains("made by other rules"), "\(deep.out)")
            let check = try await SyncTool.run("rebuild", store, "--check")
            #expect(check.code == 0 && check.err.contains("made by other rules"))
            #expect(check.out == "folded: 42 events; no row was compared\n")
            let copied = try await SyncTool.run("copy", store, "-o", folder / "copy")
            #expect(copied.code == 0 && copied.lines.first == "copied     events up to @42")
        }
    }

    @Test func `a file cut short is a finding, not a failure`() async throws {
        try await withStore { store, _ in
            let file = URL(filePath: store + "/data.mdb")
            let whole = try Data(contentsOf: file)
            // The last pages may be free ones, which nobody misses.
            for bytes in [whole.count / 8192 * 4096, 8192, 100, 0] {
                try whole.prefix(bytes).write(to: file)
                let result = try await SyncTool.run("verify", store)
                #expect(result.code == 1, "\(bytes): \(result.err)")
                #expect(result.out.hasPrefix("@0: corruptTable: "), "\(bytes): \(result.out)")
            }
        }
    }
}
