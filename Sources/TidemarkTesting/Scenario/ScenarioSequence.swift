// ScenarioSequence.swift — the expectation of a list: exactly these items, or these among others.

import TidemarkEvents

/// The expectation of a list; all parts that are given must hold.
struct ScenarioSequence: Sendable {
    /// These, in order, and nothing else.
    var exactly: [JSONValue]?
    /// These, in any order, and nothing else.
    var unordered: [JSONValue]?
    /// These, in this order, among others.
    var including: [JSONValue]?
    /// No item matches one of these.
    var without: [JSONValue]?
    /// The number of items.
    var count: Int?

    /// Reads a list, or an object with the members above.
    ///
    /// - Parameter read: reads one item.
    init(
        _ value: JSONValue, at path: String,
        _ read: (JSONValue, _ path: String) throws(ScenarioError) -> JSONValue
    ) throws(ScenarioError) {
        func items(
            _ list: [(path: String, value: JSONValue)]
        ) throws(ScenarioError) -> [JSONValue] {
            var items: [JSONValue] = []
            for (path, value) in list { items.append(try read(value, path)) }
            return items
        }
        if value.array != nil {
            exactly = try items(try ScenarioMembers.list(value, at: path))
            return
        }
        guard value.object != nil else {
            throw ScenarioError(
                path, "a list, or an object with unordered, including, without or count, is needed")
        }
        let members = try ScenarioMembers(
            value, at: path, ["unordered", "including", "without", "count"])
        if members["unordered"] != nil { unordered = try items(try members.list("unordered")) }
        if members["including"] != nil { including = try items(try members.list("including")) }
        if members["without"] != nil { without = try items(try members.list("without")) }
        count = try members.integer("count", in: 0...100_000)
        guard unordered ?? including ?? without != nil || count != nil else {
            throw ScenarioError(path, "one of unordered, including, without and count is needed")
        }
    }

    /// The differences between the items and the expectation.
    ///
    /// - Parameters:
    ///   - path: the path of the list.
    ///   - text: returns an item as it is reported.
    func differences(
        _ actual: [JSONValue], at path: String, text: (JSONValue) -> String,
        _ matches: (_ expected: JSONValue, _ actual: JSONValue) -> Bool
    ) -> [ScenarioDifference] {
        var found: [ScenarioDifference] = []
        func lines(_ items: [JSONValue]) -> String {
            items.isEmpty ? "(none)" : items.map(text).joined(separator: "\n")
        }
        let shown = actual.map { $0.limited(to: named) }
        func note(_ name: String, _ expected: String) {
            found.append(
                ScenarioDifference(
                    path: name.isEmpty ? path : "\(path).\(name)", expected: expected,
                    actual: lines(shown)))
        }
        if let exactly {
            let isEqual =
                exactly.count == actual.count
                && zip(exactly, actual).allSatisfy { matches($0, $1) }
            if !isEqual { note("", lines(exactly)) }
        }
        if let unordered {
            let isEqual =
                unordered.count == actual.count && Self.pairs(unordered, actual, matches)
            if !isEqual { note("unordered", lines(unordered)) }
        }
        if let including {
            var rest = including[...]
            for item in actual {
                if let next = rest.first, matches(next, item) { rest.removeFirst() }
            }
            if !rest.isEmpty { note("including", lines(including)) }
        }
        if let without {
            let isThere = without.contains { item in actual.contains { matches(item, $0) } }
            if isThere { note("without", "none of:\n" + lines(without)) }
        }
        if let count, count != actual.count {
            found.append(
                ScenarioDifference(
                    path: "\(path).count", expected: "\(count)",
                    actual: "\(actual.count)" + (actual.isEmpty ? "" : ":\n" + lines(shown))))
        }
        return found
    }

    /// The members that the expected items name; nil where none of them is an object.
    private var named: [String]? {
        let objects = [exactly, unordered, including, without].compactMap(\.self)
            .flatMap(\.self).compactMap(\.object)
        return objects.isEmpty ? nil : objects.flatMap(\.keys)
    }

    /// Whether every expected item can be matched with a different actual one.
    private static func pairs(
        _ expected: [JSONValue], _ actual: [JSONValue],
        _ matches: (JSONValue, JSONValue) -> Bool
    ) -> Bool {
        var owner = [Int?](repeating: nil, count: actual.count)
        func place(_ item: Int, _ seen: inout [Bool]) -> Bool {
            for other in actual.indices where !seen[other] && matches(expected[item], actual[other])
            {
                seen[other] = true
                if let before = owner[other], !place(before, &seen) { continue }
                owner[other] = item
                return true
            }
            return false
        }
        for item in expected.indices {
            var seen = [Bool](repeating: false, count: actual.count)
            guard place(item, &seen) else { return false }
        }
        return true
    }
}

extension JSONValue {
    /// An object with only these members; any other value unchanged.
    fileprivate func limited(to names: [String]?) -> JSONValue {
        guard let names, let object else { return self }
        var limited = JSONObject()
        for (name, value) in object where names.contains(name) { limited[name] = value }
        return .object(limited)
    }
}
