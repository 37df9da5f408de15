// RedecideHost+Turns.swift — several lists that were asked for at once: their answers are given
// over in the order in which they came.

import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
import TidemarkSync

extension RedecideHost {
    /// Takes note that a list is asked for before its turn.
    func takeTurn(_ read: RecordedRead?) -> Int {
        let overtook = read?.answered.event.answerNote.overtook ?? 0
        return state.withLock { state in
            state.turns += 1
            state.open.append((state.turns, overtook))
            return state.turns
        }
    }

    /// Lets go of the answer that came next: each has overtaken as many as it was recorded to.
    func willTake() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            let place = state.open.indices.last { state.open[$0].overtook == $0 }
            guard !state.open.isEmpty else { return nil }
            let turn = state.open.remove(at: place ?? 0).turn
            state.released.insert(turn)
            return state.waiters.removeValue(forKey: turn)
        }
        waiter?.resume()
    }

    /// Returns when it is an answer's turn, or nobody waits for it any more.
    func release(of turn: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.released.contains(turn) || state.stop != nil { return true }
                    state.waiters[turn] = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.released.insert(turn)
                return state.waiters.removeValue(forKey: turn)
            }
            waiter?.resume()
        }
    }

    /// Before a write as long as was recorded, so that it is decided anew.
    func waited(_ waited: Int64, for step: SyncStep) -> Int64 {
        guard case .push = step else { return 0 }
        return state.withLock { state in
            guard let write = nextWrite(state), state.waits.insert(write.position).inserted
            else { return 0 }
            return write.waited
        }
    }
}
