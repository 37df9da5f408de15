// KintoValue.swift — the values of fields, and their order: null, texts, numbers, false and true,
// arrays, objects, and last what is missing.

import TidemarkEvents

/// A value of a field, or of a filter.
enum KintoValue: Sendable, Hashable {
    case null
    case text(String)
    case integer(Int64)
    case real(Double)
    case bool(Bool)
    case array([KintoValue])
    case object([String: KintoValue])
    case missing

    /// A JSON value.
    init(_ value: JSONValue) {
        switch value {
        case .null: self = .null
        case .string(let text): self = .text(text)
        case .bool(let bool): self = .bool(bool)
        case .number(let number):
            // With a point or an exponent it is no integer to Kinto, and compares all the same.
            let integer = Int64(number.text)
            self = integer.map { .integer($0) } ?? .real(number.double ?? .infinity)
        case .array(let elements): self = .array(elements.map { KintoValue($0) })
        case .object(let object):
            self = .object(
                Dictionary(
                    object.map { ($0.key, KintoValue($0.value)) }, uniquingKeysWith: { $1 }))
        }
    }

    /// The value of a parameter: what is JSON counts as such, any other as a text.
    init(query text: some StringProtocol) {
        let value = try? JSONValue(parsing: Array(text.utf8))
        self = value.map { KintoValue($0) } ?? .text(String(text))
    }

    /// What a filter by `id` compares with: Kinto makes a text of what it reads as an integer.
    var asID: KintoValue {
        switch self {
        case .integer(let number): .text(String(number))
        case .bool(let bool): .text(bool ? "True" : "False")
        default: self
        }
    }

    /// Whether Python takes it for true.
    var isTrue: Bool {
        switch self {
        case .null, .missing: false
        case .bool(let bool): bool
        case .text(let text): !text.isEmpty
        case .integer(let number): number != 0
        case .real(let number): number != 0
        case .array(let elements): !elements.isEmpty
        case .object(let members): !members.isEmpty
        }
    }

    /// -1, 0 or 1; nil where Kinto fails: for two different objects, for example.
    func compared(to other: KintoValue) -> Int? {
        switch (self, other) {
        case (.text(let left), .text(let right)): Self.order(left.utf8, right.utf8)
        case (.integer(let left), .integer(let right)): Self.order([left], [right])
        case (.bool(let left), .bool(let right)): Self.order([left ? 1 : 0], [right ? 1 : 0])
        case (.array(let left), .array(let right)): Self.compare(left, right)
        case (.object(let left), .object(let right)): left == right ? 0 : nil
        default:
            if let left = number, let right = other.number {
                Self.order([left], [right])
            } else {
                Self.order([rank], [other.rank])
            }
        }
    }

    private var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .text: 1
        case .integer, .real: 2
        case .bool: 3
        case .array: 4
        case .object: 5
        case .missing: 6
        }
    }

    /// By the first elements that differ; Kinto fails where they are of two kinds.
    private static func compare(_ left: [KintoValue], _ right: [KintoValue]) -> Int? {
        for (first, second) in zip(left, right) {
            guard let order = first.compared(to: second) else { return nil }
            if order != 0 { return first.rank == second.rank ? order : nil }
        }
        return order([left.count], [right.count])
    }

    private static func order<Elements: Sequence>(_ left: Elements, _ right: Elements) -> Int
    where Elements.Element: Comparable {
        left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
    }
}

extension KintoObject {
    /// The value of a field.
    func value(_ field: String) -> KintoValue {
        if field == "id" { return .text(id) }
        if field == "last_modified" { return .integer(lastModified) }
        guard let fields else { return field == "deleted" ? .bool(true) : .missing }
        return fields[field].flatMap { try? JSONValue(parsing: $0) }.map { KintoValue($0) }
            ?? .missing
    }
}
