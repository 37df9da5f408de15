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
                if isFree { return }
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
            if let write = nextWrite(state) { now = write.sentAt }
            if state.isFree {
                now = now.adding(seconds: state.slept.components.seconds + 1)
                return Moment(now: now, bootID: run.begun.bootID, uptime: uptime(at: now))
            }
            if let sent = unasked(state).map(\.read.sentAt).min() { now = min(now, sent) }
            if isLast(state), unasked(state).isEmpty {
                if let sent = quietTime(state) { now = sent }
                if state.isEnding || quietTime(state) == nil,
                    let uptime = run.ending?.uptime
                {
                    return Moment(now: now, bootID: run.begun.bootID, uptime: uptime)
                }
            }
            return Moment(now: now, bootID: run.begun.bootID, uptime: uptime(at: now))
        }
    }

    func uptime(at now: Timestamp) -> Int64 {
        // What a stranger wrote may lie anywhere.
        run.begun.uptime &+ (now.rawValue &- run.begun.now.rawValue)
    }

    /// When the next request was sent of which the log says nothing else.
    func quietTime(_ state: State) -> Timestamp? {
        state.quiet < run.quietTimes.count ? run.quietTimes[state.quiet] : nil
    }
}
