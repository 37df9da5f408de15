// RedecideHost+Time.swift — the clocks of a run that is decided again: they show recorded times.

import TidemarkCapsule
import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkSync

extension RedecideHost {
    /// The recorded clock and randomness.
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
                    // For requests that were never answered, the log does not tell when they were
                    // sent.
                    let place = self.following?.position ?? self.run.first.position
                    throw self.stop(
                        RedecideStop.notDecided(place, "the run was cut off before its end"))
                }
                // The recorded run did not have to wait here.
                throw self.stop(self.comparison.instead("waits for \(duration)", self.following))
            })
    }

    /// The time of the next recorded event.
    private var moment: Moment {
        state.withLock { state in
            guard state.hasBegun else { return run.begun }
            var now = commit(state)?.first?.event.recordedAt ?? run.begun.now
            if let write = nextWrite(state) {
                now = write.sentAt
                // Until the engine has waited for this write, the clock shows the time before the
                // wait.
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
        // A stranger's capsule may hold any time.
        run.begun.uptime &+ (now.rawValue &- run.begun.now.rawValue)
    }

    /// Whether the recorded run also waited before the next write.
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
