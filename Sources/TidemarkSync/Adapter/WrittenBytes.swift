// WrittenBytes.swift — escaped bytes: %2F and + in addresses, the escapes of JSON, and the
// references of XML.

/// One to four bytes that an escape at a place of a text stands for.
struct WrittenBytes {
    /// The bytes that it stands for, the first one lowest.
    private var bytes: UInt32
    /// How many bytes it stands for.
    let count: Int
    /// How many bytes the escape takes in the text.
    let length: Int

    /// The first byte that it stands for.
    var first: UInt8 { UInt8(truncatingIfNeeded: bytes) }

    /// Whether the bytes that it stands for come next in another sequence.
    func isNext(of other: [UInt8], at index: Int) -> Bool {
        guard other.count - index >= count else { return false }
        return (0..<count).allSatisfy {
            other[index + $0] == UInt8(truncatingIfNeeded: bytes >> (8 * UInt32($0)))
        }
    }

    /// The bytes that may begin what is written by more than itself.
    static let firstBytes = Array("+%\\&".utf8)

    /// What is written at a place by more than itself; nil of a plain byte.
    init?(_ text: [UInt8], at place: Int) {
        switch text[place] {
        case UInt8(ascii: "+"): self.init(0x20, length: 1)
        case UInt8(ascii: "%"):
            guard let byte = Self.number(text, place + 1, digits: 2) else { return nil }
            self.init(UInt8(byte), length: 3)
        case UInt8(ascii: "\\"): self.init(json: text, at: place)
        case UInt8(ascii: "&"): self.init(xml: text, at: place)
        default: return nil
        }
    }

    private init(_ byte: UInt8, length: Int) {
        (bytes, count, self.length) = (UInt32(byte), 1, length)
    }

    private init?(scalar: UInt32, length: Int) {
        guard let scalar = Unicode.Scalar(scalar) else { return nil }
        let utf8 = Array(String(Character(scalar)).utf8)
        bytes = utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        (count, self.length) = (utf8.count, length)
    }

    private init?(json text: [UInt8], at place: Int) {
        guard place + 1 < text.count else { return nil }
        switch text[place + 1] {
        case let byte where #""\/"#.utf8.contains(byte): self.init(byte, length: 2)
        case UInt8(ascii: "b"): self.init(0x08, length: 2)
        case UInt8(ascii: "f"): self.init(0x0C, length: 2)
        case UInt8(ascii: "n"): self.init(0x0A, length: 2)
        case UInt8(ascii: "r"): self.init(0x0D, length: 2)
        case UInt8(ascii: "t"): self.init(0x09, length: 2)
        case UInt8(ascii: "u"):
            guard let unit = Self.number(text, place + 2, digits: 4) else { return nil }
            guard (0xD800..<0xDC00).contains(unit) else {
                self.init(scalar: unit, length: 6)
                return
            }
            guard place + 8 < text.count, text[place + 6] == UInt8(ascii: "\\"),
                text[place + 7] == UInt8(ascii: "u"),
                let low = Self.number(text, place + 8, digits: 4),
                (0xDC00..<0xE000).contains(low)
            else { return nil }
            self.init(scalar: 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00), length: 12)
        default: return nil
        }
    }

    /// `&amp;` and the other four, `&#38;` and `&#x26;`.
    private init?(xml text: [UInt8], at place: Int) {
        let reference = text[(place + 1)...].prefix(8).prefix { $0 != UInt8(ascii: ";") }
        guard reference.endIndex < text.count, text[reference.endIndex] == UInt8(ascii: ";") else {
            return nil
        }
        let length = reference.count + 2
        switch String(decoding: reference, as: UTF8.self) {
        case "amp": self.init(UInt8(ascii: "&"), length: length)
        case "lt": self.init(UInt8(ascii: "<"), length: length)
        case "gt": self.init(UInt8(ascii: ">"), length: length)
        case "quot": self.init(UInt8(ascii: "\""), length: length)
        case "apos": self.init(UInt8(ascii: "'"), length: length)
        case let name where name.hasPrefix("#x") || name.hasPrefix("#X"):
            guard let number = UInt32(name.dropFirst(2), radix: 16) else { return nil }
            self.init(scalar: number, length: length)
        case let name where name.hasPrefix("#"):
            guard let number = UInt32(name.dropFirst()) else { return nil }
            self.init(scalar: number, length: length)
        default: return nil
        }
    }

    private static func number(_ text: [UInt8], _ place: Int, digits: Int) -> UInt32? {
        guard place + digits <= text.count else { return nil }
        var number: UInt32 = 0
        for byte in text[place..<place + digits] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt32(byte - 48)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): number = number << 4 | UInt32(byte - 55)
            case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt32(byte - 87)
            default: return nil
            }
        }
        return number
    }
}
