// ServerNews.swift — which parts of a server's answer the log does not hold yet: decided by the
// rows as they are, before anything is logged. The recorder writes what this decides.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// Compares what a server answers with the rows.
package struct ServerNews {
    /// What a record of an answer means for the log.
    package enum Verdict: Hashable {
        /// The log does not hold it: an event is appended.
        case new
        /// The log holds the same.
        case same
        /// The log holds a newer answer, which differs. The record is skipped, and the collection's
        /// cursor must not advance, so that the next list returns it again.
        case outdated
        /// It is left out, as something in the entity's tree waits, and a page says so.
        case withheld
    }

    let fold: Fold
    /// When the run began, by the device's clocks.
    let begun: Moment
    /// Whether the server's word stands against everything that is pending, so that it is news
    /// where anything is.
    let overwrites: Bool
    /// The run's `sync.started`; nil where it is not logged yet.
    private let run: Position?

    package init(
        _ fold: Fold, begun: Moment, overwrites: Bool = false, run: Position? = nil
    ) {
        self.fold = fold
        self.begun = begun
        self.overwrites = overwrites
        self.run = run
    }

    /// The server's time when the run began, as far as the log knows it; while it is in doubt, the
    /// time that was believed last.
    var serverTime: Timestamp? {
        get throws { try fold.serverNow(begun.now, bootID: begun.bootID, uptime: begun.uptime) }
    }

    // MARK: Records

    /// Whether a record is new, that was asked for when the log ended at a position.
    package func verdict(
        on record: ServerRecord, in collection: CollectionName, asOf: Position
    ) throws -> Verdict {
        // What was asked for before a wipe counts no more: the next list brings it.
        if try fold.isWiped(collection, after: asOf) { return .outdated }
        let key = try fold.resolve(EntityKey(collection, record.id))
        let row = try fold.entity(key)
        if let known = row.asOf, asOf < known {
            // What was taken over meanwhile may be older than what was asked for before.
            return row.revision == record.revision && !row.isTakenOver ? .same : .outdated
        }
        if try fold.isUnreadable(EntityKey(collection, record.id)) { return .new }
        if overwrites, !row.pending.isEmpty, !record.isDeleted { return .new }
        if let staged = try staged(EntityKey(collection, record.id)) {
            return try verdict(on: record, in: collection, beside: staged, asOf)
        }
        guard !record.isDeleted, let document = record.document else {
            let ends =
                row.baseState == .live || row.isAssumed
                || (row.baseState == .absent && !row.pending.isEmpty)
            if try ends || isNamedThoughPruned(key, row) { return .new }
            // One that could not be fetched would be asked for again and again.
            let failing = try row.baseState == .absent ? fold.failing(key) : nil
            return failing?.isWrite == false ? .new : .same
        }
        if try wouldBePruned(document, key, row) { return .same }
        guard row.baseState == .live, row.revision == record.revision, !row.isAssumed,
            !row.isPlaceholder, try !fold.isHiddenByItself(key, row)
        else { return .new }
        return try isSame(row.base, document, in: collection) ? .same : .new
    }

    /// The word of this run on an entity that waits until all of its set is there; nil for none.
    private func staged(_ key: EntityKey) throws -> StagedRow? {
        guard let run, try fold.hasSets(), let bytes = try fold.get(.staged(key)) else {
            return nil
        }
        let row = try StagedRow(parsing: bytes)
        return row.sync == run ? row : nil
    }

    /// Whether a record is new beside such a word.
    private func verdict(
        on record: ServerRecord, in collection: CollectionName, beside staged: StagedRow,
        _ asOf: Position
    ) throws -> Verdict {
        if record.isDeleted || record.document == nil {
            if staged.isDeletion { return .same }
        } else if let document = record.document, !staged.isDeletion,
            staged.revision == record.revision
        {
            if try isSame(staged.payload, document, in: collection) { return .same }
        }
        if let known = staged.asOf, asOf < known { return .outdated }
        return .new
    }

    /// Whether a new record is a change of the server's, and not of what the model takes of it.
    func isChange(_ record: ServerRecord, in collection: CollectionName) throws -> Bool {
        let row = try fold.entity(fold.resolve(EntityKey(collection, record.id)))
        // Without a version only the document tells.
        return row.baseState != .live || record.revision == nil || row.revision != record.revision
    }

    /// Whether a list's word on an entity is left out, with all that stands in it.
    func withholds(_ record: ServerRecord, in collection: CollectionModel) throws -> Bool {
        guard collection.withholdsTrees, !overwrites, !record.isDeleted else { return false }
        return try !fold.isTreeClean(fold.resolve(EntityKey(collection.name, record.id)))
    }

    /// What news of an entity is whose word is left out: said once, until it is taken.
    func withheld(_ id: String, in collection: CollectionName) throws -> Verdict {
        try isWithheld(id, in: collection) ? .same : .withheld
    }

    /// Whether an earlier page said so, and the entity's word was not taken since.
    func isWithheld(_ id: String, in collection: CollectionName) throws -> Bool {
        try fold.isWithheld(fold.resolve(EntityKey(collection, id)))
    }

    /// Whether an entity that a list only names is to be fetched.
    ///
    /// - Parameter ids: of a list that says nothing of versions, what it means.
    package func isWanted(
        _ reference: ServerReference, in collection: CollectionName, by ids: IDList? = nil
    ) throws -> Bool {
        let key = try fold.resolve(EntityKey(collection, reference.id))
        let row = try fold.entity(key)
        // An entity whose fetch failed is asked for by itself; one that an earlier list did not
        // name is there again.
        if let failing = try fold.failing(key), !failing.isWrite, !failing.isAbsent {
            return false
        }
        if overwrites, !row.pending.isEmpty { return true }
        switch row.baseState {
        case .live:
            if try fold.isHiddenByItself(key, row) { return true }
            if let ids { return row.isPlaceholder || ids.isPassedOver(reference, row) }
            return reference.revision == nil || row.isAssumed || row.revision != reference.revision
        // A deletion with the reference's own time is the change that the list names.
        case .deleted: return reference.serverTime == nil || row.serverTime != reference.serverTime
        case .absent: return ids?.isLeftOut(reference, row) != true
        }
    }

    /// What a list of ids alone means for a collection.
    func idList(of name: CollectionName) throws -> IDList {
        guard let collection = try fold.knownCollection(name), let feed = collection.feed else {
            return IDList(feed: nil)
        }
        var back = try fold.watermark(PullTarget(name, scope: PullTarget.back))
        if let passed = back, let ids = try fold.watermark(PullTarget(name)),
            passed.position < ids.position
        {
            back = nil
        }
        return IDList(
            feed: IDList.Feed(
                collection: collection, rules: FeedDecision(feed, collection.dates),
                now: try serverTime ?? begun.now, back: back))
    }

    /// Whether a record that can't be read was not noted yet with these bytes.
    func isNew(_ record: UnreadableRecord, in collection: CollectionName) throws -> Bool {
        let place = RowKey.unreadable(collection, record.name)
        guard let bytes = try fold.get(place) else { return true }
        return try UnreadableRow(parsing: bytes).digest != record.digest
    }

    /// Whether a page names an entity that an earlier list did not: that is worth an event.
    func namesAbsent(_ named: Set<ExactString>, _ target: PullTarget) throws -> Bool {
        let held = Set((try fold.held(target)?.ids ?? []).map(ExactString.init))
        return try !named.isDisjoint(with: held)
            || !named.isDisjoint(with: fold.absentInDoubt(target.collection))
    }

    /// The last changes of a page's records, once they are logged, that no row holds: tombstones of
    /// entities that never were here, and records that were skipped.
    func timesWithoutRow(
        _ page: ListPage, of collection: CollectionModel
    ) throws -> [Named<Timestamp>] {
        guard collection.since != nil else { return [] }
        var times: [Named<Timestamp>] = []
        let overtaken = page.records.overtaken
        for (index, record) in page.records.enumerated() where !overtaken.contains(index) {
            guard let time = record.serverTime else { continue }
            let key = try fold.resolve(EntityKey(collection.name, record.id))
            guard try fold.entity(key).serverTime != time else { continue }
            times.append(Named(record.id, time))
        }
        return times
    }

    /// Whether a record was pruned here with these bytes, and would be pruned again.
    private func wouldBePruned(
        _ document: [UInt8], _ key: EntityKey, _ row: EntityRow
    ) throws -> Bool {
        guard row.baseState == .absent, row.pending.isEmpty, !row.prunedDigest.isEmpty,
            let now = try serverTime, let collection = try fold.knownCollection(key.collection)
        else { return false }
        return collection.isPast(document, at: now)
            && row.prunedDigest == EntityRow.digest(of: document)
    }

    /// Whether an entity was pruned by its age, and what names it is hidden or changed when the
    /// server deletes it.
    private func isNamedThoughPruned(_ key: EntityKey, _ row: EntityRow) throws -> Bool {
        guard row.baseState == .absent, !row.prunedDigest.isEmpty else { return false }
        let model = try fold.model()
        // What access may hide counts as out of reach already.
        guard model[key.collection]?.canBeHidden == false else { return false }
        return model.collections.flatMap(\.references).contains { reference in
            reference.collection == key.collection
                && (reference.missing == .hides || reference.removal != nil)
        }
    }

    /// Whether two documents differ in nothing but how they are written, and in which forms.
    private func isSame(
        _ left: [UInt8], _ right: [UInt8], in collection: CollectionName
    ) throws -> Bool {
        if left == right || Self.meanTheSame(left, right) { return true }
        return try saysTheSame(left, right, in: collection)
    }

    /// Whether two documents differ in nothing but how they are written.
    private static func meanTheSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard let left = try? JSONValue(parsing: left), let right = try? JSONValue(parsing: right)
        else { return false }
        return left == right
    }

    /// Whether two documents differ in nothing but the forms of their fields.
    private func saysTheSame(
        _ left: [UInt8], _ right: [UInt8], in name: CollectionName
    ) throws -> Bool {
        guard let collection = try fold.known(name)?.model, !collection.forms.isEmpty else {
            return false
        }
        return try Self.meanTheSame(collection.read(left), collection.read(right))
    }

    // MARK: Read-backs and descriptions

    /// Whether the answer to a question after one entity is new.
    ///
    /// - Parameter record: the entity as the server has it; nil, or a tombstone, where it does not.
    func isNew(_ record: ServerRecord?, of key: EntityKey) throws -> Bool {
        let row = try fold.entity(key)
        let isThere = record.map { !$0.isDeleted } ?? (row.baseState == .live)
        if isThere, overwrites, !row.pending.isEmpty { return true }
        if isThere, try fold.isWithheld(key) { return true }
        guard let record, !record.isDeleted else {
            // An entity whose deletion is pending is gone, though the server may never have
            // received it.
            return try row.baseState == .live || row.pending.last?.kind == .delete
                || fold.isUnreadable(key) || isNamedThoughPruned(key, row)
        }
        if try row.baseState != .live || row.revision != record.revision || row.isAssumed
            || row.isPlaceholder || isInDoubt(key)
        {
            return true
        }
        // A version may stay as it was, or be none: only the document tells.
        guard let document = record.document else { return false }
        return try !isSame(row.base, document, in: key.collection)
    }

    /// Whether something may still be concluded from a list that did not name the entity, so that
    /// an answer about it is worth an event even where it brings nothing new.
    private func isInDoubt(_ key: EntityKey) throws -> Bool {
        if try fold.isUnreadable(key) { return true }
        let targets =
            try fold.knownCollection(key.collection).map(fold.concludedTargets)
            ?? [PullTarget(key.collection)]
        return try targets.contains { target in
            if try fold.held(target) != nil { return true }
            guard let listed = try fold.listed(target), let state = listed.state else {
                return false
            }
            return !state.isOfChanges && listed.begun != run
        }
    }

    /// Whether the server describes a collection otherwise than it did when it was listed last.
    func isNew(_ descriptions: [CollectionDescription]) throws -> Bool {
        try descriptions.contains { described in
            let targets =
                try fold.knownCollection(described.name).map(fold.concludedTargets)
                ?? [PullTarget(described.name)]
            let marks = try targets.compactMap { try fold.watermark($0) }
            return marks.isEmpty || marks.contains { $0.epoch != described.epoch }
        }
    }
}

