// DecodingProblem.swift — why a document can't be decoded as a type, in words that use the server's
// field names.

import TidemarkEvents

/// The problem with one field; Tidemark's `DecodingError`s carry it.
struct DecodingProblem: Error, CustomStringConvertible {
    /// The field's path, `address.lines[2]`; empty for the document itself.
    var path: String
    /// The problem: `is missing`.
    var phrase: String
    /// Whether a default value would help.
    var isAbsence = false

    var description: String { path.isEmpty ? "the document \(phrase)" : "\"\(path)\" \(phrase)" }

    /// The problem behind an error that a type threw while decoding itself.
    init(_ error: any Error, _ style: KeyStyle) {
        (path, phrase) = ("", "\(error)")
        guard let error = error as? DecodingError else { return }
        let context: DecodingError.Context
        var keys: [any CodingKey] = []
        switch error {
        case .keyNotFound(let key, let found): (context, keys) = (found, found.codingPath + [key])
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found):
            (context, keys) = (found, found.codingPath)
        @unknown default: return
        }
        if let problem = context.underlyingError as? DecodingProblem {
            self = problem
            return
        }
        path = Self.text(Self.steps(keys, style))
        phrase = "can't be read: \(context.debugDescription)"
    }

    init(path: [JSONTape.Step], _ phrase: String, isAbsence: Bool = false) {
        self.path = Self.text(path)
        self.phrase = phrase
        self.isAbsence = isAbsence
    }

    /// A path of coding keys, with the server's names.
    static func steps(_ keys: [any CodingKey], _ style: KeyStyle) -> [JSONTape.Step] {
        keys.map { key in
            key.intValue.map(JSONTape.Step.index) ?? .key(style.fieldName(key.stringValue))
        }
    }

    /// A path as a person writes it.
    static func text(_ path: [JSONTape.Step]) -> String {
        path.reduce(into: "") { text, step in
            switch step {
            case .key(let key): text += text.isEmpty ? key : ".\(key)"
            case .index(let index): text += "[\(index)]"
            }
        }
    }
}

extension DecodingSession {
    /// The keys down to a node, as decoders give them.
    func codingPath(_ node: Int) -> [any CodingKey] {
        tape.path(to: node).map { step in
            switch step {
            case .key(let key): AnyCodingKey(stringValue: key)
            case .index(let index): AnyCodingKey(intValue: index)
            }
        }
    }

    /// The value at a node has the wrong type.
    ///
    /// - Parameter needed: the expected type, with its article if it has one: `a list`, `Int`.
    func mismatch(_ needed: String, _ type: Any.Type, _ node: Int) -> DecodingError {
        if kind(node) == .null {
            let problem = DecodingProblem(
                path: tape.path(to: node), "is null, and must be \(needed)", isAbsence: true)
            return .valueNotFound(type, context(problem, codingPath(node)))
        }
        let problem = DecodingProblem(
            path: tape.path(to: node), "must be \(needed), but is \(described(node))")
        return .typeMismatch(type, context(problem, codingPath(node)))
    }

    /// An object lacks a member.
    func missing(_ key: some CodingKey, of object: Int, isData: Bool) -> DecodingError {
        let name = isData ? key.stringValue : names.style.fieldName(key.stringValue)
        let problem = DecodingProblem(
            path: tape.path(to: object) + [.key(name)], "is missing", isAbsence: true)
        return .keyNotFound(key, context(problem, codingPath(object)))
    }

    /// An array has no more elements.
    func ended(_ type: Any.Type, _ array: Int) -> DecodingError {
        let problem = DecodingProblem(path: tape.path(to: array), "has too few elements")
        return .valueNotFound(type, context(problem, codingPath(array)))
    }

    private func context(
        _ problem: DecodingProblem, _ path: [any CodingKey]
    ) -> DecodingError.Context {
        .init(codingPath: path, debugDescription: "\(problem)", underlyingError: problem)
    }

    private func described(_ node: Int) -> String {
        let shownMax = 40
        switch kind(node) {
        case .null: return "null"
        case .bool: return tape.isTrue(node) ? "true" : "false"
        case .number: return cut(tape.number(node).text, shownMax)
        case .string:
            var quoted: [UInt8] = []
            JSON.appendString(cut(tape.text(node), shownMax), to: &quoted)
            return String(decoding: quoted, as: UTF8.self)
        case .array: return "a list"
        case .object: return "an object"
        }
    }

    private func cut(_ text: String, _ most: Int) -> String {
        text.count > most ? "\(text.prefix(most))…" : text
    }
}
