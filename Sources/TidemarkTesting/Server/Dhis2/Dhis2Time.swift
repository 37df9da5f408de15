// Dhis2Time.swift — times as the server writes them: in its own time zone, without naming it.

import TidemarkEvents

/// The clock on the server's wall.
struct Dhis2Time: Sendable {
    var hoursAheadOfUTC: Int

    private var secondsAhead: Int64 { Int64(hoursAheadOfUTC) * 3600 }

    /// `2017-11-29T11:27:46.935`: milliseconds, and no zone.
    func text(_ time: Timestamp) -> String {
        String(time.adding(seconds: secondsAhead).description.dropLast(4))
    }

    /// `2011-01-11T00:00:00.000+0000`, as data values have it.
    func zoned(_ time: Timestamp) -> String {
        let hours = hoursAheadOfUTC.magnitude
        let sign = hoursAheadOfUTC < 0 ? "-" : "+"
        return text(time) + sign + (hours < 10 ? "0" : "") + "\(hours)00"
    }

    /// `2017-11-29`, on the server's wall.
    func day(_ time: Timestamp) -> String { String(text(time).prefix(10)) }

    /// The start of the day in which a time lies, on the server's wall.
    func startOfDay(_ time: Timestamp) -> Timestamp { parse(day(time)) ?? time }

    /// A date, or a time with or without seconds and zone; without a zone it is the server's.
    func parse(_ text: String) -> Timestamp? {
        guard text.utf8.count >= 10 else { return nil }
        var wall = text.utf8.count == 10 ? text + "T00:00:00" : text
        var ahead = secondsAhead
        let clock = wall.index(wall.startIndex, offsetBy: 10)
        if let mark = wall[clock...].lastIndex(where: { "Z+-".contains($0) }) {
            guard let zone = Self.seconds(zone: wall[mark...]) else { return nil }
            ahead = zone
            wall = String(wall[..<mark])
        }
        if wall.utf8.count == 16 { wall += ":00" }
        return Timestamp(wall + "Z")?.adding(seconds: -ahead)
    }

    /// The same in the server's form; nil where it is no time.
    func normal(_ text: String) -> String? { parse(text).map { self.text($0) } }

    private static func seconds(zone: Substring) -> Int64? {
        if zone == "Z" { return 0 }
        let digits = zone.dropFirst().filter { $0 != ":" }
        guard digits.utf8.count == 4, let hours = Int64(digits.prefix(2)),
            let minutes = Int64(digits.suffix(2))
        else { return nil }
        return (zone.first == "-" ? -1 : 1) * (hours * 3600 + minutes * 60)
    }
}
