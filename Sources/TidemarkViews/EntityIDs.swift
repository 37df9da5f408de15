// EntityIDs.swift — the ids that an entity goes by: that of its key, which is for life, and the
// server's, where the server gave it one of its own.

package import TidemarkEvents

extension ViewReader {
    /// All ids that other entities may name an entity by, that of its key first; of an id that
    /// names none, only that one.
    package func ids(of key: EntityKey) throws -> [String] {
        // What was never on the server has no other id.
        guard let (key, row) = try found(key), row.baseState != .absent else { return [key.id] }
        let idField = try model()[key.collection]?.idField
        if let id = row.serverID(idField) { return id == key.id ? [id] : [key.id, id] }
        // Until the server says the entity, only its answer to the creation names it.
        var ids = [key.id]
        try forEachRow(Ledger.bindings + EntityKey.prefix(of: key.collection)) { alias, target in
            guard EntityKey(bytes: target) == key else { return }
            if let id = EntityKey(bytes: alias.dropFirst())?.id { ids.append(id) }
        }
        return ids
    }
}

extension Fold {
    /// The ids that other entities may name an entity by, as far as the server has said it.
    package func ids(of key: EntityKey) throws -> [String] {
        let key = try resolve(key)
        let id = try entity(key).serverID(try knownCollection(key.collection)?.idField)
        return id.map { $0 == key.id ? [$0] : [key.id, $0] } ?? [key.id]
    }
}

extension EntityRow {
    /// The id in what the server said; nil where it has not said the entity.
    fileprivate func serverID(_ idField: String?) -> String? {
        guard baseState != .absent, !isAssumed, let idField,
            let raw = JSON.members([Array(idField.utf8)], of: base[...])[0]
        else { return nil }
        switch try? JSONValue(parsing: raw) {
        case .string(let id): return id
        case .number(let number): return number.text
        default: return nil
        }
    }
}
