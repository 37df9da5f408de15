// FoldClock.swift — the server's clock, as the answers of the server showed it.

package import TidemarkEvents
package import TidemarkRules

extension RunStart {
    /// When the run began, by both clocks of the device; nil where it does not say.
    var moment: Moment? {
        guard let begunAt, let bootID, let uptime else { return nil }
        return Moment(now: begunAt, bootID: bootID, uptime: uptime)
    }

    /// The sighting of the server's clock in an answer that came at an uptime of the device.
    fileprivate func sighting(_ date: Timestamp, at uptime: Int64) -> ClockSighting? {
        moment.map { ClockSighting(date, begun: $0, uptime: uptime) }
    }
}

extension ClockSighting {
    /// The sighting of the server's clock in a run that began at a moment.
    package init(_ date: Timestamp, begun: Moment, uptime: Int64) {
        let now = begun.now.adding(from: begun.uptime, to: uptime)
        self.init(date, at: Moment(now: now, bootID: begun.bootID, uptime: uptime))
    }
}

extension RowReading {
    /// Whether the server's time is in doubt.
    ///
    /// Until that is settled nothing is pruned, taken for absent or stamped with a time.
    package func isTimeInDoubt() throws -> Bool { try serverClock()?.isInDoubt ?? false }

    /// What the server's clock shows; nil before it was ever seen.
    ///
    /// Never earlier than what a local event was stamped with, unless that proved wrong.
    ///
    /// - Parameters:
    ///   - now: what the device's clock shows.
    ///   - bootID: the boot that the device is in.
    ///   - uptime: microseconds since it began.
    package func serverNow(_ now: Timestamp, bootID: String, uptime: Int64) throws -> Timestamp? {
        try serverClock()?.time(at: Moment(now: now, bootID: bootID, uptime: uptime))
    }
}

extension Fold {
    /// What the server's clock is believed to show; nil before it was ever seen.
    package func serverClock() throws -> ServerClock? {
        if let known = cache.clock { return known }
        let clock = try get(.clock).map { try ServerClock(parsing: $0) }
        cache.clock = .some(clock)
        return clock
    }

    private func put(_ clock: ServerClock) {
        put(.clock, clock.encoded)
        cache.clock = clock
    }

    /// "Now" for the consequences of an event: of a sync run, the server's time at its start; of an
    /// edit, its own time.
    func ruleTime(_ event: Event) throws -> Timestamp {
        guard let start = event.sync, let bytes = try get(.syncRun(start)) else {
            return try editTime(event) ?? event.recordedAt
        }
        let run = try SyncRunRow(parsing: bytes)
        return run.serverTime ?? RunStart(stored: run.started).begunAt ?? run.startedAt
    }

    // MARK: Times that were logged

    /// Whether a logged time of a run was believed then.
    func believes(_ time: Timestamp, of event: Event) throws -> Bool {
        try believes(time, begun: started(event)?.run.moment)
    }

    /// Whether a time may be used for decisions, in a run that began at a moment.
    package func believes(_ time: Timestamp, begun: Moment?) throws -> Bool {
        try serverClock()?.believes(time, after: begun) ?? true
    }

    /// Whether a boot goes by more than the device's clock; of one that is not known that is not
    /// asked.
    package func isHeard(in bootID: String?) throws -> Bool {
        guard let bootID else { return true }
        return try serverClock()?.isHeard(in: bootID) ?? true
    }

    /// When an edit was made, by the server's clock: its stamp, unless that was never believed.
    func editTime(_ event: Event) throws -> Timestamp? {
        guard let stamp = event.serverTime, let clock = try serverClock() else {
            return event.serverTime
        }
        // Without the time since the boot only the device's clock tells, which people set.
        let moment = Moment(
            now: event.recordedAt, bootID: event.uptime == nil ? "" : event.bootID ?? clock.bootID,
            uptime: event.uptime ?? 0)
        guard let time = clock.time(at: moment) else { return stamp }
        let slack =
            event.uptime == nil
            ? ServerClock.deviceSlack : ServerClock.slack(isSameBoot: true, after: 0)
        return stamp.distance(to: time).magnitude <= slack.magnitude ? stamp : time
    }

    /// The name of a boot, unless it was named last.
    package func unnamed(_ bootID: String) throws -> String? {
        try serverClock()?.bootID == bootID ? nil : bootID
    }

    /// Notes the time and the boot of an edit, so that no earlier time is given out.
    func noteGiven(_ event: Event, _ time: Timestamp?, _ position: Position) throws {
        var clock = try serverClock() ?? ServerClock()
        let before = clock
        if let bootID = event.bootID { clock.bootID = bootID }
        if let uptime = event.uptime {
            let moment = Moment(now: event.recordedAt, bootID: clock.bootID, uptime: uptime)
            clock.noteStamp(at: moment, position)
        }
        if let time, clock.course != nil { clock.given = max(time, clock.given ?? time) }
        if clock != before { put(clock) }
    }

    // MARK: Answers

    /// Notes the server's clock in an answer.
    func noteClock(_ event: Event, _ answer: RequestAnswered, _ position: Position) throws {
        guard let date = answer.serverTime, let uptime = answer.uptime,
            let sighting = try started(event)?.run.sighting(date, at: uptime)
        else { return }
        try see(sighting, event, position)
    }

    /// Notes the server's clock in the only event of a run without news.
    func noteIdleClock(_ event: Event, _ end: SyncFinished, _ position: Position) throws {
        guard let date = end.serverTime, let uptime = end.answerUptime,
            let sighting = end.run.sighting(date, at: uptime)
        else { return }
        try see(sighting, event, position)
    }

    private func see(_ sighting: ClockSighting, _ event: Event, _ position: Position) throws {
        let before = try serverClock() ?? ServerClock()
        var clock = before
        let correction = clock.see(sighting, at: position)
        put(clock)
        isDoubtOver = before.isInDoubt && !clock.isInDoubt
        if correction != nil || before.course == nil { try noteStart(clock, event) }
        if let correction { try takeBack(correction, clock, position) }
    }

    /// The time that a run uses from its beginning, where its first answers settle it.
    private func noteStart(_ clock: ServerClock, _ event: Event) throws {
        guard let start = event.sync, let begun = try started(event)?.run.moment,
            let bytes = try get(.syncRun(start))
        else { return }
        var row = try SyncRunRow(parsing: bytes)
        row.serverTime = clock.time(at: begun)
        put(.syncRun(start), row.encoded)
    }
}
