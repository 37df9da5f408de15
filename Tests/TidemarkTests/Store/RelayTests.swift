// RelayTests.swift — an app says that it sent a change another way, and that it arrived.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `what an app sends another way` {
    private let key = EntityKey("visits", "1")

    private func status(_ replica: Replica) throws -> EntityStatus? {
        try replica.read { try $0.status(of: key) }
    }

    @Test func `is told to who observes, in the tree, too`() async throws {
        try await TreeStore.with { replica in
            var rows = replica.observe(rows: TreePatient.all).makeAsyncIterator()
            _ = try await rows.next()
            try replica.edit("visits/1")
            #expect(try await rows.next()?.map(\.rolledUpStatus) == [.updated])
            try await replica.markRelayed(key, via: "sms")
            #expect(try await rows.next()?.map(\.rolledUpStatus) == [.relayed])
            try await replica.markConfirmed(key, via: "sms")
            #expect(try await rows.next()?.map(\.rolledUpStatus) == [.confirmed])

            let found = try replica.read { tx in
                try tx.all(TreePatient.where(.tree(has: .confirmed))).map(\.id.rawValue)
            }
            #expect(found == ["1"])
            #expect(try replica.read { try $0.outboxCount() } == 1)
        }
    }

    @Test func `is what was read when it was sent, not what was edited since`() async throws {
        try await TreeStore.with { replica in
            try replica.edit("visits/1")
            let read = try replica.read(\.position)
            try replica.edit("visits/1", "note", 2)

            #expect(try await replica.markRelayed(key, via: "sms", asOf: read) != nil)
            #expect(try status(replica) == .updated)
            // The other side has what was sent, and nothing else.
            #expect(try await replica.markConfirmed(key) != nil)
            #expect(try status(replica) == .updated)
            let covers = try replica.read { tx in try tx.views.entity(key)?.relay?.covers }
            #expect(covers == read)
        }
    }

    @Test func `is nothing once a run was faster, and of what is not there it is refused`()
        async throws
    {
        try await TreeStore.with { replica in
            let before = try replica.read(\.position)
            #expect(try await replica.markRelayed(key) == nil)
            #expect(try await replica.markConfirmed(TreePatient.self, ID("1")) == nil)
            let error = await #expect(throws: TidemarkError.self) {
                try await replica.markRelayed(EntityKey("visits", "9"))
            }
            #expect(error?.code == .notFound)
            #expect(try replica.read(\.position) == before)
        }
    }
}
