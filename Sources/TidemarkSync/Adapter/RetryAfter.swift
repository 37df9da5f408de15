// RetryAfter.swift — how long a server asks to wait (RFC 9110, section 10.2.3): seconds, or a date.

package import HTTPTypes
import TidemarkEvents

/// Reads the header field Retry-After.
package enum RetryAfter {
    /// The longest wait that is honoured; a longer one is cut to this.
    package static let secondsMax: Int64 = 24 * 60 * 60

    /// The seconds to wait, from 0 to ``secondsMax``; nil when the field is absent or can't be
    /// read.
    ///
    /// A date is measured against the answer's own Date field, so that the device's clock does not
    /// matter; without that field it can't be read.
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

extension String {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
