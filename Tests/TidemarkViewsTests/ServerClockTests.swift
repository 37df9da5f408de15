// ServerClockTests.swift — what the server's clock shows now.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@Suite struct `the server's clock` {
    /// 100 s by the server, 40 s by the device, 7 s after boot a.
    private let seen = ServerClock(
        date: Timestamp(microseconds: 100_000_000), bootID: "a", uptime: 7_000_000,
        deviceTime: Timestamp(microseconds: 40_000_000),
        latest: Timestamp(microseconds: 100_000_000))

    private func now(
        _ clock: ServerClock, device: Int64, _ bootID: String, _ uptime: Int64
    ) -> Int64 {
        clock.now(
            device: Timestamp(microseconds: device * 1_000_000), bootID: bootID,
            uptime: uptime * 1_000_000
        ).rawValue / 1_000_000
    }

    @Test func `goes on as the device runs, whatever the device's clock is set to`() {
        #expect(now(seen, device: 45, "a", 12) == 105)
        #expect(now(seen, device: 9_000, "a", 12) == 105)
        #expect(now(seen, device: -9_000, "a", 7) == 100)
    }

    @Test func `is as far from the device's after a restart as it was before`() {
        #expect(now(seen, device: 50, "b", 1) == 110)
        // The same boot can't have run for less.
        #expect(now(seen, device: 50, "a", 3) == 110)
    }

    @Test func `never goes backwards`() {
        #expect(now(seen, device: 0, "b", 1) == 100)
        var given = seen
        given.latest = Timestamp(microseconds: 160_000_000)
        #expect(now(given, device: 45, "a", 12) == 160)

        var older = seen
        older.date = Timestamp(microseconds: 90_000_000)
        older.uptime = 8_000_000
        #expect(now(given.seen(older), device: 45, "a", 12) == 160)
        #expect(given.seen(older).date == older.date)
    }

    @Test func `holds at the ends of time`() {
        var far = seen
        far.deviceTime = Timestamp(rawValue: .min)
        #expect(now(far, device: 1, "b", 1) > 0)
        #expect(
            seen.now(device: Timestamp(rawValue: .max), bootID: "b", uptime: 0).rawValue == .max)
    }
}

@Suite struct `the clock in the log` {
    private let started =
        #"{"trigger":"t","begunAt":40000000,"bootID":"a","uptime":7000000,"seed":"1"}"#
    private let date = "Thu, 01 Jan 1970 00:01:40 GMT"

    private func answer(_ more: String, sync: UInt64 = 1) -> Event {
        var event = Event.about(.requestAnswered, "tasks/1", "{\"status\":200\(more)}")
        event.sync = Position(sync)
        return event
    }

    private func start() -> Event {
        Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: Array(started.utf8))
    }

    private func now(_ events: [Event], _ bootID: String, _ uptime: Int64) throws -> Int64? {
        let memory = MemoryFold()
        try memory.apply(events)
        let fold = memory.fold
        return try fold.serverNow(
            Timestamp(rawValue: 50_000_000), bootID: bootID, uptime: uptime)?.rawValue
    }

    @Test func `is not known before a server was heard`() throws {
        #expect(try now([start()], "a", 9_000_000) == nil)
        #expect(try now([start(), answer("")], "a", 9_000_000) == nil)
    }

    @Test func `is that of the last answer, at the moment in which it came`() throws {
        let heard = [start(), answer(#","Date":"\#(date)","uptime":8000000"#)]

        #expect(try now(heard, "a", 9_000_000) == 101_000_000)
        // The device showed 41 s when the answer came, and shows 50 s now.
        #expect(try now(heard, "b", 1) == 109_000_000)
    }

    @Test func `of a run without news is in its only event`() throws {
        let idle = Event(
            .syncFinished, recordedAt: Timestamp(rawValue: 1),
            json: Array(
                (started.dropLast() + #","Date":"\#(date)","answerUptime":8000000}"#).utf8))

        #expect(try now([idle], "a", 9_000_000) == 101_000_000)
        #expect(try now([idle], "b", 1) == 109_000_000)
    }

    @Test func `is not taken from who answers in the server's place`() throws {
        let portal = answer(#","Date":"\#(date)","uptime":8000000,"failure":"malformed""#)
        let stray = answer(#","Date":"\#(date)","uptime":8000000"#, sync: 7)

        #expect(try now([start(), portal, stray], "a", 9_000_000) == nil)
    }

    @Test func `never shows less than what an edit was stamped with`() throws {
        var edit = Event.about(.localCreated, "tasks/1", "{}")
        edit.serverTime = Timestamp(rawValue: 500_000_000)
        let heard = [start(), answer(#","Date":"\#(date)","uptime":8000000"#), edit]

        #expect(try now(heard, "a", 9_000_000) == 500_000_000)
        #expect(try now([start(), edit], "a", 9_000_000) == nil)
    }
}
