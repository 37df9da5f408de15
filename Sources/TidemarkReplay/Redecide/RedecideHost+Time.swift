// RedecideHost+Time.swift — the clocks of a run that is decided once more: they say what was
// recorded.

import TidemarkCapsule
import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkSync

extension RedecideHost {
    /// Clock and randomness as they were recorded.
    var dependencies: Dependencies {
        Dependencies(
            now: { self.moment.now }, makeID: { "" }, random: { self.run.seed },
            uptime: {
                let moment = self.moment
                return Uptime(bootID: moment.bootID, microseconds: moment.uptime)
            },
            sleep: { duration in
                let isFree = self.state.withLock { state in
                    if state.isFree { state.slept += duration }
                    return state.isFree
                }
                if isFree || self.waits() { return }
                guard self.run.finished != nil else {
                    // When it asked for what was never answered, the record does not say.
                    let place = self.following?.position ?? self.run.first.position
                    throw self.stop(
                        RedecideStop.notDecided(place, "the run was cut off before its end"))
                }
                // What was recorded had no need to wait.
                throw self.stop(self.comparison.instead("waits for \(duration)", self.following))
            })
    }

    /// The time of what was recorded next.
    private var moment: Moment {
        state.withLock { state in
            guard state.hasBegun else { return run.begun }
            var now = commit(state)?.first?.event.recordedAt ?? run.begun.now
            if let write = nextWrite(state) {
                now = write.sentAt
                // As long as that was waited for, it is not that time yet.
                let waited = state.waitedFor == write.position ? 0 : write.waited
                now = Timestamp(rawValue: now.rawValue &- waited)
            }
            if state.isFree {
                now = now.adding(seconds: state.slept.components.seconds + 1)
                return Moment(now: now, bootID: run.begun.bootID, uptime: uptime(at: now))
            }
            if let sent = unasked(state).map(\.read.sentAt).min() { now = min(now, sent) }
            if isLast(state), unasked(state).isEmpty, let uptime = run.ending?.uptime {
                return Moment(now: now, bootID: run.begun.bootID, uptime: uptime)
            }
            return Moment(now: now, bootID: run.begun.bootID, uptime: uptime(at: now))
        }
    }

    func uptime(at now: Timestamp) -> Int64 {
        // What a stranger wrote may lie anywhere.
        run.begun.uptime &+ (now.rawValue &- run.begun.now.rawValue)
    }

    /// Whether what is to be sent next was waited for then, too.
    private func waits() -> Bool {
        state.withLock { state in
            guard let write = nextWrite(state), write.waited > 0,
                state.waitedFor != write.position
            else { return false }
            state.waitedFor = write.position
            return true
        }
    }
}
