// FieldNames.swift — maps key paths of an app's type to coding keys.

import TidemarkEvents

/// The names of an entity type's properties that its queries may use.
///
/// The names are coding keys; the collection's ``KeyStyle`` turns them into the server's names.
/// `\.id` need not be listed. Write it as a literal in a constant, so that it is made only once:
///
/// ```swift
/// static let fields: FieldNames<TimeEntry> = [\.duration: "duration", \.start: "start"]
/// ```
public struct FieldNames<T: Entity>: Sendable, ExpressibleByDictionaryLiteral {
    private let names: [(path: any PartialKeyPath<T> & Sendable, name: String)]

    /// Each key path with its coding key; for a repeated path, the first one counts.
    public init(dictionaryLiteral elements: (any PartialKeyPath<T> & Sendable, String)...) {
        names = elements.map { (path: $0.0, name: $0.1) }
    }

    /// The coding key of a property; nil when it is not listed.
    public subscript(path: PartialKeyPath<T>) -> String? {
        names.first { $0.path == path }?.name
    }
}

extension FieldNames {
    /// The field that a condition or an order on a property uses.
    static func term<Value: QueryValue>(_ path: KeyPath<T, Value>) -> QueryField {
        term(path, Value.queryKind)
    }

    /// The same of a property whose values are ordered like that.
    static func term(_ path: PartialKeyPath<T>, _ kind: IndexField.Kind) -> QueryField {
        QueryField(place(path), kind)
    }

    private static func place(_ path: PartialKeyPath<T>) -> QueryField.Place {
        if let name = T.fields[path] { return name == "id" ? .id : .codingKey(name) }
        let written = "\(path)".replacing("\\\(T.self).", with: "", maxReplacements: 1)
        // A key path to `id` that the protocol makes here is not equal to the type's own. It is
        // recognised by its value's type, and a stored property of the same type by its name.
        let isID = type(of: path).valueType == ID<T>.self
        if isID, written == "id" || written.hasPrefix("<") { return .id }
        return .unlisted("\(T.self) lists no name for \\.\(written); add it to \(T.self).fields")
    }
}
