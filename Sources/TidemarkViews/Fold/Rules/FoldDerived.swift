// FoldDerived.swift — derived mutations: changes that follow from a rule and not from an event of
// their own.
//
// One is known by its rule, its entity and the event that it followed from. It gives values to
// fields that have none without it, and is pending like any other: pushed, accepted, refused. It is
// withdrawn when the field has a value without it, or when its rule decides otherwise.

import TidemarkEvents
import TidemarkRules

extension Fold {
    func updateDerived(
        _ position: Position, _ key: EntityKey, _ change: (inout MutationRow) -> Void
    ) throws {
        guard var row = try derivedMutation(position, key) else { return }
        change(&row)
        putDerived(row, at: position)
    }

    private func putDerived(_ row: MutationRow, at position: Position) {
        put(.openDerived(position, row.key), row.isOpen ? row.encoded : nil)
        if !row.isOpen { put(.settledDerived(position, row.key), row.encoded) }
    }

    /// Adds a derived change to an entity's pending mutations.
    ///
    /// - Parameter now: when it is made, by the server's clock.
    func derive(
        _ rule: String, _ patch: Patch, on row: inout EntityRow, _ key: EntityKey, _ event: Event,
        _ position: Position, now: Timestamp
    ) throws {
        var mutation = MutationRow(
            key: key, kind: .localUpdated, recordedAt: event.recordedAt, fields: patch.fieldNames)
        mutation.rule = rule
        putDerived(mutation, at: position)
        row.pending.append(
            EntityRow.Pending(
                position: position, kind: .update, payload: patch.encoded, editedAt: now,
                rule: rule))
        try refresh(&row, key)
        try put(row, key)
    }

    /// Withdraws a derived change that no longer follows and was not sent.
    func withdraw(
        _ item: EntityRow.Pending, from row: inout EntityRow, _ key: EntityKey, proof: Position
    ) throws {
        // A change that may be on the server was overtaken there.
        let outcome: MutationOutcome = item.mayHaveArrived ? .superseded : .withdrawn
        try settle(item, of: key, outcome, proof: proof, revision: nil)
        row.pending.removeAll { $0 == item }
        if !row.pending.contains(where: \.isRefused) { row.refusal = nil }
        try refresh(&row, key)
        try put(row, key)
    }

    /// Records a decision of the current event, in the first free place; in the last one, instead
    /// of what it says, if all are taken.
    ///
    /// - Returns: the place.
    @discardableResult
    func note(_ decision: DecisionRow, _ position: Position) throws -> Int {
        let index = try freeDecision(at: position)
        put(.decision(position, index), decision.encoded)
        cache.freePlaces[position] = min(index + 1, RowKey.indexMax)
        return index
    }

    /// Where the next decision of the current event is recorded.
    func freeDecision(at position: Position) throws -> Int {
        // No other way leads to a decision's row, and none is removed.
        if let known = cache.freePlaces[position] { return known }
        var index = 0
        while index < RowKey.indexMax, try get(.decision(position, index)) != nil { index += 1 }
        cache.freePlaces[position] = index
        return index
    }

    /// Settles derived changes that the server has by now, and withdraws those whose field has a
    /// value without them.
    func settleDerived(
        _ entity: inout MetEntity, _ event: Event, _ position: Position
    ) throws {
        let (key, collection) = (entity.key, entity.collection)
        let own = entity.own()
        var row = entity.row
        defer { entity.row = row }
        let base = try? row.baseValue(in: collection).document
        for item in row.pending where item.isDerived {
            let patch = (try? Patch(parsing: item.payload)) ?? Patch()
            let isThere = patch.set.allSatisfy { field in
                guard let own, let value = try? JSONValue(parsing: field.value) else {
                    return false
                }
                return base?.value(field.name) == value && own.value(field.name) == value
            }
            if isThere, !patch.isEmpty {
                let wasSent = item.mayHaveArrived || row.isCarried(item)
                try settle(
                    item, of: key, wasSent ? .accepted : .merged, proof: position,
                    revision: event.kind == .serverUpserted ? event.revision : nil)
                row.pending.removeAll { $0 == item }
                if !row.pending.contains(where: \.isRefused) { row.refusal = nil }
                // An attempt that carried nothing else needs no answer.
                if !row.pending.contains(where: row.isCarried) { try endAttempt(&row, key) }
                try refresh(&row, key)
                try put(row, key)
                continue
            }
            if row.isCarried(item) { continue }
            let hasGround =
                own.map { collection.derives(item) && collection.leavesOpen(item, patch, in: $0) }
                ?? false
            if !hasGround { try withdraw(item, from: &row, key, proof: position) }
        }
    }

