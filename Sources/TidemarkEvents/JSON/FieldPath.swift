// FieldPath.swift — a field of a document, or a place further down in it as in JSON Pointer
// (RFC 6901), where `*` stands for every element: `project`, `/from/person/id`, `/photos/*/url`.

/// A field of a document, or a path that begins with one.
package struct FieldPath: Sendable, Hashable {
    /// The names of the members that lead there, from the document down; `*` for every element.
    package let steps: [String]

    package init(_ text: String) {
        guard Self.isPath(text) else {
            steps = [text]
            return
        }
        steps = text.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map {
            String($0).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }

    /// Whether a text is a path, and not only the name of a field.
    package static func isPath(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "/") }

    /// The field that it begins with.
    package var top: String { steps[0] }

    /// What leads on from there; nothing for the field itself.
    package var rest: ArraySlice<String> { steps.dropFirst() }

    /// Whether it leads through objects only, so that a document has one such place at most.
    package var isOnePlace: Bool { rest.allSatisfy { $0 != "*" && Int($0) == nil } }
}

extension JSONValue {
    /// Calls `found` with what members lead to, in the order in which it is there.
    package func forEach(
        at steps: ArraySlice<String>, _ found: (JSONValue) throws -> Void
    ) rethrows {
        guard let step = steps.first else { return try found(self) }
        let rest = steps.dropFirst()
        switch self {
        case .array(let list) where step == "*":
            for element in list { try element.forEach(at: rest, found) }
        case .array(let list):
            guard let index = Int(step), list.indices.contains(index) else { return }
            try list[index].forEach(at: rest, found)
        case .object(let object) where step == "*":
            for (_, element) in object { try element.forEach(at: rest, found) }
        case .object(let object): try object[step]?.forEach(at: rest, found)
        case .null, .bool, .number, .string: break
        }
    }

    /// The value with something else in the place of what members lead to.
    package func replacing(
        at steps: ArraySlice<String>, _ new: (JSONValue) throws -> JSONValue
    ) rethrows -> JSONValue {
        guard let step = steps.first else { return try new(self) }
        let rest = steps.dropFirst()
        switch self {
        case .array(var list):
            for index in list.indices where step == "*" || Int(step) == index {
                list[index] = try list[index].replacing(at: rest, new)
            }
            return .array(list)
        case .object(var object):
            for key in object.map(\.key) where step == "*" || key == step {
                object[key] = try object[key]?.replacing(at: rest, new)
            }
            return .object(object)
        case .null, .bool, .number, .string: return self
        }
    }
}

/// Reads some fields of many documents, without taking these apart.
package struct FieldReader: Sendable {
    private struct Place: Sendable {
        /// Which of the documents' fields.
        var top: Int
        /// The members that lead on from there, in UTF-8.
        var rest: [[UInt8]]
    }

    /// The names of the fields that are looked for, in UTF-8, each once.
    private var tops: [[UInt8]] = []
    private var places: [Place] = []
    /// Whether the values are those of the fields, in the same order.
    private var isPlain = true

    /// - Parameter fields: fields, or paths that lead through objects.
    package init(_ fields: [String]) {
        for field in fields {
            let path = FieldPath(field)
            let name = Array(path.top.utf8)
            let place = tops.firstIndex(of: name) ?? tops.count
            if place == tops.count { tops.append(name) }
            isPlain = isPlain && place == places.count && path.rest.isEmpty
            places.append(Place(top: place, rest: path.rest.map { Array($0.utf8) }))
        }
    }

    /// The values, as they stand in an object that was checked before; nil where there is none.
    package func values(of document: ArraySlice<UInt8>) -> [ArraySlice<UInt8>?] {
        let found = JSON.members(tops, of: document)
        if isPlain { return found }
        return places.map { place in
            var value = found[place.top]
            for name in place.rest {
                guard let object = value, object.first == UInt8(ascii: "{") else { return nil }
                value = JSON.members([name], of: object)[0]
            }
            return value
        }
    }
}
