// TransferReading.swift — which file is asked for next, from the rows alone.

package import TidemarkEvents
package import TidemarkRules

/// A request for a file, before it is made.
package struct TransferPlan: Sendable, Hashable {
    package var source: ContentSource
    /// The entity that names it; nil where it does not any more.
    package var key: EntityKey?
    /// The rule of the field by which it is fetched.
    package var rule: ContentRule
    /// The first byte that is asked for.
    package var from: UInt64 = 0
    /// How many bytes; nil for all of them.
    package var count: UInt64?
    /// The version that is demanded; nil for any.
    package var tag: String?
    /// The version that the file must be of, as a list told it; nil for any.
    package var version: String?
    /// How many bytes it has in that version, as a list told it; nil where none did.
    package var length: UInt64?
    /// The part file in which the bytes before are; nil where a new one begins.
    package var part: String?
    /// The SHA-256 that the file must have, in small digits; nil where the entity tells none.
    package var digest: String?
    /// How far it is.
    package var progress = FetchProgress()
}

/// Which file is fetched first: an order for each version that had another one.
package enum TransferOrder: CaseIterable {
    /// What somebody waits for, but for what failed again and again: that is last.
    case neverFailedFirst
    /// What somebody waits for, however often it failed.
    case askedFirst
    /// What never failed, whoever waits for it.
    case failedLast
}

extension RowReading {
    /// The request for a file that is to be made next; nil where none is due, or enough are open.
    ///
    /// - Parameters:
    ///   - now: by the device's clock.
    ///   - isAwaited: whether somebody waits for all of them; else few are fetched at the same time
    ///     that nobody has asked for.
    ///   - isAway: whether the server that has a file by a rule is not to be asked; nil where all
    ///     are.
    ///   - order: another than the one of today for logs of versions that had it.
    ///   - isGone: whether a part file does not hold so many bytes any more.
    package func nextTransfer(
        at now: Timestamp, isAwaited: Bool = true, order: TransferOrder = .neverFailedFirst,
        isAway: ((ContentSource, ContentRule) throws -> Bool)? = nil,
        isGone: (_ part: String, _ bytes: UInt64) throws -> Bool
    ) throws -> TransferPlan? {
        let model = try model()
        let budgets = model.settings.budgets
        let open = try openTransfers().filter { !$0.isSend }
        guard open.count < budgets.downloads else { return nil }
        let unasked =
            try isAwaited ? 0 : open.count { try contentName($0.source)?.isAsked != true }
        let hasRoom = unasked < budgets.unasked
        let isBounded = hasRoom && order == .neverFailedFirst
        var due = try firstDueTransfer(
            at: now, ifAsked: !hasRoom || order != .failedLast,
            failuresMax: isBounded ? TransferRule.failuresTold - 1 : .max, isAway)
        // What failed again and again comes after what never failed, whoever waits for it.
        if due == nil, hasRoom, order != .failedLast {
            due = try firstDueTransfer(at: now, isAway)
        }
        guard let source = due?.source, let entry = try contentName(source),
            let rule = entry.wantedField(in: model[source.collection])
        else { return nil }
        var plan = try plan(source, entry, rule)
        if !plan.progress.isPartless { plan.count = UInt64(budgets.partBytes) }
        guard plan.progress.received > 0, let part = entry.fetch.part,
            try !isGone(part, plan.progress.received)
        else {
            plan.progress.forget()
            plan.tag = plan.version.flatMap { $0.hasPrefix("\"") ? EntityTag.condition($0) : nil }
            return plan
        }
        plan.part = part
        plan.from = plan.progress.received
        plan.tag = plan.progress.demanded
        if let total = plan.progress.total, total > plan.from, let count = plan.count {
            plan.count = min(count, total - plan.from)
        }
        return plan
    }

    /// What a request that has no answer yet asks for; nil where no such request is open.
    ///
    /// - Parameter file: as it was logged.
    package func transferPlan(
        of call: Position, _ file: RequestedFile
    ) throws -> TransferPlan? {
        let open = try openTransfers().first { $0.call == call && !$0.isSend }
        guard let source = open?.source, let entry = try contentName(source),
            entry.fetch.call == call,
            let rule = try entry.wantedField(in: model()[source.collection])
        else { return nil }
        var plan = try plan(source, entry, rule)
        plan.from = file.from
        plan.count = file.count
        return plan
    }

