// OrderKey.swift — the order of field values, as bytes: of two values the lesser has the lesser
// bytes. Indexes are stored in it and queries compare by it, so both mean the same.
//
//   value                    bytes
//   missing, null            01
//   false                    02
//   true                     03
//   a number                 04, the nearest double (8), whole part − whole part of the double (2)
//   a time                   05, microseconds since 1970 (8)
//   a text                   06, its UTF-8 with 00 as 00 FF, 00 00
//   a list or an object      07, its compact JSON with 00 as 00 FF, 00 00
//
// All numbers are big-endian with the sign turned so that they sort. No value's bytes begin with
// all of another's: those of several fields, one behind the other, compare field by field.

/// The order of field values.
///
/// Numbers compare by value: integers that an `Int64` holds exactly, others as the nearest double;
/// what is too large for one counts as infinite.
package enum OrderKey {
    private enum Tag {
        static let null: UInt8 = 1
        static let no: UInt8 = 2
        static let yes: UInt8 = 3
        static let number: UInt8 = 4
        static let time: UInt8 = 5
        static let text: UInt8 = 6
        static let nested: UInt8 = 7
    }

    /// What the bytes of every list and object begin with.
    package static let nested = Tag.nested

    /// The bytes of what is missing or null, and what it has in an order in which that counts as
    /// greatest; no index has those.
    package static let null = [Tag.null]
    package static let greatestNull: [UInt8] = [.max]
    /// What lies between null and all other values.
    package static let behindNull = [Tag.null + 1]

    /// Appends the bytes of a value.
    ///
    /// - Parameters:
    ///   - raw: the JSON text of the value without white space around it, or nil where the field
    ///     is missing.
    ///   - kind: whether it is to stand as a time, if it reads as one.
    ///   - dates: how the collection writes times.
    package static func append(
        _ raw: ArraySlice<UInt8>?, kind: IndexField.Kind, dates: DateFormat,
        to key: inout [UInt8]
    ) {
        guard let raw, let first = raw.first else { return key.append(Tag.null) }
        if kind == .date, let time = dates.timestamp(raw) { return append(time, to: &key) }
        switch first {
        case UInt8(ascii: "n"): key.append(Tag.null)
        case UInt8(ascii: "f"): key.append(Tag.no)
        case UInt8(ascii: "t"): key.append(Tag.yes)
        case UInt8(ascii: "\""): appendText(raw, to: &key)
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            key.append(Tag.nested)
            let compact = (try? JSONValue(parsing: raw))?.encoded()
            appendEscaped(compact.map { $0[...] } ?? raw, to: &key)
        default: appendNumber(raw, to: &key)
        }
    }

    /// Appends the bytes of a value; nil where the field is missing.
    package static func append(
        _ value: JSONValue?, kind: IndexField.Kind, dates: DateFormat, to key: inout [UInt8]
    ) {
        append(value.map { $0.encoded()[...] }, kind: kind, dates: dates, to: &key)
    }

    /// The bytes of an id in a field, which may hold it as a text or as a number.
    package static func values(ofID id: String, dates: DateFormat) -> [[UInt8]] {
        let number = JSONNumber(text: id).map { JSONValue.number($0) }
        return [.string(id), number].compactMap(\.self).map { value in
            var bytes: [UInt8] = []
            append(value, kind: .value, dates: dates, to: &bytes)
            return bytes
        }
    }

    /// Appends the bytes of a time.
    package static func append(_ time: Timestamp, to key: inout [UInt8]) {
        key.append(Tag.time)
        append(UInt64(bitPattern: time.rawValue) ^ 1 << 63, to: &key)
    }

    /// Where the value ends that begins at `start`; nil where the bytes end before it does.
    package static func end(of key: ArraySlice<UInt8>, from start: Int) -> Int? {
        guard start < key.endIndex else { return nil }
        let end: Int
        switch key[start] {
        case Tag.number: end = start + 11
        case Tag.time: end = start + 9
        case Tag.text, Tag.nested:
            var at = start + 1
            while at + 1 < key.endIndex {
                if key[at] != 0 {
                    at += 1
                } else if key[at + 1] == 0 {
                    return at + 2
                } else {
                    at += 2
                }
            }
            return nil
        default: end = start + 1
        }
        return end <= key.endIndex ? end : nil
    }

    /// The end of the first `count` values in the bytes; that of the bytes where there are fewer.
    package static func end(of key: [UInt8], behind count: Int) -> Int {
        var place = 0
        for _ in 0..<count {
            guard let next = end(of: key[...], from: place) else { return key.endIndex }
            place = next
        }
        return place
    }

    // MARK: Texts

    private static func appendText(_ raw: ArraySlice<UInt8>, to key: inout [UInt8]) {
        key.append(Tag.text)
        if let text = JSON.unescapedText(raw) {
            appendEscaped(text[...], to: &key)
        } else {
            // A JSON text has no zero bytes of its own.
            key.append(contentsOf: raw.dropFirst().dropLast())
            key.append(contentsOf: [0, 0])
        }
    }

    private static func appendEscaped(_ bytes: ArraySlice<UInt8>, to key: inout [UInt8]) {
        key.reserveCapacity(key.count + bytes.count + 2)
        for byte in bytes {
            key.append(byte)
            if byte == 0 { key.append(0xFF) }
        }
        key.append(contentsOf: [0, 0])
    }

    // MARK: Numbers

    private static func appendNumber(_ raw: ArraySlice<UInt8>, to key: inout [UInt8]) {
        let nearest: Double
        var whole: Int64?
        if let integer = JSON.smallInteger(raw) {
            nearest = Double(integer)
            whole = integer
        } else {
            let number = JSONNumber(scanned: String(decoding: raw, as: UTF8.self))
            nearest = Double(number.text) ?? 0
            if nearest.magnitude >= 0x1p53 { whole = number.floor() }
        }
        // From 2⁵³ on a double stands for several integers; the whole part tells them apart.
        var rest: Int64 = 0
        if let whole, nearest.magnitude >= 0x1p53 {
            rest = nearest >= 0x1p63 ? (whole - .max) - 1 : whole - (Int64(exactly: nearest) ?? 0)
        }
        key.append(Tag.number)
        let bits = (nearest == 0 ? 0.0 : nearest).bitPattern
        append(bits >> 63 == 0 ? bits | 1 << 63 : ~bits, to: &key)
        let turned = UInt16(clamping: rest + 0x8000)
        key.append(UInt8(turned >> 8))
        key.append(UInt8(truncatingIfNeeded: turned))
    }

    private static func append(_ number: UInt64, to key: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) {
            key.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
        }
    }
}
