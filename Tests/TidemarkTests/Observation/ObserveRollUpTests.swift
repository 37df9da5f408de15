// ObserveRollUpTests.swift — who observes is told how trees stand, though no row of theirs changed.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Patient = TreePatient

extension Wakes {
    fileprivate convenience init(
        _ replica: Replica, patients query: EntityQuery<TreePatient>, includesStatus: Bool = false
    ) throws {
        self.init(
            replica,
            try replica.journal.read { try Interest(query, $0, includesStatus: includesStatus) })
    }
}

@Suite struct `who observes trees` {
    private func withTrees(
        _ model: SyncModel = TreeStore.model(), _ body: (Replica) async throws -> Void
    ) async throws {
        let replica = try Replica.temporary(
            model: model, dependencies: .seeded(0, clock: ManualClock()))
        defer { try? replica.deleteTemporary() }
        try replica.serverSays(
            ("patients/1", #"{"id":"1","name":"Zoe"}"#),
            ("patients/2", #"{"id":"2","name":"Ada"}"#),
            ("stays/1", #"{"id":"1","patient":"1"}"#),
            ("stays/2", #"{"id":"2","patient":"2"}"#),
            ("visits/1", #"{"id":"1","stay":"1"}"#))
        try await body(replica)
    }

    @Test func `by rows is told of an edit two levels below, and of its end`() async throws {
        try await withTrees { replica in
            var rows = replica.observe(rows: Patient.all).makeAsyncIterator()
            var row = replica.observe(row: Patient.self, ID("1")).makeAsyncIterator()
            #expect(try await rows.next()?.map(\.rolledUpStatus) == [.synced, .synced])
            #expect(try await row.next()??.rolledUpStatus == .synced)

            try replica.edit("visits/1")
            let pending = try await rows.next()
            #expect(pending?.map(\.rolledUpStatus) == [.updated, .synced])
            #expect(pending?.map(\.status) == [.synced, .synced])
            #expect(try await row.next()??.rolledUpStatus == .updated)

            try replica.refuse("visits/1")
            #expect(try await rows.next()?.map(\.rolledUpStatus) == [.error, .synced])
            #expect(try await row.next()??.rolledUpStatus == .error)

            try replica.discard("visits/1")
            #expect(try await rows.next()?.map(\.rolledUpStatus) == [.synced, .synced])
            #expect(try await row.next()??.rolledUpStatus == .synced)
        }
    }

    @Test func `by a read is told of an edit two levels below`() async throws {
        try await withTrees { replica in
            let wakes = [
                try Wakes(replica) { try $0.rows(Patient.all) },
                try Wakes(replica) { try $0.rolledUpStatus(of: EntityKey("patients", "1")) },
                try Wakes(replica) { try $0.all(Patient.where(.tree(has: .error))) },
            ]
            func taken() -> [Int] { wakes.map { $0.taken() } }

            try replica.edit("visits/1")
            #expect(taken() == [1, 1, 1], "it waits")
            try replica.edit("visits/1", "other")
            #expect(taken() == [0, 0, 0], "it waits still")
            try replica.refuse("visits/1")
            #expect(taken() == [1, 1, 1], "it was refused")
        }
    }

    @Test func `by a query for trees gets those that come in and go out`() async throws {
        try await withTrees { replica in
            var found = replica.observe(Patient.where(.tree(has: .error))).makeAsyncIterator()
            var count = replica.observe(
                count: Patient.where(!.tree(has: .synced) && \.name < "M")
            ).makeAsyncIterator()
            #expect(try await found.next() == [])
            #expect(try await count.next() == 0)

            try replica.edit("visits/1")
            try replica.refuse("visits/1")
            #expect(try await found.next()?.map(\.id.rawValue) == ["1"])
            try replica.edit("stays/2")
            #expect(try await count.next() == 1)
            try replica.edit("visits/1", "stay", "2")
            try replica.refuse("visits/1")
            #expect(try await found.next()?.map(\.id.rawValue) == ["2"])
        }
    }

    @MainActor @Test func `with a live model gets the rows redrawn`() async throws {
        try await withTrees { replica in
            let live = LiveRows(replica, Patient.where(\.name == "Zoe"))
            #expect(live.rows.map(\.rolledUpStatus) == [.synced])
            try await replica.write { tx in _ = try tx.delete(EntityKey("visits", "1")) }
            while live.rows.map(\.rolledUpStatus) != [.updated] { await Task.yield() }
            #expect(live.rows.map(\.status) == [.synced])
        }
    }

    @Test func `is woken by what asks for it only, and by what changes it only`() async throws {
        try await withTrees { replica in
            let one = EntityKey("patients", "1")
            let pending = Patient.where(.tree(has: .updated) && \.name == "Zoe")
            let wakes = [
                Wakes(replica, Interest(one)),
                Wakes(replica, Interest(one, includesStatus: true)),
                try Wakes(replica, patients: Patient.all),
                try Wakes(replica, patients: Patient.all, includesStatus: true),
                try Wakes(replica, patients: Patient.where(\.name == "Ada"), includesStatus: true),
                try Wakes(replica, patients: Patient.where(.tree(has: .error))),
                try Wakes(replica, patients: pending),
            ]
            func taken() -> [Int] { wakes.map { $0.taken() } }

            try replica.edit("visits/1")
            #expect(taken() == [0, 1, 0, 1, 0, 0, 1], "it waits")
            try replica.edit("visits/1", "other")
            #expect(taken() == [0, 0, 0, 0, 0, 0, 0], "it waits still")
            try replica.edit("stays/1")
            #expect(taken() == [0, 0, 0, 0, 0, 0, 0], "one more waits")
            try replica.refuse("visits/1")
            #expect(taken() == [0, 1, 0, 1, 0, 1, 1], "it was refused")
            try replica.discard("visits/1")
            #expect(taken() == [0, 1, 0, 1, 0, 1, 1], "the error is gone")
            try replica.edit("visits/1")
            try replica.edit("stays/1", "patient", "2")
            #expect(taken() == [0, 1, 0, 1, 1, 0, 1], "it moved")
        }
    }

    @Test func `is told of a commit that leaves the entity's own row as it was`() async throws {
        try await withTrees { replica in
            let rows = try Wakes(replica, patients: Patient.all, includesStatus: true)
            try await replica.write { tx in
                let one = EntityKey("patients", "1")
                _ = try tx.patch(one, Patch(set: [.init("note", Array("1".utf8))]))
                try tx.discard(one)
            }
            #expect(rows.taken() == 0)
            try await replica.write { tx in
                let one = EntityKey("patients", "1")
                _ = try tx.patch(one, Patch(set: [.init("note", Array("1".utf8))]))
                try tx.discard(one)
                _ = try tx.delete(EntityKey("visits", "1"))
            }
            #expect(rows.taken() == 1)
        }
    }

    @Test func `is told by the collection when very much of it changed`() async throws {
        try await withTrees { replica in
            try await replica.write { tx in
                for number in 10..<400 {
                    try tx.draft.append(
                        Event(
                            .serverUpserted, recordedAt: tx.draft.now,
                            key: EntityKey("patients", "\(number)"),
                            json: Array(#"{"id":"\#(number)"}"#.utf8)))
                }
            }
            let rows = try Wakes(replica, patients: Patient.all, includesStatus: true)
            let plain = try Wakes(replica, patients: Patient.where(\.name == "none"))
            try await replica.write { tx in
                for number in 10..<400 {
                    let document = #"{"patient":"\#(number)"}"#
                    try tx.create(EntityKey("stays", "s\(number)"), Array(document.utf8))
                }
            }
            #expect(rows.taken() == 1)
            // One call too many does no harm.
            #expect(plain.taken() <= 1)
        }
    }

    @Test func `without roll-ups is told how entities stand themselves`() async throws {
        try await withTrees(TreeStore.model(nil)) { replica in
            let wakes = try Wakes(replica, patients: Patient.all, includesStatus: true)
            try replica.edit("visits/1")
            #expect(wakes.taken() == 0)
            try replica.edit("patients/1")
            #expect(wakes.taken() == 1)
            let rows = try replica.read { try $0.rows(Patient.all) }
            #expect(rows.map(\.rolledUpStatus) == [.updated, .synced])
        }
    }
}
