// StatePredicateParser.swift — parses the text of a predicate.

import TidemarkEvents

/// A predicate that can't be parsed.
package struct StatePredicateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The column of the mistake, counted in characters from 1.
    package var column: Int
    /// The mistake, and what is allowed in its place.
    package var message: String

    package var description: String { "column \(column): \(message)" }
}

/// Reads a predicate from left to right.
struct PredicateParser {
    private typealias Node = StatePredicate.Node
    private typealias Comparison = StatePredicate.Comparison

    /// How deep parentheses and `not` may be nested.
    private static let depthMax = 100

    private let text: [Character]
    private var at = 0
    private var depth = 0

    init(_ text: String) { self.text = Array(text) }

    mutating func parse() throws(StatePredicateError) -> StatePredicate.Node {
        let node = try any()
        skipSpace()
        guard at == text.count else {
            throw error("\"\(rest)\" is left over; join tests with and, or")
        }
        return node
    }

    // MARK: Or, and, not

    private mutating func any() throws(StatePredicateError) -> Node {
        var nodes = [try all()]
        while takeWord("or") { nodes.append(try all()) }
        return nodes.count == 1 ? nodes[0] : .any(nodes)
    }

    private mutating func all() throws(StatePredicateError) -> Node {
        var nodes = [try term()]
        while takeWord("and") { nodes.append(try term()) }
        return nodes.count == 1 ? nodes[0] : .all(nodes)
    }

    private mutating func term() throws(StatePredicateError) -> Node {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.depthMax else { throw error("it is nested too deep") }
        if takeWord("not") { return .not(try term()) }
        if take("(") {
            let node = try any()
            guard take(")") else { throw error("a ) is missing") }
            return node
        }
        return try test()
    }

    // MARK: Tests

    private mutating func test() throws(StatePredicateError) -> StatePredicate.Node {
        skipSpace()
        let start = at
        if next == "\"" {
            let value = try literal()
            guard let name = value.stringValue, let key = EntityKey(name) else {
                throw error("\(value) names no entity; write \"COLLECTION/ID\"", at: start)
            }
            return try entity(key)
        }
        let word = takeName()
        switch word {
        case "count":
            let name = CollectionName(try argument("a collection, as in count(tasks)"))
            guard name.isValid else { throw error("\"\(name)\" is no collection", at: start) }
            return .test(.count(name, try comparison(), try number()))
        case "pending": return .test(.pending(try comparison(), try number()))
        case "refused": return .test(.refused(try comparison(), try number()))
        case "outcome":
            guard let position = Position(try argument("a position, as in outcome(@12)")) else {
                throw error("a position is written @12", at: start + 8)
            }
            return try outcome(position)
        default:
            if let key = EntityKey(word) { return try entity(key) }
            let found = word.isEmpty ? (rest.isEmpty ? "nothing" : "\"\(rest)\"") : "\"\(word)\""
            throw error(
                "\(found) is no test; begin with COLLECTION/ID, count(COLLECTION), pending,"
                    + " refused or outcome(@POSITION)", at: start)
        }
    }

    private mutating func entity(_ key: EntityKey) throws(StatePredicateError)
        -> StatePredicate.Node
    {
        var path: [String] = []
        while take(".", afterSpace: false) {
            let start = at
            var name = ""
            if next == "\"" {
                name = try literal().stringValue ?? ""
            } else {
                name = takeName()
            }
            guard !name.isEmpty else { throw error("a field's name is missing", at: start) }
            path.append(name)
        }
        if takeWord("exists") { return .test(.exists(key, path: path)) }
        if takeWord("missing") { return .not(.test(.exists(key, path: path))) }
        skipSpace()
        let place = at
        let comparison = try comparison()
        let isStatus = path.isEmpty || path == ["status"]
        if isStatus, !comparison.isOfOrder, let status = takeCase(EntityStatus.self) {
            return .test(.status(key, isEqual: comparison != .unequal, status))
        }
        guard !path.isEmpty else {
            throw error("say of \(key) that it exists, is missing, or is synced", at: place)
        }
        return .test(.field(key, path: path, comparison, try literal()))
    }

