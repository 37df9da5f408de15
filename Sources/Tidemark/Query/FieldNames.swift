// FieldNames.swift — which key path of an app's type stands for which coding key.

/// The names of an entity type's properties: what its queries may ask about.
///
/// The names are those of the coding keys; the collection's ``KeyStyle`` makes the server's names
/// of them. `\.id` is known without being listed. Written as a literal, in a constant, so that it
/// is made once:
///
/// ```swift
/// static let fields: FieldNames<TimeEntry> = [\.duration: "duration", \.start: "start"]
/// ```
public struct FieldNames<T: Entity>: Sendable, ExpressibleByDictionaryLiteral {
    private let names: [(path: any PartialKeyPath<T> & Sendable, name: String)]

    /// Each key path with its coding key; of two for one path the first counts.
    public init(dictionaryLiteral elements: (any PartialKeyPath<T> & Sendable, String)...) {
        names = elements.map { (path: $0.0, name: $0.1) }
    }

    /// The coding key of a property; nil when it is not listed.
    public subscript(path: PartialKeyPath<T>) -> String? {
        names.first { $0.path == path }?.name
    }
}

extension FieldNames {
    /// What a condition or an order on a property asks about.
    static func term<Value: QueryValue>(_ path: KeyPath<T, Value>) -> QueryField {
        QueryField(place(path), Value.queryKind)
    }

    private static func place(_ path: PartialKeyPath<T>) -> QueryField.Place {
        if let name = T.fields[path] { return name == "id" ? .id : .codingKey(name) }
        let written = "\(path)".replacing("\\\(T.self).", with: "", maxReplacements: 1)
        // A path to `id` that is made here, by the protocol, is not equal to the type's own. It is
        // told by its value's type, and a stored property of that type by what it is called.
        let isID = type(of: path).valueType == ID<T>.self
        if isID, written == "id" || written.hasPrefix("<") { return .id }
        return .unlisted("\(T.self) lists no name for \\.\(written); add it to \(T.self).fields")
    }
}
