// EntityIDs.swift — the ids that an entity goes by: that of its key, which is for life, and the
// server's, where the server gave it one of its own.

package import TidemarkEvents

/// Walks over the ledger's rows under a prefix.
private typealias LedgerWalk = (
    _ prefix: [UInt8], _ visit: ([UInt8], [UInt8]) throws -> Void
) throws -> Void

extension ViewReader {
    /// All ids that other entities may name an entity by, that of its key first; of an id that
    /// names none, only that one.
    package func ids(of key: EntityKey) throws -> [String] {
        guard let (key, row) = try found(key) else { return [key.id] }
        let idField = try model()[key.collection]?.idField
        return try row.ids(key, idField: idField) { try forEachRow($0, $1) }
    }

    /// The id that the server uses for the entity of a row; nil when it is that of the key.
    package func serverID(
        of key: EntityKey, _ row: EntityRow, idField: String?
    ) throws -> String? {
        let ids = try row.ids(key, idField: idField) { try forEachRow($0, $1) }
        return ids.count > 1 ? ids.last : nil
    }
}

extension Fold {
    /// All ids that other entities may name an entity by, that of its key first.
    ///
    /// Not to be called while an event is folded.
    package func ids(of key: EntityKey) throws -> [String] {
        let key = try resolve(key)
        let idField = try knownCollection(key.collection)?.idField
        return try entity(key).ids(key, idField: idField) { try forEachBinding($0, $1) }
    }
}

extension EntityRow {
    fileprivate func ids(
        _ key: EntityKey, idField: String?, _ walk: LedgerWalk
    ) throws -> [String] {
        // What was never on the server has no other id.
        guard baseState != .absent else { return [key.id] }
        if let id = serverID(idField) {
            return ExactString(id) == ExactString(key.id) ? [id] : [key.id, id]
        }
        // Until the server says the entity, only its answer to the creation names it.
        var ids = [key.id]
        try walk(Ledger.bindings + EntityKey.prefix(of: key.collection)) { alias, target in
            guard EntityKey(bytes: target) == key else { return }
            if let id = EntityKey(bytes: alias.dropFirst())?.id { ids.append(id) }
        }
        return ids
    }

    /// The id in what the server said, a text or a number; nil where it has not said the entity.
    private func serverID(_ idField: String?) -> String? {
        guard !isAssumed, let idField,
            let raw = JSON.members([Array(idField.utf8)], of: base[...])[0]
        else { return nil }
        switch try? JSONValue(parsing: raw) {
        case .string(let id): return id
        case .number(let number): return number.text
        default: return nil
        }
    }
}
