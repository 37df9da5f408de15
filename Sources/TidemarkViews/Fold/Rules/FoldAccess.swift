// FoldAccess.swift — what is out of reach, and what comes into reach.
//
//   lost     a list of everything did not name an entity that hides: it is hidden, and with it all
//            that belongs to it, what is here and what comes
//   found    the server names it again: it is seen again, and so is what belongs to it
//   gained   an entity that was not here, or not in reach, and has everything listed anew

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Whether any entity is hidden for itself, and so perhaps others with it.
    package func hidesAny() throws -> Bool {
        if let knownHidden { return knownHidden }
        let hidden = try get(.hiddenCount) != nil
        knownHidden = hidden
        return hidden
    }

    /// Takes note that more or fewer entities are hidden for themselves.
    func countHidden(_ change: Int) throws {
        let before = try get(.hiddenCount).flatMap { Position(bigEndianBytes: $0) }?.rawValue ?? 0
        let after = change < 0 ? before - min(before, UInt64(-change)) : before + UInt64(change)
        put(.hiddenCount, after == 0 ? nil : Position(after).bigEndianBytes)
    }

    // MARK: Lost

    /// Hides entities that a list of everything did not name, and what belongs to them.
    func lose(_ ids: [String], of name: CollectionName, _ position: Position) throws {
        guard !ids.isEmpty, try collection(name).access.hidesAbsent else { return }
        var lost: [EntityKey] = []
        for id in ids {
            let key = try resolve(EntityKey(name, id))
            if try entity(key).isListed, !lost.contains(key) { lost.append(key) }
        }
        guard !lost.isEmpty else { return }
        // Read before anything is written.
        let owned = try owned(by: lost)
        var index = try freeDecision(at: position)
        try countHidden(lost.count)
        for key in lost {
            try decide(key, "hidden", position, index)
            index += 1
            var row = try entity(key)
            row.isHidden = true
            try put(row, key)
        }
        for key in owned {
            let row = try entity(key)
            try put(row, key)
            // What is running where nobody can stop it is not worth keeping.
            guard row.isInSync, try collection(key.collection).holdsState(row.base) else {
                continue
            }
            try prune(key, .access, position, index)
            index += 1
        }
    }

    // MARK: Found

    /// Shows an entity again that was hidden for itself, and what belongs to it.
    ///
    /// - Parameter row: what the entity's row is to be.
    func find(_ key: EntityKey, _ row: EntityRow, _ position: Position) throws {
        let owned = try owned(by: [key])
        try decide(key, "shown", position, try freeDecision(at: position))
        var row = row
        row.isHidden = false
        try put(row, key)
        for key in owned {
            var row = try entity(key)
            row.isHidden = false
            try put(row, key)
        }
        try countHidden(-1)
    }

    /// Takes note of what a page of a list names.
    func named(_ page: PullPage, of name: CollectionName, _ position: Position) throws {
        guard try hidesAny(), try collection(name).access.hidesAbsent else { return }
        for id in page.same {
            let key = try resolve(EntityKey(name, id))
            let row = try entity(key)
            guard row.isHidden, row.baseState == .live else { continue }
            try find(key, row, position)
        }
    }

    // MARK: Gained

    /// Whether with the server's word an entity comes into reach that has everything listed anew.
    ///
    /// Nothing is gained before the collection itself was listed, whatever else was: then all that
    /// is in reach is new.
    ///
    /// - Parameter position: where the event will stand, at the earliest.
    package func isGain(_ event: Event, at position: Position) throws -> Bool {
        guard event.kind == .serverUpserted, event.mutation == nil, let named = event.key,
            try collection(named.collection).access.relistsOnGain
        else { return false }
        let row = try entity(try resolve(named))
        let isNew = row.baseState != .live && row.pending.isEmpty && row.attempt == nil
        guard isNew || row.isHidden || row.isPlaceholder,
            row.isFresher(event, event.asOf ?? position)
        else { return false }
        let isAnyOtherListed = try model().collections.contains {
            guard $0.name != named.collection else { return false }
            return try get(.watermark($0.name, scope: "")) != nil
        }
        return try isAnyOtherListed
            && wasListed(named.collection, before: event.sync ?? event.call ?? position)
    }

    /// Whether a collection was listed to its end before a run: it has a mark, or, where its lists
    /// leave none, an entity of then.
    private func wasListed(_ collection: CollectionName, before run: Position) throws -> Bool {
        if try get(.watermark(collection, scope: "")) != nil { return true }
        guard try listed(collection)?.state == nil else { return false }
        var isThere = false
        try forEachEntity(in: collection) { _, row in
            isThere =
                row.baseState == .live && !row.isPlaceholder
                && row.basePosition.map { $0 < run } ?? false
            return !isThere
        }
        return isThere
    }

    /// Forgets how far the other collections were listed.
    func gain(_ key: EntityKey, _ position: Position) throws {
        for other in try model().collections where other.name != key.collection {
            let mark = RowKey.watermark(other.name, scope: "")
            if try get(mark) != nil { put(mark, nil) }
            try endList(other.name)
        }
        try decide(key, "gained", position, try freeDecision(at: position))
    }

    // MARK: What belongs to what

    /// A row as it is to be written: hidden or not with what the entity belongs to.
    func reached(_ row: EntityRow, at place: RowKey) throws -> EntityRow {
        guard let key = EntityKey(bytes: place.bytes) else { return row }
        let collection = try collection(key.collection)
        guard let reference = collection.ownerReference,
            let owner = try owner(of: row, reference, collection)
        else { return row }
        let isHidden = try owner != key && entity(owner).isHidden
        var row = row
        if !collection.access.hidesAbsent || isHidden { row.isHidden = isHidden }
        return row
    }

    private func owner(
        of row: EntityRow, _ reference: Reference, _ collection: CollectionModel
    ) throws -> EntityKey? {
        guard let document = row.documents(in: collection).first,
            let id = document.ids(in: reference.field).first
        else { return nil }
        return try resolve(EntityKey(reference.collection, id))
    }

    /// The entities that belong to some, also by way of others, in the order of the model.
    private func owned(by owners: [EntityKey]) throws -> [EntityKey] {
        var owners = Set(owners)
        var owned: [EntityKey] = []
        for collection in try model().collections {
            guard let reference = collection.ownerReference else { continue }
            try forEachEntity(in: collection.name) { key, row in
                if let owner = try owner(of: row, reference, collection), owners.contains(owner),
                    owners.insert(key).inserted
                {
                    owned.append(key)
                }
                return true
            }
        }
        return owned
    }

    private func decide(
        _ key: EntityKey, _ result: String, _ position: Position, _ index: Int
    ) throws {
        let decision = DecisionRow(
            key: key, rule: PruneDecision.Rule.access.rawValue,
            ruleVersion: PruneDecision.version, result: result, inputs: [position], fields: [],
            base: try entity(key).basePosition)
        put(.decision(position, index), decision.encoded)
    }
}
