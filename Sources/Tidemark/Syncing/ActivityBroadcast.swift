// ActivityBroadcast.swift — tells every listener everything that happens from then on.

import TidemarkEvents
import TidemarkStore
import TidemarkSync

/// Sends each activity to every listener, in one order.
///
/// What a listener has not read yet is kept for it, however much it is: sending never waits, and
/// nobody misses anything.
final class ActivityBroadcast: Sendable {
    private struct State {
        /// How many requests are open.
        var open = 0
        /// Whether a run has begun and not ended.
        var isRunning = false
        var next = 0
        var listeners: [(number: Int, listener: AsyncStream<SyncActivity>.Continuation)] = []

        // Under the lock, so that all listeners see the same order; yielding never waits.
        func send(_ activity: SyncActivity) {
            for (_, listener) in listeners { listener.yield(activity) }
        }
    }
    private let state = Lock(State())

    // Who still listens has heard all there is.
    deinit {
        for (_, listener) in state.withLock(\.listeners) { listener.finish() }
    }

    /// A listener's stream, from now on.
    func subscribe() -> AsyncStream<SyncActivity> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SyncActivity.self, bufferingPolicy: .unbounded)
        let number = state.withLock { state in
            state.next += 1
            state.listeners.append((state.next, continuation))
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { state in state.listeners.removeAll { $0.number == number } }
        }
        return stream
    }

    /// Tells what a run does.
    func send(_ activity: RunActivity) {
        state.withLock { state in
            switch activity {
            case .progress: break
            case .started(let triggers):
                state.isRunning = true
                state.send(.started(triggers))
            case .requestBegan:
                state.open += 1
                state.send(.requestBegan(open: state.open))
            case .requestEnded:
                state.open -= 1
                state.send(.requestEnded(open: state.open))
            case .applied(let page): state.send(.pageApplied(page))
            }
        }
    }

    /// Tells of a run's end; one that has not begun begins first.
    func end(_ triggers: [SyncTrigger], _ result: Result<SyncOutcome, TidemarkError>) {
        state.withLock { state in
            if !state.isRunning { state.send(.started(triggers)) }
            state.isRunning = false
            state.send(.finished(result))
        }
    }
}
