// OutboxReading.swift — the pending mutations, and what holds them back; the order of their push is
// PushQueue.swift's.

package import TidemarkEvents
import TidemarkRules

/// A reference by an id of which the server can't know anything.
package struct StrandedReference: Sendable, Hashable {
    package var field: String
    package var id: String
    /// Whether it names the entity itself, or one that gets its id only after it; else one that is
    /// gone.
    package var inCircle: Bool

    package init(field: String, id: String, inCircle: Bool = false) {
        self.field = field
        self.id = id
        self.inCircle = inCircle
    }
}

extension ViewReader {
    /// The entities that one refers to and that the server does not have yet, by the model's
    /// references.
    ///
    /// A deletion waits for nothing.
    ///
    /// Entities that refer to each other in a circle don't wait for each other. But for an id that
    /// the server gives what is there waits, and so does a new entity that is not needed first.
    package func missingReferences(
        of key: EntityKey, _ row: EntityRow, _ model: SyncModel
    ) throws -> [EntityKey] {
        guard let collection = model[key.collection], !collection.references.isEmpty,
            let bytes = try row.content(in: collection)
        else { return [] }
        let document = try JSONDocument(parsing: bytes)
        var missing: [EntityKey] = []
        for (target, other) in try targets(of: document, in: collection) {
            let isNamed = model[target.collection]?.ids != .client
            // What is asked for of one that is not here does not make it.
            guard target != key, other.baseState != .live,
                other.pending.contains(where: { !$0.isAction }),
                !missing.contains(target),
                try isNamed && row.baseState == .live
                    || !leads(from: target, to: key, byID: isNamed, model)
            else { continue }
            missing.append(target)
        }
        return missing
    }

    /// The entities that a document refers to and that are here, in the order of the references.
    private func targets(
        of document: JSONDocument, in collection: CollectionModel
    ) throws -> [(key: EntityKey, row: EntityRow)] {
        try collection.references.flatMap { reference in
            try document.ids(in: reference.field).compactMap {
                try found(EntityKey(reference.collection, $0))
            }
        }
    }

    /// A reference by an id of which the server can't know anything; nil for none.
    ///
    /// What it names was made here and is gone, or gets its id only after this entity, or is it.
    ///
    /// - Parameter bundled: the collections whose entities one request may name before they have
    ///   their ids.
    package func strandedReference(
        of key: EntityKey, _ row: EntityRow, in collection: CollectionModel, _ model: SyncModel,
        bundled: Set<CollectionName> = []
    ) throws -> StrandedReference? {
        guard let bytes = try row.content(in: collection) else { return nil }
        let document = try JSONDocument(parsing: bytes)
        for reference in collection.references
        where model[reference.collection]?.ids == .serverNumber {
            for id in document.ids(in: reference.field) where Int64(id) == nil {
                let named = EntityKey(reference.collection, id)
                let target = try entity(named) ?? EntityRow()
                let isKnown = target.baseState != .absent || !target.prunedDigest.isEmpty
                guard !isKnown else { continue }
                if target.pending.isEmpty {
                    if try wasChangedHere(named) {
                        return StrandedReference(field: reference.field, id: id)
                    }
                } else if row.baseState != .live, reference.field != collection.tree?.parent,
                    !bundled.isSuperset(of: [collection.name, reference.collection]),
                    try named == key || leads(from: named, to: key, byID: true, model)
                {
                    return StrandedReference(field: reference.field, id: id, inCircle: true)
                }
            }
        }
        return nil
    }

    /// Whether an entity of which there is no row was ever made or changed here, or may have been
    /// before the log's first event.
    private func wasChangedHere(_ key: EntityKey) throws -> Bool {
        if try droppedRows() != nil { return true }
        var found = false
        try forEachMutation { _, mutation in
            found = mutation.key == key
            return !found
        }
        return found
    }

    /// Whether a list of a collection settles writes without an answer: those whose answer the
    /// server still owes it does not.
    ///
    /// - Parameter now: the server's time; nil where it is in doubt.
    package func hasUnanswered(
        in collection: CollectionName, at now: Timestamp?
    ) throws -> Bool {
        let failing = try failingCalls()
        if failing.contains(where: { $0.key.collection == collection && $0.row.reads > 0 }) {
            return true
        }
        guard let ids = try unanswered(collection)?.ids else { return false }
        let promises = try tickets()
        for id in ids {
            guard let attempt = try entity(EntityKey(collection, id))?.attempt else { continue }
            if !promises.contains(where: { $0.isOwed(attempt.call, at: now) }) { return true }
        }
        return false
    }

    /// Whether the references of unsent entities lead from one to another.
    ///
    /// - Parameter byID: whether an id that the server gives is needed: an entity whose creation is
    ///   on its way gets it whatever it names, so that its references are not followed.
    private func leads(
        from start: EntityKey, to end: EntityKey, byID: Bool, _ model: SyncModel
    ) throws -> Bool {
        var waiting = [start]
        var seen: Set<EntityKey> = [start]
        while let key = waiting.popLast() {
            guard let collection = model[key.collection],
                let row = try entity(key), row.baseState != .live, !byID || row.attempt == nil,
                let bytes = try row.content(in: collection)
            else { continue }
            let document = try JSONDocument(parsing: bytes)
            for (target, _) in try targets(of: document, in: collection) {
                if target == end { return true }
                if seen.insert(target).inserted { waiting.append(target) }
            }
        }
        return false
    }

