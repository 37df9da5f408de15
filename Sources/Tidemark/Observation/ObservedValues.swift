// ObservedValues.swift — a result that is read again whenever a commit may have changed it, as a
// sequence to be awaited.

/// A result as it is now, and then each time that it has changed: newer than the one before, and
/// different from it.
///
/// Whoever takes their time misses those between: the next one is the newest. Reading it blocks no
/// commit and no actor; while nobody awaits the next one, nothing is read.
///
/// It ends when the replica is closed or the awaiting task is cancelled. It throws
/// ``TidemarkError`` when an entity can't be decoded or the store fails, and has ended then.
///
/// Each `for` loop observes for itself, for as long as it goes on.
public struct ObservedValues<Value: Sendable>: AsyncSequence, Sendable {
    let source: ObservedSource<Value>

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: ObservedReader(source))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: ObservedReader<Value>

        /// Waits for the next result; the first one is there at once.
        public mutating func next() async throws -> Value? { try await reader.next() }

        /// Waits for the next result; the first one is there at once.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Value? {
            try await reader.next()
        }
    }
}
