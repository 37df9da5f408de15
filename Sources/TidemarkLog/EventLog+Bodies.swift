// EventLog+Bodies.swift — payloads and answers that are too long for the log's own table.
//
// A body lies in the table "bodies" once, whoever refers to it. It is this, in records of 3,900
// bytes, the last one shorter:
//
//   offset  width  field        notes
//        0      1  format       1
//        1      1  encoding     0 as it came, 1 one zstd frame with its content size
//        2      8  bytes        the body's length, little-endian
//       10      8  storedBytes  how much follows, little-endian
//       18      …  stored
//
// The key of a record is the SHA-256 of the body and the record's number from 0 on, 4 bytes
// big-endian. A record of that size just fits one page of 4 KiB.

package import TidemarkEvents
package import TidemarkStore

extension EventLog {
    /// The longest payload that stands in the event's own frame, in bytes.
    package static let inlinePayloadBytesMax = 2_000
    /// The longest record of a body, in bytes.
    package static let bodyRecordBytesMax = 3_900

    private static let headBytes = 18

    /// Stores a body unless it is there already.
    ///
    /// Compressed where that saves a tenth or more.
    func store(
        _ body: [UInt8], as reference: BodyReference, _ transaction: borrowing WriteTransaction
    ) throws {
        let first = Self.recordKey(reference, 0)
        guard try transaction.withValue(bodies, first, { _ in true }) == nil else { return }
        let frame = (try? Zstd.compress(body)) ?? body
        let gains = frame.count * 10 <= body.count * 9
        let stored = gains ? frame : body

        var bytes: [UInt8] = [1, gains ? 1 : 0]
        bytes.reserveCapacity(Self.headBytes + stored.count)
        for length in [body.count, stored.count] {
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
        }
        bytes += stored
        for (number, start) in stride(
            from: 0, to: bytes.count, by: Self.bodyRecordBytesMax
        ).enumerated() {
            let end = min(start + Self.bodyRecordBytesMax, bytes.count)
            let key = Self.recordKey(reference, UInt32(number))
            try transaction.put(bodies, key, Array(bytes[start..<end]))
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
        func corrupt(_ detail: String) -> LogError {
            LogError(.corruptBody, at: position, "body \(reference.digits): \(detail)")
        }
        guard bytes.count >= Self.headBytes else { throw corrupt("its head is cut off") }
        guard bytes[0] == 1, bytes[1] <= 1 else {
            throw LogError(
                .newerFormat, at: position,
                "body \(reference.digits): format \(bytes[0]), encoding \(bytes[1]) are not known "
                    + "to this version; use a newer tidemark")
        }
        let length = Self.length(bytes, at: 2)
        guard length == reference.bytes, let bytesMax = Int(exactly: length) else {
            throw corrupt("its head says \(length) bytes, the event \(reference.bytes)")
        }
        guard Self.length(bytes, at: 10) == UInt64(bytes.count - Self.headBytes) else {
            throw corrupt(
                "\(bytes.count - Self.headBytes) bytes are stored, not as many as its "
                    + "head says")
        }
        var body = Array(bytes[Self.headBytes...])
        if bytes[1] == 1 {
            do { body = try Zstd.decompress(body, bytesMax: bytesMax) } catch {
                throw corrupt("\(error)")
            }
        }
        guard BodyReference(to: body) == reference else {
            throw corrupt("its length or hash differs")
        }
        return body
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

    private static func recordKey(_ reference: BodyReference, _ number: UInt32) -> [UInt8] {
        reference.hash + (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func length(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
    }
}
