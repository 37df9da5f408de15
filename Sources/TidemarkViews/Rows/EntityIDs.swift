// EntityIDs.swift — the ids that an entity goes by: that of its key, which is for life, and the
// server's, where the server gave it one of its own.

package import TidemarkEvents
package import TidemarkRules

extension RowReading {
    /// All ids that other entities may name an entity by, that of its key first; of an id that
    /// names none, only that one.
    package func ids(of named: EntityKey) throws -> [String] {
        let key = try resolve(named)
        let idField = try model()[key.collection]?.idField
        return try entity(at: .entity(key)).ids(key, idField: idField, aliases(key))
    }

    /// The keys that events may name an entity by, also one that is gone: that for life first.
    package func keys(of named: EntityKey) throws -> [EntityKey] {
        let key = try resolve(named)
        var keys: [EntityKey] = []
        for id in try ids(of: key) + aliases(key)
        where !keys.contains(EntityKey(key.collection, id)) {
            keys.append(EntityKey(key.collection, id))
        }
        return keys
    }

    /// The id that the server uses for the entity of a row; nil when it is that of the key.
    package func serverID(
        of key: EntityKey, _ row: EntityRow, idField: String?
    ) throws -> String? {
        try row.serverID(key, idField: idField, aliases(key))
    }

    /// The id that the server uses for an entity; of an id that names none, that one.
    package func serverID(of named: EntityKey) throws -> String {
        let key = try resolve(named)
        let collection = try model()[key.collection] ?? CollectionModel(key.collection)
        let row = try entity(at: .entity(key))
        return try wireID(of: key, row, collection, through: row.attempt?.covers)
    }

    /// The id by which calls name the entity of a row: the server's, or its path where the server
    /// knows the tree by paths; of one that is not there, where the mutations up to `last` make it.
    package func wireID(
        of key: EntityKey, _ row: EntityRow, _ collection: CollectionModel,
        through last: Position? = nil
    ) throws -> String {
        if collection.isByPath, let path = try serverPath(of: key, in: collection, through: last) {
            return path
        }
        return try serverID(of: key, row, idField: collection.idField) ?? key.id
    }

    /// The id that the server uses for an entity, as it writes it; of an id that names none, that
    /// one.
    private func writtenID(of named: EntityKey, _ model: SyncModel) throws -> JSONValue {
        let key = try resolve(named)
        let collection = model[key.collection] ?? CollectionModel(key.collection)
        let row = try entity(at: .entity(key))
        let id = try wireID(of: key, row, collection, through: row.attempt?.covers)
        return collection.idValue(id, asIn: row.said)
    }

    /// How references are written in what is sent, and files of the user's that an entity names.
    package func referenceNames(
        of key: EntityKey, _ collection: CollectionModel, _ model: SyncModel
    ) -> ReferenceNames {
        ReferenceNames(
            collection, serverID: { try self.writtenID(of: $0, model) },
            fileName: { try self.send(ContentSource(sending: $0, for: key, collection))?.name })
    }

    /// How references are compared: by the keys that entities keep.
    package func comparedNames(_ collection: CollectionModel) -> ReferenceNames {
        ReferenceNames(keysIn: collection) { try self.resolve($0) }
    }

    /// How references are read here: by the keys that entities keep; nil where all are read as they
    /// stand.
    ///
    /// Not to be kept longer than the reader.
    package func localNames(_ collection: CollectionModel) throws -> ReferenceNames? {
        guard !collection.references.isEmpty, try hasBindings else { return nil }
        return comparedNames(collection)
    }

    /// Whether any id in a collection is another one's alias.
    package func hasAliases(in collection: CollectionName) throws -> Bool {
        try hasBindings && hasLedgerRow(Ledger.bindings + EntityKey.prefix(of: collection))
    }

    /// The ids that an entity goes by beside that of its key, the one that the server uses last.
    func aliases(_ key: EntityKey) throws -> [String] {
        guard try hasBindings else { return [] }
        return try get(.aliases(key)).map { try AliasesRow(parsing: $0).ids } ?? []
    }
}

/// The ids that an entity goes by beside that of its key, the one that the server uses last.
struct AliasesRow: Sendable, Hashable {
    var ids: [String]

    init(ids: [String]) { self.ids = ids }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        for id in ids { writer.message(1, id) }
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        ids = []
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            if field.number == 1 { ids.append(try field.string()) }
        }
    }
}

extension EntityRow {
    /// What the server said of the entity last, also where edits that it took since stand in it;
    /// nil where it has said nothing.
    package var said: [UInt8]? { isUntold || isPlaceholder || base.isEmpty ? nil : base }

    fileprivate func ids(
        _ key: EntityKey, idField: String?, _ aliases: [String]
    ) -> [String] {
        // What was never on the server has no other id.
        guard baseState != .absent else { return [key.id] }
        var ids: [String] = []
        for id in [key.id] + aliases + [idOfBase(idField)].compactMap({ $0 })
        where !ids.contains(where: { ExactString($0) == ExactString(id) }) {
            ids.append(id)
        }
        return ids
    }

    /// The id that the server uses; nil when it is that of the key.
    fileprivate func serverID(
        _ key: EntityKey, idField: String?, _ aliases: @autoclosure () throws -> [String]
    ) rethrows -> String? {
        guard baseState != .absent else { return nil }
        // Until the server says the entity, only its answer to the creation names it.
        guard let id = try idOfBase(idField) ?? aliases().last else { return nil }
        return ExactString(id) == ExactString(key.id) ? nil : id
    }

    /// The id in what the server said, a text or a number; nil where it has not said the entity.
    private func idOfBase(_ idField: String?) -> String? {
        guard !isAssumed, let idField,
            let raw = JSON.members([Array(idField.utf8)], of: base[...])[0]
        else { return nil }
        return (try? JSONValue(parsing: raw))?.idText
    }
}
