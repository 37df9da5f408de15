// PoolTests.swift — values that were reserved are taken, with a write or alone.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@Suite struct `a reserved value` {
    private let clock = ManualClock()
    private let key = ["A1", "OSL"]

    private var model: SyncModel {
        SyncModel(
            name: "m", collections: [CollectionModel("people")],
            pools: [.init("numbers", keys: [["A1", "OSL"]])])
    }

    private func with(_ body: (Replica) async throws -> Void) async throws {
        try await Replica.withTemporary(
            model: model, dependencies: .seeded(1, clock: clock), body)
    }

    /// As an answer would have added them, each until so many seconds from now.
    private func add(_ values: [String], for seconds: Int64 = 60, to replica: Replica) throws {
        var added = ReservedAdded(PoolKey("numbers", key), pattern: nil)
        added.values = values
        added.until = values.map { _ in clock.now.adding(seconds: seconds) }
        let json = added.encoded
        try replica.write { tx in
            _ = try tx.draft.append(
                Event(.reservedAdded, recordedAt: tx.draft.now, json: json))
        }
    }

    @Test func `is taken with the write that uses it, or not at all`() async throws {
        struct Refused: Error {}
        try await with { replica in
            try add(["1", "2", "3"], to: replica)

            #expect(throws: Refused.self) {
                try replica.write { tx in
                    _ = try tx.take(from: "numbers", key: key)
                    throw Refused()
                }
            }
            #expect(try replica.valuesLeft(in: "numbers", key: key) == 3)
            let used = try await replica.write { [key] tx in
                let number = try tx.take(from: "numbers", key: key)
                try tx.create(EntityKey("people", "p"), Array(#"{"number":"\#(number)"}"#.utf8))
                return [number, try tx.take(from: "numbers", key: key)]
            }

            #expect(used == ["1", "2"])
            #expect(try replica.valuesLeft(in: "numbers", key: key) == 1)
            #expect(try await replica.take(from: "numbers", key: key) == "3")
            #expect(try replica.journal.verify(.deep).findings == [])
        }
    }

    @Test func `that is none says what to do, and nothing is written`() async throws {
        try await with { replica in
            let before = try replica.read(\.position)
            let error = #expect(throws: TidemarkError.self) {
                try replica.take(from: "numbers", key: key) as String
            }
            #expect(error?.code == .poolEmpty)
            #expect(
                error?.message
                    == "no value of numbers of A1, OSL is left that can be used; where the server "
                    + "can be reached, sync with the scope reserve of this pool and key, and take "
                    + "it then")
            #expect(try replica.read(\.position) == before)
        }
    }

    @Test func `is not taken once its time is over by the device's clock`() async throws {
        try await with { replica in
            try add(["soon"], for: 10, to: replica)
            try add(["late"], for: 60, to: replica)
            clock.advance(by: .seconds(10))

            #expect(try replica.valuesLeft(in: "numbers", key: key) == 1)
            #expect(try await replica.take(from: "numbers", key: key) == "late")
            // A clock that was wrong, and is put right, loses nothing.
            clock.adjust(by: .seconds(-5))
            #expect(try await replica.take(from: "numbers", key: key) == "soon")
        }
    }

    @Test func `of a pool or a key that can't be is refused, with what there is`() async throws {
        try await with { replica in
            let pool = #expect(throws: TidemarkError.self) {
                try replica.take(from: "codes", key: key) as String
            }
            #expect(pool?.code == .noModel)
            #expect(pool?.message == "the model has no pool \"codes\"; it has numbers")
            for texts in [[], [""], ["a\u{0}"], [String(repeating: "x", count: 161)]] {
                let error = #expect(throws: TidemarkError.self) {
                    try replica.valuesLeft(in: "numbers", key: texts)
                }
                #expect(error?.code == .invalidKey)
            }
        }
    }

    @Test func `costs a model without pools no row, and one without values neither`() async throws {
        try await with { replica in
            try await replica.write { tx in
                _ = try tx.create(EntityKey("people", "p"), Array("{}".utf8))
            }
            let keys = try replica.read { tx in try tx.views.poolKeys() }
            #expect(keys == [])
        }
    }
}
