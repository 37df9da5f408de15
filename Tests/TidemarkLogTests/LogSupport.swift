// LogSupport.swift — a small log in a directory of its own, and ways to damage it.

import Foundation
import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// A log in a directory of its own, which goes with the test.
final class ScratchLog {
    let environment: Environment
    let log: EventLog
    private let directory: URL

    init(mapBytes: Int = 16 << 20) throws {
        directory = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-log-\(UUID().uuidString)")
        environment = try Environment.open(
            at: directory.path,
            Environment.Options(tables: EventLog.tableNames, mapBytes: mapBytes))
        log = EventLog(environment)
    }

    deinit {
        try? environment.close()
        try? FileManager.default.removeItem(at: directory)
    }

    var file: URL { directory.appendingPathComponent("data.mdb") }

    @discardableResult
    func append(_ events: [Event], views: [ViewDigest] = []) throws -> CommitRecord {
        try environment.write { transaction in
            var edge = try log.edge(transaction)
            return try log.append(events, views: views, edge: &edge, transaction)
        }
    }

    func verify(findingsMax: Int = 100) throws -> LogVerification {
        try environment.read { transaction in
            try log.verify(findingsMax: findingsMax, transaction)
        }
    }

    /// What a verification finds after a change that is undone before anything is stored.
    func findings(
        after damage: (borrowing WriteTransaction) throws -> Void
    ) throws -> [LogError] {
        struct Undo: Error {}
        var found: [LogError] = []
        do {
            try environment.write { (transaction) throws in
                try damage(transaction)
                found = try log.verify(transaction).findings
                throw Undo()
            }
        } catch is Undo {}
        return found
    }

    func value(_ table: Table, _ key: [UInt8]) throws -> [UInt8] {
        try environment.read { transaction in try transaction.get(table, key) } ?? []
    }

    /// Turns a bit of the block of sealed events that ends with one.
    func damageBlock(endingAt last: UInt64) throws {
        let table = environment.table("sealed")
        let key = Position(last).bigEndianBytes + [0, 0, 0, 0]
        var stored = try value(table, key)
        stored[stored.count / 2] ^= 1
        try environment.write { [stored] in try $0.put(table, key, stored) }
    }
}

/// An event that differs from number to number.
func sampleEvent(_ number: Int) -> Event {
    Event(
        .serverUpserted, recordedAt: Timestamp(microseconds: 1_000_000 + Int64(number)),
        key: EntityKey("tasks", "\(number)"), asOf: Position(UInt64(number)),
        revision: Revision("\"\(number)\""), json: Array(#"{"id":"\#(number)"}"#.utf8))
}

extension MerkleEdge {
    static func leaf(position: Position, header: [UInt8], payload: [UInt8]) -> Hash {
        leaf(
            position: position, header: header,
            payloadHash: EventFrame.Payload.inline(payload).hash)
    }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func bytes(hexadecimal text: String) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