    /// Withdraws derived changes whose rule a new model does not have, unless they were sent.
    func withdrawGroundless(after before: SyncModel, _ position: Position) throws {
        let model = try model()
        guard try !ModelRules(before).meeting.isEmpty || !rules().meeting.isEmpty else { return }
        for (place, _) in try ledgerRows(Ledger.openDerived) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst(9)) else { continue }
            var row = try entity(key)
            for item in row.pending
            where item.isDerived && !row.isCarried(item)
                && !(model[key.collection]?.derives(item) ?? false)
            {
                try withdraw(item, from: &row, key, proof: position)
            }
        }
    }
}

extension CollectionModel {
    /// Whether a derived change still has its rule.
    fileprivate func derives(_ item: EntityRow.Pending) -> Bool {
        guard let rule = FoldRules.named(item.rule), rule.isRule(of: self),
            let fields = try? Patch(parsing: item.payload).fieldNames
        else { return false }
        return rule.derives(fields, self)
    }

    /// Whether a document leaves the fields of a derived change without a value.
    fileprivate func leavesOpen(
        _ item: EntityRow.Pending, _ patch: Patch, in document: JSONDocument
    ) -> Bool {
        guard let rule = FoldRules.named(item.rule) else { return false }
        return patch.set.allSatisfy { rule.isOpen($0.name, in: document, self) }
    }
}

extension EntityRow {
    /// The entity without derived changes; nil where it is absent, hidden or a placeholder.
    func ownDocument(in collection: CollectionModel) throws(JSONError) -> JSONDocument? {
        if isHidden || isPlaceholder { return nil }
        let base = try baseValue(in: collection)
        let own = pending.filter { !$0.isDerived }
        if own.isEmpty { return base.document }
        guard case .document(let bytes) = try Current(changes(own, in: collection), on: base)
        else { return nil }
        return try JSONDocument(parsing: bytes)
    }

    /// The same, also where it is hidden for want of what it refers to: that may come without
    /// another look at the entity.
    func ownDocumentOnceSeen(in collection: CollectionModel) throws(JSONError) -> JSONDocument? {
        guard isHidden, collection.hidesDangling else { return try ownDocument(in: collection) }
        var row = self
        row.isHidden = false
        return try row.ownDocument(in: collection)
    }

    /// The user's pending mutations, read by the collection's current model.
    ///
    /// A derived change that may have reached the server with one of them, about the same field, is
    /// part of it: that is the value the server may have.
    func ownChanges(in collection: CollectionModel) throws(JSONError) -> [PendingChange] {
        var changes = try changes(pending.filter { !$0.isDerived }, in: collection)
        for item in pending where item.isDerived && (item.mayHaveArrived || isCarried(item)) {
            let patch = try Patch(parsing: item.payload)
            let fields = Set(patch.fieldNames.map(ExactString.init))
            let last = changes.lastIndex { change in
                guard change.mayHaveArrived, change.position <= item.position else { return false }
                let touched = change.patch(except: [])?.fieldNames ?? []
                return touched.contains { fields.contains(ExactString($0)) }
            }
            guard let last else { continue }
            switch changes[last].change {
            case .create(let document):
                changes[last].change = .create(
                    try JSONDocument(parsing: patch.applied(to: document)))
            case .update(let known): changes[last].change = .update(known.followed(by: patch))
            case .delete, .carried: continue
            }
        }
        return changes
    }
}
