// RedactionTexts.swift — replacements for all texts of a capsule: in the same order, equal where
// the texts are equal, and mostly of the same length.
//
// A text is replaced byte by byte. The replacement of a byte depends on the bytes before it, so
// equal beginnings stay equal. Among the bytes that follow the same beginning, a greater one gets a
// greater replacement, so the order stays, whatever is compared. Where only one byte follows a
// beginning, as after the part that a text shares with others, its replacement is random.
//
//   a byte       becomes
//   below 0x30   itself: white space, most punctuation
//   a digit      a digit as long as the text may be a number, so that numbers stay numbers; a
//                leading 0 and a 0 after the point stay 0, and no other digit becomes 0
//   any other    a letter; where too many follow one beginning, also one of :;=@[]^_`{|}~; where
//                even those are too few, two letters
//
// Dates stay dates, with the same time of the day, so that two writings of one time on one day stay
// such: of these the month and the day are replaced as one, whatever begins alike.

/// Replacements for a set of texts.
package struct RedactionTexts: Sendable {
    private var replaced: [[UInt8]: [UInt8]] = [:]

    /// - Parameters:
    ///   - texts: all texts, in UTF-8.
    ///   - taken: texts that no replacement may equal.
    package init(_ texts: Set<[UInt8]>, avoiding taken: Set<[UInt8]>, key: [UInt8]) {
        let sorted = texts.sorted { $0.lexicographicallyPrecedes($1) }
        // A short replacement may by chance be one that is taken.
        for attempt in 0..<Self.attemptsMax {
            replaced = [:]
            replaced.reserveCapacity(sorted.count)
            var writer = Writer(sorted, RedactionKeyStream(key, "texts \(attempt)"))
            writer.run { replaced[$0] = $1 }
            if isUsable(taken) { return }
        }
    }

    private static let attemptsMax = 12

    /// The replacement of a text; nil for an unknown text.
    package subscript(_ text: [UInt8]) -> [UInt8]? { replaced[text] }

    private func isUsable(_ taken: Set<[UInt8]>) -> Bool {
        taken.isEmpty || replaced.allSatisfy { !taken.contains($0.value) }
    }

    private struct Writer {
        private struct Group {
            var texts: Range<Int>
            var depth: Int
            /// How many bytes replace the beginning that its texts share, without its last byte.
            var prefix: Int
            /// What replaces that last byte.
            var last: [UInt8]
            var reading = RedactionReading()
        }

        private let texts: [[UInt8]]
        private let isLong: [Bool]
        private let isDate: [Bool]
        private var stream: RedactionKeyStream
        /// What replaces the beginning of the texts at hand.
        private var written: [UInt8] = []

        init(_ texts: [[UInt8]], _ stream: RedactionKeyStream) {
            self.texts = texts
            isLong = texts.map(RedactionReading.isLong)
            isDate = texts.map(RedactionDate.isDate)
            self.stream = stream
        }

        mutating func run(_ body: ([UInt8], [UInt8]) -> Void) {
            // Depth first, so that all groups write into one buffer.
            var groups = [Group(texts: texts.indices, depth: 0, prefix: 0, last: [])]
            while var group = groups.popLast() {
                written.removeLast(written.count - group.prefix)
                written += group.last
                goOn(in: &group, body)
                if group.texts.isEmpty { continue }
                if isOfDates(group) {
                    writeDates(of: group, body)
                    continue
                }
                if group.texts.count == 1 {
                    writeRest(of: group)
                    body(texts[group.texts.lowerBound], written)
                    continue
                }
                let followers = followers(of: group)
                let bytes = followers.map { texts[$0.lowerBound][group.depth] }
                let keeps = group.reading.isAtCeiling && isLong[group.texts].contains(true)
                let news = replace(bytes, group.reading, keepsDigits: keeps)
                for (follower, (byte, new)) in zip(followers, zip(bytes, news)) {
                    var next = Group(
                        texts: follower, depth: group.depth + 1, prefix: written.count, last: new,
                        reading: group.reading)
                    next.reading.read(byte)
                    groups.append(next)
                }
            }
        }

        /// Replaces the bytes of a group up to the first in which its texts differ, and hands over
        /// those that end before it.
        private mutating func goOn(in group: inout Group, _ body: ([UInt8], [UInt8]) -> Void) {
            while let first = group.texts.first, let last = group.texts.last {
                guard texts[first].count > group.depth else {
                    body(texts[first], written)
                    group.texts.removeFirst()
                    continue
                }
                let byte = texts[first][group.depth]
                guard first < last || isDate[first],
                    texts[last][group.depth] == byte, !isOfDates(group)
                else { return }
                let keeps = group.reading.isAtCeiling && isLong[group.texts].contains(true)
                written.append(replace(byte, group.reading, keepsDigits: keeps))
                group.reading.read(byte)
                group.depth += 1
            }
        }

        /// Replaces the rest of the only text in a group.
        private mutating func writeRest(of group: Group) {
            var reading = group.reading
            for byte in texts[group.texts.lowerBound][group.depth...] {
                let keeps = reading.isAtCeiling && isLong[group.texts.lowerBound]
                written.append(replace(byte, reading, keepsDigits: keeps))
                reading.read(byte)
            }
        }

        /// Whether the texts of a group share a year, and are all dates in it.
        private func isOfDates(_ group: Group) -> Bool {
            group.depth == RedactionDate.yearBytes
                && isDate[group.texts].allSatisfy(\.self)
        }

        /// Replaces the days of dates that share a year; the rest of them stays.
        private mutating func writeDates(of group: Group, _ body: ([UInt8], [UInt8]) -> Void) {
            let dates = texts[group.texts]
            var days: [ArraySlice<UInt8>] = []
            for date in dates where days.last != RedactionDate.day(of: date) {
                days.append(RedactionDate.day(of: date))
            }
            var news = stream.choose(days.count, of: RedactionDate.days)[...]
            // The one more that a leap year has.
            if news.count < days.count { news = days.map { Array($0) }[...] }
            for date in dates {
                if days.first != RedactionDate.day(of: date) {
                    days.removeFirst()
                    news.removeFirst()
                }
                body(date, written + (news.first ?? []) + date[RedactionDate.dateBytes...])
            }
        }

        /// The texts of a group, divided by their next byte.
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

        /// The replacements of the bytes that follow the same beginning, in ascending order.
        private mutating func replace(
            _ bytes: [UInt8], _ reading: RedactionReading, keepsDigits: Bool
        ) -> [[UInt8]] {
            let plain = bytes.prefix { $0 < 0x30 }
            var rest = bytes[plain.count...]
            var result = plain.map { [$0] }
            if reading.isNumber {
                let digits = rest.prefix { $0 < 0x3A }
                rest = rest.dropFirst(digits.count)
                var others = digits
                if reading.keepsZero, others.first == 0x30 {
                    others.removeFirst()
                    result.append([0x30])
                }
                let free = reading.keepsZero ? Self.digitsAboveZero : Self.digits
                result += keepsDigits ? others.map { [$0] } : choose(others, free, Self.digits)
            }
            let narrow = reading.isNumber ? Self.letters : Self.alphanumerics
            let wide = reading.isNumber ? Self.wide : Self.digits + Self.wide
            return result + choose(rest, narrow, wide)
        }

        private mutating func choose(
            _ bytes: ArraySlice<UInt8>, _ narrow: [UInt8], _ wide: [UInt8]
        ) -> [[UInt8]] {
            if let byte = bytes.first, bytes.count == 1 { return [[any(of: narrow, but: byte)]] }
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

        /// The replacement of a byte that alone follows its beginning.
        private mutating func replace(
            _ byte: UInt8, _ reading: RedactionReading, keepsDigits: Bool
        ) -> UInt8 {
            if byte < 0x30 { return byte }
            guard reading.isNumber else { return any(of: Self.alphanumerics, but: byte) }
            guard byte < 0x3A else { return any(of: Self.letters, but: byte) }
            if keepsDigits { return byte }
            guard reading.keepsZero else { return any(of: Self.digits, but: byte) }
            return byte == 0x30 ? byte : any(of: Self.digitsAboveZero, but: byte)
        }

        private mutating func any(of pool: [UInt8], but byte: UInt8) -> UInt8 {
            let index = stream.number(below: pool.count - 1)
            // The excluded byte is replaced by the last one of the pool.
            return pool[index] == byte ? pool[pool.count - 1] : pool[index]
        }

        private static let digits = Array("0123456789".utf8)
        private static let letters = Array(
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
        private static let digitsAboveZero = Array(digits.dropFirst())
        private static let alphanumerics = digits + letters
        private static let wide = (letters + Array(":;=@[]^_`{|}~".utf8)).sorted()
    }
}
