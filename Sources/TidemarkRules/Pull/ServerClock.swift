// ServerClock.swift — what the server's clock is believed to show, by what its answers said.
//
//   believed   goes on from answer to answer by the clock that nobody sets, after a restart by the
//              device's; an answer that agrees with it is taken in
//   doubted    an answer that does not agree: the time is in doubt until one agrees again, or until
//              three that agree with one another came over ten minutes of uptime: those count
//   former     what was believed before leaps that counted, and the device's clock before all of
//              them; one answer that agrees takes the leap back
//   boots      since the last answer: what is stamped in one goes on from its first stamp by the
//              clock that nobody sets, so that the boot's first answer judges all of it
//
// The first answer counts at once where the device's clock says much the same. Whoever prunes,
// concludes absence or writes a time waits while it is in doubt.

package import TidemarkEvents

/// What an answer said of the server's clock, and when it came.
package struct ClockSighting: Sendable, Hashable {
    /// The answer's Date: whole seconds, so the clock showed that or up to a second more.
    package var date: Timestamp
    /// When it came, by both clocks of the device.
    package var moment: Moment

    package init(_ date: Timestamp, at moment: Moment) {
        self.date = date
        self.moment = moment
    }

    /// The last moment that the clock may have shown.
    fileprivate var latest: Timestamp { date.adding(from: 0, to: 999_999) }

    /// What the clock showed, as well as can be told: the moment of that second at which the
    /// device's clock was, or, where that is another time altogether, its fraction of a second.
    fileprivate var time: Timestamp {
        let ahead = date.distance(to: moment.now)
        if ahead.magnitude < 30_000_000 { return min(max(moment.now, date), latest) }
        let fraction = moment.now.rawValue % 1_000_000
        return date.adding(from: 0, to: fraction < 0 ? fraction + 1_000_000 : fraction)
    }
}

/// One course of a clock: what it showed at a moment, and so what it shows at any other.
package struct ClockCourse: Sendable, Hashable {
    package var time: Timestamp
    /// The last answer that agreed came then.
    package var seen: Moment
    /// The answer since which it is gone by.
    package var since: Position
    /// How many answers agreed, none of a device's clock, and over how many microseconds of uptime;
    /// not counted further than it matters.
    package var answers: Int64 = 1
    package var uptime: Int64 = 0

    package init(time: Timestamp, seen: Moment, since: Position) {
        self.time = time
        self.seen = seen
        self.since = since
    }

    fileprivate init(_ sighting: ClockSighting, since: Position) {
        self.init(time: sighting.time, seen: sighting.moment, since: since)
    }

    fileprivate init(device moment: Moment, since: Position) {
        self.init(time: moment.now, seen: moment, since: since)
        answers = 0
    }

    /// What the clock shows at a moment: in the same boot by the clock that nobody sets, else by
    /// the device's, off by as much as it was.
    package func time(at moment: Moment) -> Timestamp {
        if isSameBoot(moment), moment.uptime >= seen.uptime {
            return time.adding(from: seen.uptime, to: moment.uptime)
        }
        return moment.now.adding(from: seen.now.rawValue, to: time.rawValue)
    }

    /// Whether an answer says what this course does.
    fileprivate func agrees(_ sighting: ClockSighting) -> Bool {
        let known = time(at: sighting.moment)
        let slack = ServerClock.slack(
            isSameBoot: isSameBoot(sighting.moment), after: passed(until: sighting.moment))
        return known >= sighting.date.adding(from: slack, to: 0)
            && known <= sighting.latest.adding(from: 0, to: slack)
    }

    /// Takes in an answer that agrees.
    ///
    /// A clock can't show less than the answer said; more it may, as the answer took its time, and
    /// comes back only as fast as clocks drift.
    fileprivate mutating func take(_ sighting: ClockSighting) {
        let moment = sighting.moment
        answers = min(answers + 1, ServerClock.answersMin)
        // Of several that were asked for at the same time one may have come before the last one.
        if isSameBoot(moment), moment.uptime < seen.uptime { return }
        let known = time(at: moment)
        let drift = passed(until: moment) / 5_000
        let passed = isSameBoot(moment) ? moment.uptime - seen.uptime : moment.uptime
        uptime = min(uptime + min(passed, ServerClock.uptimeMin), ServerClock.uptimeMin)
        time = max(
            sighting.date, min(known, max(sighting.latest, known.adding(from: drift, to: 0))))
        seen = moment
    }

    /// Whether enough answers agreed for a leap to count.
    fileprivate var isProven: Bool {
        answers >= ServerClock.answersMin && uptime >= ServerClock.uptimeMin
    }

    fileprivate func isSameBoot(_ moment: Moment) -> Bool {
        !moment.bootID.isEmpty && moment.bootID == seen.bootID
    }

    fileprivate func passed(until moment: Moment) -> Int64 {
        max(0, moment.microseconds(since: seen) ?? 0)
    }
}

