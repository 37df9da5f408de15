// ToolRefusalTests.swift — what the tool says of an odd argument, and of a store that is not what
// it was known to be.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool says` {
    /// A store of six events: its commits end at @2, @3 and so on.
    private func scene(_ body: (_ store: String) async throws -> Void) async throws {
        try await SyncFolder.withStore { _, store in
            for number in 1...4 {
                _ = try await SyncTool.run("put", store, "tasks/t\(number)", "{}")
            }
            try await body(store)
        }
    }

    /// Changes what is known beside the data.
    private func change(_ store: String, _ body: (inout StoreIdentity) -> Void) throws {
        var identity = try #require(try StoreIdentity.find(in: store).identity)
        body(&identity)
        try identity.write(to: store, isDurable: false)
    }

    @Test func `that no commit ends at a position, and where the next ones do`() async throws {
        try await scene { store in
            let inside = try await SyncTool.run("checkpoint", store, "--at", "@1")
            #expect(inside.code == 2 && inside.out == "")
            #expect(
                inside.err == "tidemark: no commit ends at @1, which is in that of @1 to @2: "
                    + "name an end, @2\n")

            let end = try await SyncTool.run("checkpoint", store, "--at", "@2")
            #expect(end.code == 0 && end.lines.count == 3 && end.lines[1] == "2")
        }
    }

    @Test func `that an argument is no UTF-8`() async throws {
        try await scene { store in
            let line = #"$tidemark put '\#(store)' "$(printf 'tasks/a\377')" '{}'"#
            let result = try await SyncTool.bash(line)

            #expect(result.code == 2 && result.out == "")
            #expect(result.err.hasPrefix("tidemark: argument 3 is no UTF-8: tasks/a"))
            #expect(try await SyncTool.run("list", store).lines.count == 4)
        }
    }

    @Test func `that a store has lost its end, and reads it`() async throws {
        try await scene { store in
            try change(store) { $0.position = Position(9) }
            let words = "the log ends at @6, and was known to reach @9"

            for verb in ["list", "dump", "status", "checkpoint"] {
                let result = try await SyncTool.run(verb, store)
                #expect(result.code == 1 && result.out != "", "\(verb)")
                #expect(result.err == "tidemark: \(store): \(words); see tidemark verify\n")
            }
            let replay = try await SyncTool.run("replay", store, "--mode", "fold")
            #expect(replay.code == 1 && replay.out.contains(": the same"))
            #expect(replay.err == "tidemark: \(store): \(words); see tidemark verify\n")
            let status = try await SyncTool.run("status", store)
            #expect(status.lines.contains("older     \(words)"))
            let json = try await SyncTool.run("status", store, "-o", "json")
            let object = try JSONDocument(parsing: Array(json.lines[0].utf8))
            #expect(object.value("rolledBack") == .string(words))
        }
    }

    @Test func `that a store is an older copy that went on differently`() async throws {
        try await scene { store in
            try change(store) { $0.root[0] ^= 1 }

            let result = try await SyncTool.run("list", store)

            #expect(result.code == 1 && result.lines.count == 4)
            #expect(result.err.contains("the log is another one than was known up to @6"))
        }
    }

    @Test(arguments: ["list", "dump", "status", "capsule"])
    func `that the data is of another store, and does not read it`(_ verb: String) async throws {
        try await scene { store in
            try change(store) { $0.storeID = "another" }
            let words = [verb, store] + (verb == "capsule" ? ["-o", store + ".capsule"] : [])

            let result = try await SyncTool.run(words)

            #expect(result.code == 2 && result.out == "")
            #expect(result.err.contains("data.mdb is of the store"))
        }
    }

    @Test func `nothing of a store that is what it was`() async throws {
        try await scene { store in
            for verb in ["list", "status"] {
                #expect(try await SyncTool.run(verb, store).err == "")
            }
            let json = try await SyncTool.run("status", store, "-o", "json")
            #expect(!json.out.contains("rolledBack"))
        }
    }
}