/// What a list that says nothing of versions means for the entities that it names.
package struct IDList {
    /// What counts of a feed.
    fileprivate struct Feed {
        let collection: CollectionModel
        let rules: FeedDecision
        /// The server's time.
        let now: Timestamp
        /// The backfill that no list of ids came after.
        let back: WatermarkRow?
    }

    fileprivate let feed: Feed?

    /// Whether a feed does not go back to an entity that is not here, or it would be pruned again.
    ///
    /// Where it was changed, the list of changes tells.
    fileprivate func isLeftOut(_ reference: ServerReference, _ row: EntityRow) -> Bool {
        guard let feed, row.pending.isEmpty, row.attempt == nil, let key = reference.feedKey
        else { return false }
        if feed.rules.isTooOld(key, feed.now) { return true }
        guard !row.prunedDigest.isEmpty else { return false }
        return feed.collection.isPast(
            JSONValue.object([feed.rules.rule.order: key.value]).encoded(), at: feed.now)
    }

    /// Whether a feed's backfill passed over an entity that was here before, so that what changed
    /// until it began was not listed: asked for once, by the first list of ids after it.
    fileprivate func isPassedOver(_ reference: ServerReference, _ row: EntityRow) -> Bool {
        guard let feed, let back = feed.back, let base = row.basePosition, base < back.position
        else { return false }
        let known = JSON.value(feed.rules.rule.order, of: row.base)
        guard let key = reference.feedKey ?? feed.rules.key(known),
            let time = feed.rules.time(of: key)
        else { return true }
        return feed.rules.isTooOld(key, feed.now) || time > back.checkedAt ?? back.recordedAt
    }
}
