// FoldScheduleTests.swift — what the log says about when the next sync run may begin.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

@Suite struct `the schedule of a log` {
    private let fold = MemoryFold()

    private func event(
        _ kind: EventKind, at seconds: Int64, sync: UInt64? = nil, _ payload: String
    ) -> Event {
        Event(
            kind, recordedAt: Timestamp(rawValue: seconds * 1_000_000),
            sync: sync.map { Position($0) }, json: Array(payload.utf8))
    }

    /// A run of which the log has a beginning and an end.
    private func run(
        _ outcome: String, at seconds: Int64, seed: UInt64 = 0, requests: Int = 1,
        uptime: Int64 = 77
    ) throws {
        let start = fold.last.next.rawValue
        try fold.apply([
            event(
                .syncStarted, at: seconds,
                #"{"trigger":"timer","begunAt":1,"bootID":"b","uptime":1,"seed":"\#(seed)"}"#),
            event(
                .syncFinished, at: seconds, sync: start,
                #"{"outcome":"\#(outcome)","requests":\#(requests),"endUptime":\#(uptime)}"#),
        ])
    }

    /// A run that is one event.
    private func idleRun(_ more: String = "") throws {
        let payload = #"{"outcome":"synced","trigger":"timer","bootID":"b","uptime":1\#(more)}"#
        try fold.apply([event(.syncFinished, at: 9, payload)])
    }

    private func answer(_ payload: String) throws {
        try fold.apply([
            event(.syncStarted, at: 1, #"{"bootID":"b","uptime":1,"seed":"1"}"#),
            event(.requestAnswered, at: 2, sync: fold.last.next.rawValue, payload),
        ])
    }

    private func gate(_ name: SyncGate.Name) throws -> SyncGate? {
        try fold.rows[.gate(name)].flatMap { $0.isEmpty ? nil : try SyncGate(parsing: $0) }
    }

    @Test(arguments: ["offline", "timeout", "server", "tooManyRequests", "foreign", "malformed"])
    func `waits longer with each run that failed and may be mended by waiting`(_ outcome: String)
        throws
    {
        var waits: [Int64] = []
        for _ in 1...4 {
            try run(outcome, at: 5)
            waits.append(try #require(try gate(.backoff)).microseconds)
        }

        #expect(waits == [2_500_000, 5_000_000, 10_000_000, 20_000_000])
        let last = try #require(try gate(.backoff))
        #expect(last.failures == 4 && last.reason == outcome && last.position == Position(8))
        #expect(
            last.since
                == Moment(now: Timestamp(rawValue: 5_000_000), bootID: "b", uptime: 77))
    }

    @Test func `holds a quota of a group without an id where that is longer than a key`() throws {
        let id = String(repeating: "7", count: 600)
        try answer(#"{"status":402,"retryAfter":60,"quota":["team","\#(id)"]}"#)

        #expect(fold.rows[.gate(.server, of: RequestGroup("team"))] != nil)
        #expect(fold.rows.keys.allSatisfy { $0.bytes.count <= RowKey.bytesMax })
    }

    @Test func `keeps what is to be read of an entity where a write of it is refused`() throws {
        let key = EntityKey("tasks", "1")
        let failure = #"{"status":500,"failure":"server","concerns":"entity"}"#
        try fold.apply([
            .about(.serverUpserted, "tasks/1", "{}"), .about(.requestAnswered, "tasks/1", failure),
            .about(.localUpdated, "tasks/1", #"{"set":{"a":1},"unset":[]}"#),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
        ])
        #expect(try fold.fold.failing(key)?.reads == 1)

        let refusal = #"{"status":400}"#
        try fold.apply([
            .about(.requestAnswered, "tasks/1", refusal, call: 4),
            .about(.pushRejected, "tasks/1", refusal, mutation: 3, call: 4),
        ])
        let row = try #require(try fold.fold.failing(key))
        #expect(row.reads == 1 && !row.isWrite)

        try fold.apply([.about(.requestAnswered, "tasks/1", #"{"status":200}"#)])
        #expect(try fold.fold.failing(key) == nil)
    }

    @Test func `spreads the wait by the run's own seed`() throws {
        try run("offline", at: 5, seed: 1 << 63)

        #expect(try gate(.backoff)?.microseconds == 3_750_000)
    }

    @Test func `takes the wait's bounds from the model`() throws {
        var settings = SyncSettings()
        settings.backoff.min = .seconds(100)
        settings.backoff.max = .seconds(300)
        let model = SyncModel(name: "m", collections: [CollectionModel("c")], settings: settings)
        try fold.apply([
            event(
                .modelRegistered, at: 1,
                String(
                    decoding: ModelRegistration(model: model, remote: nil).encoded, as: UTF8.self))
        ])
        var waits: [Int64] = []
        for _ in 1...3 {
            try run("offline", at: 5)
            waits.append(try #require(try gate(.backoff)).microseconds / 1_000_000)
        }

        #expect(waits == [50, 100, 150])
    }

    @Test(arguments: ["synced", "incomplete"])
    func `forgets failures with a run that went to its end`(_ outcome: String) throws {
        try run("offline", at: 5)
        try run("unauthorized", at: 5)
        try run("offline", at: 5)
        #expect(try gate(.backoff) != nil && gate(.frozen) != nil)

        try run(outcome, at: 6)

        #expect(try gate(.backoff) == nil && gate(.frozen) == nil)
    }

    @Test func `forgets failures with a run that found nothing new`() throws {
        try run("offline", at: 5)

        try idleRun()

        #expect(try gate(.backoff) == nil)
    }

    @Test(arguments: ["cancelled", "deadline", "something newer"])
    func `learns nothing from a run that was cut off`(_ outcome: String) throws {
        try run(outcome, at: 5)
        #expect(try gate(.backoff) == nil)

        try run("offline", at: 5)
        let before = try gate(.backoff)
        try run(outcome, at: 6)

        #expect(try gate(.backoff) == before)
    }

    @Test func `waits, too, where a run was only told to wait`() throws {
        try run("tooManyRequests", at: 5, requests: 0)
        #expect(try gate(.backoff)?.failures == 1)

        let before = try gate(.backoff)
        try run("tooManyRequests", at: 5, requests: 0)
        #expect(try gate(.backoff) == before)
    }

    @Test(arguments: ["offline", "server", "client", "malformed", "diskFull"])
    func `waits as long again where a run did nothing after the wait`(_ outcome: String) throws {
        try run(outcome, at: 5, requests: 0)
        #expect(try gate(.backoff) == nil)

        for _ in 1...2 { try run("server", at: 5) }
        let before = try #require(try gate(.backoff))
        try run(outcome, at: 6, requests: 0)
        #expect(try gate(.backoff) == before)

        let passed = 77 + before.microseconds
        try run(outcome, at: 10, requests: 0, uptime: passed)
        let after = try #require(try gate(.backoff))
        #expect(after.since.uptime == passed)
        #expect(after.failures == 2 && after.microseconds == before.microseconds)
    }

    @Test(arguments: ["unauthorized", "apiDeprecated", "clientDeprecated"])
    func `freezes when credentials or API are refused`(_ outcome: String) throws {
        try run("offline", at: 5)

        try run(outcome, at: 6, requests: 0)

        #expect(try gate(.frozen)?.reason == outcome)
        #expect(try gate(.backoff) == nil)
    }

    @Test func `takes a pause from the answer that asks for one`() throws {
        try answer(#"{"status":429,"failure":"tooManyRequests","retryAfter":30,"uptime":50}"#)

        #expect(
            try gate(.server)
                == SyncGate(
                    since: Moment(now: Timestamp(rawValue: 2_000_000), bootID: "b", uptime: 50),
                    microseconds: 30_000_000, position: Position(2)))
        #expect(try gate(.busy) == nil)
    }

    @Test(arguments: ["", #","quota":["values"]"#])
    func `takes the longest pause that is asked for in a run`(_ more: String) throws {
        func pause(_ seconds: Int, uptime: Int, of run: UInt64) -> Event {
            event(
                .requestAnswered, at: 2, sync: run,
                #"{"status":429,"retryAfter":\#(seconds),"uptime":\#(uptime)\#(more)}"#)
        }
        let start = event(.syncStarted, at: 1, #"{"bootID":"b","uptime":1,"seed":"1"}"#)
        let ofGroup = RowKey.gate(.server, of: RequestGroup("values"))
        let place = more.isEmpty ? RowKey.gate(.server) : ofGroup
        func held() throws -> SyncGate? { try fold.rows[place].map { try SyncGate(parsing: $0) } }

        try fold.apply([
            start, pause(20, uptime: 50, of: 1), pause(120, uptime: 60, of: 1),
            pause(5, uptime: 70, of: 1),
        ])
        #expect(try held()?.microseconds == 120_000_000)
        #expect(try held()?.position == Position(3))

        // The server's word of a later run is its last one.
        try fold.apply([start, pause(5, uptime: 80, of: 5)])
        #expect(try held()?.microseconds == 5_000_000)
    }

    @Test func `measures the pause of an older log by the device's clock`() throws {
        try answer(#"{"status":429,"failure":"tooManyRequests","retryAfter":30}"#)

        #expect(try gate(.server)?.since.bootID == "")
    }

    @Test(arguments: [
        ("30", 30), ("0", 0), ("86401", 86_400), ("99999999999999999999", 86_400), ("-1", nil),
        ("soon", nil), ("", nil), ("1.5", nil),
    ])
    func `takes from any answer that the server is busy`(_ text: String, _ seconds: Int64?) throws {
        try answer(#"{"status":200,"Backoff":"\#(text)","uptime":50}"#)

        #expect(try gate(.busy)?.microseconds == seconds.map { $0 * 1_000_000 })
        #expect(try gate(.server) == nil)
    }

    @Test func `takes it from a run that is one event`() throws {
        try idleRun(#","Backoff":"60","endUptime":50"#)

        #expect(
            try gate(.busy)
                == SyncGate(
                    since: Moment(now: Timestamp(rawValue: 9_000_000), bootID: "b", uptime: 50),
                    microseconds: 60_000_000, position: Position(1)))
    }

    @Test func `is not shaken by payloads that nobody wrote`() throws {
        for payload in ["[]", "{}", #"{"outcome":7,"requests":"x"}"#, #"{"outcome":"offline"}"#] {
            try fold.apply([event(.syncFinished, at: 1, payload)])
            try answer(payload)
        }
        let payload = #"{"outcome":"offline","requests":1,"seed":"x","endUptime":"x"}"#
        try fold.apply([event(.syncFinished, at: 1, sync: 999, payload)])

        // What has a member of another type is read by nobody.
        #expect(try gate(.backoff) == nil)
        let readable = #"{"outcome":"offline","requests":1,"newer":"x"}"#
        try fold.apply([event(.syncFinished, at: 1, sync: 999, readable)])
        #expect(try gate(.backoff)?.microseconds == 2_500_000)
    }
}
