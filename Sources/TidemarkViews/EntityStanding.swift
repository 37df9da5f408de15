// EntityStanding.swift — what is asked of a row beyond its document: how it stands with the server.

package import TidemarkEvents

extension EntityRow {
    /// The event that changed the entity last: an edit made here, or what the server said.
    package var lastChange: Position {
        let events = [basePosition, pending.last?.position, refusal?.position]
        return events.compactMap(\.self).max() ?? .start
    }
}

extension ViewReader {
    /// The event that registered the model of now; the start of the log before any did.
    package func modelPosition() throws -> Position { try fact("model")?.position ?? .start }

    /// The key that an entity has for life, also of an id that is an alias.
    package func key(_ key: EntityKey) throws -> EntityKey {
        if try row(.entity(key)) != nil { return key }
        return try row(.binding(key)).flatMap { EntityKey(bytes: $0) } ?? key
    }

    /// The id that the server uses for an entity; nil when it is that of the key.
    package func serverID(
        of key: EntityKey, _ row: EntityRow, idField: String?
    ) throws -> String? {
        if !row.isAssumed, !row.base.isEmpty, let idField {
            let id = try JSONDocument(parsing: row.base).value(idField)?.stringValue
            return id == key.id ? nil : id
        }
        // Until the server says the entity, only its answer to the creation names it.
        var found: String?
        let prefix = Ledger.bindings + EntityKey.prefix(of: key.collection)
        try forEachRow(prefix) { alias, target in
            if EntityKey(bytes: target) == key { found = EntityKey(bytes: alias.dropFirst())?.id }
        }
        return found
    }
}
