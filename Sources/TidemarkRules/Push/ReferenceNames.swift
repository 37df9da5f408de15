// ReferenceNames.swift — how references are written: as a server reads them, by its own ids, which
// are numbers where it numbers entities; and as they are read here, by the keys that entities keep.
//
// In what is sent, a file of the user's that the server has goes by the name that it has there.

package import TidemarkEvents

/// How the references of a collection's entities are written: in what is sent, or for who reads
/// them here.
package struct ReferenceNames {
    /// How one reference is written.
    private struct Naming {
        /// The field of the document.
        let field: ExactString
        /// What leads to the ids from there.
        let steps: ArraySlice<String>
        let collection: CollectionName

        init(_ reference: Reference) {
            let path = FieldPath(reference.field)
            field = ExactString(path.top)
            steps = path.rest
            collection = reference.collection
        }
    }

    private let references: [Naming]
    /// The id that an entity is to be named by, a text or a number.
    private let id: (EntityKey) throws -> JSONValue
    /// What leads to files that are sent, by the field of the document that it begins with.
    private let files: [(field: ExactString, steps: ArraySlice<String>)]
    /// The lists with files of which a change may name elements.
    private let keyed: [KeyedList]
    /// By what the server names a file of the user's; nil for not at all.
    private let fileName: (String) throws -> String?

    /// - Parameters:
    ///   - serverID: the id that the server uses for an entity, as it writes it; of one that is
    ///     not known, the id that it is asked for by.
    ///   - fileName: by what the server names the file of the user's with a SHA-256; nil for not at
    ///     all.
    package init(
        _ collection: CollectionModel, serverID: @escaping (EntityKey) throws -> JSONValue,
        fileName: @escaping (String) throws -> String?
    ) {
        files = collection.contents.filter { $0.upload != nil }.map {
            (ExactString($0.topField), collection.stepsToRename($0))
        }
        keyed = files.isEmpty ? [] : collection.keyed
        self.fileName = fileName
        references = collection.references.map(Naming.init)
        id = serverID
    }

    /// By the keys that entities have here, as texts; a reference that names an entity by its key,
    /// or one that is not known, stays as it is.
    ///
    /// - Parameter key: the key that an entity keeps for life, also of an id that is an alias.
    package init(
        keysIn collection: CollectionModel, key: @escaping (EntityKey) throws -> EntityKey
    ) {
        references = collection.references.map(Naming.init)
        id = { .string(try key($0).id) }
        (files, keyed, fileName) = ([], [], { _ in nil })
    }

    /// The fields that may be written otherwise, each once.
    private var fields: [String] {
        var fields: [ExactString] = []
        for field in references.map(\.field) + files.map(\.field) where !fields.contains(field) {
            fields.append(field)
        }
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

    /// Whether a field is a reference, and two values of it name the same entities in one order;
    /// of one with references in it, whether they are the same but for that.
    package func nameTheSame(
        _ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>, in field: String
    ) throws -> Bool {
        let exact = ExactString(field)
        guard let reference = references.first(where: { $0.field == exact }) else { return false }
        if !reference.steps.isEmpty {
            func plain(_ raw: ArraySlice<UInt8>) throws -> JSONValue {
                var value = try JSONValue(parsing: raw)
                for reference in references where reference.field == exact {
                    value = try renaming(value, by: reference) { id, _ in id }
                }
                return value
            }
            return try plain(left) == plain(right)
        }
        func ids(_ raw: ArraySlice<UInt8>) throws -> [String?] {
            let value = try JSONValue(parsing: raw)
            return try (value.array ?? [value]).map { item in
                try item.idText.flatMap { try id(EntityKey(reference.collection, $0)).idText }
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
    ///
    /// - Parameter base: an object in which a reference that is a text, and all of its field, is to
    ///   stay one, though it names an entity with a number for its id.
    package func named(_ document: [UInt8], asIn base: JSONDocument? = nil) throws -> [UInt8] {
        guard !references.isEmpty || !files.isEmpty else { return document }
        let document = try JSONDocument(parsing: document)
        return document.applying(set: try changes(in: document, asIn: base))
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

    private func changes(
        in document: JSONDocument, asIn base: JSONDocument? = nil
    ) throws -> [(key: String, value: [UInt8])] {
        let quote = UInt8(ascii: "\"")
        var changes: [(key: String, value: [UInt8])] = []
        for field in fields {
            guard let raw = document.rawValue(field), var value = try named(raw, field) else {
                continue
            }
            if base?.rawValue(field)?.first == quote,
                case .number? = try? JSONValue(parsing: value)
            {
                value = [quote] + value + [quote]
                if value.elementsEqual(raw) { continue }
            }
            changes.append((field, value))
        }
        return changes
    }

    /// The new text of a field's value; nil where it stays as it is.
    private func named(_ raw: ArraySlice<UInt8>, _ field: String) throws -> [UInt8]? {
        if let (list, _) = keyed.element(field) { return try named(element: raw, of: list) }
        let exact = ExactString(field)
        let isReference = references.contains { $0.field == exact }
        guard isReference || files.contains(where: { $0.field == exact }),
            let value = try? JSONValue(parsing: raw)
        else { return nil }
        var result = value
        for reference in references where reference.field == exact {
            result = try named(result, by: reference)
        }
        for file in files where file.field == exact {
            result = try CollectionModel.renaming(result, file.steps, fileName)
        }
        return result == value ? nil : result.encoded()
    }

    /// The new text of an element of a list, with the server's names of files.
    private func named(element raw: ArraySlice<UInt8>, of list: KeyedList) throws -> [UInt8]? {
        guard let value = try? JSONValue(parsing: raw) else { return nil }
        var result = value
        for file in files where file.field == ExactString(list.field) {
            result = try CollectionModel.renaming(result, file.steps.dropFirst(), fileName)
        }
        return result == value ? nil : result.encoded()
    }

    /// A value with other names for the entities that it names by a reference; a text that is the
    /// same stays as it was written.
    private func named(_ value: JSONValue, by reference: Naming) throws -> JSONValue {
        try renaming(value, by: reference) { id, value in
            guard case .string(let text) = id, let known = value.idText else { return id }
            return ExactString(text) == ExactString(known) ? value : id
        }
    }

    /// A value with each id that a reference leads to written otherwise.
    ///
    /// - Parameter written: of the id that an entity is to be named by, and what stands there.
    private func renaming(
        _ value: JSONValue, by reference: Naming, _ written: (JSONValue, JSONValue) -> JSONValue
    ) throws -> JSONValue {
        func renamed(_ value: JSONValue) throws -> JSONValue {
            guard let id = value.idText else { return value }
            return written(try self.id(EntityKey(reference.collection, id)), value)
        }
        return try value.replacing(at: reference.steps) { value in
            guard case .array(let list) = value else { return try renamed(value) }
            return .array(try list.map(renamed))
        }
    }
}

extension JSONValue {
    /// The number that a text is, written as an id would be; nil for any other text.
    init?(wholeNumber text: String) {
        guard let number = JSONNumber(wholeNumber: text) else { return nil }
        self = .number(number)
    }
}
