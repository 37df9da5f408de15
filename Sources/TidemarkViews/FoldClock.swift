// FoldClock.swift — the server's clock: seen in each answer, asked for by whoever needs its time.

package import TidemarkEvents
import TidemarkRules

extension ServerClock {
    /// The row 'g' "clock".
    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.signed(1, date.rawValue)
        writer.string(2, bootID)
        writer.signed(3, uptime)
        writer.signed(4, deviceTime.rawValue)
        writer.signed(5, latest.rawValue)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        let zero = Timestamp(rawValue: 0)
        self.init(date: zero, bootID: "", uptime: 0, deviceTime: zero, latest: zero)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: date = Timestamp(rawValue: try field.signed())
            case 2: bootID = try field.string()
            case 3: uptime = try field.signed()
            case 4: deviceTime = Timestamp(rawValue: try field.signed())
            case 5: latest = Timestamp(rawValue: try field.signed())
            default: continue
            }
        }
    }
}

extension RunStartPayload {
    /// The server's clock, seen when the device had been running for so long; nil where the run
    /// does not say when it began.
    fileprivate func clock(_ date: Timestamp, at uptime: Int64) -> ServerClock? {
        guard let begunAt, let bootID, let begun = self.uptime else { return nil }
        return ServerClock(
            date: date, bootID: bootID, uptime: uptime,
            deviceTime: begunAt.adding(from: begun, to: uptime), latest: date)
    }
}

extension Fold {
    private static let clockRow = RowKey.gate("clock")

    /// What the server's clock shows; nil before it was ever seen.
    ///
    /// Never earlier than what it showed before, or than what a local event was stamped with.
    ///
    /// - Parameters:
    ///   - now: what the device's clock shows.
    ///   - bootID: the boot that the device is in.
    ///   - uptime: microseconds since it began.
    package func serverNow(_ now: Timestamp, bootID: String, uptime: Int64) throws -> Timestamp? {
        try clock()?.now(device: now, bootID: bootID, uptime: uptime)
    }

    /// What the server's clock showed when a run began, as far as was known then.
    func serverTime(atStart event: Event) throws -> Timestamp? {
        let start = RunStartPayload(event.payload)
        guard let begunAt = start.begunAt, let bootID = start.bootID, let uptime = start.uptime
        else { return nil }
        return try serverNow(begunAt, bootID: bootID, uptime: uptime)
    }

    /// "Now", for what follows from an event: of a sync run, the server's time at its start; of an
    /// edit, when it was made.
    func ruleTime(_ event: Event) throws -> Timestamp {
        guard let start = event.sync, let bytes = try get(.syncRun(start)) else {
            return event.serverTime ?? event.recordedAt
        }
        let run = try SyncRunRow(parsing: bytes)
        return run.serverTime ?? RunStartPayload(run.started).begunAt ?? run.startedAt
    }

    private func clock() throws -> ServerClock? {
        try get(Self.clockRow).map { try ServerClock(parsing: $0) }
    }

    /// Takes note of the server's clock in an answer.
    func noteClock(_ event: Event, _ answer: AnswerPayload) throws {
        guard let start = event.sync, let date = answer.date, let uptime = answer.uptime,
            let run = try started(event), let clock = run.clock(date, at: uptime)
        else { return }
        if try self.clock() == nil, let begun = run.uptime, let bytes = try get(.syncRun(start)) {
            // The first thing that is ever heard of the server's clock says when the run began.
            var row = try SyncRunRow(parsing: bytes)
            row.serverTime = date.adding(from: uptime, to: begun)
            put(.syncRun(start), row.encoded)
        }
        try see(clock)
    }

    /// Takes note of the server's clock in the only event of a run without news.
    func noteIdleClock(_ event: Event, _ end: RunEndPayload) throws {
        guard let date = end.date, let uptime = end.answerUptime,
            let clock = RunStartPayload(event.payload).clock(date, at: uptime)
        else { return }
        try see(clock)
    }

    private func see(_ seen: ServerClock) throws {
        put(Self.clockRow, (try clock()?.seen(seen) ?? seen).encoded)
    }

    /// Takes note of a time that was given out, so that no earlier one ever is.
    func noteGiven(_ time: Timestamp) throws {
        guard var clock = try clock(), clock.latest < time else { return }
        clock.latest = time
        put(Self.clockRow, clock.encoded)
    }
}

extension ViewReader {
    /// What the server's clock shows; nil before it was ever seen.
    ///
    /// - Parameters:
    ///   - now: what the device's clock shows.
    ///   - bootID: the boot that the device is in.
    ///   - uptime: microseconds since it began.
    package func serverNow(_ now: Timestamp, bootID: String, uptime: Int64) throws -> Timestamp? {
        try row(.gate("clock")).map { try ServerClock(parsing: $0) }?
            .now(device: now, bootID: bootID, uptime: uptime)
    }
}