    /// The entities that hold an entity's mutations back: it depends on them, or comes after them
    /// in its tree, and they were refused or are hidden.
    ///
    /// - Parameter position: one of its mutations; nil for the first.
    package func blockers(
        of key: EntityKey, _ row: EntityRow, _ model: SyncModel, at position: Position? = nil
    ) throws -> [EntityKey] {
        var result: [EntityKey] = []
        var waiting = try missingReferences(of: key, row, model)
        waiting += try position.map { try treeHolders(model)($0) } ?? treeHolders(of: row, model)
        var seen = Set(waiting)
        while let next = waiting.popLast() {
            guard let other = try entity(next) else { continue }
            if other.isHidden || other.isRefused(in: model[next.collection]) { result.append(next) }
            let behind = try missingReferences(of: next, other, model)
            for further in try behind + treeHolders(of: other, model)
            where seen.insert(further).inserted {
                waiting.append(further)
            }
        }
        return result.sorted()
    }
}

extension EntityRow {
    /// Whether it was refused, and the next run does not send it again.
    fileprivate func isRefused(in collection: CollectionModel?) -> Bool {
        guard status == .error else { return false }
        // What was refused unsent is not sent again: no answer of a server has a status of 0.
        return collection?.retriesRefused != true || (refusal?.status ?? 0) == 0
    }
}

/// One line of the outbox: a mutation and how it stands.
package struct OutboxEntry: Sendable, Hashable {
    package enum State: String, Sendable {
        case pending, unknown, blocked
    }
    package var position: Position
    package var mutation: MutationRow
    /// How it stands while it has no outcome.
    package var state: State
    /// The entities that hold it back: they were refused, its own among them, or are hidden.
    package var blockers: [EntityKey]

    /// The outcome, or how it stands without one.
    package var word: String { mutation.outcome?.rawValue ?? state.rawValue }
}

/// How many mutations wait for the server, or for the user.
package struct OutboxCounts: Sendable, Hashable {
    package var pending = 0
    package var refused = 0
    /// Entities that a whole list did not name and that the user is asked about, by collection.
    package var held: [CollectionName: Int] = [:]

    package init(_ views: some RowReading) throws {
        held = try views.heldCounts()
        try views.forEachMutation(openOnly: true) { _, mutation in
            if mutation.outcome == nil { pending += 1 } else { refused += 1 }
            return true
        }
    }
}

extension ViewReader {
    /// The mutations in order: all that the log reaches back to, or those that wait for something —
    /// the server, a refused entity, or the user.
    package func outbox(all: Bool) throws -> [OutboxEntry] {
        let model = try registration()?.model ?? SyncModel(name: "", collections: [])
        let holders = try treeHolders(model)
        // An entity may have thousands of edits, and its row has them all.
        var standings: [EntityKey: OutboxStanding] = [:]
        var entries: [OutboxEntry] = []
        try forEachMutation(openOnly: !all) { position, mutation in
            var entry = OutboxEntry(
                position: position, mutation: mutation, state: .pending, blockers: [])
            if mutation.outcome == nil {
                let (key, held) = (mutation.key, holders(position))
                var standing = standings[key] ?? OutboxStanding()
                if !standing.tells(of: position, behind: held), let row = try entity(key) {
                    standing.covered = row.attempt?.covers
                    standing.leftOut = Set(row.pending.filter(\.isLeftOut).map(\.position))
                    if !standing.covers(position) {
                        // Behind what was refused of its own, nothing is sent either.
                        let own = row.isRefused(in: model[key.collection]) ? [key] : []
                        let others = try blockers(of: key, row, model, at: position)
                        standing.blockers[held] = Set(own + others).sorted()
                    }
                    standings[key] = standing
                }
                if standing.covers(position) {
                    entry.state = .unknown
                } else if let blockers = standing.blockers[held], !blockers.isEmpty {
                    (entry.state, entry.blockers) = (.blocked, blockers)
                }
            }
            entries.append(entry)
            return true
        }
        return entries
    }
}

/// What was read of an entity for one of its mutations, for those that come after it.
private struct OutboxStanding {
    /// The last mutation that a call without an answer has sent.
    var covered: Position?
    /// Those before it that the call left out.
    var leftOut: Set<Position> = []
    /// What holds its mutations back, by what each waits for in its tree.
    var blockers: [[EntityKey]: [EntityKey]] = [:]

    func covers(_ position: Position) -> Bool {
        covered.map { position <= $0 } == true && !leftOut.contains(position)
    }

    func tells(of position: Position, behind holders: [EntityKey]) -> Bool {
        covers(position) || blockers[holders] != nil
    }
}
