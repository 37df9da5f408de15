// Dhis2Pools.swift — values of generated attributes that DHIS2 reserves for one client.
//
//   GET api/trackedEntityAttributes/ID/generateAndReserve?numberToReserve=51&ORG_UNIT_CODE=OSL
//
// A key of a pool is the id of an attribute; where its pattern names ORG_UNIT_CODE, that and the
// code of a unit. The server's times name no zone. How far its clock is from UTC tells what it
// calls the moment at which it made the values, beside the answer's Date.

import HTTPTypes
public import TidemarkEvents
import TidemarkSync

extension Dhis2Adapter {
    /// By what the server makes the values: the pattern of the attribute, where the model lists
    /// `trackedEntityAttributes`.
    public func pattern(
        of key: [String], in pool: String, _ document: (EntityKey) -> JSONDocument?
    ) -> String? {
        guard let attribute = key.first else { return nil }
        return document(EntityKey("trackedEntityAttributes", attribute))?
            .value("pattern")?.stringValue
    }

    /// The place below `api` at which values are reserved.
    static func place(
        ofValues key: [String], _ pool: String, count: Int
    ) throws(SyncFailure) -> String {
        guard let attribute = key.first, key.count <= 2 else {
            throw .client(
                status: 0,
                "a key of \(pool) is the id of an attribute, or that and the code of a unit")
        }
        guard !URLPath.isPlace(attribute) else {
            throw .client(status: 0, "\"\(attribute)\" is no id of an attribute")
        }
        let id = ServerRequest.percentEncoded(attribute)
        var place = "trackedEntityAttributes/\(id)/generateAndReserve"
        place += "?numberToReserve=\(count)"
        if key.count == 2 { place += "&ORG_UNIT_CODE=\(ServerRequest.percentEncoded(key[1]))" }
        return place
    }

    /// The values in an answer, each with the moment at which it ends.
    ///
    /// - Parameters:
    ///   - pattern: the attribute's, where it is known; else what the answer says counts.
    ///   - date: when the server answered, by its clock.
    static func reserved(
        _ body: [UInt8], pattern: String?, date: Timestamp?
    ) throws(SyncFailure) -> ReservedValues {
        let parsed: JSONValue
        do { parsed = try JSONValue(parsing: body) } catch {
            throw .malformed("reserved values: \(error)")
        }
        guard let items = parsed.array else { throw .malformed("reserved values that are no list") }
        let own = pattern ?? items.lazy.compactMap { $0["key"]?.stringValue }.first
        var values = ReservedValues(pattern: own, values: [])
        for item in items {
            guard let value = value(item, own, date) else {
                values.unreadable += 1
                continue
            }
            values.values.append(value)
        }
        return values
    }

    /// One value; nil where it is none, or where it can't be told when it ends.
    private static func value(
        _ item: JSONValue, _ pattern: String?, _ date: Timestamp?
    ) -> ReservedValues.Value? {
        guard let text = item["value"]?.stringValue else { return nil }
        let created = item["created"]?.stringValue.flatMap { Dhis2Day.moment($0) }
        var ends: [Dhis2Day] = []
        if let expiry = item["expiryDate"]?.stringValue {
            guard let day = Dhis2Day(expiry) else { return nil }
            // It holds for all of its last day.
            ends.append(day.next)
        }
        if let pattern, let period = Dhis2Period(pattern: pattern) {
            guard let made = created ?? date else { return nil }
            ends.append(period.end(after: Dhis2Day(made)))
        }
        let ahead = secondsAhead(created, date)
        return ReservedValues.Value(
            text, until: ends.map { $0.start.adding(seconds: -ahead) }.min())
    }

    /// How far the server's clock on the wall is ahead of UTC, in whole quarters of an hour; 0
    /// where the answer does not tell.
    private static func secondsAhead(_ wall: Timestamp?, _ date: Timestamp?) -> Int64 {
        guard let wall, let date else { return 0 }
        let (apart, overflow) = wall.rawValue.subtractingReportingOverflow(date.rawValue)
        let quarter: Int64 = 900_000_000
        guard !overflow, apart.magnitude <= 15 * 4 * 900_000_000 else { return 0 }
        let half = apart < 0 ? -quarter / 2 : quarter / 2
        return (apart + half) / quarter * 900
    }
}

/// A day of the server's calendar.
struct Dhis2Day: Sendable, Hashable, Comparable {
    /// How many days after 1970-01-01.
    var number: Int64

    init(number: Int64) { self.number = number }

    /// The day of a time on the wall, as if that was UTC.
    init(_ wall: Timestamp) { number = wall.dayAndRest.day }

    /// The day that a text begins with: `2026-03-10T11:06:40.000`; nil for anything else.
    init?(_ text: String) {
        guard let start = Self.moment(String(text.prefix(10))) else { return nil }
        self.init(start)
    }

    /// The time that a text without a zone says, as if it was UTC; nil for anything else.
    static func moment(_ text: String) -> Timestamp? {
        let clock = text.utf8.count == 10 ? "T00:00:00Z" : "Z"
        return Timestamp(text + clock)
    }

    /// When it begins, as if that was UTC.
    var start: Timestamp { Timestamp(rawValue: 0).adding(seconds: number * 86_400) }

    var next: Dhis2Day { Dhis2Day(number: number + 1) }

    static func < (left: Dhis2Day, right: Dhis2Day) -> Bool { left.number < right.number }
}

/// For how long the dates in a pattern's values are right.
enum Dhis2Period: Sendable, Hashable {
    case week, month, year

    /// The shortest of those that a pattern names in `CURRENT_DATE(…)`; nil where it names none.
    init?(pattern: String) {
        let formats = Self.formats(in: pattern)
        if formats.contains(where: { $0.contains("w") }) {
            self = .week
        } else if formats.contains(where: { $0.contains("M") }) {
            self = .month
        } else if formats.contains(where: { $0.contains { $0 == "Y" || $0 == "y" } }) {
            self = .year
        } else {
            return nil
        }
    }

    /// The first day on which values that are made on a day are wrong.
    func end(after day: Dhis2Day) -> Dhis2Day {
        switch self {
        case .week:
            // 1970-01-01 was a Thursday; weeks begin with Monday.
            let sinceMonday = ((day.number + 3) % 7 + 7) % 7
            return Dhis2Day(number: day.number - sinceMonday + 7)
        case .month, .year:
            let parts = day.start.description.prefix(10).split(separator: "-")
            guard parts.count == 3, let year = Int(parts[0]), let month = Int(parts[1]) else {
                return day.next
            }
            let isLast = self == .year || month == 12
            let first =
                isLast
                ? "\(Self.digits(year + 1, 4))-01-01"
                : "\(Self.digits(year, 4))-\(Self.digits(month + 1, 2))-01"
            return Dhis2Day(first) ?? day.next
        }
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }

    /// What stands between the parentheses of each `CURRENT_DATE`, outside of quoted texts.
    private static func formats(in pattern: String) -> [Substring] {
        let parts = pattern.split(separator: "\"", omittingEmptySubsequences: false)
        return parts.enumerated().filter { $0.offset % 2 == 0 }.flatMap { _, part in
            part.ranges(of: "CURRENT_DATE(").map { place in
                part[place.upperBound...].prefix { $0 != ")" }
            }
        }
    }
}
