// TakeOverTests.swift — stores of format 1 become ones of today's format when they are opened for
// writing, whenever the process dies.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite struct `a store of format 1` {
    /// How many children are killed.
    private static let rounds = TestRun.isWhole ? 200 : 4

    private func former(_ path: String) throws -> (values: Int, commits: Int, format: Int64) {
        let identity = try #require(try StoreIdentity.find(in: path).identity)
        let environment = try Environment.open(
            at: path, Journal.options(readOnly: true, create: false))
        defer { try? environment.close() }
        return try environment.read { transaction in
            let tables = try EventLog.formerTableNames.map {
                try transaction.count(try #require(environment.formerTable($0)))
            }
            return (tables[0], tables[1], identity.format)
        }
    }

    @Test(arguments: Golden.sound)
    func `is read as it is, and taken over when it is opened for writing`(
        _ golden: Golden
    ) throws {
        try golden.withCopy { path in
            let before = try former(path)
            #expect(before.values == 3 && before.format == 1)
            let reader = try Journal.open(at: path, readOnly: true)
            #expect(try reader.goldenDump() == golden.text("dump.jsonl"))
            #expect(try reader.verify().findings == [])
            try reader.close()
            #expect(try former(path) == before)

            try Journal.open(at: path).close()
            let after = try former(path)
            #expect(after == (0, before.commits, 2))

            // Its commits go on behind those that it had.
            let journal = try Journal.open(at: path)
            try journal.write(at: Timestamp(microseconds: 5)) { draft in
                _ = try draft.append(Event(.localRetried, recordedAt: draft.now))
            }
            let verified = try journal.verify()
            #expect(verified.findings == [])
            #expect(verified.commits == UInt64(before.commits) + 1)
            #expect(try former(path) == after)
            try journal.close()
        }
    }

    @Test(arguments: 1...8)
    func `verifies when a part of it is sealed, and is shrunk then`(kept: UInt64) throws {
        try Golden(name: "whole").withCopy { path in
            let journal = try Journal.open(at: path)
            try journal.seal(keeping: kept)
            for level in [VerifyLevel.quick, .full] {
                #expect(try journal.verify(level).findings == [])
            }
            // A rebuild leaves free pages.
            try journal.rebuild()
            let dump = try journal.goldenDump()
            try journal.close()
            let made = try StoreGuard.shrink(
                path, Journal.options(create: false),
                StoreOpening())
            #expect(made.isSmaller)
            let shrunk = try Journal.open(at: path)
            #expect(try shrunk.verify().findings == [])
            #expect(try shrunk.goldenDump() == dump)
            try shrunk.close()
        }
    }

    @Test func `whose file may not grow is not taken for one that processes died of`() async {
        await #expect(processExitsWith: .success) {
            // The file has 23 pages: each of the first commits is cut short at one of these.
            for pages in 23..<32 {
                try Golden(name: "whole").withCopy { path in
                    for _ in 0..<3 {
                        let unlimited = limitFiles(to: UInt64(pages * 4096))
                        let opened = Result { try Journal.open(at: path).close() }
                        limitFiles(to: unlimited)
                        guard case .failure(let error) = opened else { continue }
                        #expect((error as? StoreError)?.code == .fileTooLarge, "\(pages): \(error)")
                    }
                    try Journal.open(at: path).close()
                }
            }
        }
    }

    @Test(.enabled(if: BuiltProgram.crashChild.isThere))
    func `is the one or the other when the process dies meanwhile`() throws {
        let golden = Golden(name: "whole")
        let seed: UInt64 = 0x5EED_1800
        var random = SplitMix64(seed: seed)
        var killed = 0
        // How long a child may live, in microseconds: about half of them are killed on any machine.
        var longest = 60_000
        for round in 0..<Self.rounds {
            let place: Comment = "seed \(seed), round \(round)"
            try golden.withCopy { path in
                let delay = 1 + random.below(longest)
                let child = try BuiltProgram.crashChild.run(
                    ["rebuild", path, "0", "1", "\(delay)"],
                    environment: ["SWIFT_BACKTRACE": "enable=no"])
                if child.signal == 9 { killed += 1 }
                longest =
                    child.signal == 9 ? min(60_000, longest * 5 / 4) : max(500, longest * 3 / 4)
                try #require(child.signal == 9 || child.code == 0, "\(child.text) \(place)")

                let found = try former(path)
                #expect([0, 3].contains(found.values), place)
                let journal = try Journal.open(at: path)
                #expect(try journal.goldenDump() == golden.text("dump.jsonl"), place)
                #expect(try journal.goldenState() == golden.text("state.txt"), place)
                try journal.close()
                #expect(try former(path).values == 0, place)
            }
        }
        #expect(killed > Self.rounds / 4, "the children were killed too late")
    }
}
