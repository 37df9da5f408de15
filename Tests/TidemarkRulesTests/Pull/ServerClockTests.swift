// ServerClockTests.swift — what the server's clock is believed to show.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

/// A device and the answers that it hears, in seconds.
private struct Listener {
    var clock = ServerClock()
    var bootID = "a"
    /// The device's clock, over the time that has passed.
    var ahead = 0.0
    /// When the boot began, and how much time has passed since the first one did.
    var booted = 0.0
    var passed = 0.0
    var corrections: [ServerClock.Correction] = []
    private var position: UInt64 = 0

    /// What the device's clocks show.
    var moment: Moment {
        Moment(
            now: Timestamp(microseconds: Self.start + Int64((passed + ahead) * 1e6)),
            bootID: bootID, uptime: Int64((passed - booted) * 1e6))
    }

    private static let start: Int64 = 1_500_000_000_000_000

    /// An answer whose clock is so far ahead of the right time.
    mutating func hear(_ wrong: Double = 0, after seconds: Double = 0) {
        passed += seconds
        position += 1
        let date = Int64((passed + wrong).rounded(.down)) * 1_000_000
        let sighting = ClockSighting(Timestamp(microseconds: Self.start + date), at: moment)
        if let correction = clock.see(sighting, at: Position(position)) {
            corrections.append(correction)
        }
    }

    /// Stamps an edit, as the log takes it in.
    mutating func edit() -> Edit {
        position += 1
        let edit = Edit(
            position: Position(position), stamp: clock.time(at: moment) ?? moment.now,
            madeAt: Timestamp(microseconds: Self.start + Int64(passed * 1e6)))
        clock.noteStamp(at: moment, edit.position)
        clock.given = max(edit.stamp, clock.given ?? edit.stamp)
        return edit
    }

    mutating func restart(after seconds: Double = 0) {
        passed += seconds
        booted = passed
        bootID += "a"
    }

    /// How far what is gone by is ahead of the right time; nil where nothing is.
    var off: Double? {
        clock.time(at: moment).map { time in
            ((Double(time.rawValue - Self.start) / 1e6 - passed) * 1_000).rounded() / 1_000
        }
    }

    /// The same of what is believed; nil where nothing is, or where it is in doubt.
    var sure: Double? { clock.isInDoubt || clock.believed == nil ? nil : off }
}

/// An edit: what it was stamped with, and when it was made.
private struct Edit {
    var position: Position
    var stamp: Timestamp
    var madeAt: Timestamp

    /// How many seconds too late it is dated after a correction.
    func ahead(_ correction: ServerClock.Correction) -> Double {
        Double(madeAt.distance(to: correction.time(stamp, of: position))) / 1e6
    }
}

private let years = 9.0 * 365 * 86_400

@Suite struct `the server's clock` {
    @Test func `goes on as the device runs, whatever the device's clock is set to`() {
        var device = Listener()
        device.hear()
        device.passed += 4_000
        #expect(device.sure == 0)
        device.ahead = years
        #expect(device.sure == 0)
        device.ahead = -years
        device.hear(after: 60)
        #expect(device.sure == 0)
    }

    @Test func `is as far from the device's after a restart as it was before`() {
        var device = Listener()
        device.ahead = 7_200
        device.hear()
        device.restart(after: 4_000)
        device.passed += 100
        #expect(device.sure == 0)
        device.hear(after: 10)
        #expect(device.sure == 0)
        #expect(device.corrections == [])
    }

    @Test func `is believed at once where the device's says much the same`() {
        for ahead in [0, 3_600, -3_600, 86_400] as [Double] {
            var device = Listener()
            device.ahead = ahead
            device.hear()
            #expect(device.sure == 0)
        }
    }

