// StatusBroadcast.swift — one sender, any number of listeners; each first gets the current status.

import TidemarkStore
import TidemarkSync
import TidemarkViews

/// Sends each status to every listener; a slow listener misses only the oldest of many statuses,
/// and blocks nobody.
final class StatusBroadcast: Sendable {
    private struct State {
        var current = EngineStatus(.idle)
        var next = 0
        var listeners: [(number: Int, listener: AsyncStream<EngineStatus>.Continuation)] = []

        /// Changes the status, and tells all listeners, under the lock, so that all see the same
        /// order; yielding never waits.
        mutating func change(_ change: (inout EngineStatus) -> Void) {
            let before = current
            change(&current)
            guard current != before else { return }
            for (_, listener) in listeners { listener.yield(current) }
        }
    }
    private let state = Lock(State())

    // Who still listens has heard all there is.
    deinit {
        for (_, listener) in state.withLock(\.listeners) { listener.finish() }
    }

    /// The status that was sent last.
    var current: EngineStatus { state.withLock(\.current) }

    /// A listener's stream; its first element is the current status, with counts that may be newer.
    ///
    /// - Parameter counts: reads them, while nobody sends a status. Newer ones are told to all.
    func subscribe(_ counts: () -> OutboxCounts?) -> AsyncStream<EngineStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineStatus.self, bufferingPolicy: .bufferingNewest(256))
        let number = state.withLock { state in
            state.change { status in
                if let counts = counts() { status.set(counts) }
            }
            state.next += 1
            state.listeners.append((state.next, continuation))
            continuation.yield(state.current)
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.listeners.removeAll { $0.number == number } }
        }
        return stream
    }

    /// Sends a changed status to all listeners; an unchanged one is not sent.
    func send(_ change: (inout EngineStatus) -> Void) {
        state.withLock { $0.change(change) }
    }
}

extension EngineStatus {
    /// Adopts what is being sent.
    mutating func set(_ files: [SendingFiles.File]) {
        sending = files.map { Sending(sha256: $0.digest, sent: $0.sent, bytes: $0.bytes) }
    }

    /// Adopts the outbox counts.
    mutating func set(_ counts: OutboxCounts) {
        pending = counts.pending
        refused = counts.refused
        held = counts.held
    }
}
