// Timestamp.swift — a moment, in whole microseconds; calendar arithmetic without a time zone.

/// A moment: microseconds since 1970-01-01 00:00 UTC.
///
/// A `Date` of Foundation is made of one, and one of a `Date`.
public struct Timestamp: RawRepresentable, Hashable, Comparable, Sendable,
    CustomStringConvertible
{
    /// Microseconds since 1970-01-01 00:00 UTC.
    public let rawValue: Int64

    /// That many microseconds since 1970.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// That many microseconds since 1970.
    public init(microseconds: Int64) { rawValue = microseconds }

    /// That many milliseconds since 1970; what does not fit is held at the end of the range.
    public init(milliseconds: Int64) {
        let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1000)
        rawValue = overflow ? (milliseconds < 0 ? .min : .max) : product
    }

    /// Whole milliseconds since 1970, rounded down.
    public var milliseconds: Int64 {
        rawValue / 1000 - (rawValue % 1000 < 0 ? 1 : 0)
    }

    /// The earlier moment is smaller.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The moment so many seconds later; what does not fit is held at the end of the range.
    public func adding(seconds: Int64) -> Timestamp {
        let (delta, tooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, tooLate) = rawValue.addingReportingOverflow(delta)
        if tooLong || tooLate { return Timestamp(rawValue: seconds < 0 ? .min : .max) }
        return Timestamp(rawValue: sum)
    }

    /// The same day and time of day so many calendar months later, in UTC; the last day of a month
    /// that has no such day.
    public func adding(months: Int) -> Timestamp {
        let (days, rest) = dayAndRest
        let (year, month, day) = Timestamp.civil(daysSince1970: days)
        let count = year * 12 + (month - 1) + Int64(months)
        let (newYear, newMonth) = (Int(count / 12), Int(count % 12) + 1)
        for last in stride(from: Int(day), to: 27, by: -1) + [Int(day)] {
            let midnight = Timestamp(
                year: newYear, month: newMonth, day: last, hour: 0, minute: 0, second: 0)
            if let midnight { return Timestamp(rawValue: midnight.rawValue + rest) }
        }
        return months < 0 ? Timestamp(rawValue: .min) : Timestamp(rawValue: .max)
    }

    /// Whole days since 1970-01-01, rounded down, and the microseconds since that day's midnight.
    package var dayAndRest: (day: Int64, rest: Int64) {
        let microsecondsPerDay: Int64 = 86_400_000_000
        let (day, rest) = rawValue.quotientAndRemainder(dividingBy: microsecondsPerDay)
        return rest < 0 ? (day - 1, rest + microsecondsPerDay) : (day, rest)
    }

    /// ISO 8601 in UTC with microseconds: `2026-11-21T11:09:00.000000Z`.
    public var description: String {
        let (days, rest) = dayAndRest
        let (year, month, day) = Timestamp.civil(daysSince1970: days)
        let seconds = rest / 1_000_000
        return pad(year, 4) + "-" + pad(month, 2) + "-" + pad(day, 2) + "T"
            + pad(seconds / 3600, 2) + ":" + pad(seconds / 60 % 60, 2) + ":"
            + pad(seconds % 60, 2) + "." + pad(rest % 1_000_000, 6) + "Z"
    }

    /// The same to the second, rounded down: `2026-11-21T11:09:00Z`.
    package var toTheSecond: String { description.dropLast(8) + "Z" }

    /// The civil date of a day number, by the proleptic Gregorian calendar.
    private static func civil(daysSince1970 days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    /// The moment of a civil date and time of day in UTC; nil when there is no such
    /// date or time; a leap second is the second after.
    public init?(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    ) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = shiftedYear / 400
        let yearOfEra = shiftedYear - era * 400
        let shiftedMonth = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * shiftedMonth + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        guard Timestamp.civil(daysSince1970: days) == (Int64(year), Int64(month), Int64(day)) else {
            return nil
        }
        let seconds = days * 86_400 + Int64(hour) * 3600 + Int64(minute) * 60 + Int64(second)
        rawValue = seconds * 1_000_000
    }
}

extension Duration {
    private static var centurySeconds: Int64 { 3_155_760_000 }

    /// A hundred years; longer times don't fit every clock.
    package static var century: Duration { .seconds(centurySeconds) }

    /// A century where it is longer, before or after.
    package var withinCentury: Duration {
        let most = Duration.century
        return min(max(self, Duration.zero - most), most)
    }

    /// Whole microseconds; those of a century where it is longer.
    package var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = withinCentury.components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}

private func pad(_ number: Int64, _ width: Int) -> String {
    let digits = String(number.magnitude)
    let zeros = String(repeating: "0", count: max(0, width - digits.count))
    return (number < 0 ? "-" : "") + zeros + digits
}
