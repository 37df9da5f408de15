// ReferenceNames.swift — references as a server reads them: by its own ids, which are numbers where
// it numbers entities.

package import TidemarkEvents

/// How the references of a collection's entities are written in what is sent.
package struct ReferenceNames {
    private let references: [(field: ExactString, collection: CollectionName, isNumber: Bool)]
    private let serverID: (EntityKey) throws -> String

    /// - Parameter serverID: the id that the server uses for an entity; of one that is not known,
    ///   the id that it is asked for by.
    package init(
        _ collection: CollectionModel, _ model: SyncModel,
        serverID: @escaping (EntityKey) throws -> String
    ) {
        references = collection.references.map {
            (ExactString($0.field), $0.collection, model[$0.collection]?.ids == .serverNumber)
        }
        self.serverID = serverID
    }

    /// An object's bytes with its references written so; the others stand as they came.
    package func named(_ document: [UInt8]) throws -> [UInt8] {
        guard !references.isEmpty else { return document }
        let document = try JSONDocument(parsing: document)
        return document.applying(set: try changes(in: document))
    }

    /// The same of a pending change.
    package func named(_ change: PendingChange) throws -> PendingChange {
        var result = change
        switch change.change {
        case .create(let document):
            let changes = try changes(in: document)
            guard !changes.isEmpty else { return change }
            result.change = .create(try JSONDocument(parsing: document.applying(set: changes)))
        case .update(var patch):
            for index in patch.set.indices {
                let field = patch.set[index]
                patch.set[index].value = try named(field.value[...], field.name) ?? field.value
            }
            result.change = .update(patch)
        case .delete, .carried: break
        }
        return result
    }

    private func changes(in document: JSONDocument) throws -> [(key: String, value: [UInt8])] {
        var changes: [(key: String, value: [UInt8])] = []
        for reference in references {
            let field = reference.field.text
            guard let raw = document.rawValue(field), let value = try named(raw, field) else {
                continue
            }
            changes.append((field, value))
        }
        return changes
    }

    /// The new text of a field's value; nil where it stays as it is.
    private func named(_ raw: ArraySlice<UInt8>, _ field: String) throws -> [UInt8]? {
        let exact = ExactString(field)
        guard let reference = references.first(where: { $0.field == exact }),
            let value = try? JSONValue(parsing: raw)
        else { return nil }
        func named(_ value: JSONValue) throws -> JSONValue {
            guard let id = value.idText else { return value }
            let name = try serverID(EntityKey(reference.collection, id))
            if reference.isNumber, let number = JSONValue(wholeNumber: name) { return number }
            return ExactString(name) == ExactString(id) ? value : .string(name)
        }
        let result: JSONValue =
            if case .array(let list) = value {
                .array(try list.map(named))
            } else {
                try named(value)
            }
        return result == value ? nil : result.encoded()
    }
}

extension JSONValue {
    /// The number that a text is, written as a number would be; nil for any other text.
    init?(wholeNumber text: String) {
        guard let number = Int64(text), String(number) == text else { return nil }
        self = .number(JSONNumber(number))
    }
}
