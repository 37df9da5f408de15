// EntityStanding.swift — what is asked of a row beyond its document: how it stands with the server.

package import TidemarkEvents

extension EntityRow {
    /// The last event that made what is seen of the entity.
    package var seenPosition: Position? {
        [basePosition, pending.last?.position].compactMap(\.self).max()
    }

    /// The event that changed the entity last: an edit made here, or what the server said.
    package var lastChange: Position {
        [seenPosition, refusal?.position].compactMap(\.self).max() ?? .start
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

    /// Whether any id is another one's alias.
    func hasBindings() throws -> Bool {
        if let knownToHaveBindings { return knownToHaveBindings }
        var found = false
        try forEachRow(Ledger.bindings) { _, _ in
            found = true
            return false
        }
        knownToHaveBindings = found
        return found
    }

    /// The same as ``key(_:)``, of what is asked for again and again.
    func knownKey(of name: EntityKey) throws -> EntityKey {
        if let known = knownKeys[name] { return known }
        let key = try row(.binding(name)).flatMap { EntityKey(bytes: $0) } ?? name
        if knownKeys.count < Self.knownKeysMax { knownKeys[name] = key }
        return key
    }

    private static let knownKeysMax = 4096
}
