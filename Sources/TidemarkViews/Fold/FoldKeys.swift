// FoldKeys.swift — which writes were made under an idempotency key, and for how long that is known.
//
//   'k' 0            the queue: number of the oldest key, number of the next, what was forgotten
//   'k' 1 number     a key, in the order they came
//   'k' 2 key        the event that carried it
//
// A key that has expired is forgotten when a later one comes, the oldest first, two at a time; so
// the queue shrinks as fast as it grows and no write pays for many. One whose time is to come, as
// the device's clock was ahead, goes to the end of the queue, so that others don't wait for it.
//
// By a right clock what was forgotten is older than any key that counts, and the times up to which
// keys were forgotten matter only once the clock goes back. Of a clock that was ahead they say
// nothing until then.

package import TidemarkEvents

/// The first and the next number of the queue, and the time before which keys were forgotten.
private struct KeyQueue {
    var oldest: UInt64 = 1
    var next: UInt64 = 1
    var forgottenUpTo = Timestamp(rawValue: 0)
    /// The same of the keys before one that was made much later than all before it.
    var earlierUpTo = Timestamp(rawValue: 0)

    init() {}

    /// Notes that a key was forgotten.
    mutating func forget(_ key: IdempotencyKey) {
        if key.madeAt <= forgottenUpTo {
            earlierUpTo = max(earlierUpTo, key.madeAt)
            return
        }
        // Only a clock that was wrong, or a long silence, lies between them.
        let lifetime = IdempotencyKey.daysValid * 86_400
        if forgottenUpTo.adding(seconds: lifetime) < key.madeAt { earlierUpTo = forgottenUpTo }
        forgottenUpTo = key.madeAt
    }

    /// The time up to which keys were forgotten, as far as the clock shows now that it was right.
    func forgottenUpTo(at now: Timestamp) -> Timestamp {
        let times = [forgottenUpTo, earlierUpTo]
        return times.first { $0 <= now } ?? Timestamp(rawValue: 0)
    }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, oldest)
        writer.varint(2, next)
        writer.signed(3, forgottenUpTo.rawValue)
        writer.signed(4, earlierUpTo.rawValue)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            // Both are counted on: the row of a stranger's capsule may say any number.
            case 1: oldest = min(try field.unsigned(), 1 << 62)
            case 2: next = min(try field.unsigned(), 1 << 62)
            case 3: forgottenUpTo = Timestamp(rawValue: try field.signed())
            case 4: earlierUpTo = Timestamp(rawValue: try field.signed())
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
        let forgottenUpTo = try queue().forgottenUpTo(at: now)
        return key.isExpired(at: now) || key.madeAt <= forgottenUpTo ? .expired : .new
    }

    /// Remembers the key that an event carries.
    func noteKey(_ event: Event, _ position: Position) throws {
        guard let bytes = event.idempotencyKey, try get(.writeKey(bytes)) == nil,
            IdempotencyKey(bytes: bytes) != nil
        else { return }
        var queue = try queue()
        for _ in 0..<Self.forgottenAtOnce where queue.oldest < queue.next {
            guard let oldest = try get(.queuedKey(queue.oldest)),
                let key = IdempotencyKey(bytes: oldest)
            else { break }
            let isAhead = key.madeAt > event.recordedAt
            guard isAhead || key.isExpired(at: event.recordedAt) else { break }
            put(.queuedKey(queue.oldest), nil)
            queue.oldest += 1
            if isAhead {
                put(.queuedKey(queue.next), oldest)
                queue.next += 1
            } else {
                put(.writeKey(oldest), nil)
                queue.forget(key)
            }
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