    @Test func `of one wrong answer is believed no more than before`() {
        for wrong in [years, -years, 3_600, -3_600, 120] {
            var device = Listener()
            device.hear()
            device.hear(wrong, after: 60)
            #expect(device.sure == nil)
            #expect(device.off == 0)
            device.hear(after: 60)
            #expect(device.sure == 0)
            #expect(device.corrections == [])
        }
    }

    @Test func `leaps after three answers over ten minutes that agree`() {
        for wrong in [years, -years, 3_600, -3_600] {
            var device = Listener()
            device.hear()
            device.hear(wrong, after: 60)
            device.hear(wrong, after: 300)
            #expect(device.sure == nil)
            device.hear(wrong, after: 299)
            #expect(device.sure == nil)
            device.hear(wrong, after: 1)
            #expect(device.sure == wrong)
            #expect(device.corrections.map(\.microseconds) == [Int64(wrong * 1e6)])
            #expect(device.corrections.map(\.since) == [Position(1)])
        }
    }

    @Test func `leaps after no two answers, however far apart`() {
        var device = Listener()
        device.hear()
        device.hear(years, after: 60)
        device.hear(years, after: 86_400)
        #expect(device.sure == nil)
    }

    @Test func `stays where answers that agree come between those that leap`() {
        var device = Listener()
        device.hear()
        for _ in 0..<20 {
            device.hear(years, after: 300)
            device.hear(after: 300)
        }
        #expect(device.sure == 0)
        #expect(device.corrections == [])
    }

    @Test func `is taken back by one answer that agrees with what was before`() {
        var device = Listener()
        device.hear()
        for _ in 0..<3 { device.hear(years, after: 301) }
        #expect(device.sure == years)
        for _ in 0..<3 { device.hear(-years, after: 301) }
        #expect(device.sure == -years)
        device.hear(after: 1)
        #expect(device.sure == 0)
        #expect(device.corrections.last?.since == Position(7))
        // What proved wrong is as any other wrong time from now on.
        device.hear(years, after: 1)
        #expect(device.sure == nil)
        #expect(device.off == 0)
    }

    @Test func `is judged by the device's clock where nothing else is known`() {
        var device = Listener()
        device.hear(years)
        #expect(device.sure == nil)
        // Where something has to be gone by, it is what the answer said.
        #expect(device.off == years)
        device.hear(after: 1)
        #expect(device.sure == 0)
    }

    @Test func `with a device clock that is years off counts after three answers`() {
        var device = Listener()
        device.ahead = -years
        device.hear()
        device.hear(after: 300)
        #expect(device.sure == nil)
        #expect(device.off == 0)
        device.hear(after: 301)
        #expect(device.sure == 0)
        #expect(device.corrections == [])
    }

    @Test func `counts uptime across restarts, not the time that the device's clock leapt`() {
        var device = Listener()
        device.hear()
        device.hear(years, after: 60)
        device.restart(after: 100_000)
        device.hear(years, after: 10)
        device.hear(years, after: 10)
        #expect(device.sure == nil)
        device.hear(years, after: 580)
        #expect(device.sure == years)
    }

    @Test func `leaps against the device's clock after a restart only where that is to count`() {
        var device = Listener()
        device.hear()
        device.restart(after: 100)
        device.ahead = -86_400
        device.hear(after: 10)
        #expect(device.sure == nil)
        device.hear(after: 300)
        device.hear(after: 301)
        #expect(device.sure == 0)
    }

    @Test func `is seen to the fraction of a second at which the device's was`() {
        for fraction in [0, 0.25, 0.5, 0.999] {
            var device = Listener()
            device.passed = fraction
            device.hear()
            #expect(device.sure == 0)
            // People are wrong by hours, which does not change the fraction.
            device = Listener()
            device.passed = fraction
            device.ahead = 3_600
            device.hear()
            #expect(device.sure == 0)
        }
    }

