// Redactor+Times.swift — times in all their written forms.

import TidemarkEvents

extension Redactor {
    private var days: Int64 { shift / Self.microsecondsPerDay }

    func time(_ time: Timestamp) -> Timestamp {
        // 0 stands for an unknown time, and both for at once.
        guard shift != 0, !(0...1).contains(time.rawValue) else { return time }
        let (sum, overflow) = time.rawValue.addingReportingOverflow(shift)
        return overflow ? time : Timestamp(rawValue: sum)
    }

    /// Microseconds since 1970; no other number in a payload is a time.
    func microseconds(_ value: JSONValue) -> JSONValue? {
        value.int64Value.map { .number(JSONNumber(time(Timestamp(rawValue: $0)).rawValue)) }
    }

    /// Whether a text is a time in a form that servers use as a version: RFC 3339, or milliseconds
    /// since 1970.
    func isTime(_ text: String) -> Bool { isDate(text) || milliseconds(text) != nil }

    /// A time of ``isTime(_:)``.
    func timeText(_ text: String) -> String {
        if let milliseconds = milliseconds(text) {
            return String(milliseconds + days * 86_400_000)
        }
        return isDate(text) ? dateText(text) : text
    }

    private func milliseconds(_ text: String) -> Int64? {
        // 2001 to 2100; numbers of this size hardly mean anything else.
        guard text.utf8.count == 13, let number = Int64(text),
            (1_000_000_000_000..<4_200_000_000_000).contains(number)
        else { return nil }
        return number
    }

    private func isDate(_ text: String) -> Bool { Timestamp(text) != nil }

    /// RFC 3339: the date is shifted, and the rest stays.
    private func dateText(_ text: String) -> String {
        guard shift != 0, let date = Self.civil(text.prefix(10), plus: days) else { return text }
        return date + text.dropFirst(10)
    }

    /// A calendar date, that many days later.
    static func civil(_ text: some StringProtocol, plus days: Int64) -> String? {
        let parts = text.split(separator: "-").map { Int($0) }
        guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2],
            let time = Timestamp(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
        else { return nil }
        return String(time.adding(seconds: days * 86_400).description.prefix(10))
    }

    /// The value of a field with a time; nil where it can't be parsed as one.
    func time(_ value: JSONValue, _ format: DateFormat) -> JSONValue? {
        switch (format, value) {
        // A version that is a time, or a time in another format, is shifted all the same.
        case (_, .string(let text)) where isTime(text): .string(timeText(text))
        case (_, .number(let number)) where milliseconds(number.text) != nil,
            (.milliseconds, .number(let number)):
            moved(number, by: days * 86_400_000).map(JSONValue.number)
        case (.seconds, .number(let number)):
            moved(number, by: days * 86_400).map(JSONValue.number)
        default: nil
        }
    }

    /// A number with its whole part shifted; the fraction stays.
    private func moved(_ number: JSONNumber, by distance: Int64) -> JSONNumber? {
        guard distance != 0 else { return number }
        let point = number.text.firstIndex(of: ".") ?? number.text.endIndex
        guard let whole = Int64(number.text[..<point]), whole > 0 else { return nil }
        let (sum, overflow) = whole.addingReportingOverflow(distance)
        return overflow ? nil : JSONNumber(text: String(sum) + number.text[point...])
    }

    /// An HTTP `Date`, always in the form that servers send; nil where it can't be parsed.
    func httpDate(_ text: String) -> String? {
        guard let parsed = HTTPDate.parse(text) else { return nil }
        let time = time(parsed)
        return time.rawValue < 0 ? nil : HTTPDate.text(time)
    }
}
