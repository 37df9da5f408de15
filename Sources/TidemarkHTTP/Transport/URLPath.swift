// URLPath.swift — the parts of addresses, and what stands there percent-encoded (RFC 3986).

/// The parts of addresses.
package enum URLPath {
    /// Whether a part of a path would be another place, however it is escaped: `.` and `..`.
    package static func isPlace(_ text: String) -> Bool { text == "." || text == ".." }

    /// The bytes of a percent-encoded text; a `%` without two hexadecimal digits stays.
    package static func unescape(_ text: some StringProtocol) -> [UInt8] {
        let encoded = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encoded.count)
        var index = 0
        while index < encoded.count {
            if encoded[index] == UInt8(ascii: "%"), index + 2 < encoded.count,
                let high = digit(encoded[index + 1]), let low = digit(encoded[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(encoded[index])
                index += 1
            }
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }

    /// The path of an address, after host and port, without a slash at its end.
    static func path(of origin: String) -> String {
        let rest = origin.dropFirst(authority(of: origin).count)
        return String(rest.hasSuffix("/") ? rest.dropLast() : rest)
    }

    /// Scheme, host and port of an address.
    package static func authority(of origin: String) -> String {
        guard let scheme = origin.firstRange(of: "://") else { return origin }
        let rest = origin[scheme.upperBound...]
        return String(origin[..<(rest.firstIndex(of: "/") ?? origin.endIndex)])
    }
}
