// DateFormat+Timestamp.swift — reading and writing times as a server has them.

extension Timestamp {
    /// The moment that a text in RFC 3339 says, as `2026-11-18T11:06:40.123456+01:00`; nil where it
    /// says none.
    ///
    /// It is exact to the microsecond; what is finer is cut off. Read a server's times so, and not
    /// by `Date`: the nearest of its numbers may be later, and a list of what changed since then
    /// passes over a change. A space for the `T` is read, too.
    public init?(_ text: String) { self.init(rfc3339: Array(text.utf8)[...]) }

    /// The same of a text's UTF-8.
    fileprivate init?(rfc3339 text: ArraySlice<UInt8>) {
        var reader = DigitReader(rest: text)
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2),
            reader.take("-"), let day = reader.number(2), reader.take("Tt "),
            let hour = reader.number(2), reader.take(":"), let minute = reader.number(2),
            reader.take(":"), let second = reader.number(2)
        else { return nil }
        var micros: Int64 = 0
        if reader.take(".") {
            guard let fraction = reader.fraction() else { return nil }
            micros = fraction
        }
        var offset: Int64 = 0
        if !reader.take("Zz") {
            let isEast = reader.rest.first == UInt8(ascii: "+")
            guard reader.take("+-"), let hours = reader.number(2), reader.take(":"),
                let minutes = reader.number(2), hours < 24, minutes < 60
            else { return nil }
            offset = Int64(hours * 3600 + minutes * 60) * (isEast ? 1 : -1)
        }
        guard reader.rest.isEmpty,
            let time = Timestamp(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        self.init(rawValue: time.adding(seconds: -offset).rawValue + micros)
    }
}

extension DateFormat {
    /// The time that a JSON text says; nil where it says none in this format.
    ///
    /// What is finer than a microsecond is cut off.
    package func timestamp(_ raw: ArraySlice<UInt8>) -> Timestamp? {
        switch self {
        case .iso8601:
            guard raw.count > 2, raw.first == UInt8(ascii: "\"") else { return nil }
            if let text = JSON.unescapedText(raw) { return Timestamp(rfc3339: text[...]) }
            return Timestamp(rfc3339: raw.dropFirst().dropLast())
        case .seconds: return Self.number(raw, digits: 6)
        case .milliseconds: return Self.number(raw, digits: 3)
        }
    }

    /// The JSON text of a time.
    ///
    /// A time before the year 1 or after 9999 is not read back from a text. With ``milliseconds``,
    /// what is finer is cut off.
    package func encoded(_ time: Timestamp) -> [UInt8] {
        switch self {
        case .iso8601:
            // As Timestamp writes it, without the digits that say nothing.
            var text = Array(time.description.utf8.dropLast())
            if text.suffix(7).elementsEqual(".000000".utf8) {
                text.removeLast(7)
            } else if text.suffix(3).elementsEqual("000".utf8) {
                text.removeLast(3)
            }
            return [UInt8(ascii: "\"")] + text + Array("Z\"".utf8)
        case .seconds:
            let (seconds, rest) = time.rawValue.quotientAndRemainder(dividingBy: 1_000_000)
            var text = (time.rawValue < 0 ? "-" : "") + String(seconds.magnitude)
            if rest != 0 {
                var digits = String(rest.magnitude + 1_000_000).dropFirst()
                while digits.last == "0" { digits.removeLast() }
                text += "." + digits
            }
            return Array(text.utf8)
        case .milliseconds: return Array(String(time.milliseconds).utf8)
        }
    }

    /// A number of units that are so many decimal digits larger than a microsecond.
    private static func number(_ raw: ArraySlice<UInt8>, digits: Int64) -> Timestamp? {
        guard let first = raw.first, first == UInt8(ascii: "-") || first &- 0x30 < 10 else {
            return nil
        }
        if let whole = JSON.smallInteger(raw) {
            let unit: Int64 = digits == 6 ? 1_000_000 : 1000
            let (micros, overflow) = whole.multipliedReportingOverflow(by: unit)
            return overflow ? nil : Timestamp(rawValue: micros)
        }
        let number = JSONNumber(scanned: String(decoding: raw, as: UTF8.self))
        return number.floor(timesTenTo: digits).map(Timestamp.init(rawValue:))
    }
}

/// Takes digits and signs from the front of a text.
private struct DigitReader {
    var rest: ArraySlice<UInt8>

    /// Takes just so many digits.
    mutating func number(_ count: Int) -> Int? {
        guard rest.count >= count else { return nil }
        var value = 0
        for byte in rest.prefix(count) {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            value = value * 10 + Int(digit)
        }
        rest = rest.dropFirst(count)
        return value
    }

    /// Takes one digit or more, as millionths of which six count.
    mutating func fraction() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while let byte = rest.first, byte &- UInt8(ascii: "0") < 10 {
            if count < 6 { value = value * 10 + Int64(byte - UInt8(ascii: "0")) }
            count += 1
            rest = rest.dropFirst()
        }
        guard count > 0 else { return nil }
        while count < 6 {
            value *= 10
            count += 1
        }
        return value
    }

    /// Takes one of these bytes.
    mutating func take(_ allowed: String) -> Bool {
        guard let first = rest.first, allowed.utf8.contains(first) else { return false }
        rest = rest.dropFirst()
        return true
    }
}
