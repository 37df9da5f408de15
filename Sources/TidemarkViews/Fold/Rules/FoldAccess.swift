// FoldAccess.swift — the rule `access`: which entities are accessible, and which are hidden.
//
//   lost     a list of everything did not name an entity that hides: it is hidden, and with it all
//            that belongs to it, what is here and what comes
//   found    the server names it again: it is seen again, and so is what belongs to it; where some
//            of that was pruned, its collection is listed whole
//   gained   an entity is accessible that was not: every other collection is listed from the start,
//            a feed back from now, and what is listed by date then from the date of before, for
//            what was deleted since

package import TidemarkEvents
import TidemarkRules

/// Hides entities that are not accessible.
struct FoldAccess: FoldRule {
    let name = PruneDecision.Rule.access.rawValue
    let moments: FoldMoments = [.hear, .take, .end]

    func isRule(of collection: CollectionModel) -> Bool {
        collection.access.hidesAbsent || collection.access.relistsOnGain
    }

    /// Shows an entity again that was hidden by itself, and restarts the lists of other
    /// collections.
    func hear(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect] {
        var effects: [FoldEffect] = []
        let before = try fold.heldRow(at: .entity(key))
        if event.kind != .serverDeleted, collection.access.hidesAbsent {
            if before.isHidden, try fold.hidesAny() {
                effects.append { try fold.show(key, base: before.basePosition, position) }
            } else if before.prunedAt != nil {
                effects.append {
                    // Where its owner is hidden, these lists are owed once that is shown.
                    let row = try fold.entity(key)
                    guard try fold.isOwnerHidden(of: row, key, collection) != true else { return }
                    try fold.relistPruned(ownedBy: collection, position)
                }
            }
        }
        if try fold.isGain(event, at: position) { effects.append { try fold.gain(key, position) } }
        return effects
    }

    /// Shows the hidden entities again that a page names.
    func take(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws {
        guard collection.access.hidesAbsent, try fold.hidesAny() else { return }
        for id in page.same {
            let key = try fold.resolve(EntityKey(collection.name, id))
            let row = try fold.heldRow(at: .entity(key))
            guard row.isHidden, row.baseState == .live else { continue }
            try fold.show(key, base: row.basePosition, position)
        }
    }

    /// Hides the entities that a list of everything did not name, and what belongs to them.
    func end(
        _ list: PullCompleted, _ collection: CollectionModel, _ position: Position, _ fold: Fold
    ) throws {
        guard collection.access.hidesAbsent else { return }
        try fold.lose(list.hidden, of: collection.name, position)
    }

    /// Shows what was hidden by rules that are gone, and hides what belongs to hidden entities now.
    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let model = try fold.model()
        let names = Set((before.collections + model.collections).map(\.name))
        let isSame = names.allSatisfy { name in
            let (old, new) = (before[name], model[name])
            return (old?.access.hidesAbsent ?? false) == (new?.access.hidesAbsent ?? false)
                && old?.ownerReference == new?.ownerReference
        }
        guard !isSame else { return }
        // Those of which the model knows nothing more before those that may belong to them.
        let gone = before.collections.filter { model[$0.name] == nil }
        try fold.reachAll(
            of: gone.map { CollectionModel($0.name) } + model.collections, before, position)
    }
}

/// An entity of each collection that is pruned, of those that were looked through in a fold, or
/// that there was none after so many writes.
private final class PrunedMemory: FoldMemory {
    var known: [CollectionName: (pruned: EntityKey?, count: Int)] = [:]
}

extension Fold {
    /// Whether any entity is hidden that may hide others with it.
    package func hidesAny() throws -> Bool {
        if let known = cache.hidesAny { return known }
        let hidden = try get(.hiddenCount) != nil
        cache.hidesAny = hidden
        return hidden
    }

    /// Whether an entity is hidden because a list did not name it, so that any list that names it
    /// is news, and not with its owner.
    package func isHiddenByItself(_ key: EntityKey, _ row: EntityRow) throws -> Bool {
        guard row.isHidden, let collection = try knownCollection(key.collection),
            collection.access.hidesAbsent
        else { return false }
        return try isOwnerHidden(of: row, key, collection) != true
    }

    /// Updates the count of hidden entities of the collections that hide what is absent: of those
    /// that are hidden with their owner, too, as a list or another owner may come to hide them.
    func countHidden(_ change: Int) throws {
        let known = try get(.hiddenCount).flatMap { Position(bigEndianBytes: $0) }?.rawValue ?? 0
        // The row of a stranger's capsule may say any number.
        let before = min(known, 1 << 32)
        let after = change < 0 ? before - min(before, UInt64(-change)) : before + UInt64(change)
        put(.hiddenCount, after == 0 ? nil : Position(after).bigEndianBytes)
    }

