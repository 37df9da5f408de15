// ScenarioMembers.swift — reading the members of a scenario, with errors that name their path.

import TidemarkEvents

/// The members of one object of a scenario.
struct ScenarioMembers {
    let object: JSONObject
    let path: String

    /// - Throws: when it is no object, or has an unknown member.
    init(_ value: JSONValue, at path: String, _ known: [String]) throws(ScenarioError) {
        guard let object = value.object else { throw ScenarioError(path, "an object is needed") }
        self.object = object
        self.path = path
        for (name, _) in object where !known.contains(name) {
            throw ScenarioError(
                self.path(name), "not known here; known are \(known.joined(separator: ", "))")
        }
    }

    subscript(name: String) -> JSONValue? { object[name] }

    /// The path of a member.
    func path(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    func needed(_ name: String) throws(ScenarioError) -> JSONValue {
        guard let value = object[name] else { throw ScenarioError(path(name), "is needed") }
        return value
    }

    /// A string that is not empty; nil when the member is missing.
    func text(_ name: String) throws(ScenarioError) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.stringValue, !text.isEmpty else {
            throw ScenarioError(path(name), "a text is needed")
        }
        return text
    }

    func neededText(_ name: String) throws(ScenarioError) -> String {
        _ = try needed(name)
        return try text(name) ?? ""
    }

    func integer(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(ScenarioError) -> Int? {
        guard let value = object[name] else { return nil }
        guard let number = value.int64Value, range.contains(number) else {
            throw ScenarioError(
                path(name),
                "a whole number from \(range.lowerBound) to \(range.upperBound) is needed")
        }
        return Int(number)
    }

    /// A boolean; nil when the member is missing.
    func flag(_ name: String) throws(ScenarioError) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let flag = value.boolValue else {
            throw ScenarioError(path(name), "true or false is needed")
        }
        return flag
    }

    /// Checks that an existing member is true.
    func requireTrue(_ name: String) throws(ScenarioError) {
        guard object[name] == true else { throw ScenarioError(path(name), "true is needed") }
    }

    /// One of a set of words; nil when the member is missing.
    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(ScenarioError) -> Word? {
        guard let value = object[name] else { return nil }
        guard let word = Word.allCases.first(where: { .string($0.rawValue) == value }) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw ScenarioError(path(name), "one of \(words) is needed")
        }
        return word
    }

    /// The elements of a list with their paths; none when the member is missing.
    func list(_ name: String) throws(ScenarioError) -> [(path: String, value: JSONValue)] {
        guard let value = object[name] else { return [] }
        return try Self.list(value, at: path(name))
    }

    static func list(
        _ value: JSONValue, at path: String
    ) throws(ScenarioError) -> [(path: String, value: JSONValue)] {
        guard let list = value.array else { throw ScenarioError(path, "a list is needed") }
        return list.enumerated().map { ("\(path)[\($0)]", $1) }
    }

    /// The members of an object with their paths; none when the member is missing.
    func members(
        _ name: String
    ) throws(ScenarioError) -> [(key: String, path: String, value: JSONValue)] {
        guard let value = object[name] else { return [] }
        guard let object = value.object else {
            throw ScenarioError(path(name), "an object is needed")
        }
        return object.map { ($0.key, "\(path(name)).\($0.key)", $0.value) }
    }

    /// The bytes of an object; nil when the member is missing.
    func document(_ name: String) throws(ScenarioError) -> [UInt8]? {
        guard let value = object[name] else { return nil }
        guard value.object != nil else { throw ScenarioError(path(name), "an object is needed") }
        return value.encoded()
    }

    /// An entity, as in `tasks/t1`.
    func key(_ name: String) throws(ScenarioError) -> EntityKey {
        try Self.key(try neededText(name), at: path(name))
    }

    static func key(_ text: String, at path: String) throws(ScenarioError) -> EntityKey {
        guard let key = EntityKey(text) else {
            throw ScenarioError(path, "an entity is needed, as in \"tasks/t1\"")
        }
        return key
    }

    /// A moment in RFC 3339; nil when the member is missing.
    func time(_ name: String) throws(ScenarioError) -> Timestamp? {
        guard let value = object[name] else { return nil }
        guard let time = value.time else {
            throw ScenarioError(path(name), "a time is needed, as in \"2017-09-01T12:00:00Z\"")
        }
        return time
    }

    /// A duration, as seconds or as a string such as `24h`; nil when the member is missing.
    func duration(_ name: String) throws(ScenarioError) -> Duration? {
        guard let value = object[name] else { return nil }
        guard let duration = value.duration else {
            throw ScenarioError(
                path(name), "a number of seconds, or a text such as \"24h\", is needed")
        }
        return duration
    }
}

extension JSONValue {
    /// The moment of a string in RFC 3339.
    var time: Timestamp? { stringValue.flatMap { Timestamp($0) } }

    /// A duration: a number of seconds, or a whole number with one of the units s, m, h and d.
    var duration: Duration? {
        if case .number(let number) = self {
            return number.floor(timesTenTo: 6).map { .microseconds($0) }
        }
        guard let text = stringValue, let unit = text.last, let count = Int64(text.dropLast())
        else { return nil }
        let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        guard let length = seconds[unit] else { return nil }
        let (product, isTooLong) = count.multipliedReportingOverflow(by: length)
        return isTooLong ? nil : .seconds(product)
    }
}
