// ReferenceNames.swift — how references are written: as a server reads them, by its own ids, which
// are numbers where it numbers entities; and as they are read here, by the keys that entities keep.
//
// In what is sent, a file of the user's that the server has goes by the name that it has there.

package import TidemarkEvents

/// How the references of a collection's entities are written: in what is sent, or for who reads
/// them here.
package struct ReferenceNames {
    private let references: [(field: ExactString, collection: CollectionName, isNumber: Bool)]
    /// The id that an entity is to be named by.
    private let id: (EntityKey) throws -> String
    /// What leads to files that are sent, by the field of the document that it begins with.
    private let files: [(field: ExactString, steps: ArraySlice<String>)]
    /// By what the server names a file of the user's; nil for not at all.
    private let fileName: (String) throws -> String?

    /// - Parameters:
    ///   - serverID: the id that the server uses for an entity; of one that is not known, the id
    ///     that it is asked for by.
    ///   - fileName: by what the server names the file of the user's with a SHA-256; nil for not at
    ///     all.
    package init(
        _ collection: CollectionModel, _ model: SyncModel,
        serverID: @escaping (EntityKey) throws -> String,
        fileName: @escaping (String) throws -> String?
    ) {
        files = collection.contents.filter { $0.upload != nil }.map {
            (ExactString($0.topField), $0.steps.dropFirst())
        }
        self.fileName = fileName
        references = collection.references.map {
            (ExactString($0.field), $0.collection, model[$0.collection]?.ids == .serverNumber)
        }
        id = serverID
    }

    /// By the keys that entities have here, as texts; a reference that names an entity by its key,
    /// or one that is not known, stays as it is.
    ///
    /// - Parameter key: the key that an entity keeps for life, also of an id that is an alias.
    package init(
        keysIn collection: CollectionModel, key: @escaping (EntityKey) throws -> EntityKey
    ) {
        references = collection.references.map { (ExactString($0.field), $0.collection, false) }
        id = { try key($0).id }
        (files, fileName) = ([], { _ in nil })
    }

    /// The fields that may be written otherwise, each once.
    private var fields: [String] {
        var fields = references.map(\.field)
        for file in files where !fields.contains(file.field) { fields.append(file.field) }
        return fields.map(\.text)
    }

    /// The same of an object that was checked before; most have nothing to be written otherwise.
    package func named(checked document: [UInt8]) throws -> [UInt8] {
        let fields = fields
        let values = JSON.members(fields.map { Array($0.utf8) }, of: document[...])
        let hasChanges = try zip(fields, values).contains { field, raw in
            try raw.map { try named($0, field) != nil } ?? false
        }
        return hasChanges ? try named(document) : document
    }

    /// The text of a field's value; the same where it stays as it is.
    package func named(_ raw: [UInt8], in field: String) throws -> [UInt8] {
        try named(raw[...], field) ?? raw
    }

    /// Whether a field is a reference, and two values of it name the same entities in one order.
    package func nameTheSame(
        _ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>, in field: String
    ) throws -> Bool {
        let exact = ExactString(field)
        guard let reference = references.first(where: { $0.field == exact }) else { return false }
        func ids(_ raw: ArraySlice<UInt8>) throws -> [String?] {
            let value = try JSONValue(parsing: raw)
            return try (value.array ?? [value]).map { item in
                try item.idText.map { try id(EntityKey(reference.collection, $0)) }
            }
        }
        let (one, other) = (try ids(left), try ids(right))
        let bracket = UInt8(ascii: "[")
        guard (left.first == bracket) == (right.first == bracket), one.count == other.count else {
            return false
        }
        return zip(one, other).allSatisfy { one, other in
            guard let one, let other else { return false }
            return ExactString(one) == ExactString(other)
        }
    }

    /// An object's bytes with its references written so; the others stand as they came.
    package func named(_ document: [UInt8]) throws -> [UInt8] {
        guard !references.isEmpty || !files.isEmpty else { return document }
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
        for field in fields {
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
        let reference = references.first { $0.field == exact }
        guard reference != nil || files.contains(where: { $0.field == exact }),
            let value = try? JSONValue(parsing: raw)
        else { return nil }
        var result = value
        if let reference { result = try named(value, by: reference) }
        for file in files where file.field == exact {
            result = try CollectionModel.renaming(result, file.steps, fileName)
        }
        return result == value ? nil : result.encoded()
    }

    private func named(
        _ value: JSONValue,
        by reference: (field: ExactString, collection: CollectionName, isNumber: Bool)
    ) throws -> JSONValue {
        func named(_ value: JSONValue) throws -> JSONValue {
            guard let id = value.idText else { return value }
            let name = try self.id(EntityKey(reference.collection, id))
            if reference.isNumber, let number = JSONValue(wholeNumber: name) { return number }
            return ExactString(name) == ExactString(id) ? value : .string(name)
        }
        guard case .array(let list) = value else { return try named(value) }
        return .array(try list.map(named))
    }
}

extension JSONValue {
    /// The number that a text is, written as a number would be; nil for any other text.
    init?(wholeNumber text: String) {
        guard let number = Int64(text), String(number) == text else { return nil }
        self = .number(JSONNumber(number))
    }
}