    private mutating func outcome(
        _ position: Position
    ) throws(StatePredicateError) -> StatePredicate.Node {
        skipSpace()
        let place = at
        let comparison = try comparison()
        guard !comparison.isOfOrder else { throw error("outcomes have no order", at: place) }
        let isEqual = comparison != .unequal
        skipSpace()
        if takeWord("pending") { return .test(.outcome(position, isEqual: isEqual, nil)) }
        if let outcome = takeCase(MutationOutcome.self) {
            return .test(.outcome(position, isEqual: isEqual, outcome))
        }
        let words = MutationOutcome.allCases.map(\.rawValue).joined(separator: ", ")
        throw error("an outcome is missing: pending, \(words)")
    }

    private mutating func argument(_ what: String) throws(StatePredicateError) -> String {
        guard take("(", afterSpace: false) else { throw error("( and \(what) are missing") }
        let start = at
        while let character = next, character != ")" { at += 1 }
        let argument = String(text[start..<at]).trimmed
        guard take(")", afterSpace: false) else { throw error("a ) is missing") }
        guard !argument.isEmpty else { throw error("\(what) is missing", at: start) }
        return argument
    }

    private mutating func comparison() throws(StatePredicateError) -> Comparison {
        if takeWord("is") { return takeWord("not") ? .unequal : .isWord }
        skipSpace()
        for comparison in Comparison.allCases where comparison != .isWord {
            let sign = Array(comparison.rawValue)
            if text[at...].starts(with: sign) {
                at += sign.count
                return comparison
            }
        }
        throw error(
            "a comparison is missing: ==, !=, <, <=, > or >=; or exists, missing")
    }

    private mutating func number() throws(StatePredicateError) -> Int64 {
        skipSpace()
        let start = at
        guard let value = try literal().int64Value else {
            throw error("a whole number is missing", at: start)
        }
        return value
    }

    // MARK: Words and values

    private mutating func literal() throws(StatePredicateError) -> JSONValue {
        skipSpace()
        let start = at
        var depth = 0
        var isInText = false
        scan: while let character = next {
            if isInText {
                if character == "\\" { at += 1 }
                isInText = character != "\""
            } else {
                switch character {
                case "\"": isInText = true
                case "[", "{": depth += 1
                case "]", "}": depth -= 1
                default:
                    if depth == 0, character.isWhitespace || character == ")" { break scan }
                }
            }
            at += 1
            if depth == 0, !isInText, "\"]}".contains(character) { break }
        }
        at = min(at, text.count)
        let written = String(text[start..<at])
        do { return try JSONValue(parsing: Array(written.utf8)) } catch {
            let found = written.isEmpty ? "nothing" : written
            throw self.error(
                "\(found) is no JSON value; write \"text\", 12, true or null", at: start)
        }
    }

    /// Takes a name, up to the next space, point, parenthesis or comparison.
    private mutating func takeName() -> String {
        skipSpace()
        let start = at
        while let character = next, !character.isWhitespace, !".()=!<>\"".contains(character) {
            at += 1
        }
        return String(text[start..<at])
    }

    private mutating func takeWord(_ word: String) -> Bool {
        let before = at
        if takeName() == word { return true }
        at = before
        return false
    }

    private mutating func takeCase<Word: RawRepresentable<String>>(_ type: Word.Type) -> Word? {
        let before = at
        if let word = Word(rawValue: takeName()) { return word }
        at = before
        return nil
    }

    private mutating func take(_ character: Character, afterSpace: Bool = true) -> Bool {
        if afterSpace { skipSpace() }
        guard next == character else { return false }
        at += 1
        return true
    }

    private mutating func skipSpace() {
        while let character = next, character.isWhitespace { at += 1 }
    }

    private var next: Character? { at < text.count ? text[at] : nil }

    private var rest: String { String(text[min(at, text.count)...].prefix(20)) }

    private func error(_ message: String, at place: Int? = nil) -> StatePredicateError {
        StatePredicateError(column: (place ?? at) + 1, message: message)
    }
}

extension String {
    fileprivate var trimmed: String {
        let characters = drop { $0.isWhitespace }
        let end = characters.lastIndex { !$0.isWhitespace }
        return end.map { String(characters[...$0]) } ?? ""
    }
}
