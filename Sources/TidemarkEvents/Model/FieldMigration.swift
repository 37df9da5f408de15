// FieldMigration.swift — how documents and edits of an older model are read by a newer one. What
// the log and the server's bytes say is never rewritten.

/// One step from an older shape of a collection's entities to a newer one.
///
/// A field that is new and may be missing needs none. Steps are only ever added at the end of a
/// collection's list: each is for documents that the steps before it have been applied to.
public enum FieldMigration: Sendable, Hashable {
    /// A field has another name: where only the old one is there, it is read as the new one, and
    /// what is pending on it is sent under the new one.
    case renamed(String, to: String)
    /// A field is gone: what is pending on it is not sent. An edit of nothing else is superseded.
    case removed(String)
    /// A field must be there: where it is missing or null it has this value, also in what is
    /// pending and not yet sent.
    case required(String, default: JSONValue)
}

extension FieldMigration {
    init(_ value: JSONValue, at path: String) throws(ModelError) {
        let members = try Members(
            value, at: path, known: ["rename", "to", "remove", "require", "default"])
        let shapes = ["rename", "to"], remove = ["remove"], require = ["require", "default"]
        let names = members.object.keys.sorted()
        if names == shapes, let old = try members.string("rename"),
            let new = try members.string("to")
        {
            guard old != new else { throw ModelError(path, "both names are \"\(old)\"") }
            self = .renamed(old, to: new)
        } else if names == remove, let name = try members.string("remove") {
            self = .removed(name)
        } else if names == require.sorted(), let name = try members.string("require"),
            let value = members["default"]
        {
            guard value != .null else { throw ModelError("\(path).default", "null is no default") }
            self = .required(name, default: value)
        } else {
            throw ModelError(
                path, "{\"rename\":…,\"to\":…}, {\"remove\":…} or {\"require\":…,\"default\":…}")
        }
    }

    package var json: JSONValue {
        switch self {
        case .renamed(let old, let new): ["rename": .string(old), "to": .string(new)]
        case .removed(let name): ["remove": .string(name)]
        case .required(let name, let value): ["require": .string(name), "default": value]
        }
    }

    /// The fields that no document has any more.
    package var retired: String? {
        switch self {
        case .renamed(let name, _), .removed(let name): name
        case .required: nil
        }
    }
}

extension CollectionModel {
    /// A document as today's model reads it; the same bytes where nothing differs.
    package func migrated(_ bytes: [UInt8]) throws(JSONError) -> [UInt8] {
        if migrations.isEmpty { return bytes }
        return try migrated(try JSONDocument(parsing: bytes)).bytes
    }

    /// A document as today's model reads it.
    ///
    /// A field that was removed stays: the server may still know it.
    package func migrated(_ document: JSONDocument) throws(JSONError) -> JSONDocument {
        var document = document
        for migration in migrations {
            switch migration {
            case .renamed(let old, let new):
                guard let raw = document.rawValue(old), document.rawValue(new) == nil else {
                    continue
                }
                let bytes = document.applying(set: [(key: new, value: Array(raw))], unset: [old])
                document = try JSONDocument(parsing: bytes)
            case .removed: continue
            case .required(let name, let value):
                guard document.value(name) ?? .null == .null else { continue }
                let bytes = document.applying(set: [(key: name, value: value.encoded())], unset: [])
                document = try JSONDocument(parsing: bytes)
            }
        }
        return document
    }

    /// An edit as today's model reads it.
    package func migrated(_ patch: Patch) -> Patch {
        var patch = patch
        for migration in migrations {
            switch migration {
            case .renamed(let old, let new):
                let isKnown = patch.fieldNames.contains(new)
                patch.set = patch.set.compactMap { field in
                    guard field.name == old else { return field }
                    return isKnown ? nil : Patch.Field(new, field.value)
                }
                patch.unset = patch.unset.compactMap { name in
                    guard name == old else { return name }
                    return isKnown ? nil : new
                }
            case .removed(let name):
                patch.set.removeAll { $0.name == name }
                patch.unset.removeAll { $0 == name }
            case .required(let name, let value):
                let isNull = patch.set.contains {
                    $0.name == name && (try? JSONValue(parsing: $0.value)) == .null
                }
                guard isNull || patch.unset.contains(name) else { continue }
                patch.set.removeAll { $0.name == name }
                patch.unset.removeAll { $0 == name }
                patch.set.append(Patch.Field(name, value.encoded()))
            }
        }
        return patch
    }

    /// A creation as today's model reads it: what was removed is not sent.
    package func migratedCreation(_ document: JSONDocument) throws(JSONError) -> JSONDocument {
        let gone = migrations.compactMap { migration in
            if case .removed(let name) = migration, document.rawValue(name) != nil {
                name
            } else {
                nil
            }
        }
        guard !gone.isEmpty else { return try migrated(document) }
        return try migrated(try JSONDocument(parsing: document.applying(set: [], unset: gone)))
    }
}