    @Test func `is within a second of what each answer says`() throws {
        var device = Listener()
        device.ahead = 0.9
        device.hear()
        #expect(try #require(device.sure) == 0.9)
        // That half of the second was not over yet shows that it was ahead.
        device.hear(after: 86_400.5)
        #expect(try #require(device.sure) <= 0.5)
        var late = Listener()
        late.ahead = -0.7
        late.hear()
        #expect(late.sure == 0)
        late.hear(0.4, after: 0.7)
        #expect(try #require(late.sure) >= 0.29)
    }

    @Test func `gives out no earlier time than before, until that proves wrong`() {
        var device = Listener()
        device.hear()
        device.clock.given = device.clock.time(at: device.moment)?.adding(seconds: 50)
        #expect(device.off == 50)
        device.passed += 60
        #expect(device.off == 0)
        device.clock.given = device.clock.time(at: device.moment)?.adding(seconds: 50)
        for _ in 0..<3 { device.hear(-years, after: 301) }
        #expect(device.off == -years)
    }

    @Test(arguments: [years, -years, 7_200, -7_200])
    func `judges by uptime what was stamped in a boot before its first answer`(
        _ ahead: Double
    ) throws {
        var device = Listener()
        device.hear()
        device.restart(after: 4_000)
        device.passed += 10
        device.ahead = ahead
        let first = device.edit()
        device.passed += 100
        device.ahead = 0
        let second = device.edit()
        device.hear(after: 60)

        #expect(device.sure == 0)
        #expect(device.corrections.count == 1)
        let correction = try #require(device.corrections.first)
        #expect(correction.wasBelieved && correction.since == first.position)
        #expect(first.ahead(correction) == 0 && second.ahead(correction) == 0)
        device.hear(after: 60)
        #expect(device.corrections.count == 1)
    }

    @Test func `leaves alone what was stamped right in a boot before its first answer`() {
        var device = Listener()
        device.hear()
        device.restart(after: 4_000)
        device.passed += 10
        let edit = device.edit()
        #expect(edit.stamp == edit.madeAt)
        device.hear(after: 60)
        #expect(device.sure == 0)
        #expect(device.corrections == [])
    }

    @Test func `lets nothing be later than an answer that was stamped in a boot before`() throws {
        var device = Listener()
        device.hear()
        device.restart(after: 4_000)
        device.passed += 10
        device.ahead = years
        let edit = device.edit()
        device.ahead = 0
        device.restart(after: 60)
        device.hear(after: 10)

        #expect(device.sure == 0)
        let correction = try #require(device.corrections.first)
        #expect(edit.ahead(correction) == 70)
    }

    @Test(arguments: [93_600, -93_600] as [Double])
    func `leaves alone what was stamped by answers where a restart sets the device's clock right`(
        _ ahead: Double
    ) throws {
        var device = Listener()
        device.ahead = ahead
        device.hear()
        device.passed += 60
        let edit = device.edit()
        device.ahead = 0
        device.restart(after: 4_000)
        device.passed += 10
        let later = device.edit()
        device.hear(after: 10)

        #expect(device.sure == 0)
        let correction = try #require(device.corrections.first)
        #expect(edit.ahead(correction) == 0)
        #expect(later.ahead(correction) == 0)
    }

    @Test func `that answers of one boot contradict moves what was stamped in it`() throws {
        var device = Listener()
        device.hear()
        for _ in 0..<3 { device.hear(years, after: 301) }
        let edit = device.edit()
        device.restart(after: 100)
        device.hear(after: 10)

        #expect(device.sure == 0)
        let correction = try #require(device.corrections.last)
        #expect(edit.ahead(correction) == 0)
    }

    @Test func `that failed in a later boot leaves nothing later than the answer that says so`()
        throws
    {
        var leapt = Listener()
        leapt.hear()
        leapt.restart(after: 100)
        for _ in 0..<3 { leapt.hear(years, after: 301) }
        var first = Listener()
        first.hear(86_400)
        for var device in [leapt, first] {
            let edit = device.edit()
            device.restart(after: 100)
            device.hear(after: 10)

            #expect(device.sure == 0)
            #expect(edit.ahead(try #require(device.corrections.last)) == 110)
        }
    }

