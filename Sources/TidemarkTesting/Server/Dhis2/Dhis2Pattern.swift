// Dhis2Pattern.swift — patterns of generated values: `ORG_UNIT_CODE(...) + "-" + RANDOM(###)`.

import TidemarkEvents

/// A pattern, in its segments.
struct Dhis2Pattern: Sendable {
    enum Segment: Sendable, Hashable {
        case text(String)
        /// `#` a digit, `X` a capital, `x` a small letter, `*` one of them.
        case random(String)
        case sequential(Int)
        case unitCode(String)
        /// A date in a format of letters: `YYYY`, `MM`, `ww`, `dd`.
        case date(String)
    }

    let segments: [Segment]

    /// Reads a pattern; nil when a segment is none.
    init?(_ text: String) {
        var segments: [Segment] = []
        for part in text.split(separator: "+") {
            guard let segment = Self.segment(part.trimmed) else { return nil }
            segments.append(segment)
        }
        self.segments = segments
    }

    private static func segment(_ text: Substring) -> Segment? {
        if text.count >= 2, text.first == "\"", text.last == "\"" {
            return .text(String(text.dropFirst().dropLast()))
        }
        let halves = text.split(separator: "(", maxSplits: 1)
        guard halves.count == 2, text.last == ")" else { return nil }
        let inside = String(halves[1].dropLast())
        return switch halves[0] {
        case "RANDOM": .random(inside)
        case "SEQUENTIAL": .sequential(inside.count)
        case "ORG_UNIT_CODE": .unitCode(inside)
        case "CURRENT_DATE": .date(inside)
        default: nil
        }
    }

    /// What the one who asks has to say.
    var required: [String] {
        segments.contains { if case .unitCode = $0 { true } else { false } }
            ? ["ORG_UNIT_CODE"] : []
    }

    /// What the one who asks may say.
    var optional: [String] {
        segments.compactMap { segment in
            switch segment {
            case .random: "RANDOM"
            case .sequential: "SEQUENTIAL"
            case .text, .unitCode, .date: nil
            }
        }
    }

    /// How many values there are before the first comes again.
    var capacity: Int64 {
        segments.reduce(1) { all, segment in
            switch segment {
            case .random(let shape): all * shape.reduce(1) { $0 * Self.letters($1).count64 }
            case .sequential(let digits): all * (0..<digits).reduce(1) { all, _ in all * 10 }
            case .text, .unitCode, .date: all
            }
        }
    }

    /// The value of a number; numbers below ``capacity`` have different ones.
    ///
    /// What is random on a real server follows from the number here, so that a test repeats.
    func value(_ number: Int64, unitCode: String, day: String) -> String {
        var rest = number
        var text = ""
        for segment in segments.reversed() {
            switch segment {
            case .text(let words): text = words + text
            case .random(let shape):
                for sign in shape.reversed() { text = Self.take(Self.letters(sign), &rest) + text }
            case .sequential(let count):
                for _ in 0..<count { text = Self.take("0123456789", &rest) + text }
            case .unitCode(let shape):
                text = (shape.isEmpty ? unitCode : String(unitCode.prefix(shape.count))) + text
            case .date(let format): text = Self.date(format, day) + text
            }
        }
        return text
    }

    private static func letters(_ sign: Character) -> String {
        let small = "abcdefghijklmnopqrstuvwxyz"
        return switch sign {
        case "#": "0123456789"
        case "X": small.uppercased()
        case "x": small
        default: "0123456789" + small + small.uppercased()
        }
    }

    private static func take(_ letters: String, _ rest: inout Int64) -> String {
        let (left, place) = rest.quotientAndRemainder(dividingBy: letters.count64)
        rest = left
        let index = letters.index(letters.startIndex, offsetBy: Int(place))
        return String(letters[index])
    }

    /// Year, month and day of a date in a format; weeks are not modelled and stay as they are.
    private static func date(_ format: String, _ day: String) -> String {
        let parts = day.split(separator: "-").map(String.init)
        guard parts.count == 3 else { return format }
        return format.lowercased().replacing("yyyy", with: parts[0])
            .replacing("yy", with: parts[0].suffix(2)).replacing("mm", with: parts[1])
            .replacing("dd", with: parts[2])
    }
}

extension Substring {
    /// Without spaces at its ends.
    fileprivate var trimmed: Substring {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return text
    }
}

extension String {
    fileprivate var count64: Int64 { Int64(count) }
}