/// What the server's clock is believed to show.
package struct ServerClock: Sendable, Hashable {
    /// How many answers have to agree on a leap, and over how many microseconds of uptime.
    package static let answersMin: Int64 = 3
    package static let uptimeMin: Int64 = 10 * 60 * 1_000_000
    /// How far the first answer may be from the device's clock to be believed at once: people set
    /// their clocks wrong by hours, and by a day.
    package static let deviceSlack: Int64 = 2 * 86_400 * 1_000_000
    private static let formerMax = 4
    private static let hour: Int64 = 3_600_000_000

    /// How far an answer may be from what is known, in microseconds: it takes its time, clocks
    /// drift, and a device's clock may be set right by some minutes between two boots.
    package static func slack(isSameBoot: Bool, after passed: Int64) -> Int64 {
        (isSameBoot ? 60_000_000 : 600_000_000) + min(passed / 1_000, hour)
    }

    /// A change of the believed time by an answer.
    package struct Correction: Sendable, Hashable {
        /// By how many microseconds the earlier clock was behind.
        package var microseconds: Int64
        /// The answer since which the earlier clock was used, or the first event that went by a
        /// device's clock that was wrong.
        package var since: Position
        /// Whether it was believed, so that decisions may have used it.
        package var wasBelieved: Bool
        /// What was stamped before this is not moved; nil for nothing.
        package var kept: Position?
        /// What was stamped in the answer's boot, before it; nil for nothing.
        package var stamped: Stamped?
        /// The server's time now: nothing that waits was made later.
        package var latest: Timestamp
        /// Whether that holds of what is kept, too: not where the server's own clock leapt, as it
        /// may leap forward again.
        package var limitsKept = true

        /// What was stamped since an event, and by how many microseconds too early.
        package struct Stamped: Sendable, Hashable {
            package var since: Position
            package var microseconds: Int64
        }

        /// When an edit was made that was stamped before the answer.
        package func time(_ stamp: Timestamp, of edit: Position) -> Timestamp {
            if let stamped, edit >= stamped.since {
                return stamp.adding(from: 0, to: stamped.microseconds)
            }
            if edit < since || kept.map({ edit < $0 }) == true {
                return limitsKept ? min(stamp, latest) : stamp
            }
            return min(stamp.adding(from: 0, to: microseconds), latest)
        }
    }

    package var believed: ClockCourse?
    /// The latest last.
    package var former: [ClockCourse] = []
    package var doubted: ClockCourse?
    /// The first and the last boot in which something was stamped since the last answer that is
    /// gone by; each since its first stamp.
    package var boots: [ClockCourse] = []
    /// The latest time that was given out by the current clock: no earlier one is given out.
    package var given: Timestamp?
    /// The answer that ended the last doubt, or that proved the earlier clock wrong.
    package var settledAt: Position?
    /// The boot that an edit named last.
    package var bootID = ""

    package init() {}

    /// Whether an answer contradicted the believed clock, and none has settled that.
    package var isInDoubt: Bool { doubted != nil }

    /// The time that is doubted, the time that was expected instead, and the answer since which
    /// the server says so.
    package var doubt: (said: Timestamp, expected: Timestamp, since: Position)? {
        doubted.map { ($0.time, believed?.time(at: $0.seen) ?? $0.seen.now, $0.since) }
    }

    /// The clock in use: the believed one, else that of the only answer.
    package var course: ClockCourse? { believed ?? doubted }

    /// What the clock in use shows at a moment; nil before any answer.
    package func time(at moment: Moment) -> Timestamp? {
        guard let shown = (boot(of: moment) ?? course)?.time(at: moment) else { return nil }
        return given.map { max($0, shown) } ?? shown
    }

    private func boot(of moment: Moment) -> ClockCourse? {
        boots.last { $0.isSameBoot(moment) }
    }

    /// Notes that something is stamped; of a boot without an answer only the first counts.
    package mutating func noteStamp(at moment: Moment, _ position: Position) {
        guard let course, !moment.bootID.isEmpty, !course.isSameBoot(moment),
            boot(of: moment) == nil, let first = time(at: moment)
        else { return }
        boots = Array(boots.prefix(1)) + [ClockCourse(time: first, seen: moment, since: position)]
    }

    /// Whether what a boot goes by is more than the device's clock: an answer came in it, or none
    /// ever did.
    package func isHeard(in bootID: String) -> Bool {
        believed.map { $0.seen.bootID == bootID } ?? true
    }

    /// Whether a time is not later than what is believed.
    ///
    /// Without any answer about the clock every time is believed.
    ///
    /// - Parameter moment: another moment that is known to be past, or nil.
    package func believes(_ time: Timestamp, after moment: Moment?) -> Bool {
        guard let believed else { return !isInDoubt }
        let then = moment.map { believed.time(at: $0) } ?? believed.time
        let latest = max(then, believed.time, given ?? then)
        return time <= latest.adding(from: 0, to: Self.slack(isSameBoot: true, after: 0))
    }

    /// Whether an answer agrees with what is believed.
    package func agrees(_ sighting: ClockSighting) -> Bool { believed?.agrees(sighting) ?? false }

    /// Takes in an answer.
    ///
    /// One from before its boot, or from before 1970, is ignored.
    ///
    /// - Parameter position: that of the answer.
    /// - Returns: the correction, where another clock is used from now on, or where what was
    ///   stamped since the answer before proves wrong.
    package mutating func see(_ sighting: ClockSighting, at position: Position) -> Correction? {
        guard sighting.moment.uptime >= 0, sighting.date.rawValue >= 0 else { return nil }
        return hear(sighting, position) ?? judgeStamps(sighting.moment, position)
    }

    private mutating func hear(_ sighting: ClockSighting, _ position: Position) -> Correction? {
        if var course = believed, course.agrees(sighting) {
            course.take(sighting)
            if isInDoubt { settledAt = position }
            (believed, doubted) = (course, nil)
            return nil
        }
        if let index = former.lastIndex(where: { $0.agrees(sighting) }) {
            let known = former[index]
            var course = known
            course.take(sighting)
            former.removeSubrange(index...)
            // Answers of the same boot said the one and the other: what was stamped in it is wrong.
            let isSameBoot = known.answers > 0 && known.seen.bootID == believed?.seen.bootID
            return believe(course, position, keepsBoot: !isSameBoot)
        }
        let distance = sighting.date.distance(to: sighting.moment.now).magnitude
        if believed == nil, distance <= Self.deviceSlack.magnitude {
            let correction = believe(ClockCourse(sighting, since: position), position)
            former = [ClockCourse(device: sighting.moment, since: position)]
            return correction
        }
        guard var course = doubted, course.agrees(sighting) else {
            let before = believed == nil ? doubted : nil
            let course = ClockCourse(sighting, since: position)
            doubted = course
            return before.map { correct($0, course, position, wasBelieved: false) }
        }
        course.take(sighting)
        doubted = course
        guard course.isProven else { return nil }
        if believed != nil { course.since = position }
        let before = believed ?? ClockCourse(device: sighting.moment, since: position)
        former.append(before)
        // The device's clock, what was believed first, and what was believed last.
        if former.count > Self.formerMax { former.remove(at: 2) }
        return believe(course, position, isLeap: true)
    }

    private mutating func believe(
        _ course: ClockCourse, _ position: Position, keepsBoot: Bool = true, isLeap: Bool = false
    ) -> Correction? {
        let before = believed ?? doubted.flatMap { $0.since == course.since ? nil : $0 }
        let wasBelieved = believed != nil
        if isInDoubt { settledAt = position }
        (believed, doubted) = (course, nil)
        return before.map {
            correct(
                $0, course, position, wasBelieved: wasBelieved, keepsBoot: keepsBoot,
                limitsKept: !isLeap)
        }
    }

    private mutating func correct(
        _ before: ClockCourse, _ after: ClockCourse, _ position: Position, wasBelieved: Bool,
        keepsBoot: Bool = true, limitsKept: Bool = true
    ) -> Correction {
        var correction = Correction(
            microseconds: before.time(at: after.seen).distance(to: after.time),
            since: before.since, wasBelieved: wasBelieved, stamped: stamped(by: after),
            latest: after.time, limitsKept: limitsKept)
        // That it failed in another boot does not make wrong what it said in its own.
        if keepsBoot, wasBelieved, before.seen.bootID != after.seen.bootID {
            correction.kept = boots.first?.since ?? position
        }
        forgetStamps(position)
        return correction
    }

    /// Judges what was stamped since the last answer, by one that agrees.
    ///
    /// - Parameter moment: that of the answer.
    private mutating func judgeStamps(_ moment: Moment, _ position: Position) -> Correction? {
        guard let course, course.seen == moment else { return nil }
        let passed = boot(of: moment)?.passed(until: moment) ?? 0
        let slack = Self.slack(isSameBoot: true, after: passed)
        let stamped = stamped(by: course)
        let isAhead = given.map { $0 > course.time.adding(from: 0, to: slack) } ?? false
        guard isAhead || stamped.map({ $0.microseconds.magnitude > slack.magnitude }) == true
        else {
            boots = []
            return nil
        }
        let correction = Correction(
            microseconds: 0, since: boots.first?.since ?? position, wasBelieved: believed != nil,
            stamped: stamped, latest: course.time)
        forgetStamps(position)
        return correction
    }

    /// What was stamped without an answer in the boot in which a course was seen last.
    private func stamped(by course: ClockCourse) -> Correction.Stamped? {
        guard let last = boot(of: course.seen) else { return nil }
        return Correction.Stamped(
            since: last.since,
            microseconds: last.time(at: course.seen).distance(to: course.time))
    }

    private mutating func forgetStamps(_ position: Position) {
        (given, boots) = (nil, [])
        if believed != nil { settledAt = position }
    }
}

extension Timestamp {
    /// The moment as much later as `end` is after `start`, in microseconds; what does not fit is
    /// held at the end of the range.
    package func adding(from start: Int64, to end: Int64) -> Timestamp {
        let (delta, isTooLong) = end.subtractingReportingOverflow(start)
        let (sum, isTooLate) = rawValue.addingReportingOverflow(delta)
        if isTooLong || isTooLate { return Timestamp(rawValue: end < start ? .min : .max) }
        return Timestamp(rawValue: sum)
    }

    /// How many microseconds later another moment is; what does not fit is held at the end of the
    /// range.
    package func distance(to other: Timestamp) -> Int64 {
        let (delta, isTooLong) = other.rawValue.subtractingReportingOverflow(rawValue)
        return isTooLong ? (other < self ? .min : .max) : delta
    }
}
