// RetryAfter.swift — how long a server asks to wait (RFC 9110, section 10.2.3): seconds, or a date.

package import HTTPTypes
package import TidemarkEvents

/// Reads the header field Retry-After.
package enum RetryAfter {
    /// The longest wait that is honoured; a server that says more is taken to mean this.
    package static let secondsMax: Int64 = 24 * 60 * 60

    /// The seconds to wait, from 0 to ``secondsMax``; nil when the field is absent or means
    /// nothing.
    ///
    /// A date is measured against the answer's own Date field, so that no clock of ours enters;
    /// without that it means nothing.
    package static func seconds(_ headers: HTTPFields) -> Int64? {
        guard let text = headers[.retryAfter]?.trimmed, !text.isEmpty else { return nil }
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        if !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return isNegative ? 0 : Int64(digits).map { min($0, secondsMax) } ?? secondsMax
        }
        guard let until = HTTPDate.parse(text), let now = headers[.date].flatMap(HTTPDate.parse)
        else { return nil }
        let seconds = (until.rawValue - now.rawValue) / 1_000_000
        return min(max(seconds, 0), secondsMax)
    }
}

/// Dates as HTTP writes them, in the three ways of RFC 9110, section 5.6.7.
///
///     Sun, 06 Nov 1994 08:49:37 GMT
///     Sunday, 06-Nov-94 08:49:37 GMT
///     Sun Nov  6 08:49:37 1994
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

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

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
