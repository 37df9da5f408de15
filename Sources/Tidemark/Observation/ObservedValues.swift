// ObservedValues.swift — a result as an async sequence: it is read again whenever a commit may have
// changed it.

/// The current result, and then each changed one: newer than the one before, and different from it.
///
/// A slow consumer misses the results in between and gets the newest one next. Reading blocks no
/// commit and no actor; while nobody awaits the next result, nothing is read.
///
/// The sequence ends when the replica is closed or the awaiting task is cancelled. It throws
/// ``TidemarkError`` when an entity can't be decoded or the store fails, and what a read of the
/// app's own throws, as ``Replica/read(_:)`` does, and then ends.
///
/// Each `for` loop observes independently, for as long as it runs.
public struct ObservedValues<Value: Sendable>: AsyncSequence, Sendable {
    let source: ObservedSource<Value>

    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: ObservedReader(source))
    }

    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: ObservedReader<Value>

        /// Waits for the next result; the first one comes at once.
        public mutating func next() async throws -> Value? { try await reader.next() }

        /// Waits for the next result; the first one comes at once.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws -> Value? {
            try await reader.next()
        }
    }
}
