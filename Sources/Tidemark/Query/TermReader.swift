// TermReader.swift — translates the terms of a query into conditions on a collection's documents.

import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkViews

/// Turns coding keys into the server's names, and values into sortable bytes.
struct TermReader {
    let collection: CollectionModel
    /// Returns all ids of an entity.
    let ids: (EntityKey) throws -> [String]

    func field(_ field: QueryField) throws -> DocumentField {
        switch field.place {
        case .id: .id
        case .codingKey(let key):
            .field(IndexField(collection.keys.fieldName(key), field.kind))
        case .field(let name): .field(IndexField(name, field.kind))
        case .unlisted(let sentence): throw TidemarkError(.unknownField, sentence)
        }
    }

    func condition(_ term: QueryTerm) throws -> DocumentCondition {
        switch term {
        case .and(let left, let right): .and([try condition(left), try condition(right)])
        case .or(let left, let right): .or([try condition(left), try condition(right)])
        case .not(let inner): try not(condition(inner))
        case .isIn(let inner, let values): try isIn(try field(inner), values)
        case .hasPrefix(let inner, let prefix): hasPrefix(try field(inner), prefix.text)
        case .hasText(let inner, let part): hasText(try field(inner), part.text)
        case .contains(let inner, let value): try contains(try field(inner), value)
        case .treeHas(let status):
            .treeHas(RollUpClass(status), text: "tree has \(status.rawValue)")
        case .compare(let inner, let comparison, let value):
            try compare(try field(inner), comparison, value)
        }
    }

    private func not(_ condition: DocumentCondition) -> DocumentCondition {
        .not(condition, text: "not (\(condition.text))")
    }

    private func compare(
        _ field: DocumentField, _ comparison: QueryComparison, _ value: QueryLiteral
    ) throws -> DocumentCondition {
        let bytes = bytes(value, field)
        let text = "\(field.name) \(comparison.rawValue) \(value.text)"
        switch comparison {
        case .equal: return .isIn(field, try equals(value, field), isOneValue: true, text: text)
        case .notEqual: return .not(.isIn(field, try equals(value, field), text: text), text: text)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard let sameType = KeyRange(sameTypeAs: bytes) else {
                return .isIn(field, [], text: text)
            }
            let range =
                switch comparison {
                case .less: KeyRange(sameType.lower, bytes)
                case .lessOrEqual: KeyRange(sameType.lower, KeyRange(beginning: bytes).upper)
                case .greater: KeyRange(KeyRange(beginning: bytes).upper, sameType.upper)
                default: KeyRange(bytes, sameType.upper)
                }
            return .range(field, range, text: text)
        }
    }

    private func isIn(
        _ field: DocumentField, _ values: [QueryLiteral]
    ) throws -> DocumentCondition {
        let all = Self.ascending(try values.flatMap { try equals($0, field) })
        // A long list is abbreviated.
        let shown = values.prefix(3).map(\.text) + (values.count > 3 ? ["…"] : [])
        let text = "\(field.name) in [\(shown.joined(separator: ", "))]"
        return .isIn(field, all, isOneValue: values.count == 1, text: text)
    }

    /// The bytes of all values that equal a literal; for an entity, all of its ids.
    private func equals(_ value: QueryLiteral, _ field: DocumentField) throws -> [[UInt8]] {
        guard case .id(let key) = value else { return [bytes(value, field)] }
        return Self.ascending(
            try ids(key).flatMap { id in
                let number = QueryLiteral.wholeNumber(id)
                return [bytes(.text(id), field)] + (number.map { [bytes($0, field)] } ?? [])
            })
    }

    private static func ascending(_ values: [[UInt8]]) -> [[UInt8]] {
        var all: [[UInt8]] = []
        for bytes in values.sorted(by: ByteOrder.precedes) where all.last != bytes {
            all.append(bytes)
        }
        return all
    }

    private func hasPrefix(_ field: DocumentField, _ prefix: String) -> DocumentCondition {
        // Without the two bytes that end a string.
        let bytes = Array(bytes(.text(prefix), field).dropLast(2))
        return .range(
            field, KeyRange(beginning: bytes),
            text: "\(field.name) begins with \(QueryLiteral.text(prefix).text)")
    }

    private func hasText(_ field: DocumentField, _ part: String) -> DocumentCondition {
        let text = "\(field.name) contains the text \(QueryLiteral.text(part).text)"
        // An id is no text that somebody wrote.
        guard case .field(let inner) = field else { return .isIn(field, [], text: text) }
        return .hasText(inner, FoldedText.bytes(Array(part.utf8)), text: text)
    }

    private func contains(
        _ field: DocumentField, _ value: QueryLiteral
    ) throws -> DocumentCondition {
        let text = "\(field.name) contains \(value.text)"
        // An id is no list.
        guard case .field(let list) = field else { return .isIn(field, [], text: text) }
        return .contains(list, try equals(value, field), text: text)
    }

    private func bytes(_ value: QueryLiteral, _ field: DocumentField) -> [UInt8] {
        let kind: IndexField.Kind = if case .field(let field) = field { field.kind } else { .value }
        return value.bytes(kind: kind, dates: collection.dates)
    }
}

extension KeyRange {
    /// The range of all values with the same type; nil for null, which compares as neither less nor
    /// greater.
    init?(sameTypeAs bytes: [UInt8]) {
        // The first byte is the type, except that false and true have one each: 2 and 3.
        switch bytes.first {
        case nil, 1: return nil
        case 2, 3: self.init([2], [4])
        case .some(let type): self.init([type], [type + 1])
        }
    }
}

extension QueryLiteral {
    /// The number that an id is; nil of any other id.
    static func wholeNumber(_ id: String) -> QueryLiteral? {
        JSONNumber(wholeNumber: id).map { .number($0) }
    }

    /// The sortable bytes of the value.
    func bytes(kind: IndexField.Kind, dates: DateFormat) -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .time(let time):
            // As it would be read back, since the format may be less precise than the moment.
            OrderKey.append(dates.timestamp(dates.encoded(time)[...]) ?? time, to: &bytes)
        default: OrderKey.append(json, kind: kind, dates: dates, to: &bytes)
        }
        return bytes
    }

    private var json: JSONValue {
        switch self {
        case .null: .null
        case .bool(let value): .bool(value)
        case .number(let value): .number(value)
        case .text(let value): .string(value)
        case .id(let key): .string(key.id)
        case .time(let value): .string(value.description)
        }
    }

    /// The literal for people: JSON, and a moment in UTC.
    var text: String {
        switch self {
        case .time(let time): String(decoding: DateFormat.iso8601.encoded(time), as: UTF8.self)
        default: String(decoding: json.encoded(), as: UTF8.self)
        }
    }
}