    @Test func `that was only doubted, and failed in a later boot, moves what was stamped by it`()
        throws
    {
        var device = Listener()
        device.hear(years)
        let edit = device.edit()
        device.restart(after: 100)
        device.hear(after: 10)

        #expect(device.sure == 0)
        #expect(edit.ahead(try #require(device.corrections.last)) == 0)
    }

    @Test func `leaves nothing of an unanswered boot later than the answers of the next one`()
        throws
    {
        var device = Listener()
        device.hear()
        device.restart(after: 4_000)
        device.passed += 10
        device.ahead = years
        let edit = device.edit()
        device.ahead = -10_800
        device.restart(after: 60)
        for _ in 0..<3 { device.hear(after: 301) }

        #expect(device.sure == 0)
        #expect(edit.ahead(try #require(device.corrections.last)) == 963)
    }

    @Test func `leaves alone what was stamped in a boot before one in which the server leapt`()
        throws
    {
        var device = Listener()
        device.hear()
        for _ in 0..<3 { device.hear(years, after: 301) }
        let edit = device.edit()
        // No former time agrees with an answer, as the device's clock was set meanwhile.
        device.ahead = 7_200
        device.restart(after: 100)
        for _ in 0..<3 { device.hear(after: 301) }

        #expect(device.sure == 0)
        let correction = try #require(device.corrections.last)
        #expect(!correction.limitsKept)
        #expect(correction.time(edit.stamp, of: edit.position) == edit.stamp)
    }

    @Test func `takes back what a leap moved once that is taken back`() throws {
        var device = Listener()
        device.hear()
        var edit = device.edit()
        for _ in 0..<3 { device.hear(years, after: 301) }
        edit.stamp = try #require(device.corrections.last).time(edit.stamp, of: edit.position)
        device.hear(after: 10)

        #expect(device.sure == 0)
        #expect(edit.ahead(try #require(device.corrections.last)) <= 913)
    }

    @Test func `holds at the ends of time`() {
        let ends: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        for date in ends {
            for uptime in ends {
                var clock = ServerClock()
                for now in ends {
                    let moment = Moment(
                        now: Timestamp(rawValue: now), bootID: "a", uptime: uptime)
                    let sighting = ClockSighting(Timestamp(rawValue: date), at: moment)
                    _ = clock.see(sighting, at: Position(1))
                    _ = clock.time(at: moment)
                    let other = Moment(
                        now: Timestamp(rawValue: now), bootID: "b", uptime: uptime)
                    clock.noteStamp(at: other, Position(2))
                    _ = clock.see(ClockSighting(sighting.date, at: other), at: Position(3))
                    _ = clock.believes(Timestamp(rawValue: now), after: moment)
                }
            }
        }
    }

    /// A server with two clocks, of which one is wrong now and then.
    @Test(arguments: [0x5EED_0C01, 0x5EED_0C02, 0x5EED_0C03] as [UInt64])
    func `is right at the first right answer, whatever was heard before`(_ seed: UInt64) {
        print("seed \(seed)")
        for round in 0..<500 {
            var random = SplitMix64(seed: seed &+ UInt64(round))
            var device = Listener()
            device.hear()
            var wrong = 0.0
            for _ in 0..<random.below(30) {
                if random.once(in: 3) {
                    wrong = Double(random.below(2_000_000_000)) - 1_000_000_000
                }
                if random.once(in: 5) { device.restart(after: Double(random.below(4_000))) }
                device.hear(wrong, after: Double(random.below(900)))
            }
            device.hear(after: Double(random.below(900)))
            let off = device.sure.map { $0.magnitude < 60 }
            #expect(off == true, "seed \(seed), round \(round)")
        }
    }
}
