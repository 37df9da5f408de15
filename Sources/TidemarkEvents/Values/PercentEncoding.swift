// PercentEncoding.swift — bytes as one part of a path, or a value of a query.

extension String {
    /// Bytes, percent-encoded but for what RFC 3986 calls unreserved.
    package init(percentEncoding bytes: some Sequence<UInt8>) {
        self = ""
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                append(Character(Unicode.Scalar(byte)))
            default:
                let hex = String(byte, radix: 16, uppercase: true)
                self += byte < 16 ? "%0\(hex)" : "%\(hex)"
            }
        }
    }
}
