// CredentialMask.swift — finds credentials that a server repeats in its answers, and masks them.
//
//   looked for, if at least 8 bytes long
//   the value of a header field           "Basic YWxp…", "Bearer 8f3a…"
//   the token after the scheme
//   of Basic, name:password               and the password alone; the name alone is masked, but is
//                                         no secret unless the password is one of `wordsForNone`
//   in Base64: all of these but the       also within longer Base64 text, at any offset
//   header's value and Basic's token
//
// Bytes that are percent-encoded or escaped as in JSON and XML are found, too. Overlapping finds
// are masked as one. A value of less than 8 bytes would also match innocent text; it is only found
// as part of a whole value that is long enough.

import TidemarkEvents

/// What a server's answers are searched for, because it was sent as a credential.
package struct CredentialMask: Sendable {
    /// The text that replaces each credential that is found.
    package static let replacement = "[credentials]"
    /// The shortest value that is looked for, in bytes.
    package static let valueBytesMin = 8

    /// A sequence of bytes that is searched for.
    private struct Form: Hashable {
        var bytes: [UInt8]
        /// Whether the bytes authenticate the sender; a name alone does not.
        var isSecret: Bool
    }

    /// Sorted by their bytes.
    private var forms: [Form] = []
    /// For each first byte, the index of the first form that begins with it; one more entry at the
    /// end.
    private var places: [Int] = []
    /// A bit for each two bytes in a row that a form may begin with, however it is written: what is
    /// looked at more closely.
    private var starts: [UInt64] = []

    /// Searches for the credentials in header fields of these values.
    package init(_ values: some Sequence<String>) {
        var all: Set<Form> = []
        for value in values { Self.add(value, to: &all) }
        forms = all.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        places = (0...256).map { byte in
            forms.firstIndex { Int($0.bytes[0]) >= byte } ?? forms.count
        }
        guard !forms.isEmpty else { return }
        starts = [UInt64](repeating: 0, count: 1 << 10)
        for second in UInt8.min...UInt8.max {
            for first in WrittenBytes.firstBytes { admit(first, second) }
        }
        for form in forms {
            admit(form.bytes[0], form.bytes[1])
            for second in WrittenBytes.firstBytes { admit(form.bytes[0], second) }
        }
    }

    private mutating func admit(_ first: UInt8, _ second: UInt8) {
        let pair = Int(first) << 8 | Int(second)
        starts[pair >> 6] |= 1 << (pair & 63)
    }

    /// Passwords that servers demand where the name itself is the secret token.
    private static let wordsForNone = ["", "api_token", "x-oauth-basic"]

    private static func add(_ value: String, to forms: inout Set<Form>) {
        func look(for bytes: some Collection<UInt8>, isSecret: Bool = true, base64: Bool = false) {
            guard bytes.count >= valueBytesMin else { return }
            var texts = [Array(bytes)]
            if base64 { texts += base64Forms(of: Array(bytes)) }
            for text in texts where text.count >= valueBytesMin {
                forms.insert(Form(bytes: text, isSecret: isSecret))
            }
        }
        look(for: value.utf8)
        guard let space = value.utf8.firstIndex(of: UInt8(ascii: " ")) else { return }
        let scheme = value[..<space].lowercased()
        let token = value[space...].drop { $0 == " " }
        guard scheme == "basic", let pair = Base64.decode(String(token)) else {
            return look(for: token.utf8, base64: true)
        }
        look(for: token.utf8)
        look(for: pair, base64: true)
        guard let colon = pair.firstIndex(of: UInt8(ascii: ":")) else { return }
        let (name, password) = (pair[..<colon], pair[(colon + 1)...])
        let isNameSecret = wordsForNone.contains(String(decoding: password, as: UTF8.self))
        look(for: name, isSecret: isNameSecret, base64: isNameSecret)
        if !isNameSecret { look(for: password, base64: true) }
    }

    /// The forms that bytes take in Base64: encoded by themselves, and encoded within longer bytes
    /// at each of the three offsets in a group.
    private static func base64Forms(of bytes: [UInt8]) -> [[UInt8]] {
        var forms: [[UInt8]] = []
        for before in 0..<3 {
            let text = Array(Base64.encode([UInt8](repeating: 0, count: before) + bytes).utf8)
            // The digits at either end also hold bits of neighbouring bytes, and are left out.
            let own = (before * 8 + 5) / 6..<(before + bytes.count) * 8 / 6
            forms.append(Array(text[own]))
            if before == 0 {
                forms += [text, text.filter { $0 != UInt8(ascii: "=") }]
            }
        }
        let others: [UInt8: UInt8] = [
            UInt8(ascii: "+"): UInt8(ascii: "-"), UInt8(ascii: "/"): UInt8(ascii: "_"),
        ]
        return forms + forms.map { form in form.map { others[$0] ?? $0 } }
    }

    // MARK: Finding

    /// Whether the bytes hold a secret: something that authenticates the sender.
    package func holds(_ bytes: [UInt8]) -> Bool {
        firstStart(in: bytes) { end(in: bytes, at: $0, onlySecrets: true) != nil } != nil
    }

    /// Whether the bytes hold anything that is masked, a mere name included.
    func mentions(_ bytes: [UInt8]) -> Bool {
        firstStart(in: bytes) { end(in: bytes, at: $0, onlySecrets: false) != nil } != nil
    }

    /// Whether the text holds a secret: something that authenticates the sender.
    package func holds(_ text: String) -> Bool { holds(Array(text.utf8)) }

    /// The bytes with ``replacement`` for each find; nil where nothing is found.
    ///
    /// - Parameter spared: ranges that stay as they are, in order and apart from each other: a find
    ///   that overlaps one is not masked.
    package func masked(_ bytes: [UInt8], sparing spared: [Range<Int>] = []) -> [UInt8]? {
        var spared = spared[...]
        let found = found(in: bytes).filter { found in
            spared = spared.drop { $0.upperBound <= found.lowerBound }
            return spared.first.map { !$0.overlaps(found) } ?? true
        }
        guard !found.isEmpty else { return nil }
        var result: [UInt8] = []
        var rest = 0
        for range in found {
            result += bytes[rest..<range.lowerBound]
            result += Self.replacement.utf8
            rest = range.upperBound
        }
        return result + bytes[rest...]
    }

    /// The text with ``replacement`` for each find.
    package func masked(_ text: String) -> String {
        masked(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) } ?? text
    }

    /// The ranges of all finds; overlapping finds are one range.
    private func found(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        _ = firstStart(in: bytes) { start in
            guard let end = end(in: bytes, at: start, onlySecrets: false) else { return false }
            if let last = ranges.last, start < last.upperBound {
                ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, end)
            } else {
                ranges.append(start..<end)
            }
            return false
        }
        return ranges
    }

    /// The first place that satisfies `isIt`, of those where a form may begin.
    private func firstStart(in bytes: [UInt8], where isIt: (Int) -> Bool) -> Int? {
        // A form is never written by fewer bytes than it has.
        let last = bytes.count - Self.valueBytesMin
        guard !starts.isEmpty, last >= 0 else { return nil }
        let (text, starts) = (bytes.span, starts.span)
        var pair = Int(text[0])
        for start in 0...last {
            pair = (pair << 8 | Int(text[start + 1])) & 0xFFFF
            if starts[pair >> 6] >> UInt64(pair & 63) & 1 != 0, isIt(start) { return start }
        }
        return nil
    }

    /// The end of the longest that begins at a place; nil where none does.
    private func end(in text: [UInt8], at start: Int, onlySecrets: Bool) -> Int? {
        let plain = forms(from: text[start])
        let unit = WrittenBytes(text, at: start)
        let written = unit.map { forms(from: $0.first) } ?? 0..<0
        if plain.isEmpty, written.isEmpty { return nil }
        var end: Int?
        for form in [plain, written].joined() where forms[form].isSecret || !onlySecrets {
            guard let found = Self.end(of: forms[form].bytes, in: text, at: start) else { continue }
            end = max(end ?? found, found)
        }
        return end
    }

    private func forms(from byte: UInt8) -> Range<Int> {
        places[Int(byte)]..<places[Int(byte) + 1]
    }

    /// Where a form that begins at a place ends, whether its bytes are plain or escaped there; nil
    /// where it does not begin there.
    private static func end(of form: [UInt8], in text: [UInt8], at start: Int) -> Int? {
        var (place, index) = (start, 0)
        while index < form.count {
            guard place < text.count else { return nil }
            if let unit = WrittenBytes(text, at: place), unit.isNext(of: form, at: index) {
                (place, index) = (place + unit.length, index + unit.count)
            } else if text[place] == form[index] {
                (place, index) = (place + 1, index + 1)
            } else {
                return nil
            }
        }
        return place
    }
}
