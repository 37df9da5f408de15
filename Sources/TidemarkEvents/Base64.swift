// Base64.swift — RFC 4648, section 4, with padding.

/// Bytes as text.
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for index in 0..<3 {
                bits = bits << 8 | (index < group.count ? UInt32(group[start + index]) : 0)
            }
            for index in 0..<4 {
                let isPadding = index > group.count
                text.append(
                    isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> (18 - 6 * index) & 63)])
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
