// CrashPace.swift — when a process dies, counted in what it has done and not in what a clock says:
// on a slow machine it has come as far as on a fast one.

import Foundation
import Synchronization

/// Counts the steps of some work, and kills the process so long after one of them.
final class CrashPace: Sendable {
    private let steps: Int
    private let thousandths: Int
    private let begun = ContinuousClock.now
    private let state: Mutex<(done: Int, since: ContinuousClock.Instant)>

    /// - Parameters:
    ///   - steps: how many are done when the end is near; with 0 it is as soon as they begin.
    ///   - thousandths: how much longer the process lives then, in thousandths of the time that one
    ///     of them took, or that it took until they began; with 0 not at all.
    init(steps: Int, thousandths: Int) {
        self.steps = steps
        self.thousandths = thousandths
        state = Mutex((0, begun))
    }

    /// Takes note that the work begins.
    func begin() {
        let now = ContinuousClock.now
        state.withLock { $0.since = now }
        if steps == 0 { end(now - begun) }
    }

    /// Takes note that a step is done.
    func stepDone() {
        let since = state.withLock { state in
            state.done += 1
            return state.done == steps ? state.since : nil
        }
        if let since { end((ContinuousClock.now - since) / steps) }
    }

    private func end(_ stepTime: Duration) {
        guard thousandths > 0 else {
            kill(getpid(), SIGKILL)
            return
        }
        let (seconds, attoseconds) = (stepTime * thousandths / 1000).components
        CrashChild.die(after: Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
    }
}
