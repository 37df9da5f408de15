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
                if isFree || self.waits(duration) { return }
                guard self.run.finished != nil else {
                    if self.state.withLock({ self.isThrough($0) }) {
                        throw self.stop(RedecideStop.recordEnds)
                    }
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

    /// The wall clock of the next recorded event, and the run's own clock, which nobody sets, at
    /// its next decision.
    ///
    /// Without a boot's id the run went by the wall clock at that decision.
    private var moment: Moment {
        state.withLock { state in
            guard state.hasBegun else { return run.begun }
            let now = commit(state)?.first?.event.recordedAt ?? run.begun.now
            if state.isFree {
                let later = now.adding(seconds: state.slept.components.seconds + 1)
                return Moment(now: later, bootID: run.begun.bootID, uptime: uptime(at: later))
            }
            var moment = Moment(now: now, bootID: run.begun.bootID, uptime: uptime(state))
            if moment.bootID.isEmpty { moment.now = self.now(at: moment.uptime) }
            return moment
        }
    }

    /// - Parameter now: a time by the clock of the run's limits.
    func uptime(at now: Timestamp) -> Int64 {
        // A stranger's capsule may hold any time.
        run.begun.uptime &+ (now.rawValue &- run.begun.now.rawValue)
    }

    /// A time by the clock of the run's limits.
    private func now(at uptime: Int64) -> Timestamp {
        Timestamp(rawValue: run.begun.now.rawValue &+ (uptime &- run.begun.uptime))
    }

    /// When the run's next decision was made: that of the next request or event with a time, unless
    /// an answer came before it, until which nothing more was sent.
    private func uptime(_ state: State) -> Int64 {
        let read = unasked(state).map(\.read).min { ($0.sentAt, $0.asOf) < ($1.sentAt, $1.asOf) }
        let sent = read.map { uptime(at: $0.sentAt) }
        if isLast(state), sent == nil, let end = run.ending?.uptime { return end }
        var sentAt = notedUptime(state)
        var (waitsFrom, isInCommit) = (sentAt, sentAt != nil)
        if sentAt == nil, let write = nextWrite(state) {
            let writtenAt = uptime(at: write.sentAt)
            // Until the engine has waited for it, the clock shows the time before the wait.
            (sentAt, waitsFrom) = (writtenAt, writtenAt &- left(before: write, state))
            isInCommit = isNext(write, state)
        }
        guard let next = [sent, waitsFrom].compactMap(\.self).min() else { return state.uptime }
        // Its own time is compared.
        if isInCommit, let sentAt, sent.map({ sentAt <= $0 }) ?? true { return next }
        return isAwaited(before: next, read, state) ? state.uptime : next
    }

    /// Whether the run waited for an answer before it sent more.
    ///
    /// - Parameters:
    ///   - next: when more was sent.
    ///   - read: the next read.
    private func isAwaited(before next: Int64, _ read: RecordedRead?, _ state: State) -> Bool {
        let came = state.open.map { run.reads[$0] }.filter {
            ($0.cameAt ?? uptime(at: $0.sentAt)) <= next
        }
        // All answers are taken before a write is sent.
        guard let read, let last = commit(state)?.last?.position, read.asOf < last else {
            return !came.isEmpty
        }
        // The read was decided before the next commit: an answer that this one is about lay there
        // unread, so that only one without news can have been waited for. Those before the run's
        // first news are logged with it.
        let news = commit(state)?.last { $0.event.kind == .requestSent }?.position ?? last
        return !came.isEmpty && came.allSatisfy { $0.sent.map { $0.position < news } ?? true }
    }

    /// When the run's next commit was decided, where it is that of a timer.
    private func notedUptime(_ state: State) -> Int64? {
        commit(state)?.first { $0.event.kind == .timerFired }?.event.uptime
    }

    private func isNext(_ write: RecordedWrite, _ state: State) -> Bool {
        commit(state)?.last.map { write.position <= $0.position } == true
    }

    /// How long the run still waits before a write, in microseconds.
    private func left(before write: RecordedWrite, _ state: State) -> Int64 {
        max(0, write.waited &- (state.waitedFor == write.position ? state.waited : 0))
    }

    /// A rest of a wait that is no wait of its own: by so much a sleep may end late.
    private static let latenessMaxMicroseconds: Int64 = 20_000

    /// Whether the recorded run may have waited here, too: before its next write, or where it sent
    /// nothing more.
    private func waits(_ duration: Duration) -> Bool {
        state.withLock { state in
            let reads = unasked(state).map(\.read)
            guard let write = nextWrite(state) else {
                guard reads.isEmpty, run.finished != nil, commit(state) != nil,
                    !isLast(state) || run.ending?.uptime == nil
                else { return false }
                state.uptime &+= duration.wholeMicroseconds
                return true
            }
            let rest = left(before: write, state)
            guard rest > 0, !reads.contains(where: { $0.sentAt < write.sentAt }) else {
                return false
            }
            if state.waitedFor != write.position { (state.waitedFor, state.waited) = (nil, 0) }
            // Amid the waits before it others were decided. A sleep takes a little longer than
            // asked: a shorter rest is no wait of its own.
            let asked = duration.wholeMicroseconds
            let isWhole = isNext(write, state) || rest &- asked < Self.latenessMaxMicroseconds
            let waited = isWhole ? rest : min(rest, asked)
            state.waited += waited
            state.waitedFor = write.position
            state.pass(to: uptime(at: write.sentAt) &- (rest - waited))
            return true
        }
    }
}

extension RedecideHost.State {
    /// Notes that so much of the run's time is over.
    mutating func pass(to uptime: Int64) { self.uptime = max(self.uptime, uptime) }
}
