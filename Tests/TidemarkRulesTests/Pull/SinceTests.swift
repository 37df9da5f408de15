// SinceTests.swift — from which date on changes are listed.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

private func time(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0) -> Timestamp {
    Timestamp(year: year, month: month, day: day, hour: hour, minute: 0, second: 0)
        ?? Timestamp(rawValue: 0)
}

@Suite struct `the date that is listed from` {
    private let rule = SinceRule(ageMax: .months(2))
    private let now = time(2017, 2, 15, 13)

    @Test func `SD-01: is none at first`() {
        #expect(SinceDecision.date(rule, since: nil, checkedAt: now, now: now) == nil)
    }

    @Test func `SD-02: is not used when it is two calendar months old`() {
        let limit = time(2016, 12, 15, 13)
        let later = Timestamp(rawValue: limit.rawValue + 1)
        #expect(SinceDecision.date(rule, since: limit, checkedAt: now, now: now) == nil)
        #expect(SinceDecision.date(rule, since: later, checkedAt: now, now: now) == later)
    }

    @Test func `is that of an earlier list where the last change is too old`() {
        let withDate = SinceRule(ageMax: .months(2), serverDate: true)
        let (old, checked) = (time(2016, 1, 1), time(2017, 2, 1))
        #expect(SinceDecision.date(rule, since: old, checkedAt: checked, now: now) == nil)
        #expect(SinceDecision.date(withDate, since: old, checkedAt: checked, now: now) == checked)
        #expect(SinceDecision.date(withDate, since: nil, checkedAt: checked, now: now) == checked)
        #expect(SinceDecision.date(withDate, since: nil, checkedAt: old, now: now) == nil)
    }

    @Test func `is earlier by the overlap, and no older than any other`() {
        let rule = SinceRule(ageMax: .months(2), serverDate: true, overlap: .hours(1))
        let (old, checked) = (time(2016, 12, 15, 14), time(2017, 2, 15, 12))
        func date(_ since: Timestamp, _ checkedAt: Timestamp) -> Timestamp? {
            SinceDecision.date(rule, since: since, checkedAt: checkedAt, now: now)
        }
        #expect(date(time(2017, 2, 15, 11), checked) == time(2017, 2, 15, 10))
        #expect(date(old, checked) == time(2017, 2, 15, 11))
        #expect(date(old, old) == nil)
    }

    @Test func `is none where the server's time is not known`() {
        #expect(SinceDecision.date(rule, since: now, checkedAt: now, now: nil) == nil)
    }

    @Test func `SD-06: stays after a list of nothing`() {
        for isWhole in [false, true] {
            #expect(
                SinceDecision.next(now, latest: nil, asked: now, isWhole: isWhole) == now)
        }
    }

    @Test func `is none that was later than the list that told it, also once it has come`() {
        let withDate = SinceRule(ageMax: .months(2), serverDate: true)
        let (checked, ahead) = (time(2017, 2, 15, 10), time(2017, 2, 15, 12))
        #expect(SinceDecision.date(rule, since: ahead, checkedAt: checked, now: now) == nil)
        #expect(SinceDecision.date(rule, since: now, checkedAt: nil, now: now) == nil)
        #expect(
            SinceDecision.date(withDate, since: ahead, checkedAt: checked, now: now) == checked)
    }

    @Test func `is not later than the list that named a change of the future`() {
        let (before, ahead) = (time(2017, 1, 1), time(2030, 1, 1))
        for isWhole in [false, true] {
            #expect(
                SinceDecision.next(before, latest: ahead, asked: now, isWhole: isWhole) == now)
            #expect(SinceDecision.next(ahead, latest: nil, asked: now, isWhole: isWhole) == now)
        }
    }

    @Test func `goes back only with a list of everything`() {
        let before = time(2017, 1, 1)
        func next(_ since: Timestamp, _ latest: Timestamp, isWhole: Bool) -> Timestamp? {
            SinceDecision.next(since, latest: latest, asked: now, isWhole: isWhole)
        }
        #expect(next(now, before, isWhole: false) == now)
        #expect(next(now, before, isWhole: true) == before)
        #expect(next(before, now, isWhole: false) == now)
    }

    @Test func `SD-01: is none for a window, which is a span around now`() {
        let span = PullWindow(back: .months(2), ahead: .days(2)).span(around: now)
        #expect(span.from == time(2016, 12, 15, 13) && span.to == time(2017, 2, 17, 13))
    }
}
