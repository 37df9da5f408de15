// RedactionSecrets.swift — a text in all the ways in which it might be told, and where it is found.

import Foundation
import TidemarkCapsule
import TidemarkEvents

/// A text that nobody is to find.
struct RedactionSecret {
    let text: String

    init(_ text: String) { self.text = text }

    /// The name and the bytes of each way to write it.
    private var forms: [(String, [UInt8])] {
        let utf8 = Array(text.utf8)
        func wide(_ order: (UInt16) -> [UInt8]) -> [UInt8] { text.utf16.flatMap(order) }
        var forms = [
            ("UTF-8", utf8),
            ("UTF-16LE", wide { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }),
            ("UTF-16BE", wide { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }),
            ("reversed", utf8.reversed()),
            ("hex", Array(Hexadecimal.encode(utf8).utf8)),
            ("HEX", Array(Hexadecimal.encode(utf8).uppercased().utf8)),
            ("percent", utf8.flatMap { Array(String(format: "%%%02x", $0).utf8) }),
            ("PERCENT", utf8.flatMap { Array(String(format: "%%%02X", $0).utf8) }),
            ("JSON escapes", text.utf16.flatMap { Array(String(format: "\\u%04x", $0).utf8) }),
        ]
        for shift in 0..<3 {
            // What stands before and behind shares its outer characters with it.
            let encoded = Base64.encode([UInt8](repeating: 0, count: shift) + utf8)
            let inner = encoded.utf8.dropFirst(shift == 0 ? 0 : shift + 1).prefix {
                $0 != UInt8(ascii: "=")
            }.dropLast(1)
            forms.append(("base64 at \(shift)", Array(inner)))
            forms.append(
                (
                    "base64url at \(shift)",
                    inner.map {
                        $0 == UInt8(ascii: "+") ? 0x2D : $0 == UInt8(ascii: "/") ? 0x5F : $0
                    }
                ))
        }
        return forms
    }

    /// How it is written in some bytes; nil when it is not there.
    func found(in bytes: [UInt8]) -> String? {
        let data = Data(bytes)
        let folded = Data(bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 })
        for (name, form) in forms where data.range(of: Data(form)) != nil { return name }
        if folded.range(of: Data(text.lowercased().utf8)) != nil { return "another case" }
        return nil
    }

    /// Whether a part of it of so many bytes is there.
    func isPartlyFound(_ count: Int, in bytes: [UInt8]) -> Bool {
        let data = Data(bytes)
        let utf8 = Array(text.utf8)
        guard utf8.count > count else { return false }
        return (0...(utf8.count - count)).contains { start in
            data.range(of: Data(utf8[start..<start + count])) != nil
        }
    }
}
