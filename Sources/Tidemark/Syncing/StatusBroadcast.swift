// StatusBroadcast.swift — one sender, any number of listeners; each first gets the current status.

import TidemarkEvents
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

        /// The log's last position when what waits was counted.
        var countedAt = Position.start

        /// Changes the status, and tells all listeners; counts older than those told are not.
        ///
        /// It is called under the lock, so that all see the same order; yielding never waits.
        mutating func change(
            _ counted: CountedOutbox?, _ change: (inout EngineStatus) -> Void = { _ in }
        ) {
            let before = current
            change(&current)
            if let counted, counted.position >= countedAt {
                countedAt = counted.position
                current.set(counted.counts)
            }
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
    /// - Parameter counted: what waits now; where that is news it is told to all.
    func subscribe(_ counted: CountedOutbox?) -> AsyncStream<EngineStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineStatus.self, bufferingPolicy: .bufferingNewest(256))
        let number = state.withLock { state in
            state.change(counted)
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
    ///
    /// - Parameter counted: what waits, where it was counted.
    func send(_ counted: CountedOutbox? = nil, _ change: (inout EngineStatus) -> Void) {
        state.withLock { $0.change(counted, change) }
    }
}

/// What waits in the outbox, counted at a position of the log.
struct CountedOutbox: Sendable {
    var counts: OutboxCounts
    var position: Position

    init(_ views: ViewReader) throws {
        counts = try OutboxCounts(views)
        position = views.last
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