    // MARK: Lost and found

    fileprivate func lose(_ ids: [String], of name: CollectionName, _ position: Position) throws {
        guard !ids.isEmpty else { return }
        var lost: [EntityKey] = []
        var seen: Set<EntityKey> = []
        for id in ids {
            let key = try resolve(EntityKey(name, id))
            if try heldRow(at: .entity(key)).isListed, seen.insert(key).inserted {
                lost.append(key)
            }
        }
        guard !lost.isEmpty else { return }
        // Read before anything is written.
        let owned = try owned(by: lost)
        for key in lost {
            var row = try entity(key)
            try decide(key, "hidden", base: row.basePosition, position)
            row.isHidden = true
            try put(row, key)
        }
        for key in owned {
            let row = try entity(key)
            try put(row, key)
            // What is running where nobody can stop it is not worth keeping, but for its files.
            guard row.isInSync, try collection(key.collection).holdsState(row.base),
                try !holdsFile(key)
            else { continue }
            try prune(key, .access, position)
        }
    }

    /// Shows an entity again that a list names, and what belongs to it; one whose owner is hidden
    /// is shown with that.
    ///
    /// - Parameter base: the event that said its base when it was hidden.
    fileprivate func show(_ key: EntityKey, base: Position?, _ position: Position) throws {
        let named = try entity(key)
        guard try isOwnerHidden(of: named, key, collection(key.collection)) != true else { return }
        let owned = try owned(by: [key])
        try decide(key, "shown", base: base, position)
        for key in [key] + owned {
            var row = try entity(key)
            row.isHidden = false
            try put(row, key)
        }
        try relistPruned(ownedBy: collection(key.collection), position)
    }

    /// Has collections listed whole of which something was pruned that may have belonged to what
    /// is accessible again: a list of changes would not bring it.
    fileprivate func relistPruned(ownedBy owner: CollectionModel, _ position: Position) throws {
        // All others are listed anew then.
        guard !owner.access.relistsOnGain else { return }
        try relistPruned(ownedBy: [owner.name], position) { _ in true }
    }

    /// Has collections that stay listed whole of which something was pruned, where a wipe drops
    /// what may have hidden it: who comes back is new then, and brings nothing back.
    func relistPruned(
        apartFrom goes: (CollectionName) -> Bool, _ position: Position
    ) throws {
        let hiding = try model().collections.filter { goes($0.name) && $0.access.hidesAbsent }
        guard !hiding.isEmpty else { return }
        try relistPruned(ownedBy: Set(hiding.map(\.name)), position) { !goes($0) }
    }

    private func relistPruned(
        ownedBy hiding: Set<CollectionName>, _ position: Position,
        _ isListed: (CollectionName) -> Bool
    ) throws {
        var owners = hiding
        for other in try model().collections {
            guard let reference = other.ownerReference, owners.contains(reference.collection)
            else { continue }
            owners.insert(other.name)
            guard try isAnyPruned(of: other.name) else { continue }
            // By the lists of what it stands in, where it has none of its own.
            for listed in try model().bringing([other.name]) where isListed(listed.name) {
                for target in try concludedTargets(of: listed) {
                    try owe(target, position, keepsDate: listed.since != nil)
                }
            }
        }
    }

    /// Whether an entity of a collection is pruned.
    private func isAnyPruned(of name: CollectionName) throws -> Bool {
        let memory = memory(PrunedMemory.self)
        let count = followTaken()
        if let known = memory.known[name] {
            if let key = known.pruned {
                if try takenRow(at: .entity(key)).prunedAt != nil { return true }
            } else {
                let written = entitiesTaken(in: name, after: known.count)
                let pruned = written.first { $0.row.prunedAt != nil }?.key
                memory.known[name] = (pruned, count)
                return pruned != nil
            }
        }
        var pruned: EntityKey?
        try forEachEntity(in: name) { key, row in
            if row.prunedAt != nil { pruned = key }
            return pruned == nil
        }
        memory.known[name] = (pruned, count)
        return pruned != nil
    }

