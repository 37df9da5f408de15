// SyncLookup+Views.swift — answers a sync run's lookups from the views.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

extension ViewReader {
    /// The views' answer to a lookup.
    ///
    /// - Parameters:
    ///   - model: the run's.
    ///   - adapter: what the server can do, and makes of what is here.
    package func answer(
        _ lookup: SyncLookup, _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> SyncFact {
        switch lookup {
        case .clock: .clock(try serverClock())
        case .earlierRuns(let scope, let now):
            .earlierRuns(try earlierRuns(scope, at: now, model, adapter))
        case .tickets: .tickets(try openTickets(model, adapter))
        case .entity(let key): .entity(try facts(of: key, model, adapter))
        case .entities(let keys): .entities(try keys.map { try facts(of: $0, model, adapter) })
        case .parts(let name): .parts(try model[name].map { try parts(of: $0, adapter) } ?? [])
        case .standing(let target, let now):
            .standing(
                try model[target.collection].map { try standing(of: target, $0, at: now) }
                    ?? ListStanding(last: last))
        case .contents(let plan): .contents(try contents(of: plan, adapter))
        case .absent(let list): .absent(try list.absent(entity))
        case .hasInReach(let collection): .holds(try hasInReach(collection))
        case .placeholders(let now): .placeholders(try placeholders(dueAt: now, model))
        case .choices(let collections): .missing(try unmadeChoice(in: collections))
        case .canPrune(let now): .holds(try !pruneDecision(at: now).isEmpty)
        case .outbox(let queue):
            try outbox(
                queue
                    ?? PushQueue(self, model, deletesFirst: adapter.traits.deletesFirst))
        case .pending(let candidate, let isRetried):
            .pending(try pendingWrite(candidate, model, adapter, isRetried: isRetried))
        case .foldersAround(let keys, let atMost):
            .parts(try foldersAround(keys, atMost: atMost, model))
        case .remedies(let writes): .remedies(try remedies(for: writes, model, adapter))
        case .pools(let keys, let now): .pools(try pools(keys, at: now, model, adapter))
        case .failing: .failing(try failingCalls().filter { !$0.isList })
        case .failed(let call): .entity(try facts(of: call.key, model, adapter))
        }
    }

    /// The next part of the outbox.
    private func outbox(_ rest: PushQueue) throws -> SyncFact {
        var queue = rest
        let next = try queue.next(upTo: PushPlanner.candidatesAtOnce, self)
        return .outbox(next, rest: queue.isOver ? nil : queue)
    }

    /// What the lists of a collection are of, by the documents that are here.
    private func parts(
        of collection: CollectionModel, _ adapter: any ServerAdapter
    ) throws -> [PullTarget] {
        let named = Set(collection.listTargets)
        return try listTargets(of: collection).map { target in
            guard !named.contains(target) else { return target }
            return target.on(
                adapter.basis(of: target.parameters, in: collection, readableDocument))
        }
    }

    private func earlierRuns(
        _ scope: SyncScope, at now: Timestamp?, _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> EarlierRuns {
        let backoff = try gates().backoff
        var left = EarlierRuns(
            failing: try failingCalls(), hasBackoff: backoff.map { $0.failures > 0 } ?? false,
            unanswered: try unknownAttempts())
        left.tickets = try openTickets(model, adapter)
        left.released = try releasedTrees()
        left.preconditions = try preconditions()
        left.last = last
        if scope == .all { (left.cut, left.diedSinceCut) = try lastCut() }
        for collection in model.collections where collection.listEvery != .zero {
            let target = PullTarget(collection.name)
            // What a run was asked to list that failed before it did is made up for.
            guard let last = try listedAt(collection.name),
                last.position > backoff?.asked ?? .start,
                try !isOwed(target), try listing(target) == nil,
                try !hasUnanswered(in: collection.name, at: now)
            else { continue }
            left.listed[collection.name] = last.since
        }
        return left
    }

    /// Where the last run of everything that ended was cut off, and how many after it never ended.
    ///
    /// One that asked for nothing says nothing of it.
    private func lastCut() throws -> (place: CutPlace?, died: Int) {
        var cut: CutPlace?
        var died = 0
        try forEachSyncRun { _, run in
            guard run.scope == .all else { return true }
            guard run.finished != nil else {
                died += 1
                return true
            }
            let end = SyncFinished(stored: run.summary)
            guard end.requests > 0 else { return true }
            cut = end.cutAt.map { CutPlace(logged: $0) }
            return false
        }
        return (cut, died)
    }

    /// What is left of some keys of pools; with nil of those that the model names, and those that
    /// a run was asked to fill.
    private func pools(
        _ keys: [PoolKey]?, at now: Timestamp, _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> [PoolFacts] {
        var all = keys ?? model.poolKeys
        if keys == nil {
            let named = Set(all)
            all += try askedPoolKeys().filter { !named.contains($0) && model.pool($0.pool) != nil }
        }
        return try all.map { key in
            let pattern = adapter.pattern(of: key.texts, in: key.pool, readableDocument)
            let left = try countValues(of: key, at: now, pattern: pattern)
            return PoolFacts(key, left: left, try pool(key), pattern: pattern)
        }
    }

    private func facts(
        of key: EntityKey, _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> EntityFacts {
        let row = try entity(key)
        var facts = EntityFacts(
            serverID: try serverID(of: key), row?.baseState ?? .absent, attempt: row?.attempt)
        facts.list = try lists(ofAlone: key, model, adapter).first
        return facts
    }

    /// The parameters of the lists of an entity alone that are asked for one after the other, where
    /// a list's word on it was left out.
    func lists(
        ofAlone key: EntityKey, _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> [ListParameters] {
        guard let collection = model[key.collection], try withheldPage(key) != nil else {
            return []
        }
        let lists = try listTargets(of: collection).map(\.parameters)
        return adapter.narrowed(lists, to: try serverID(of: key), of: collection)
    }

    /// The placeholders that the server is to be asked about at this time.
    private func placeholders(
        dueAt now: Timestamp, _ model: SyncModel
    ) throws -> [PlaceholderFacts] {
        try placeholders().compactMap { key, note in
            guard !note.isPartial, let rule = model[key.collection]?.placeholder,
                rule.isDue(triedAt: note.triedAt, now: now), let row = try entity(key),
                row.isPlaceholder, !row.isHidden
            else { return nil }
            let document = try? JSONDocument(parsing: row.base)
            return PlaceholderFacts(
                key, together: rule.refetch.together.flatMap { document?.ids(in: $0).first })
        }
    }

    /// The failure code of the first choice that is still open; nil where none is.
    ///
    /// A choice is open where a field names nothing, and not exactly one accessible entity could be
    /// named.
    private func unmadeChoice(in collections: [CollectionModel]) throws -> String? {
        for collection in collections {
            for choice in collection.choices
            where try countInReach(choice.collection, upTo: 2) != 1
                && lacks(choice.field, in: collection)
            {
                return choice.missing
            }
        }
        return nil
    }

    /// Whether some entity of the collection names nothing in a field.
    private func lacks(_ field: String, in collection: CollectionModel) throws -> Bool {
        var found = false
        try forEachEntity(in: collection.name) { _, row in
            guard !row.isPlaceholder, let bytes = try row.document(in: collection) else {
                return true
            }
            found = try JSONDocument(parsing: bytes).ids(in: field).isEmpty
            return !found
        }
        return found
    }
}

extension RowReading {
    /// The document of an entity; nil where it is not here, or can't be read.
    func readableDocument(_ key: EntityKey) -> JSONDocument? {
        (try? document(key)).flatMap { try? JSONDocument(parsing: $0) }
    }
}
