// ChangeSignal.swift — a signal between one task that waits for a change and any that report one.

import TidemarkStore

/// A signal that is raised from the beginning: the initial state counts as the first change.
///
/// Raising it twice before it is seen has the effect of once.
final class ChangeSignal: Sendable {
    private enum State {
        case down
        case up
        case awaited(CheckedContinuation<Void, Never>)
    }
    private let state = Lock(State.up)

    /// Resumes the waiter, or lets the next one pass without waiting.
    func raise() {
        let waiter = state.withLock { state in
            if case .awaited(let waiter) = state {
                state = .down
                return waiter as CheckedContinuation<Void, Never>?
            }
            state = .up
            return nil
        }
        waiter?.resume()
    }

    /// Lowers the signal: the change is about to be seen.
    func lower() {
        state.withLock { state in
            if case .up = state { state = .down }
        }
    }

    /// Waits until the signal is raised, and lowers it; only one task may wait at a time.
    ///
    /// - Returns: false when the task was cancelled.
    func wait() async -> Bool {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let mayGoOn = state.withLock { state in
                    // A later cancellation finds the waiter here.
                    if case .down = state, !Task.isCancelled {
                        state = .awaited(waiter)
                        return false
                    }
                    state = .down
                    return true
                }
                if mayGoOn { waiter.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard case .awaited(let waiter) = state else {
                    return nil as CheckedContinuation<Void, Never>?
                }
                state = .down
                return waiter
            }
            waiter?.resume()
        }
        return !Task.isCancelled
    }
}
