// Redactor.swift — replaces all values of a capsule, in two passes: the first one collects the
// texts, the second one replaces them.

import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkViews

/// Replaces values; equal values get equal replacements.
///
/// Ids, words, tokens and digits all go through ``text(_:)``.
final class Redactor {
    let policy: Redaction
    /// The server's words.
    let server: ServerWords
    let rules: RedactionRules
    private let key: [UInt8]
    private var texts: RedactionTexts?
    private var found: Set<[UInt8]> = []
    /// Texts in fields whose values stay.
    private var words: Set<[UInt8]>
    /// The new references of replaced bodies, by the digits of the old hash.
    private var bodies: [[UInt8]: BodyReference] = [:]
    /// Of which collections each request is.
    var requests: [Position: Set<CollectionName>] = [:]
    /// New hashes by old ones, in hexadecimal digits.
    private var digests: [[UInt8]: [UInt8]] = [:]
    let shift: Int64

    static let microsecondsPerDay: Int64 = 86_400_000_000

    init(_ policy: Redaction, models: [[UInt8]], key: [UInt8]) throws {
        self.policy = policy
        server = policy.words
        self.key = key
        rules = try RedactionRules(policy, models)
        words = rules.words
        switch policy.times {
        case .kept: shift = 0
        case .shifted(let days):
            // No calendar reaches further than this.
            guard days.magnitude <= 1_000_000 else {
                throw RedactionError(.policy, "times can't be shifted by \(days) days")
            }
            shift = Int64(days) * Self.microsecondsPerDay
        }
    }

    /// The first pass: values in `body` stay as they are, and their texts are collected.
    func collect(_ body: () throws -> Void) rethrows {
        try body()
        let taken = words.union(rules.ownNames.map { Array($0.utf8) })
            .union(rules.constants.map { Array($0.utf8) })
        texts = RedactionTexts(found.subtracting(words), avoiding: taken, key: key)
        found = []
    }

    // MARK: Texts and numbers

    func text(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return bytes }
        guard let texts else {
            found.insert(bytes)
            // What begins the key of the row of a file's name.
            if rules.namesFiles, bytes.count > ContentSource.keyBytes {
                found.insert(Array(bytes.prefix(ContentSource.keyBytes)))
            }
            return bytes
        }
        if let digest = digests[bytes] { return digest }
        if words.contains(bytes) { return bytes }
        return texts[bytes] ?? unknown(bytes)
    }

    /// The replacement of a text that was not collected.
    private func unknown(_ bytes: [UInt8]) -> [UInt8] {
        RedactionTexts([bytes], avoiding: words, key: key)[bytes] ?? []
    }

    func text(_ text: String) -> String {
        String(decoding: self.text(Array(text.utf8)), as: UTF8.self)
    }

    /// A word of Tidemark or of the server stays; any other text is replaced.
    func word(_ text: String) -> String {
        let isKnown = RedactionWords.own.contains(text) || server.others.contains(text)
        return isKnown ? text : self.text(text)
    }

    /// The name of a member; that of an element of a list holds its key, which is a value.
    func name(_ text: String) -> String {
        for (collection, list) in rules.lists {
            guard let key = list.key(in: text) else { continue }
            let role = rules.role(list.key, collection)
            let context = RedactionContext(collection: collection)
            let new = value(.string(key), role, context).stringValue ?? self.text(key)
            return KeyedList(name(list.field), by: list.key).name(of: new)
        }
        return rules.keeps(name: text) ? text : self.text(text)
    }

    /// Keeps a text wherever it occurs.
    func keep(_ text: String) { if texts == nil { words.insert(Array(text.utf8)) } }

    func number(_ number: JSONNumber) -> JSONNumber {
        if rules.constants.contains(number.text) { return number }
        let text = Array(number.text.utf8)
        // Zeros after the last digit and the exponent do not change the value's digits.
        let mantissaEnd = text.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? text.endIndex
        var end = mantissaEnd
        if text[..<end].contains(UInt8(ascii: ".")) {
            while text[end - 1] == UInt8(ascii: "0") { end -= 1 }
            if text[end - 1] == UInt8(ascii: ".") { end -= 1 }
        }
        let new = self.text(Array(text[..<end])) + text[end...]
        return JSONNumber(text: String(decoding: new, as: UTF8.self)) ?? number
    }

    /// A version, a cursor, or an epoch: a time in it is treated as a time, everything else as
    /// text.
    func token(_ bytes: [UInt8]) -> [UInt8] {
        guard let string = String(validating: bytes, as: UTF8.self) else { return text(bytes) }
        if let made = madeVersion(string) { return Array(made.utf8) }
        if isTime(string) { return Array(timeText(string).utf8) }
        // A weak version stays one, so that it is compared as one.
        if string.hasPrefix("W/\"") { return Array("W/".utf8) + token(Array(bytes.dropFirst(2))) }
        let quoted = string.hasPrefix("\"") && string.hasSuffix("\"") && string.utf8.count > 2
        guard quoted else { return text(bytes) }
        return [UInt8(ascii: "\"")] + token(Array(bytes.dropFirst().dropLast()))
            + [UInt8(ascii: "\"")]
    }

    /// A version that an adapter made of a time and something else; nil for any other version.
    private func madeVersion(_ text: String) -> String? {
        guard let form = server.versions else { return nil }
        let parts = text.split(
            separator: form.separator, maxSplits: 1, omittingEmptySubsequences: false
        ).map(String.init)
        guard parts.count == 2, isTime(parts[0]) || parts[0] == form.unknown else { return nil }
        return timeText(parts[0]) + String(form.separator) + self.text(parts[1])
    }

    func token(_ text: String) -> String {
        String(decoding: token(Array(text.utf8)), as: UTF8.self)
    }

    // MARK: Hashes and bodies

    /// Notes the replacement of a body.
    func note(_ old: [UInt8], became new: [UInt8]) {
        guard texts != nil else { return }
        let reference = BodyReference(to: old)
        bodies[Array(reference.digits.utf8)] = BodyReference(to: new)
    }

    /// Notes the new hash of something that was replaced.
    func note(digest old: [UInt8], became new: [UInt8]) {
        if texts != nil { digests[old] = new }
    }

    func bodyReference(_ digits: String) -> BodyReference? { bodies[Array(digits.utf8)] }

    /// The new hash; a hash of unknown content becomes another one of the same length.
    func digest(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.isEmpty { return bytes }
        let digits = Array(Hexadecimal.encode(bytes).utf8)
        if let known = digests[digits],
            let new = Hexadecimal.decode(String(decoding: known, as: UTF8.self))
        {
            return new
        }
        return Array(SHA256Digest.of(key + bytes).prefix(bytes.count))
    }

    /// An idempotency key: the time at its beginning is treated as a time, the rest becomes other
    /// random bytes.
    func idempotencyKey(_ bytes: [UInt8]) -> [UInt8] {
        guard let key = IdempotencyKey(bytes: bytes) else { return digest(bytes) }
        let milliseconds = UInt64(clamping: time(key.madeAt).rawValue / 1000)
        return Position(milliseconds).bigEndianBytes.suffix(6)
            + SHA256Digest.of(self.key + bytes).prefix(bytes.count - 6)
    }

    func key(_ key: EntityKey) -> EntityKey {
        EntityKey(CollectionName(text(key.collection.rawValue)), text(key.id))
    }
}
