// ViewsDifferenceTests.swift — how two moments, and two stores, differ.

import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `a difference of views` {
    private let model: SyncModel = {
        var notes = CollectionModel("notes")
        notes.ids = .serverNumber
        return SyncModel(name: "notes", collections: [notes])
    }()
    private let tea = EntityKey("notes", "tea")
    private let milk = EntityKey("notes", "milk")

    private func withEdits(_ body: (Replica) throws -> Void) async throws {
        try await Replica.withTemporary(model: model) { replica in
            try await replica.write { tx in try tx.create(tea, Array(#"{"a":1,"b":[2]}"#.utf8)) }
            try await replica.write { tx in try tx.create(milk, Array(#"{"a":1}"#.utf8)) }
            try await replica.write { tx in
                _ = try tx.put(tea, Array(#"{"c":null,"a":1,"b":[3]}"#.utf8))
            }
            try await replica.write { tx in try tx.delete(milk) }
            try body(replica)
        }
    }

    private func difference(
        _ replica: Replica, _ first: UInt64, _ second: UInt64
    ) throws -> ViewsDifference {
        func read<R>(_ position: UInt64, _ body: (ReadContext) throws -> R) throws -> R {
            try replica.read(asOf: Position(position), body)
        }
        return try read(first) { before in
            try read(second) { try ViewsDifference(before: before.views, after: $0.views) }
        }
    }

    @Test func `names entities with their fields, and mutations`() async throws {
        try await withEdits { replica in
            let forward = try difference(replica, 4, 6)
            #expect(forward.entities.map(\.key) == [milk, tea])
            #expect(forward.entities.map(\.change) == [.removed, .changed])
            #expect(forward.entities[1].fields.map(\.name) == ["b", "c"])
            #expect(
                forward.lines() == [
                    #"- notes/milk               created   {"a":1}"#,
                    "~ notes/tea                created", "    b  [2] → [3]", "    c  - → null",
                    "~ @4     local.created  notes/milk             pending → annihilated by @6",
                    "+ @5     local.updated  notes/tea              pending  (c, b)",
                    "+ @6     local.deleted  notes/milk             annihilated by @6",
                ])

            let backward = try difference(replica, 6, 4)
            #expect(backward.entities.map(\.change) == [.added, .changed])
            #expect(backward.mutations.map(\.change) == [.changed, .removed, .removed])
            #expect(backward.rows.map(\.key) == forward.rows.map(\.key))
            #expect(backward.json().count == backward.entities.count + backward.mutations.count)
        }
    }

    @Test func `is none of a moment with itself`() async throws {
        try await withEdits { replica in
            for position in 1...6 as ClosedRange<UInt64> {
                let none = try difference(replica, position, position)
                #expect(none.isEmpty && none.rows.isEmpty)
                #expect(none.lines(all: true) == [])
            }
            // What only the store says of itself is listed on request.
            let hidden = try difference(replica, 1, 2)
            #expect(hidden.isEmpty)
            #expect(hidden.lines(all: true) == ["+ the row x/model of view store"])
        }
    }

    @Test func `knows an entity by its other id`() throws {
        func fold(_ events: [Event]) throws -> CapsuleFold {
            var fold = CapsuleFold()
            let model = Event(
                .modelRegistered, recordedAt: Timestamp(rawValue: 1),
                json: ModelRegistration(model: model).encoded)
            let entries = ([model] + events).enumerated().map {
                Capsule.Entry(position: Position(UInt64($0.offset + 1)), event: $0.element)
            }
            try fold.fold(entries)
            return fold
        }
        func event(_ kind: EventKind, _ id: String, _ json: String?) -> Event {
            Event(
                kind, recordedAt: Timestamp(rawValue: 1), key: EntityKey("notes", id),
                json: json.map { Array($0.utf8) })
        }
        let server = #"{"id":7,"a":1}"#
        var sent = event(.requestSent, "tea", #"{"method":"POST"}"#)
        sent.mutation = Position(2)
        sent.asOf = Position(2)
        var accepted = event(.pushAccepted, "tea", #"{"serverID":"7"}"#)
        accepted.mutation = Position(2)
        accepted.call = Position(3)
        var said = event(.serverUpserted, "tea", server)
        said.call = Position(3)
        said.mutation = Position(2)
        said.asOf = Position(3)
        let maker = try fold([event(.localCreated, "tea", #"{"a":1}"#), sent, accepted, said])
        let other = try fold([event(.serverUpserted, "7", server)])

        let names = try maker.read { try $0.ids(of: EntityKey("notes", "tea")) }
        #expect(names == ["tea", "7"])
        let forward = try maker.read { before in
            try other.read { try ViewsDifference(before: before, after: $0) }
        }
        let backward = try other.read { before in
            try maker.read { try ViewsDifference(before: before, after: $0) }
        }
        #expect(forward.entities == [] && backward.entities == [])
        #expect(forward.mutations.map(\.change) == [.removed])
        #expect(backward.mutations.map(\.change) == [.added])
    }
}
