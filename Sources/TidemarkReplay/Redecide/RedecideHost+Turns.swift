// RedecideHost+Turns.swift — several lists that were asked for at once: their answers are given
// over in the order in which they came.

import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync

extension RedecideHost {
    /// Lets go of the answer that came next, and waits for it: each has overtaken as many as it was
    /// recorded to.
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

    /// Returns when it is an answer's turn, or nobody waits for it any more.
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
