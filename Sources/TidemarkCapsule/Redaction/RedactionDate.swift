// RedactionDate.swift — texts that are dates, and the days that may stand for theirs.

import TidemarkRules

/// A date as servers write it: `2026-01-05` or `2026-01-05T00:00:00.000`, with a zone or without.
enum RedactionDate {
    /// A year and the hyphen behind it.
    static let yearBytes = "2026-".utf8.count
    /// A date without a time.
    static let dateBytes = "2026-01-05".utf8.count

    private static let bytesMax = 64

    static func isDate(_ text: [UInt8]) -> Bool {
        guard (dateBytes...bytesMax).contains(text.count), text[yearBytes - 1] == 0x2D else {
            return false
        }
        let text = String(decoding: text, as: UTF8.self)
        return RFC3339.parse(text) != nil || RFC3339.parseLocal(text) != nil
    }

    /// The month and the day of a date, `01-05`.
    static func day(of date: [UInt8]) -> ArraySlice<UInt8> { date[yearBytes..<dateBytes] }

    /// The days that every year has.
    static let days: [[UInt8]] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated()
        .flatMap { month, days in
            (1...days).map { day in
                Array("\(twoDigits(month + 1))-\(twoDigits(day))".utf8)
            }
        }

    private static func twoDigits(_ number: Int) -> Substring { String(100 + number).dropFirst() }
}
