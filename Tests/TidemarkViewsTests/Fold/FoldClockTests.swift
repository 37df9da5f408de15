// FoldClockTests.swift — what the log makes of the clock of a server.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

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

    @Test func `is that before a leap, until the leap counts`() throws {
        let wrong = "Mon, 01 Jan 2035 00:00:00 GMT"
        let heard = [
            start(), answer(#","Date":"\#(date)","uptime":8000000"#),
            answer(#","Date":"\#(wrong)","uptime":8500000"#),
        ]

        #expect(try now(heard, "a", 9_000_000) == 101_000_000)
    }

    @Test func `never shows less than what an edit was stamped with`() throws {
        var edit = Event.about(.localCreated, "tasks/1", "{}")
        edit.serverTime = Timestamp(rawValue: 500_000_000)
        let heard = [start(), answer(#","Date":"\#(date)","uptime":8000000"#), edit]

        #expect(try now(heard, "a", 9_000_000) == 500_000_000)
        #expect(try now([start(), edit], "a", 9_000_000) == nil)
    }
}