    private func plan(
        _ source: ContentSource, _ entry: ContentNamesRow.Entry, _ rule: ContentRule
    ) throws -> TransferPlan {
        var plan = TransferPlan(source: source, rule: rule)
        plan.progress = entry.fetch.progress
        plan.key = try namer(of: source, entry)
        if let key = plan.key, try model()[key.collection]?.tree?.content == rule.field {
            plan.version = try version(of: source, key)?.description
        }
        plan.digest = try plan.key.flatMap { key in
            guard rule.sha256 != nil, let collection = try model()[key.collection],
                let document = try document(key)
            else { return nil }
            return collection.contentDigest(of: source.text, rule, in: document)
        }
        return plan
    }

    /// The version that a file has on a server that knows it by its path, where what the server
    /// said last names its content so; nil where it may have another one by now.
    private func version(of source: ContentSource, _ key: EntityKey) throws -> Revision? {
        let row = try entity(at: .entity(key))
        guard row.baseState == .live,
            let content = try model()[key.collection]?.tree?.content,
            JSON.value(content, of: row.base)?.stringValue.map({ ExactString($0) })
                == ExactString(source.text)
        else { return nil }
        return row.revision
    }

    /// Whether the file of a tree that names a source is deleted here, or lies in what is.
    package func isDeleted(_ source: ContentSource) throws -> Bool {
        guard let entry = try contentName(source), let collection = try model()[source.collection],
            let rule = entry.wantedField(in: collection), rule.field == collection.tree?.content
        else { return false }
        return try namer(of: source, entry).map {
            try entity(at: .entity($0)).document == nil
        } ?? false
    }

    /// Whether a source can be asked for: a file that is known by its path is seen, its version is
    /// known, and it is not being moved, nor what it lies in.
    private func canBeAsked(
        _ source: ContentSource, _ entry: ContentNamesRow.Entry, _ rule: ContentRule
    ) throws -> Bool {
        guard let collection = try model()[source.collection],
            collection.tree?.content == rule.field
        else { return true }
        return try namer(of: source, entry).map { key in
            try version(of: source, key) != nil && entity(at: .entity(key)).document != nil
                && !isBeingMoved(key, in: collection)
        } ?? false
    }

    /// The entity that came to name a source last, or any other one after that is gone.
    private func namer(
        of source: ContentSource, _ entry: ContentNamesRow.Entry
    ) throws -> EntityKey? {
        entry.entity.isEmpty
            ? try anyEntity(naming: source, entry) : EntityKey(source.collection, entry.entity)
    }

    /// An entity that names a source, after the one is gone that came to name it last.
    private func anyEntity(
        naming source: ContentSource, _ entry: ContentNamesRow.Entry
    ) throws -> EntityKey? {
        if let id = entry.namers.first { return EntityKey(source.collection, id) }
        var found: EntityKey?
        let prefix = Ledger.contentsOfEntities + EntityKey.prefix(of: source.collection)
        try walk(.ledger, prefix) { key, value in
            if try EntityContentsRow(parsing: value).names.contains(where: { $0.isSource(source) })
            {
                found = EntityKey(bytes: key.dropFirst(Ledger.contentsOfEntities.count))
            }
            return found == nil
        }
        return found
    }

    /// When the next file is to be asked for, by the device's clock; nil for never.
    ///
    /// - Parameter isAway: whether the server that has a file is not to be asked; nil where all
    ///   are.
    package func nextFetchTime(
        at now: Timestamp, isAway: ((ContentSource, ContentRule) throws -> Bool)? = nil
    ) throws -> Timestamp? {
        guard try model().settings.budgets.downloads > 0,
            let first = try firstDueTransfer(at: nil, isAway)?.time
        else { return nil }
        return try first > now && firstDueTransfer(at: now, isAway) != nil ? now : first
    }

