// IdempotencyTests.swift — a write that is asked for again under its key is made once.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a write under a key` {
    private let key = EntityKey("tasks", "t")

    private func replica(_ clock: ManualClock = ManualClock()) throws -> Replica {
        try Replica.temporary(
            model: SyncWorld.usualModel, dependencies: .seeded(3, clock: clock))
    }

    private func end(_ replica: Replica) throws {
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.deleteTemporary()
    }

    /// Writes something else under each of as many new keys.
    private func write(_ count: Int, to replica: Replica) throws -> [IdempotencyKey] {
        try (0..<count).map { _ in
            let name = replica.makeIdempotencyKey()
            let text = #"{"n":\#(try replica.position.rawValue)}"#
            try replica.write(once: name) { tx in _ = try tx.put(key, Array(text.utf8)) }
            return name
        }
    }

    @Test func `is made once, however often it is asked for`() throws {
        let replica = try replica()
        let name = replica.makeIdempotencyKey()
        var runs = 0
        func write() throws -> CommitReceipt? {
            try replica.write(once: name) { tx in
                runs += 1
                try tx.create(key, Array(#"{"title":"\#(runs)"}"#.utf8))
            }
        }

        let first = try write()
        let second = try write()

        #expect(runs == 1)
        #expect(first?.isRepeated == false && second?.isRepeated == true)
        #expect(first?.first == second?.first)
        #expect(try replica.text(key) == #"{"title":"1"}"#)
        try end(replica)
    }

    @Test func `is known after the store was opened again, and after a rebuild`() throws {
        let replica = try replica()
        let name = replica.makeIdempotencyKey()
        try replica.write(once: name) { tx in try tx.create(key, Array("{}".utf8)) }
        let position = try replica.position
        try replica.journal.rebuild()
        try replica.close()

        let again = try Replica.open(existing: replica.directory)
        let kept = try #require(IdempotencyKey(name.description))
        let receipt = try again.write(once: kept) { tx in try tx.delete(key) }

        #expect(receipt?.isRepeated == true)
        #expect(try again.position == position)
        #expect(try again.text(key) == "{}")
        try end(again)
    }

    @Test func `that threw was not made`() throws {
        struct Thrown: Error {}
        let replica = try replica()
        let name = replica.makeIdempotencyKey()
        #expect(throws: Thrown.self) {
            try replica.write(once: name) { tx in
                try tx.create(key, Array("{}".utf8))
                throw Thrown()
            }
        }

        let receipt = try replica.write(once: name) { tx in try tx.create(key, Array("{}".utf8)) }

        #expect(receipt?.isRepeated == false)
        try end(replica)
    }

    @Test func `carries the key in its first event`() throws {
        let replica = try replica()
        try replica.write { tx in try tx.create(EntityKey("tasks", "before"), Array("{}".utf8)) }
        let name = replica.makeIdempotencyKey()
        let receipt = try replica.write(once: name) { tx in
            try tx.create(key, Array("{}".utf8))
            try tx.delete(key)
        }

        let first = try #require(receipt?.first)
        let events = try replica.journal.read { views in
            try [first, first.next].map { try views.event(at: $0) }
        }
        #expect(events.map { $0?.idempotencyKey } == [Array(name.bytes), nil])
        try end(replica)
    }

    @Test func `that changes nothing was not made, also where it is the first of an account`()
        throws
    {
        let replica = try replica()
        try replica.close()
        let again = try Replica.open(existing: replica.directory, account: "ann")
        let name = again.makeIdempotencyKey()

        let nothing = try again.write(once: name) { _ in }
        #expect(nothing == nil)
        let made = try again.write(once: name) { tx in try tx.create(key, Array("{}".utf8)) }
        #expect(made?.isRepeated == false)
        #expect(try again.text(key) == "{}")
        let repeated = try again.write(once: name) { tx in try tx.delete(key) }
        #expect(repeated?.isRepeated == true && repeated?.first == made?.first)
        try end(again)
    }

    @Test func `of two tasks at once is made by one of them`() async throws {
        let replica = try replica()
        let name = replica.makeIdempotencyKey()
        let key = key
        let receipts = try await withThrowingTaskGroup(of: CommitReceipt?.self) { group in
            for _ in 0..<16 {
                group.addTask {
                    try await replica.write(once: name) { tx in
                        _ = try tx.put(key, Array("{}".utf8))
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }

        #expect(receipts.count { $0?.isRepeated == false } == 1)
        #expect(receipts.count { $0?.isRepeated == true } == 15)
        try end(replica)
    }

    @Test func `is refused when the key is older than 30 days of logged time`() throws {
        let clock = ManualClock()
        let replica = try replica(clock)
        let name = replica.makeIdempotencyKey()
        clock.advance(by: .seconds(30 * 86_400 + 1))

        expect(.keyExpired) { try replica.write(once: name) { tx in try tx.delete(key) } }
        try end(replica)
    }

    @Test func `is forgotten after 30 days, and refused even when the clock goes back`() throws {
        let clock = ManualClock()
        let replica = try replica(clock)
        let old = replica.makeIdempotencyKey()
        try replica.write(once: old) { tx in try tx.create(key, Array("{}".utf8)) }
        clock.advance(by: .seconds(31 * 86_400))
        let new = replica.makeIdempotencyKey()
        try replica.write(once: new) { tx in try tx.delete(key) }

        let keys = try replica.journal.read { views in try views.idempotencyKeys() }
        #expect(keys == [new])
        clock.advance(by: .seconds(-5 * 86_400))
        expect(.keyExpired) { try replica.write(once: old) { tx in try tx.delete(key) } }
        try end(replica)
    }

    @Test func `has a key that can be written down and read again`() throws {
        let replica = try replica()
        let name = replica.makeIdempotencyKey()

        #expect(IdempotencyKey(name.description) == name)
        #expect(name.description.utf8.count == 32)
        let now = replica.dependencies.now()
        #expect(name.madeAt.rawValue == now.rawValue / 1000 * 1000)
        for text in ["", "0", name.description + "0", name.description.uppercased() + " ", "g"] {
            #expect(IdempotencyKey(text) == nil)
        }
        try end(replica)
    }

    @Test func `is taken again once the clock is right that was years ahead`() throws {
        let clock = ManualClock()
        let replica = try replica(clock)
        let day = 86_400
        clock.advance(by: .seconds(365 * day))
        _ = try write(1, to: replica)
        clock.advance(by: .seconds(31 * day))
        _ = try write(2, to: replica)
        clock.advance(by: .seconds(-396 * day))

        let old = try write(2, to: replica)
        clock.advance(by: .seconds(31 * day))
        _ = try write(4, to: replica)

        // Of keys that were forgotten by a right clock it is still known.
        clock.advance(by: .seconds(-5 * day))
        for old in old {
            expect(.keyExpired) { try replica.write(once: old) { tx in try tx.delete(key) } }
        }
        _ = try write(1, to: replica)
        try end(replica)
    }

    @Test func `keeps no other from being forgotten where its time is years ahead`() throws {
        let clock = ManualClock()
        let replica = try replica(clock)
        let day = 86_400
        clock.advance(by: .seconds(5000 * day))
        let ahead = try write(1, to: replica)
        clock.advance(by: .seconds(-5000 * day))
        _ = try write(3, to: replica)
        clock.advance(by: .seconds(31 * day))
        let new = try write(4, to: replica)

        let keys = try replica.journal.read { views in try views.idempotencyKeys() }
        #expect(Set(keys) == Set(new + ahead))
        try end(replica)
    }
}
