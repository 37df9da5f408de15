// CapsuleTests.swift — what a capsule takes of a store, and the store that is made of it.

import Foundation
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `a capsule` {
    private let model = SyncModel(
        name: "notes", collections: [CollectionModel("notes"), CollectionModel("tags")])

    private func edited(_ count: Int, _ body: (Replica) throws -> Void) async throws {
        try await Replica.withTemporary(model: model) { replica in
            for number in 1...count {
                try replica.write { tx in
                    try tx.create(
                        EntityKey("notes", "n\(number % 7)-\(number)"), Array(#"{"n":1}"#.utf8))
                }
            }
            try body(replica)
        }
    }

    private func rows(_ journal: Journal) throws -> [String] {
        try journal.read { views in
            var rows: [String] = []
            try views.forEachEntity { key, row in
                rows.append("\(key) \(row.status) \(row.pending.map(\.position))")
                return true
            }
            return rows
        }
    }

    @Test(arguments: [nil, 1, 5, 1000] as [UInt64?])
    func `unpacked has the rows of the store that it was taken of`(_ last: UInt64?) async throws {
        try await edited(20) { replica in
            let (capsule, after) = try inScratch { folder in
                let capsule = try Capsule(
                    of: replica.journal, last: last, build: "test", scratch: folder + "/past")
                let unpacked = try capsule.unpacked(in: folder + "/store")
                defer { try? unpacked.close() }
                return (capsule, try rows(unpacked))
            }
            let before = try rows(replica.journal)

            #expect(!before.isEmpty)
            #expect(after == before)
            #expect(capsule.last == capsule.provenance.last)
            if let last { #expect(capsule.commits.flatMap(\.entries).count >= min(Int(last), 21)) }
        }
    }

    @Test func `cut out of another one tells by which rules that was begun, and is not redacted`()
        async throws
    {
        try await edited(20) { replica in
            let (whole, cut) = try inScratch { folder in
                var whole = try Capsule(
                    of: replica.journal, last: 10, build: "test", scratch: folder + "/past")
                whole.base.fingerprints[0] ^= 1
                let unpacked = try whole.unpacked(in: folder + "/store")
                defer { try? unpacked.close() }
                let cut = try Capsule(
                    of: unpacked, last: 5, build: "test", scratch: folder + "/part")
                return (whole, cut)
            }
            var part = cut
            part.takeRules(of: whole)

            #expect(part.base.position > whole.base.position)
            #expect(part.base.fingerprints == whole.base.fingerprints)
            let error = #expect(throws: RedactionError.self) { try part.redactedByTool() }
            #expect(error?.code == .otherRules)
        }
    }

    @Test func `cut out of one that begins with nothing was begun by the rules of today`()
        async throws
    {
        try await edited(20) { replica in
            let (whole, cut) = try inScratch { folder in
                let whole = try Capsule(
                    of: replica.journal, build: "test", scratch: folder + "/past")
                let cut = try Capsule(
                    of: replica.journal, last: 5, build: "test", scratch: folder + "/part")
                return (whole, cut)
            }
            var part = cut
            part.takeRules(of: whole)

            #expect(whole.base.position == .start)
            #expect(part.base.position > .start)
            #expect(part == cut)
        }
    }
}
