// QueryOptions.swift — queries on the command line, with the server's field names.

import ArgumentParser
import Tidemark
import TidemarkEvents

struct QueryOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only entities of which this is true: FIELD, one of = != < <= > >=, and a JSON value "
                + "or a plain text. null is also what is missing.",
            valueName: "CONDITION"))
    var conditions: [String] = []
    @Option(help: ArgumentHelp("By the values of this field, then by id.", valueName: "FIELD"))
    var order: [String] = []
    @Flag(help: "The last ones in order first.")
    var descending = false
    @Option(help: ArgumentHelp("At most so many.", valueName: "COUNT"))
    var limit: Int?
    @Flag(help: "Say only how the entities would be found: by which index, or by reading all.")
    var explain = false

    var isAsked: Bool {
        !conditions.isEmpty || !order.isEmpty || descending || limit != nil || explain
    }

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit takes a number from 0 up") }
    }

    /// The query in terms of a collection's fields.
    func terms(_ collection: CollectionModel) throws -> QueryTerms {
        var terms = QueryTerms()
        for text in conditions {
            let condition = try Self.condition(text, collection)
            terms.condition = terms.condition.map { .and($0, condition) } ?? condition
        }
        let order = order.isEmpty && descending ? [collection.idField] : order
        terms.order = order.map {
            QueryTerms.Order(Self.field($0, collection), isDescending: descending)
        }
        terms.limit = limit
        return terms
    }

    private static func condition(
        _ text: String, _ collection: CollectionModel
    ) throws -> QueryTerm {
        guard let start = text.firstIndex(where: { "=!<>".contains($0) }), start > text.startIndex,
            let comparison = QueryComparison.allCases
                .filter({ text[start...].hasPrefix($0.rawValue) })
                .max(by: { $0.rawValue.count < $1.rawValue.count })
        else {
            throw UsageError(
                "\"\(text)\" is no condition; write FIELD=VALUE, or with != < <= > >= for the =")
        }
        let field = field(String(text[..<start]).trimmed, collection)
        let value = String(text[start...].dropFirst(comparison.rawValue.count)).trimmed
        return .compare(field, comparison, try literal(value, field.kind))
    }

    /// A field; it holds times if an index says so.
    private static func field(_ name: String, _ collection: CollectionModel) -> QueryField {
        if name == collection.idField { return QueryField(.id) }
        let isDate = collection.indexes.contains { $0.fields.contains(.date(name)) }
        return QueryField(.field(name), isDate ? .date : .value)
    }

    private static func literal(_ text: String, _ kind: IndexField.Kind) throws -> QueryLiteral {
        if kind == .date, text != "null" {
            return .time(try Timestamp(text) ?? Name.time(text))
        }
        switch try? JSONValue(parsing: Array(text.utf8)) {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .number(let number): return .number(number)
        case .string(let string): return .text(string)
        case nil: return .text(text)
        case .array, .object: throw UsageError("\(text): lists and objects can't be compared with")
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        let isSpace: (Character) -> Bool = { $0 == " " }
        return String(drop(while: isSpace).reversed().drop(while: isSpace).reversed())
    }
}
