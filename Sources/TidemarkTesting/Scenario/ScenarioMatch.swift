// ScenarioMatch.swift — compares a JSON value with an expected one: objects by the members that are
// named, lists in full, and markers for what a value can't express.
//
//   {"$absent": true}      the member does not exist
//   {"$present": true}     it exists, with any value, even null
//   {"$any": true}         it exists with any value except null
//   {"$like": "a*"}        a string, in which * stands for any text
//   {"$exactly": {…}}      an object with exactly these members, in which are no markers

import TidemarkEvents

/// One difference between a value and the expected one.
struct ScenarioDifference: Sendable, Hashable {
    var path: String
    var expected: String
    var actual: String
}

enum ScenarioMatch {
    private static let markers = ["$absent", "$present", "$any", "$like", "$exactly"]

    /// The differences between a value and the expected one; none when it matches.
    ///
    /// - Parameter actual: nil for a missing member.
    static func differences(
        _ expected: JSONValue, _ actual: JSONValue?, at path: String
    ) -> [ScenarioDifference] {
        if let marker = marker(of: expected) { return differences(marker, actual, at: path) }
        let whole = ScenarioDifference(
            path: path, expected: expected.description, actual: text(actual))
        switch (expected, actual) {
        case (.object(let members), .object(let others)?):
            return members.flatMap { name, value in
                differences(value, others[name], at: "\(path).\(name)")
            }
        case (.array(let list), .array(let others)?):
            guard list.count == others.count else { return [whole] }
            return zip(list, others).enumerated().flatMap { index, pair in
                differences(pair.0, pair.1, at: "\(path)[\(index)]")
            }
        default:
            return expected == actual ? [] : [whole]
        }
    }

    static func matches(_ expected: JSONValue, _ actual: JSONValue?) -> Bool {
        differences(expected, actual, at: "").isEmpty
    }

    /// The value as it is reported.
    static func text(_ value: JSONValue?) -> String { value?.description ?? "(not there)" }

    /// Checks that markers are used correctly.
    static func check(_ expected: JSONValue, at path: String) throws(ScenarioError) {
        switch expected {
        case .array(let list):
            for (index, item) in list.enumerated() { try check(item, at: "\(path)[\(index)]") }
        case .object(let members):
            for (name, value) in members {
                guard name.hasPrefix("$") else {
                    try check(value, at: "\(path).\(name)")
                    continue
                }
                let isRight =
                    switch name {
                    case "$absent", "$present", "$any": value == true
                    case "$like": value.stringValue != nil
                    case "$exactly": value.object != nil
                    default: false
                    }
                guard isRight, members.count == 1 else {
                    throw ScenarioError(
                        "\(path).\(name)",
                        "alone and with its value, one of {\"$absent\": true}, "
                            + "{\"$present\": true}, {\"$any\": true}, {\"$like\": \"a*\"}, "
                            + "{\"$exactly\": {…}} is needed")
                }
                if name == "$exactly" { try checkPlain(value, at: "\(path).\(name)") }
            }
        default: break
        }
    }

    /// Checks that a value has no markers: what is exactly so is compared as it stands.
    private static func checkPlain(_ value: JSONValue, at path: String) throws(ScenarioError) {
        switch value {
        case .array(let list):
            for (index, item) in list.enumerated() {
                try checkPlain(item, at: "\(path)[\(index)]")
            }
        case .object(let members):
            for (name, value) in members {
                guard !name.hasPrefix("$") else {
                    throw ScenarioError("\(path).\(name)", "$exactly has no markers inside")
                }
                try checkPlain(value, at: "\(path).\(name)")
            }
        default: break
        }
    }

    private static func marker(of value: JSONValue) -> (name: String, value: JSONValue)? {
        guard let members = value.object, members.count == 1,
            let first = members.first(where: { markers.contains($0.key) })
        else { return nil }
        return (first.key, first.value)
    }

    private static func differences(
        _ marker: (name: String, value: JSONValue), _ actual: JSONValue?, at path: String
    ) -> [ScenarioDifference] {
        let isMatch: Bool
        let expected: String
        switch marker.name {
        case "$absent": (isMatch, expected) = (actual == nil, "(not there)")
        case "$present": (isMatch, expected) = (actual != nil, "(anything)")
        case "$any":
            (isMatch, expected) = (actual != nil && actual != .null, "(anything but null)")
        case "$like":
            let pattern = marker.value.stringValue ?? ""
            isMatch = actual?.stringValue.map { ScenarioPattern.isLike(pattern, $0) } ?? false
            expected = "like \(marker.value)"
        default: (isMatch, expected) = (marker.value == actual, "exactly \(marker.value)")
        }
        guard !isMatch else { return [] }
        return [ScenarioDifference(path: path, expected: expected, actual: text(actual))]
    }
}

/// A pattern for the line of a request: `PUT /v1/*/t1`.
///
/// A star stands for any text. A pattern without a question mark ignores the query; one that ends
/// in a question mark demands that there is none.
struct ScenarioPattern: Sendable, Hashable {
    let text: String

    func matches(_ line: String) -> Bool {
        let bare = String(line.prefix { $0 != "?" })
        if !text.contains("?") { return Self.isLike(text, bare) }
        if text.hasSuffix("?") { return line == bare && Self.isLike(String(text.dropLast()), line) }
        return Self.isLike(text, line)
    }

    /// Whether a text matches a pattern, in which a star stands for any text.
    static func isLike(_ pattern: String, _ text: String) -> Bool {
        let (pattern, text) = (Array(pattern.unicodeScalars), Array(text.unicodeScalars))
        var (place, start) = (0, 0)
        // The place of the last star in the pattern, and where its text currently ends.
        var star: (pattern: Int, text: Int)?
        while start < text.count {
            if place < pattern.count, pattern[place] == "*" {
                star = (place, start)
                place += 1
            } else if place < pattern.count, pattern[place] == text[start] {
                place += 1
                start += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (place, start) = (last.pattern + 1, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[place...].allSatisfy { $0 == "*" }
    }
}
