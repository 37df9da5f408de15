// RedecideHost+Turns.swift — hands over the answers to parallel lists in the order in which they
// were recorded to arrive.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync

extension RedecideHost {
    /// Releases the answer that was recorded as the next to arrive, and waits for it.
    ///
    /// Each answer overtakes as many others as recorded.
    func next<Answered: Sendable>(
        of group: inout ThrowingTaskGroup<Answered, any Error>
    ) async throws -> Answered? {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let place = state.open.indices.last { run.reads[state.open[$0]].answer.overtook == $0 }
            guard !state.open.isEmpty else { return nil }
            let number = state.open.remove(at: place ?? 0)
            state.released.insert(number)
            return state.waiters.removeValue(forKey: number)
        }
        waiter?.resume()
        return try await group.next()
    }

    /// Waits until an answer is released, or nobody waits for it any more.
    func release(of number: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.released.contains(number) || state.stop != nil { return true }
                    state.waiters[number] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.released.insert(number)
                return state.waiters.removeValue(forKey: number)
            }
            waiter?.resume()
        }
    }
}
