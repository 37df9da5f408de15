// TimeSpan.swift — a length of time as a model says it: calendar months, and seconds; written as an
// ISO 8601 duration.

/// A length of time: calendar months, then days of 24 hours and what is shorter.
///
/// Written as an ISO 8601 duration: `P2M`, `P7D`, `PT12H`, `P1DT30M`. Spans of the same length are
/// equal, however they were written: `PT24H` is `P1D`.
///
/// - Precondition: no count is negative, nor so large that its seconds don't fit an `Int`.
public struct TimeSpan: Sendable, Hashable {
    /// Calendar months; never negative.
    public let months: Int
    /// Seconds beside the months, a day having 86,400; never negative.
    public let seconds: Int

    private init(months: Int, seconds: Int) {
        precondition(months >= 0 && seconds >= 0, "a span is never negative")
        self.months = months
        self.seconds = seconds
    }

    /// No time at all: `PT0S`.
    public static let zero = TimeSpan(months: 0, seconds: 0)

    /// So many calendar months.
    public static func months(_ count: Int) -> TimeSpan { TimeSpan(months: count, seconds: 0) }

    /// So many days of 24 hours.
    public static func days(_ count: Int) -> TimeSpan { .seconds(count * 86_400) }

    /// So many hours.
    public static func hours(_ count: Int) -> TimeSpan { .seconds(count * 3600) }

    /// So many minutes.
    public static func minutes(_ count: Int) -> TimeSpan { .seconds(count * 60) }

    /// So many seconds.
    public static func seconds(_ count: Int) -> TimeSpan { TimeSpan(months: 0, seconds: count) }

    /// Both spans, one after the other.
    public static func + (left: TimeSpan, right: TimeSpan) -> TimeSpan {
        TimeSpan(months: left.months + right.months, seconds: left.seconds + right.seconds)
    }
}

extension TimeSpan: CustomStringConvertible {
    /// As ISO 8601 writes it, without years and weeks: `P2M`, `P7DT12H`, `PT0S`.
    public var description: String {
        func part(_ count: Int, _ unit: String) -> String { count > 0 ? "\(count)\(unit)" : "" }
        let date = part(months, "M") + part(seconds / 86_400, "D")
        let time =
            part(seconds / 3600 % 24, "H") + part(seconds / 60 % 60, "M") + part(seconds % 60, "S")
        if date.isEmpty, time.isEmpty { return "PT0S" }
        return "P" + date + (time.isEmpty ? "" : "T" + time)
    }

    /// Reads an ISO 8601 duration of whole numbers; a year is 12 months, a week 7 days.
    ///
    /// Nil for anything else, and for more than 12,000 months or 3,650,000 days.
    public init?(_ text: String) {
        guard text.first == "P", text.last != "P", text.last != "T" else { return nil }
        var (months, seconds, digits) = (0, 0, "")
        // What may still come, in the order of ISO 8601.
        var units: Substring = "YMWDT"
        for character in text.dropFirst() {
            if character.isASCII, character.isNumber {
                digits.append(character)
                continue
            }
            guard let place = units.firstIndex(of: character) else { return nil }
            let isTime = !units.contains("T")
            units = units[units.index(after: place)...]
            if character == "T" {
                guard digits.isEmpty else { return nil }
                units = "HMS"
                continue
            }
            guard digits.count <= 12, let count = Int(digits) else { return nil }
            digits = ""
            switch (character, isTime) {
            case ("Y", _): months += count * 12
            case ("M", false): months += count
            case ("W", _): seconds += count * 604_800
            case ("D", _): seconds += count * 86_400
            case ("H", _): seconds += count * 3600
            case ("M", true): seconds += count * 60
            default: seconds += count
            }
        }
        guard digits.isEmpty, months <= 12_000, seconds <= 3_650_000 * 86_400 else { return nil }
        self.init(months: months, seconds: seconds)
    }
}

extension Timestamp {
    /// The moment that much later, months first.
    public func adding(_ span: TimeSpan) -> Timestamp {
        adding(months: span.months).adding(seconds: Int64(span.seconds))
    }

    /// The moment that much earlier, months first.
    public func subtracting(_ span: TimeSpan) -> Timestamp {
        adding(months: -span.months).adding(seconds: -Int64(span.seconds))
    }
}