    /// The first source that is wanted and due.
    ///
    /// - Parameters:
    ///   - now: by the device's clock; nil where it may be due at any time.
    ///   - ifAsked: whether only those count that somebody waits for.
    ///   - failuresMax: how often in a row they may have failed.
    private func firstDueTransfer(
        at now: Timestamp?, ifAsked: Bool = false, failuresMax: Int = .max,
        _ isAway: ((ContentSource, ContentRule) throws -> Bool)?
    ) throws -> (time: Timestamp, source: ContentSource)? {
        let model = try model()
        var found: (time: Timestamp, source: ContentSource)?
        func look(_ key: [UInt8], _ value: [UInt8]) throws -> Bool {
            guard let time = RowKey(.ledger, key).fetchTime else { return true }
            // Of what nobody waits for there may be much.
            guard !ifAsked || time != .dueUnasked else { return false }
            let row = try SourcesRow(parsing: value)
            if let now, !row.isDue(from: time, at: now) { return true }
            let source = try row.sources.first { source in
                guard let entry = try contentName(source), !ifAsked || entry.isAsked,
                    entry.fetch.progress.failures <= failuresMax,
                    let rule = entry.wantedField(in: model[source.collection])
                else { return false }
                return try isAway?(source, rule) != true && canBeAsked(source, entry, rule)
            }
            if let source { found = (time, source) }
            return found == nil
        }
        try walk(.ledger, Ledger.dueFetches, look)
        if ifAsked, found == nil {
            let later = Timestamp(rawValue: Timestamp.dueUnasked.rawValue + 1)
            try walk(.ledger, Ledger.dueFetches, from: Ledger.dueFetches + later.orderBytes, look)
        }
        return found
    }

    /// The requests about files that have no answer yet, each with what it asks for, or with the
    /// digest of what it sends, in order.
    package func openTransfers() throws -> [(
        call: Position, source: ContentSource, isSend: Bool
    )] {
        try ledgerRows(Ledger.openFetches).compactMap { key, value in
            let row = try SourcesRow(parsing: value)
            guard let source = row.sources.first,
                let call = Position(
                    bigEndianBytes: key.bytes.dropFirst(Ledger.openFetches.count))
            else { return nil }
            return (call, source, row.isSend)
        }
    }

    /// What is known of a source; nil where nothing is.
    package func contentName(_ source: ContentSource) throws -> ContentNamesRow.Entry? {
        try get(.contentNames(source)).map { try ContentNamesRow(parsing: $0) }?[source.text]
    }

    /// Whether the next request for a file goes on with a part file: something is in it, and the
    /// file is fetched still.
    package func goesOn(with part: String, of source: ContentSource) throws -> Bool {
        guard let entry = try contentName(source), entry.fetch.part == part,
            entry.fetch.progress.received > 0
        else { return false }
        return try entry.wantedField(in: model()[source.collection]) != nil
    }

    /// The part files in which something is that a request will go on with, of some files or all.
    package func partsInUse(
        where isMeant: (ContentSource, ContentNamesRow.Entry) -> Bool = { _, _ in true }
    ) throws -> Set<String> {
        var parts: Set<String> = []
        try forEachContentName { source, entry in
            guard entry.fetch.progress.received > 0, let part = entry.fetch.part,
                isMeant(source, entry)
            else { return }
            parts.insert(part)
        }
        return parts
    }

    /// How many bytes count of each of the part files that a request will go on with.
    func partLengths() throws -> [String: UInt64] {
        var lengths: [String: UInt64] = [:]
        try forEachContentName { _, entry in
            guard entry.fetch.progress.received > 0, let part = entry.fetch.part else { return }
            lengths[part] = entry.fetch.progress.received
        }
        return lengths
    }

    /// The names of these without those of files that are not fetched any more, or that nobody
    /// waits for.
    ///
    /// - Parameter isAwaited: whether somebody waits for all of them.
    package func partsAwaited(isAwaited: Bool) throws -> Set<String> {
        let model = try model()
        return try partsInUse { source, entry in
            (isAwaited || entry.isAsked)
                && entry.wantedField(in: model[source.collection]) != nil
        }
    }
}
