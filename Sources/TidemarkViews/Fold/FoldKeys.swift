// FoldKeys.swift — which writes were made under an idempotency key, and for how long that is known.
//
//   'k' 0            the queue: number of the oldest key, number of the next, what was forgotten
//   'k' 1 number     a key, in the order they came
//   'k' 2 key        the event that carried it
//
// A key that has expired is forgotten when a later one comes, the oldest first, two at a time; so
// the queue shrinks as fast as it grows and no write pays for many.

package import TidemarkEvents

/// The first and the next number of the queue, and the time before which keys were forgotten.
private struct KeyQueue {
    var oldest: UInt64 = 1
    var next: UInt64 = 1
    var forgottenUpTo = Timestamp(rawValue: 0)

    init() {}

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, oldest)
        writer.varint(2, next)
        writer.signed(3, forgottenUpTo.rawValue)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: oldest = try field.unsigned()
            case 2: next = try field.unsigned()
            case 3: forgottenUpTo = Timestamp(rawValue: try field.signed())
            default: continue
            }
        }
    }
}

/// The outcome of a write under an idempotency key.
package enum KeyedWrite: Sendable, Hashable {
    /// Nothing was written under it.
    case new
    /// It was made, in the commit with this event.
    case made(Position)
    /// The key has expired: the outcome is not known.
    case expired
}

extension Fold {
    private static let forgottenAtOnce = 2

    /// Whether a write was made under a key, asked at a time.
    package func write(under key: IdempotencyKey, at now: Timestamp) throws -> KeyedWrite {
        if let bytes = try get(.writeKey(key.bytes)),
            let position = Position(bigEndianBytes: bytes)
        {
            return .made(position)
        }
        let queue = try queue()
        return key.isExpired(at: now) || key.madeAt <= queue.forgottenUpTo ? .expired : .new
    }

    /// Remembers the key that an event carries.
    func noteKey(_ event: Event, _ position: Position) throws {
        guard let bytes = event.idempotencyKey, try get(.writeKey(bytes)) == nil,
            IdempotencyKey(bytes: bytes) != nil
        else { return }
        var queue = try queue()
        for _ in 0..<Self.forgottenAtOnce where queue.oldest < queue.next {
            guard let oldest = try get(.queuedKey(queue.oldest)),
                let key = IdempotencyKey(bytes: oldest), key.isExpired(at: event.recordedAt)
            else { break }
            put(.queuedKey(queue.oldest), nil)
            put(.writeKey(oldest), nil)
            queue.oldest += 1
            queue.forgottenUpTo = max(queue.forgottenUpTo, key.madeAt)
        }
        put(.queuedKey(queue.next), bytes)
        put(.writeKey(bytes), position.bigEndianBytes)
        queue.next += 1
        put(.keyQueue, queue.encoded)
    }

    private func queue() throws -> KeyQueue {
        try get(.keyQueue).map { try KeyQueue(parsing: $0) } ?? KeyQueue()
    }
}
