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

/// What a run's first event says of the device's clocks; of an idle run its only one.
private struct RunClocks {
    var begunAt: Timestamp
    var bootID: String
    var uptime: Int64
    /// Of an idle run: what the server's clock showed, and the uptime then.
    var date: Timestamp?
    var answerUptime: Int64?

    init?(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload),
            let begunAt = document.value("begunAt")?.int64Value,
            let bootID = document.value("bootID")?.stringValue,
            let uptime = document.value("uptime")?.int64Value
        else { return nil }
        self.begunAt = Timestamp(rawValue: begunAt)
        self.bootID = bootID
        self.uptime = uptime
        date = document.value("Date")?.stringValue.flatMap(HTTPDate.parse)
        answerUptime = document.value("answerUptime")?.int64Value
    }

    /// The server's clock, seen when the device had been running for so long.
    func clock(_ date: Timestamp, at uptime: Int64) -> ServerClock {
        ServerClock(
            date: date, bootID: bootID, uptime: uptime,
            deviceTime: begunAt.adding(from: self.uptime, to: uptime), latest: date)
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

    private func clock() throws -> ServerClock? {
        try get(Self.clockRow).map { try ServerClock(parsing: $0) }
    }

    /// Takes note of the server's clock in an answer.
    func noteClock(_ event: Event, _ answer: AnswerPayload) throws {
        guard let date = answer.date, let uptime = answer.uptime, let start = event.sync,
            let run = try get(.syncRun(start)).map({ try SyncRunRow(parsing: $0) }),
            let clocks = RunClocks(run.started)
        else { return }
        try see(clocks.clock(date, at: uptime))
    }

    /// Takes note of the server's clock in the only event of a run without news.
    func noteIdleClock(_ event: Event) throws {
        guard let clocks = RunClocks(event.payload), let date = clocks.date,
            let uptime = clocks.answerUptime
        else { return }
        try see(clocks.clock(date, at: uptime))
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
