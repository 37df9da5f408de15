// WrongTimeTests.swift — what was decided by a time that proves wrong, and what was logged by a
// version that believed any.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

extension ReachStore {
    /// A run in which the server answers so many minutes after ``now``, dated so many days ahead.
    ///
    /// - Parameter then: what else the run logs, by the position of its start.
    fileprivate func hears(
        _ days: Int64 = 0, minutes: Int64, then more: (Position) -> [Event] = { _ in [] }
    ) throws {
        let time = Self.now.adding(seconds: minutes * 60)
        let uptime = minutes * 60_000_000 + 1
        let start = Position(try last + 1)
        var answer = Event(.requestAnswered, recordedAt: time, sync: start)
        let date = HTTPDate.text(time.adding(seconds: days * 86_400))
        answer.payload = Array(#"{"status":200,"Date":"\#(date)","uptime":\#(uptime)}"#.utf8)
        answer.payloadType = .json
        let begun = #"{"begunAt":\#(time.rawValue),"bootID":"a","uptime":\#(uptime)}"#
        try store.write(Event(.syncStarted, recordedAt: time, json: Array(begun.utf8)))
        for event in [answer] + more(start) { try store.write(event) }
    }

    /// A clean-up by the server's time, so many days ahead.
    fileprivate func cleansUp(aheadBy days: Int64, in run: Position) -> Event {
        Event(
            .timerFired, recordedAt: Self.now, sync: run,
            json: TimerFired(.cleanUp, now: Self.now.adding(seconds: days * 86_400)).encoded)
    }

    fileprivate func lists(_ days: Int64, in run: Position, at minutes: Int64) -> Event {
        let time = Self.now.adding(seconds: minutes * 60 + days * 86_400)
        return Event(
            .pullCompleted, recordedAt: Self.now, collection: "workspaces", sync: run,
            asOf: run, serverTime: time, revision: Revision("c\(minutes)"),
            json: Array(#"{"scope":"","complete":true,"full":true}"#.utf8))
    }

    fileprivate func mark() throws -> WatermarkRow? {
        try store.journal.read { try $0.watermark("workspaces") }
    }

    fileprivate func why(_ key: String) throws -> String {
        let key = try #require(EntityKey(key))
        let found = try store.journal.read { try EntityExplanation(EntityTarget(key), $0) }
        return try #require(found).lines.joined(separator: "\n")
    }
}

@Suite struct `a time that is wrong` {
    let reach: ReachStore

    init() throws {
        reach = try ReachStore()
        try reach.workspace(1)
        for id in [1, 2] { try reach.entry(id, in: 1, daysAgo: id) }
    }

    @Test func `and was never believed prunes nothing, and moves no mark`() throws {
        try reach.hears(minutes: 0) { [reach.lists(0, in: $0, at: 0)] }
        let before = try reach.mark()
        try reach.hears(3000, minutes: 1) {
            [reach.lists(3000, in: $0, at: 1), reach.cleansUp(aheadBy: 3000, in: $0)]
        }

        #expect(try reach.kept("entries") == ["1", "2"])
        #expect(try reach.mark() == before)
        #expect(
            try reach.decisions() == [
                "entries/1 serverTime kept", "entries/2 serverTime kept",
            ])
        #expect(try reach.why("entries/1").contains("serverTime/1: kept"))
        try reach.check()
    }

    @Test func `is not what a clean-up goes by that was logged when the doubt was over`() throws {
        try reach.hears(minutes: 0)
        try reach.hears(3000, minutes: 1)
        // The latest time ever seen is what a clean-up of before went by.
        try reach.hears(minutes: 2) { [reach.cleansUp(aheadBy: 3000, in: $0)] }
        #expect(try reach.kept("entries") == ["1", "2"])

        try reach.hears(minutes: 3) { [reach.cleansUp(aheadBy: 0, in: $0)] }
        #expect(try reach.kept("entries") == ["1", "2"])
        try reach.check()
    }

    @Test func `and was believed is taken back with all that it decided`() throws {
        try reach.hears(minutes: 0) { [reach.lists(0, in: $0, at: 0)] }
        for minutes in [1, 7] as [Int64] { try reach.hears(3000, minutes: minutes) }
        try reach.hears(3000, minutes: 13) { [reach.cleansUp(aheadBy: 3000, in: $0)] }
        try reach.hears(3000, minutes: 14) { [reach.lists(3000, in: $0, at: 14)] }
        #expect(try reach.kept("entries") == [])
        #expect(try !reach.row("entries/1").prunedDigest.isEmpty)
        #expect(try reach.mark()?.fullAt != nil)

        try reach.hears(minutes: 15)
        #expect(try reach.mark() == nil)
        let voided = try reach.row("entries/1")
        #expect(voided.prunedAt == nil && !voided.prunedDigest.isEmpty)
        #expect(try reach.decisions().contains("entries/1 serverTime voided"))

        try reach.entry(1, in: 1, daysAgo: 1)
        #expect(try reach.seen("entries") == ["1"])
        #expect(try reach.why("entries/1").contains("serverTime/1: voided"))
        try reach.check()
    }

    @Test func `has what it pruned listed again, though the mark is older`() throws {
        try reach.hears(minutes: 0) { [reach.lists(0, in: $0, at: 0)] }
        for minutes in [1, 7] as [Int64] { try reach.hears(3000, minutes: minutes) }
        try reach.hears(3000, minutes: 13) { [reach.cleansUp(aheadBy: 3000, in: $0)] }
        #expect(try reach.kept("entries") == [])

        try reach.hears(minutes: 15)

        #expect(try reach.store.journal.read { try $0.isOwed("entries") })
        try reach.check()
    }

    @Test func `hides nothing that names what it pruned, also once it is taken back`() throws {
        var entries = CollectionModel("entries")
        entries.retention = RetentionRule(field: "start", ageMax: .days(56))
        var links = CollectionModel("links")
        links.references = [Reference("entry", to: "entries", missing: .hides)]
        let reach = try ReachStore(SyncModel(name: "links", collections: [entries, links]))
        try reach.entry(1, in: 1)
        try reach.says("links/l", #"{"id":"l","entry":1}"#)
        try reach.hears(minutes: 0)
        for minutes in [1, 7] as [Int64] { try reach.hears(3000, minutes: minutes) }
        try reach.hears(3000, minutes: 13) { [reach.cleansUp(aheadBy: 3000, in: $0)] }
        #expect(try reach.kept("entries") == [] && reach.seen("links") == ["l"])

        try reach.hears(minutes: 15)
        #expect(try reach.decisions().contains("entries/1 serverTime voided"))
        #expect(try reach.seen("links") == ["l"])
        #expect(try reach.store.journal.read { try $0.issues() } == [])
        try reach.check()
    }

    @Test func `ends no list that was begun while it was believed`() throws {
        for minutes in [0, 1, 7, 13] as [Int64] {
            try reach.hears(minutes == 0 ? 0 : 3000, minutes: minutes)
        }
        let begun = Position(try reach.last)
        try reach.hears(minutes: 14) { run in
            var list = reach.lists(0, in: run, at: 14)
            list.asOf = begun
            return [list]
        }

        #expect(try reach.mark() == nil)
    }

    @Test func `by the device's clock alone prunes nothing in a boot without an answer`() throws {
        try reach.hears(minutes: 0)
        let ahead = ReachStore.now.adding(seconds: 3000 * 86_400)
        let run = Position(try reach.last + 1)
        let begun = #"{"begunAt":\#(ahead.rawValue),"bootID":"b","uptime":1}"#
        try reach.store.write(Event(.syncStarted, recordedAt: ahead, json: Array(begun.utf8)))
        try reach.store.write(reach.cleansUp(aheadBy: 3000, in: run))

        #expect(try reach.kept("entries") == ["1", "2"])
        try reach.check()
    }

    @Test func `dates no edit of a version that gave it out`() throws {
        try reach.hears(minutes: 0)
        var edit = Event.about(.localUpdated, "entries/1", #"{"set":{"name":"x"}}"#)
        edit.recordedAt = ReachStore.now.adding(seconds: 60)
        edit.serverTime = ReachStore.now.adding(seconds: 3000 * 86_400)
        try reach.store.write(edit)

        #expect(
            try reach.row("entries/1").pending.first?.editedAt
                == ReachStore.now.adding(seconds: 60))
    }
}
