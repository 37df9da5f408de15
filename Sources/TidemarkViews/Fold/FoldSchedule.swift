// FoldSchedule.swift — what answers and ends of sync runs say about when the next run may begin.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// An answer may ask not to be called for a while, or only where it is needed.
    func noteGates(_ event: Event, _ answer: RequestAnswered, _ position: Position) throws {
        guard answer.retryAfter != nil || answer.backoffSeconds != nil else { return }
        let since = try moment(event, uptime: answer.uptime)
        if let seconds = answer.retryAfter {
            let group = RequestGroup(parts: answer.quota)
            let place = group.map { RowKey.gate(.server, of: $0) } ?? .gate(.server)
            // Answers to requests that were on their way together come in any order.
            if try !asksForMore(place, since, seconds, event) {
                set(place, since, seconds, position)
            }
        }
        if let seconds = answer.backoffSeconds { set(.gate(.busy), since, seconds, position) }
    }

    /// Whether the server asked for a longer pause than of so many seconds in the same run; what it
    /// says in a later one is its word of then.
    private func asksForMore(
        _ place: RowKey, _ since: Moment, _ seconds: Int64, _ event: Event
    ) throws -> Bool {
        guard let run = event.sync, let known = try get(place).map({ try SyncGate(parsing: $0) }),
            known.position > run
        else { return false }
        return known.left(at: since) > Self.microseconds(seconds)
    }

    /// A request counts for the limits, unless it is part of another one.
    func noteRequest(_ event: Event, _ request: RequestSent) throws {
        let limits = try model().settings.limits
        guard !limits.isEmpty, event.cause == nil else { return }
        let group = RequestGroup(parts: request.group)
        try note([(request.sentAt ?? event.recordedAt, group)], limits, event)
    }

    /// Counts requests for the limits of all of them, and for those of their groups.
    private func note(
        _ requests: [(time: Timestamp, group: RequestGroup?)], _ limits: [RequestLimit],
        _ event: Event
    ) throws {
        try note(requests.map(\.time), limits.of(nil), .gate(RequestTimes.name), event)
        var noted: Set<RequestGroup> = []
        for case let group? in requests.map(\.group) where noted.insert(group).inserted {
            let own = requests.filter { $0.group == group }.map(\.time)
            try note(own, limits.of(group), .gate(RequestTimes.name, of: group), event)
        }
    }

    private func note(
        _ times: [Timestamp], _ limits: [RequestLimit], _ place: RowKey, _ event: Event
    ) throws {
        guard !limits.isEmpty else { return }
        var row = try get(place).map { try RequestTimes(parsing: $0) } ?? RequestTimes(times: [])
        let last = try times.max().flatMap { try sent($0, event) }
        // Those of before by the clock of now.
        if let last { row.times = row.times(at: last) }
        var window = RequestWindow(limits, row.times)
        for time in times { window.add(time) }
        row.times = window.times
        row.last = last
        put(place, row.encoded)
    }

    /// When a request of a run was sent, by both clocks, where the log tells.
    private func sent(_ time: Timestamp, _ event: Event) throws -> Moment? {
        guard let begun = try started(event)?.run.moment else { return nil }
        let passed = time.rawValue.subtractingReportingOverflow(begun.now.rawValue)
        let sum = begun.uptime.addingReportingOverflow(passed.partialValue)
        guard !passed.overflow, !sum.overflow else { return nil }
        return Moment(now: time, bootID: begun.bootID, uptime: sum.partialValue)
    }

    /// An attempt counts for the gate of its trigger; one of the user's, for every gate.
    func received(
        _ event: Event, _ attempt: TriggerReceived, _ position: Position
    ) throws {
        if event.bootID != nil { try noteGiven(event, nil, position) }
        guard let trigger = attempt.trigger else { return }
        let bootID = try event.bootID ?? serverClock()?.bootID ?? ""
        // A header does not hold a zero.
        let now = Moment(now: event.recordedAt, bootID: bootID, uptime: event.uptime ?? 0)
        for gate in try model().settings.gates
        where trigger == .userRequested || trigger == .named(gate.name) {
            // Those of before by the clock of now.
            let times = gate.adding(now.now, to: try attempts(gate, at: now))
            put(.attempts(gate.name), RequestTimes(times: times, last: now).encoded)
        }
    }

    /// New credentials end the pause for good, also where the run that has them does not learn
    /// whether they are accepted: until one does, a run of everything is owed.
    func noteBeginning(_ event: Event, _ run: RunStart, _ position: Position) throws {
        guard run.triggers.contains(.credentialsChanged), try get(.gate(.frozen)) != nil else {
            return
        }
        try clear(.frozen)
        if try backoff() == nil { oweRun(since: try beginning(event), position) }
    }

    /// A run that failed makes the next one wait; one of everything that went to its end makes
    /// nobody wait.
    func noteEnd(_ event: Event, _ end: SyncFinished, _ position: Position) throws {
        if !end.requestTimes.isEmpty {
            let limits = try model().settings.limits
            let groups = end.requestGroups.map { RequestGroup(parts: $0) }
            let requests = end.requestTimes.enumerated().map { index, time in
                (time, index < groups.count ? groups[index] : nil)
            }
            if !limits.isEmpty { try note(requests, limits, event) }
        }
        if !end.listed.isEmpty {
            // What changed while the run went on is listed later.
            let gate = SyncGate(
                since: try beginning(event), microseconds: 0, position: position)
            for name in end.listed { put(.listedAt(CollectionName(name)), gate.encoded) }
        }
        if let seconds = end.backoffSeconds {
            set(.gate(.busy), try moment(event, uptime: end.uptime), seconds, position)
        }
        let scope = try started(event)?.run.scope
        switch RunEffect(end) {
        case .none: break
        // Who asked for nothing learnt nothing of the server.
        case .clears where end.requests <= 0 && scope != .all: break
        case .clears:
            try settleFailingLists(event, end, position)
            let before = try backoff()
            let isFrozen = try get(.gate(.frozen)) != nil
            try clear(.frozen)
            if scope ?? .all == .all {
                try clear(.backoff)
            } else if isFrozen || before.map({ $0.failures > 0 }) == true {
                // The server can be had, and all else that failed is still to be done.
                let since = try moment(event, uptime: end.uptime)
                oweRun(since: since, asked: before?.asked ?? .start, position)
            }
        case .freezes:
            try clear(.backoff)
            let gate = SyncGate(
                since: try moment(event, uptime: end.uptime), microseconds: 0,
                reason: end.outcome?.word ?? "",
                position: position)
            put(.gate(.frozen), gate.encoded)
        // Who gets no answer does not know whether the credentials are accepted by now.
        case .backsOff: try backOff(event, end, position, isFailure: true)
        case .waits:
            if try !isWaiting(event, end) { try backOff(event, end, position, isFailure: true) }
        case .waitsAgain:
            if try backoff() != nil, try !isWaiting(event, end) {
                try backOff(event, end, position, isFailure: false)
            }
        }
    }

    private func backoff() throws -> SyncGate? {
        try get(.gate(.backoff)).map { try SyncGate(parsing: $0) }
    }

    /// Whether a run ended while an earlier one made it wait.
    private func isWaiting(_ event: Event, _ end: SyncFinished) throws -> Bool {
        let since = try moment(event, uptime: end.uptime)
        return try backoff().map { $0.left(at: since) > 0 } ?? false
    }

    /// Has a run of everything be made as soon as nothing else prevents it.
    private func oweRun(since: Moment, asked: Position = .start, _ position: Position) {
        var gate = SyncGate(since: since, microseconds: 0, position: position)
        gate.asked = asked
        put(.gate(.backoff), gate.encoded)
    }

    /// The run that an event ends, where it was to make also the lists that are not old enough.
    private func asked(_ event: Event, _ position: Position) throws -> Position? {
        guard let run = try started(event)?.run, run.scope == .all,
            !run.triggers.allSatisfy(\.isRoutine)
        else { return nil }
        return event.sync ?? position
    }

    /// Makes automatic runs wait for a while after the end of one.
    ///
    /// - Parameter isFailure: whether it counts as one that failed more; else what has waited waits
    ///   as long again.
    private func backOff(
        _ event: Event, _ end: SyncFinished, _ position: Position, isFailure: Bool
    ) throws {
        let since = try moment(event, uptime: end.uptime)
        let before = try backoff()
        let known = min(before?.failures ?? 0, Int(Int32.max))
        let failures = isFailure ? known + 1 : max(1, known)
        let settings = try model().settings
        var gate = SyncGate(
            since: since,
            microseconds: BackoffRule.microseconds(
                failures: failures, seed: try started(event)?.seed ?? 0,
                secondsMin: settings.backoff.min.seconds,
                secondsMax: settings.backoff.max.seconds),
            failures: failures, reason: end.outcome?.word ?? "", position: position)
        gate.asked = try asked(event, position) ?? before?.asked ?? .start
        put(.gate(.backoff), gate.encoded)
    }

    private func set(
        _ place: RowKey, _ since: Moment, _ seconds: Int64, _ position: Position
    ) {
        let gate = SyncGate(
            since: since, microseconds: Self.microseconds(seconds), position: position)
        put(place, gate.encoded)
    }

    private static func microseconds(_ seconds: Int64) -> Int64 {
        let (microseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return overflow ? .max : max(0, microseconds)
    }

    private func clear(_ name: SyncGate.Name) throws {
        if try get(.gate(name)) != nil { put(.gate(name), nil) }
    }

    /// When an event was recorded, by both clocks as far as the log knows them.
    func moment(_ event: Event, uptime: Int64?) throws -> Moment {
        let bootID = try uptime == nil ? nil : started(event)?.run.bootID
        return Moment(now: event.recordedAt, bootID: bootID ?? "", uptime: uptime ?? 0)
    }

    /// When the run of an event began, by both clocks as far as the log knows them.
    private func beginning(_ event: Event) throws -> Moment {
        let run = try started(event)?.run ?? RunStart()
        return Moment(
            now: run.begunAt ?? event.recordedAt, bootID: run.uptime == nil ? "" : run.bootID ?? "",
            uptime: run.uptime ?? 0)
    }

    /// What the log says of the beginning of the run that an event belongs to.
    func started(_ event: Event) throws -> SyncStarted? {
        guard let start = event.sync else { return SyncStarted(stored: event.payload) }
        // A run has many answers, and one start that never changes.
        if let known = cache.run, known.start == start { return known.payload }
        guard let bytes = try get(.syncRun(start)) else { return nil }
        let payload = SyncStarted(stored: try SyncRunRow(parsing: bytes).started)
        cache.run = (start, payload)
        return payload
    }
}