    /// Hides and shows the entities of collections anew, each after what it belongs to.
    fileprivate func reachAll(
        of collections: [CollectionModel], _ before: SyncModel, _ position: Position
    ) throws {
        var hidden: UInt64 = 0
        // Where nothing hides others, only what is hidden is looked at.
        let hidesAny = try hidesAny()
        for collection in collections where !collection.hidesDangling {
            var rows: [(key: EntityKey, row: EntityRow)] = []
            try forEachEntity(in: collection.name) { key, row in
                if hidesAny || row.isHidden { rows.append((key, row)) }
                return true
            }
            let hidesAbsent = collection.access.hidesAbsent
            let hidAbsent = before[collection.name]?.access.hidesAbsent ?? false
            for (key, known) in rows {
                var row = known
                if !hidesAbsent || !hidAbsent { row.isHidden = false }
                row = try reached(row, at: .entity(key))
                if hidesAbsent, row.isHidden { hidden += 1 }
                guard row.isHidden != known.isHidden else { continue }
                if hidAbsent, !row.isHidden {
                    try decide(key, "shown", base: row.basePosition, position)
                }
                // What the model makes of its edits was written just before.
                var now = try entity(key)
                now.isHidden = row.isHidden
                try put(now, key)
            }
        }
        let count = hidden == 0 ? nil : Position(hidden).bigEndianBytes
        if try get(.hiddenCount) != count { put(.hiddenCount, count) }
    }

    // MARK: Gained

    /// Whether an event of the server makes an entity accessible whose collection then restarts the
    /// lists of all others.
    ///
    /// Nothing is gained before the collection itself was listed: until then every entity is new.
    ///
    /// - Parameter position: where the event will stand, at the earliest.
    package func isGain(_ event: Event, at position: Position) throws -> Bool {
        guard event.kind == .serverUpserted, event.mutation == nil, let named = event.key,
            try known(named.collection)?.relistsOnGain == true
        else { return false }
        let row = try heldRow(at: .entity(try resolve(named)))
        let isNew = row.baseState != .live && row.pending.isEmpty && row.attempt == nil
        guard isNew || row.isHidden || row.isPlaceholder,
            row.isFresher(event, event.asOf ?? position)
        else { return false }
        let isAnyOtherListed = try model().collections.contains {
            guard $0.name != named.collection else { return false }
            if $0.feed != nil, try get(.watermark($0.backfill)) != nil { return true }
            return try concludedTargets(of: $0).contains {
                // One that is to be listed from the start already is as one that never was.
                guard try get(.watermark($0)) != nil else { return false }
                return try owed($0)?.keepsDate != true || listed($0)?.state != nil
            }
        }
        return try isAnyOtherListed
            && wasListed(named.collection, before: event.sync ?? event.call ?? position)
    }

    /// Whether a collection was listed to its end before a run.
    ///
    /// It has a watermark then, or, where its lists leave none, an entity from before. All of these
    /// may have changed in this run; but then all others that are listed by date were listed, which
    /// is only done after it.
    private func wasListed(_ collection: CollectionName, before run: Position) throws -> Bool {
        if try get(.watermark(PullTarget(collection))) != nil { return true }
        guard try listed(PullTarget(collection))?.state == nil else { return false }
        let dated = try model().collections.filter { $0.name != collection && $0.since != nil }
        let areOthersListed = try dated.allSatisfy { other in
            try concludedTargets(of: other).allSatisfy { target in
                let row = try get(.watermark(target))
                return try row.map { try WatermarkRow(parsing: $0).position < run } ?? false
            }
        }
        if !dated.isEmpty, areOthersListed { return true }
        var isThere = false
        try forEachEntity(in: collection) { _, row in
            // One that is gone by now was there, too.
            isThere =
                (row.baseState != .absent || row.prunedAt != nil) && !row.isPlaceholder
                && row.basePosition.map { $0 < run } ?? false
            return !isThere
        }
        return isThere
    }

    /// Has the other collections listed from the start: their watermarks are forgotten, but for
    /// the dates of those that are listed by date, and where feeds go on with what changed.
    fileprivate func gain(_ key: EntityKey, _ position: Position) throws {
        for other in try model().collections where other.name != key.collection {
            if other.feed != nil, try get(.watermark(other.backfill)) != nil {
                put(.watermark(other.backfill), nil)
            }
            for target in try knownTargets(of: other) {
                let mark = RowKey.watermark(target)
                if try get(mark) != nil {
                    if other.since == nil {
                        put(mark, nil)
                    } else {
                        try owe(target, position, keepsDate: true)
                    }
                }
                try endList(target)
            }
        }
        try decide(key, "gained", base: heldRow(at: .entity(key)).basePosition, position)
    }

    // MARK: What belongs to what

    /// The row to write: hidden or shown together with the entity's owner, and counted.
    func reached(_ row: EntityRow, at place: RowKey, wasHidden: Bool) throws -> EntityRow {
        let row = try hidesAny() ? reached(row, at: place) : row
        let isHidden = row.isHidden && !row.isEmpty
        guard isHidden != wasHidden, let key = EntityKey(bytes: place.bytes) else { return row }
        if try collection(key.collection).access.hidesAbsent {
            try countHidden(isHidden ? 1 : -1)
        }
        // What the server did not take while it was hidden says nothing of it now.
        if !isHidden, !row.isEmpty {
            try resend(from: key, isRefusedByServer: false, onlyFailed: true)
        }
        return row
    }

