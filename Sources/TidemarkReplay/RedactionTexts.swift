// RedactionTexts.swift — other texts for all texts of a capsule: as long, in the same order, equal
// where they were equal.
//
// A text is replaced byte by byte. What stands for a byte depends on the bytes before it, so equal
// beginnings stay equal; and of the bytes that follow on one beginning the greater is replaced by a
// greater one, so the order stays, whatever is compared. Where only one byte follows, as behind the
// beginning that a text shares with others, chance alone says what it becomes.
//
//   a byte                 becomes
//   below 0x30             itself: white space, most punctuation
//   a digit                a digit as long as the text may be a number, so that numbers stay
//                          numbers; 0 in front and behind the point stays 0, and no other becomes 0
//   any other              a letter, or, where too many follow, one of :;=@[]^_`{|}~ too; where
//                          even that is not enough two letters

/// Other texts for some.
package struct RedactionTexts: Sendable {
    private var replaced: [[UInt8]: [UInt8]] = [:]

    /// - Parameters:
    ///   - texts: all there are, each in bytes of UTF-8.
    ///   - taken: what no text becomes.
    package init(_ texts: Set<[UInt8]>, avoiding taken: Set<[UInt8]>, key: [UInt8]) {
        let sorted = texts.sorted { $0.lexicographicallyPrecedes($1) }
        // Short texts meet what they may not be by chance, and large numbers grow too large.
        for attempt in 0..<Self.attemptsMax {
            replaced = [:]
            replaced.reserveCapacity(sorted.count)
            var writer = Writer(sorted, RedactionKeyStream(key, "texts \(attempt)"))
            writer.run { replaced[$0] = $1 }
            if isUsable(taken) { return }
        }
    }

    private static let attemptsMax = 12

    /// What a text becomes; nil when it is none of those.
    package subscript(_ text: [UInt8]) -> [UInt8]? { replaced[text] }

    private func isUsable(_ taken: Set<[UInt8]>) -> Bool {
        replaced.allSatisfy { old, new in
            !taken.contains(new) && (!Self.looksLong(old) || Self.isWhole(old) == Self.isWhole(new))
        }
    }

    private static func looksLong(_ text: [UInt8]) -> Bool { (19...20).contains(text.count) }
    private static func isWhole(_ text: [UInt8]) -> Bool {
        Int64(String(decoding: text, as: UTF8.self)) != nil
    }

    /// How far a text has been read as a number.
    enum Reading {
        case start, sign, zero, whole, fraction, none

        /// With one byte more.
        func followed(by byte: UInt8) -> Reading {
            let isDigit = byte &- 0x30 < 10
            return switch self {
            case .start where byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+"): .sign
            case .start where byte == 0x30, .sign where byte == 0x30, .zero where byte == 0x30:
                .zero
            case .zero where byte == UInt8(ascii: "."), .whole where byte == UInt8(ascii: "."):
                .fraction
            case .start, .sign, .zero: isDigit ? .whole : .none
            case .whole: isDigit ? .whole : .none
            case .fraction: isDigit ? .fraction : .none
            case .none: .none
            }
        }

        /// Whether 0 says more than another digit does.
        var keepsZero: Bool { self != .whole && self != .none }
    }

    private struct Writer {
        private struct Group {
            var texts: Range<Int>
            var depth: Int
            var written: [UInt8]
            var reading: Reading
        }

        private let texts: [[UInt8]]
        private var stream: RedactionKeyStream

        init(_ texts: [[UInt8]], _ stream: RedactionKeyStream) {
            self.texts = texts
            self.stream = stream
        }

        mutating func run(_ body: ([UInt8], [UInt8]) -> Void) {
            var groups = [
                Group(texts: texts.indices, depth: 0, written: [], reading: .start)
            ]
            while var group = groups.popLast() {
                while let first = group.texts.first, texts[first].count == group.depth {
                    body(texts[first], group.written)
                    group.texts.removeFirst()
                }
                if group.texts.isEmpty { continue }
                if group.texts.count == 1 {
                    body(texts[group.texts.lowerBound], rest(of: group))
                    continue
                }
                let followers = followers(of: group)
                let bytes = followers.map { texts[$0.lowerBound][group.depth] }
                for (follower, (byte, new)) in zip(
                    followers, zip(bytes, replace(bytes, group.reading)))
                {
                    groups.append(
                        Group(
                            texts: follower, depth: group.depth + 1,
                            written: group.written + new,
                            reading: group.reading.followed(by: byte)))
                }
            }
        }

        /// What the only text of a group becomes.
        private mutating func rest(of group: Group) -> [UInt8] {
            var (written, reading) = (group.written, group.reading)
            let text = texts[group.texts.lowerBound]
            written.reserveCapacity(text.count)
            for byte in text[group.depth...] {
                for new in replace([byte], reading) { written += new }
                reading = reading.followed(by: byte)
            }
            return written
        }

        /// The texts of a group by the byte that comes next.
        private func followers(of group: Group) -> [Range<Int>] {
            var result: [Range<Int>] = []
            var start = group.texts.lowerBound
            while start < group.texts.upperBound {
                let byte = texts[start][group.depth]
                var (low, high) = (start + 1, group.texts.upperBound)
                while low < high {
                    let middle = (low + high) / 2
                    if texts[middle][group.depth] == byte {
                        low = middle + 1
                    } else {
                        high = middle
                    }
                }
                result.append(start..<low)
                start = low
            }
            return result
        }

        /// What stands for the bytes that follow on one beginning, which come in their order.
        private mutating func replace(_ bytes: [UInt8], _ reading: Reading) -> [[UInt8]] {
            let plain = bytes.prefix { $0 < 0x30 }
            var rest = bytes[plain.count...]
            var result = plain.map { [$0] }
            if reading != .none {
                let digits = rest.prefix { $0 < 0x3A }
                rest = rest.dropFirst(digits.count)
                var others = digits
                if reading.keepsZero, others.first == 0x30 {
                    others.removeFirst()
                    result.append([0x30])
                }
                let free = reading.keepsZero ? Self.digits.dropFirst() : Self.digits[...]
                result += choose(others, Array(free), Self.digits)
            }
            let narrow = reading == .none ? Self.digits + Self.letters : Self.letters
            let wide = reading == .none ? Self.digits + Self.wide : Self.wide
            return result + choose(rest, narrow, wide)
        }

        private mutating func choose(
            _ bytes: ArraySlice<UInt8>, _ narrow: [UInt8], _ wide: [UInt8]
        ) -> [[UInt8]] {
            if let byte = bytes.first, bytes.count == 1 {
                let others = narrow.filter { $0 != byte }
                return [[others[stream.number(below: others.count)]]]
            }
            if bytes.count <= narrow.count {
                return stream.choose(bytes.count, of: narrow).map { [$0] }
            }
            if bytes.count <= wide.count {
                return stream.choose(bytes.count, of: wide).map { [$0] }
            }
            return stream.choose(bytes.count, of: Array(0...255)).map {
                [Self.letters[$0 / 16], Self.letters[$0 % 16]]
            }
        }

        private static let digits = Array("0123456789".utf8)
        private static let letters = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        private static let wide = (letters + Array(":;=@[]^_`{|}~".utf8)).sorted()
    }
}
