// OpeningLogTests.swift — what is looked at of the log when a store is opened.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite struct `the end of a log` {
    let store: OpeningStore

    init() throws { store = try OpeningStore() }

    private func expectDamage(
        _ words: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ damage: (borrowing WriteTransaction, EventLog) throws -> Void
    ) throws {
        try store.changeTables(damage)
        let before = try store.contents()
        expectRefusal(.damaged, words, sourceLocation: sourceLocation) { try store.open() }
        expect(.damaged, sourceLocation: sourceLocation) { _ = try store.adopt() }
        #expect(try store.contents() == before, sourceLocation: sourceLocation)
    }

    @Test(arguments: [UInt64(1), 4, 7])
    func `with a damaged event is refused at its position`(_ number: UInt64) throws {
        let key = Position(number).bigEndianBytes
        try expectDamage("@\(number): corruptEvent") { transaction, log in
            var frame = try #require(try transaction.get(log.log, key))
            frame[frame.count - 1] ^= 1
            try transaction.put(log.log, key, frame)
        }
    }

    @Test func `with a missing event is refused`() throws {
        try expectDamage("missingEvent") { transaction, log in
            try transaction.delete(log.log, Position(4).bigEndianBytes)
        }
    }

    @Test func `that is shorter than what was appended is refused`() throws {
        try store.changeIdentity {
            $0.position = .start; $0.root = []
        }
        try expectDamage("@7: missingEvent") { transaction, log in
            try transaction.delete(log.log, Position(7).bigEndianBytes)
        }
    }

    @Test func `without the last commit is refused`() throws {
        try store.changeIdentity {
            $0.position = .start; $0.root = []
        }
        try expectDamage("@7: corruptCommit") { transaction, log in
            try transaction.delete(log.log, CommitRecord.key(Position(7)))
        }
    }

    @Test func `whose last commit has another root is refused`() throws {
        try store.changeIdentity {
            $0.position = .start; $0.root = []
        }
        try expectDamage("@7: rootMismatch") { transaction, log in
            let key = CommitRecord.key(Position(7))
            let bytes = try #require(try transaction.get(log.log, key))
            var commit = try CommitRecord(framed: bytes.span, last: Position(7))
            commit.root[0] ^= 1
            try transaction.put(log.log, key, commit.framed)
        }
    }

    @Test func `is the last thousand events: what lies before is for verify`() throws {
        let replica = try store.open()
        try replica.write { tx in
            for number in 0..<Int(EventLog.tailEvents) {
                _ = try tx.put(EntityKey("tasks", "x\(number)"), Array("{}".utf8))
            }
        }
        try replica.close()
        func damage(_ number: UInt64) throws {
            try store.changeTables { transaction, log in
                let key = Position(number).bigEndianBytes
                var frame = try #require(try transaction.get(log.log, key))
                frame[4] ^= 1
                try transaction.put(log.log, key, frame)
            }
        }

        try damage(7)
        try store.open().close()
        try damage(8)
        expectRefusal(.damaged, "@8: corruptEvent") { try store.open() }
    }
}