    /// The same row, hidden or shown together with the entity's owner.
    func reached(_ row: EntityRow, at place: RowKey) throws -> EntityRow {
        guard let key = EntityKey(bytes: place.bytes) else { return row }
        let collection = try collection(key.collection)
        guard let isHidden = try isOwnerHidden(of: row, key, collection) else { return row }
        var row = row
        if !collection.access.hidesAbsent || isHidden { row.isHidden = isHidden }
        return row
    }

    /// Whether the owner of an entity is hidden, and the entity with it; nil where it has none.
    fileprivate func isOwnerHidden(
        of row: EntityRow, _ key: EntityKey, _ collection: CollectionModel
    ) throws -> Bool? {
        guard let reference = collection.ownerReference,
            let owner = try owner(of: row, reference, collection)
        else { return nil }
        guard try heldRow(at: .entity(owner)).isHidden else { return false }
        return try !isCircle(from: key, to: owner, collection) {
            try heldRow(at: .entity($0))
        }
    }

    /// Whether an entity is not hidden with its owner, as that belongs to the entity itself: else
    /// each would stay hidden until the other is shown.
    ///
    /// - Parameter row: tells who owns an owner.
    private func isCircle(
        from key: EntityKey, to first: EntityKey, _ collection: CollectionModel,
        _ row: (EntityKey) throws -> EntityRow
    ) throws -> Bool {
        // Collections refer to earlier ones and to themselves.
        guard let reference = collection.ownerReference, reference.collection == collection.name
        else { return false }
        var seen: Set<EntityKey> = []
        var next: EntityKey? = first
        while let owner = next, owner != key, seen.insert(owner).inserted {
            next = try self.owner(of: row(owner), reference, collection)
        }
        return next == key
    }

    private func owner(
        of row: EntityRow, _ reference: Reference, _ collection: CollectionModel
    ) throws -> EntityKey? {
        guard let document = row.documents(in: collection).first,
            let id = document.ids(in: reference.field).first
        else { return nil }
        return try resolve(EntityKey(reference.collection, id))
    }

    /// The entities that belong to some others, directly or through owners, in the order of the
    /// model.
    func owned(by owners: [EntityKey]) throws -> [EntityKey] {
        var owners = Set(owners)
        var owned: [EntityKey] = []
        for collection in try model().collections {
            guard let reference = collection.ownerReference,
                owners.contains(where: { $0.collection == reference.collection })
            else { continue }
            let found = try found(below: owners, reference, collection)
            var known: Int
            repeat {
                known = owned.count
                for (key, owner) in found where owners.contains(owner) {
                    if owners.insert(key).inserted { owned.append(key) }
                }
                // An owner of the same collection may stand behind what belongs to it.
            } while reference.collection == collection.name && owned.count > known
        }
        return owned
    }

    /// The entities of a collection that may belong to some others, and to which of all they do, in
    /// the order of their ids, as walks see them.
    private func found(
        below owners: Set<EntityKey>, _ reference: Reference, _ collection: CollectionModel
    ) throws -> [(key: EntityKey, owner: EntityKey)] {
        let known = try knownReferrers(by: [reference], in: collection, isWhole: true)
        var found: Set<EntityKey> = []
        var next = owners.filter { $0.collection == reference.collection }
        while !next.isEmpty {
            var below: Set<EntityKey> = []
            for owner in next {
                for name in try keys(of: owner) { below.formUnion(known.keys[name] ?? []) }
            }
            below.subtract(found)
            found.formUnion(below)
            next = reference.collection == collection.name ? below : []
        }
        var result: [(key: EntityKey, owner: EntityKey)] = []
        for key in found.sorted() {
            let row = try takenRow(at: .entity(key))
            guard let owner = try owner(of: row, reference, collection),
                try !isCircle(
                    from: key, to: owner, collection, { try takenRow(at: .entity($0)) })
            else { continue }
            result.append((key, owner))
        }
        return result
    }

    private func decide(
        _ key: EntityKey, _ result: String, base: Position?, _ position: Position
    ) throws {
        let decision = DecisionRow(
            key: key, rule: PruneDecision.Rule.access.rawValue,
            ruleVersion: PruneDecision.version, result: result, inputs: [position], fields: [],
            base: base)
        try note(decision, position)
    }
}

extension CollectionModel {
    /// The backfill of a feed.
    fileprivate var backfill: PullTarget { PullTarget(name, scope: PullTarget.back) }
}
