// Dhis2Fields.swift — the parameter `fields`: which members an answer has, also in what is in it.

import TidemarkEvents

/// A selection of members: `*,!relationships,enrollments[enrollment,events[*]]`.
struct Dhis2Fields: Sendable {
    /// Whether members that are not named are there, too.
    private var takesAll = false
    private var taken: [(name: String, inside: Dhis2Fields?)] = []
    private var left: [String] = []

    /// Reads a selection; brackets that do not close end with the text.
    init(_ text: String) {
        var rest = text[...]
        self.init(parsing: &rest)
    }

    private init(parsing rest: inout Substring) {
        while let first = rest.first, first != "]" {
            if first == "," {
                rest.removeFirst()
                continue
            }
            let name = String(rest.prefix { !",[]".contains($0) })
            rest.removeFirst(name.count)
            var inside: Dhis2Fields?
            if rest.first == "[" {
                rest.removeFirst()
                inside = Dhis2Fields(parsing: &rest)
                if rest.first == "]" { rest.removeFirst() }
            }
            add(name, inside)
        }
    }

    private mutating func add(_ name: String, _ inside: Dhis2Fields?) {
        switch name {
        case "*", ":all", ":owner": takesAll = true
        case ":identifiable":
            for name in ["id", "name", "created", "lastUpdated"] { taken.append((name, nil)) }
        default:
            if name.hasPrefix("!") {
                left.append(String(name.dropFirst()))
            } else {
                taken.append((name, inside))
            }
        }
    }

    /// The object with no other members than these.
    func only(_ object: JSONObject) -> JSONObject {
        var result = JSONObject()
        for (key, value) in object where !left.contains(key) {
            if let found = taken.first(where: { $0.name == key }) {
                result[key] = found.inside.map { $0.only(value) } ?? value
            } else if takesAll {
                result[key] = value
            }
        }
        return result
    }

    private func only(_ value: JSONValue) -> JSONValue {
        if let list = value.array { return .array(list.map(only)) }
        return value.object.map { .object(only($0)) } ?? value
    }
}
