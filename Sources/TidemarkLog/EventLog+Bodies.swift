// EventLog+Bodies.swift — payloads and answers that are too long for the log's own table.
//
// A body lies in the table "bodies" once, however many events refer to it: its stored bytes
// (StoredBody.swift) in records of 3,900 bytes, the last one shorter. A record of that size just
// fits one page of 4 KiB. Its key is the SHA-256 of the body and the record's number from 0 on, 4
// bytes big-endian.

package import TidemarkEvents
package import TidemarkStore

extension EventLog {
    /// The longest payload that stands in the event's own frame, in bytes.
    package static let inlinePayloadBytesMax = 2_000
    /// The longest record of a body, in bytes.
    package static let bodyRecordBytesMax = 3_900

    /// Stores a body unless it is there already, and whole: a damaged one is stored anew.
    func store(
        _ body: [UInt8], as reference: BodyReference, _ transaction: borrowing WriteTransaction
    ) throws {
        let first = Self.recordKey(reference, 0)
        if try transaction.withValue(bodies, first, { _ in true }) != nil {
            do {
                _ = try self.body(reference, at: .start, transaction)
                return
            } catch let error as LogError {
                guard error.code == .corruptBody || error.code == .missingBody else { return }
                _ = try removeBody(reference.hash, transaction)
            }
        }
        let bytes = StoredBody.encode(body)
        var number: UInt32 = 0
        for start in stride(from: 0, to: bytes.count, by: Self.bodyRecordBytesMax) {
            let end = min(start + Self.bodyRecordBytesMax, bytes.count)
            try transaction.put(
                bodies, Self.recordKey(reference, number), Array(bytes[start..<end]))
            number += 1
        }
    }

    /// The body that a reference names, checked against its length and hash.
    ///
    /// - Parameter position: the event that refers to it; only for the error.
    /// - Throws: ``LogError``: `missingBody`, `corruptBody`, or `newerFormat` where a later version
    ///   stored it.
    package func body(
        _ reference: BodyReference, at position: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8] {
        let bytes = try records(reference, at: position, transaction)
        do { return try StoredBody.decode(bytes, as: reference) } catch {
            throw LogError(damage: error, to: reference, at: position)
        }
    }

    /// How many bytes a body takes in the store, but for its head; 0 where it is not there.
    func storedBytes(
        of reference: BodyReference, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Int {
        let record = try transaction.withValue(bodies, Self.recordKey(reference, 0)) { record in
            record.extracting(0..<min(record.count, StoredBody.headBytes)).copied()
        }
        guard let record, record.count == StoredBody.headBytes else { return 0 }
        // No body takes more than it is long, whatever a damaged head says.
        return Int(clamping: min(StoredBody.storedBytes(head: record), reference.bytes))
    }

    /// The records of a body, joined.
    private func records(
        _ reference: BodyReference, at position: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var number: UInt32 = 0
        try transaction.scan(bodies, from: nil, prefix: reference.hash, reversed: false) {
            key, record in
            guard key.copied() == Self.recordKey(reference, number) else {
                throw LogError(
                    number == 0 ? .missingBody : .corruptBody, at: position,
                    "body \(reference.digits): record \(number) is missing")
            }
            bytes += record.copied()
            number += 1
            return true
        }
        guard number > 0 else {
            throw LogError(
                .missingBody, at: position,
                "body \(reference.digits) of \(reference.bytes) bytes is not in the store")
        }
        return bytes
    }

    /// Removes all records of a body; returns how many bytes they had.
    func removeBody(_ hash: Hash, _ transaction: borrowing WriteTransaction) throws -> Int {
        var keys: [[UInt8]] = []
        var bytes = 0
        try transaction.scan(bodies, from: nil, prefix: hash, reversed: false) { key, record in
            keys.append(key.copied())
            bytes += record.count
            return true
        }
        for key in keys { try transaction.delete(bodies, key) }
        return bytes
    }

    private static func recordKey(_ reference: BodyReference, _ number: UInt32) -> [UInt8] {
        reference.hash + (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
