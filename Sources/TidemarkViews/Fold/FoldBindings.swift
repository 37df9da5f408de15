// FoldBindings.swift — an entity keeps the key that it was first known by; the ids that the server
// gives it become aliases, and two keys that are found to be one entity are merged.

import TidemarkEvents

extension Fold {
    /// Makes the server's id of an entity an alias of its key.
    ///
    /// An entity under that id already — it was pulled before the answer to its creation came — is
    /// merged into this one.
    func bind(
        _ id: String, to key: EntityKey, _ row: inout EntityRow, proof: Position
    ) throws {
        guard ExactString(id) != ExactString(key.id) else { return }
        let alias = EntityKey(key.collection, id)
        var ids = try aliases(key)
        let known = try resolve(alias)
        if known != key { ids += try merge(known, into: key, &row, proof: proof) }
        put(.binding(alias), key.bytes)
        if known != key { try moveRollUps(from: known, to: key) }
        ids.removeAll { ExactString($0) == ExactString(id) }
        put(.aliases(key), AliasesRow(ids: ids + [id]).encoded)
        if known != key { try moveWants(from: known, to: key, proof) }
    }

    /// Merges two entities; answers the ids of the other one.
    private func merge(
        _ other: EntityKey, into key: EntityKey, _ row: inout EntityRow, proof: Position
    ) throws -> [String] {
        // No call uses that id any more.
        try forgetFailing(other)
        try moveWithheld(from: other, to: key)
        try moveGrants(from: other, to: key)
        let ids = try aliases(other)
        try noteRenamed(other)
        for id in ids { put(.binding(EntityKey(key.collection, id)), key.bytes) }
        if !ids.isEmpty { put(.aliases(other), nil) }
        put(.binding(other), key.bytes)
        let entity = try entity(other)
        guard !entity.isEmpty || !ids.isEmpty else { return [other.id] }
        row.takeBase(of: entity)
        for item in entity.pending where item.isDerived {
            // The derived change now belongs to the merged entity, or to none.
            try settle(item, of: other, .withdrawn, proof: proof, revision: nil)
        }
        let own = entity.pending.filter { !$0.isDerived }
        for item in own { try updateMutation(item, of: other) { $0.key = key } }
        if !own.isEmpty { row.relay = nil }
        row.pending = (row.pending + own).sorted { $0.precedes($1) }
        row.refusal = row.refusal ?? entity.refusal
        if let said = entity.issuesAt {
            put(.warned(other), nil)
            if row.issuesAt == nil {
                row.issuesAt = said
                put(.warned(key), said.bigEndianBytes)
            }
        }
        if let attempt = entity.attempt {
            put(.attempt(other), nil)
            if row.attempt == nil {
                row.attempt = attempt
                put(.attempt(key), attempt.call.bigEndianBytes)
                try noteUnanswered(key)
            }
        }
        try forgetUnanswered(other)
        for place in [RowKey.placeholder(other), .rival(other), .ruleAnswer(other)]
        where try get(place) != nil {
            put(place, nil)
        }
        try put(EntityRow(), other)
        return ids + [other.id]
    }
}

extension EntityRow {
    /// Takes an answer about the same entity under another id, unless that is older.
    fileprivate mutating func takeBase(of other: EntityRow) {
        guard other.baseState != .absent, !other.isPlaceholder else { return }
        if let known = asOf, let asOf = other.asOf, asOf < known { return }
        if baseState != .absent, other.asOf == nil { return }
        baseState = other.baseState
        base = other.base
        basePosition = other.basePosition
        asOf = other.asOf
        revision = other.revision
        serverTime = other.serverTime
        (isAssumed, isUntold) = (other.isAssumed, other.isUntold)
        isPlaceholder = false
        isHidden = other.isHidden
        (prunedDigest, prunedAt) = (other.prunedDigest, other.prunedAt)
    }
}
