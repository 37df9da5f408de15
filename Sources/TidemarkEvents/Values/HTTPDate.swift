// HTTPDate.swift — dates as HTTP writes them: one form that servers send, two that they may.

/// Dates as HTTP writes them, in the three ways of RFC 9110, section 5.6.7.
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
package enum HTTPDate {
    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A moment, rounded down to the second, in the first of these ways: the one that servers send.
    ///
    /// Years before the first one have no such form and lose their sign.
    package static func text(_ time: Timestamp) -> String {
        let written = time.description
        let date = written.prefix { $0 != "T" }.split(separator: "-")
        let clock = written.drop { $0 != "T" }.dropFirst().prefix(8)
        let month = Int(date[1]).map { months[$0 - 1] } ?? ""
        // 1970-01-01 was a Thursday.
        let weekday = weekdays[Int(((time.dayAndRest.day + 4) % 7 + 7) % 7)]
        return "\(weekday), \(date[2]) \(month) \(date[0]) \(clock) GMT"
    }

    package static func parse(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ").map(String.init)
        switch parts.count {
        case 6 where parts[5] == "GMT": return date(parts[3], parts[2], parts[1], parts[4])
        case 5: return date(parts[4], parts[1], parts[2], parts[3])
        case 4 where parts[3] == "GMT":
            let day = parts[1].split(separator: "-").map(String.init)
            guard day.count == 3, day[2].count == 2, let year = number(day[2]) else { return nil }
            // Nobody writes this way of what was before 1970.
            return date(String(year < 70 ? 2000 + year : 1900 + year), day[1], day[0], parts[2])
        default: return nil
        }
    }

    private static func date(
        _ year: String, _ month: String, _ day: String, _ time: String
    ) -> Timestamp? {
        let clock = time.split(separator: ":").map { number(String($0)) }
        guard let year = number(year), let month = months.firstIndex(of: month),
            let day = number(day), clock.count == 3, let hour = clock[0], let minute = clock[1],
            let second = clock[2]
        else { return nil }
        return Timestamp(
            year: year, month: month + 1, day: day, hour: hour, minute: minute, second: second)
    }

    /// A number of digits only.
    private static func number(_ text: String) -> Int? {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }
}
