// SyncMachine+Push.swift — what a sync run sends next, and what came of it.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// How many bytes of bodies one request carries, unless a single one is larger.
    private static let batchBytesMax = 1 << 20

    mutating func nextPush(_ views: ViewReader, at now: Moment) throws -> SyncStep {
        while true {
            if round == nil, !isSent {
                round = try views.pushCandidates(model)[...]
                roundPushed = false
            }
            if round != nil, let step = try nextOfRound(views, at: now) {
                roundPushed = true
                return step
            }
            // A push may have made room for what waited for it, or an edit came in between.
            if round != nil, roundPushed {
                round = nil
                continue
            }
            round = nil
            isSent = true
            if let step = try nextFailing(views, at: now) { return step }
            endUnanswered()
            return .finish
        }
    }

    /// The first of the round that can be sent, and those after it that go with it in one request.
    private mutating func nextOfRound(_ views: ViewReader, at now: Moment) throws -> SyncStep? {
        var items: [PushItem] = []
        var bytes = 0
        let countMax =
            sendsAlone ? 1 : min(model.settings.batchSize, traits.writesPerRequestMax)
        while let candidate = round?.first, items.count < max(1, countMax) {
            let row = try views.entity(candidate.key)
            if let row, let collection = model[candidate.key.collection],
                isReady(candidate.key, row, at: now)
            {
                // What failed goes by itself: it may be what a whole batch failed for.
                let isAlone = hasFailed(candidate.key)
                if isAlone, !items.isEmpty { break }
                if row.baseState == .live, row.revision == nil, isVersioned(collection) {
                    // Without a version there is no precondition: how it stands is asked first.
                    guard items.isEmpty else { break }
                    round?.removeFirst()
                    if let refusal = unversioned(candidate.key, row) { return .push([refusal]) }
                    conflicts[candidate.key, default: 0] += 1
                    let id = try views.serverID(of: candidate.key)
                    return .readBack(candidate.key, .read(collection, id: id), attempt: nil)
                }
                if let item = try item(candidate.key, row, collection, views) {
                    let isAlike = items.first.map { $0.isLike(item) } ?? true
                    bytes += item.call.bodyBytes
                    guard isAlike, items.isEmpty || bytes <= Self.batchBytesMax else { break }
                    items.append(item)
                    if isAlone {
                        round?.removeFirst()
                        break
                    }
                }
            }
            round?.removeFirst()
        }
        return items.isEmpty ? nil : .push(items)
    }

    private func isReady(_ key: EntityKey, _ row: EntityRow, at now: Moment) -> Bool {
        !isBlocked(key.collection) && isDue(key, .write, at: now)
            && conflicts[key, default: 0] < Self.conflictsPerEntityMax
            && row.attempt == nil && !row.isPlaceholder && !row.isHidden && row.status != .error
    }

    /// Whether a write names the version that the entity must still be of.
    func isVersioned(_ collection: CollectionModel) -> Bool {
        traits.hasVersions && collection.ids == .client
    }

    /// The write for an entity, or nil when it has to wait.
    private func item(
        _ key: EntityKey, _ row: EntityRow, _ collection: CollectionModel, _ views: ViewReader
    ) throws -> PushItem? {
        let id = try views.serverID(of: key, row, idField: collection.idField) ?? key.id
        let write = try PushWrite(
            try row.changes(in: collection), on: try row.baseValue(in: collection),
            revision: row.revision, id: id, collection: collection,
            isVersioned: isVersioned(collection))
        guard let write else { return nil }
        var refusal = collection.refusal(of: write.operation)
        if refusal == nil, write.operation != .delete,
            let stranded = try views.strandedReference(of: row, in: collection, model)
        {
            refusal = "\(stranded.field) names \(stranded.id), which is not here any more"
        }
        // What is not sent at all waits for nothing.
        guard try refusal != nil || views.missingReferences(of: key, row, model).isEmpty else {
            return nil
        }
        let call: ServerCall =
            switch try write.naming(views.referenceNames(collection, model)) {
            case .create(let body): .create(collection, id: id, body: body)
            case .update(let body, let revision):
                .update(collection, id: id, body: body, revision: revision)
            case .delete(let revision): .delete(collection, id: id, revision: revision)
            }
        var item = PushItem(key: key, call: call, covers: row.pending.map(\.position))
        item.refusal = refusal.map { ServerRefusal(status: 0, message: $0) }
        if let met = conflicting[key], met.call == call, met.count >= Self.samesMax {
            item.refusal = .unexplained
        }
        return item
    }

    /// How often just the same write meets a precondition that does not hold before it is taken for
    /// refused: what the server says of the entity in between does not explain it.
    private static let samesMax = 3

    /// What refuses the changes of an entity of which the server names no version even when asked;
    /// nil before it was asked.
    ///
    /// Nothing of it can be replaced without undoing what others did.
    private func unversioned(_ key: EntityKey, _ row: EntityRow) -> PushItem? {
        guard conflicts[key, default: 0] > 0, let collection = model[key.collection] else {
            return nil
        }
        var item = PushItem(
            key: key, call: .delete(collection, id: key.id, revision: PushWrite.noRevision),
            covers: row.pending.map(\.position))
        item.refusal = .unversioned
        return item
    }

    /// Takes note that the last step was overtaken by an edit, and nothing was sent.
    package mutating func replan() {
        round = nil
        isSent = false
    }

    /// Takes note that a write was refused without being sent.
    package mutating func refused(_ item: PushItem) { outcome.counts.rejected += 1 }

    /// Takes note of what became of one write.
    mutating func pushed(_ item: PushItem, _ answer: ServerAnswer) {
        switch (item.call, answer) {
        // One of a batch, which was answered.
        case (_, .failure(let failure)) where failure.stopsRun: outcome.failure = failure
        case (_, .failure): failedNow.insert(item.key)
        case (.delete, .absent): outcome.counts.pushed += 1
        case (_, .conflictUnknown):
            asked.append(item.key)
            met(item)
        case (_, .conflict), (_, .absent): met(item)
        case (_, .refused): outcome.counts.rejected += 1
        case (_, .record), (_, .stored), (_, .deleted): outcome.counts.pushed += 1
        case (_, .description), (_, .page), (_, .unchanged), (_, .cursorExpired), (_, .records),
            (_, .batch):
            preconditionFailure("\(answer) is no answer to a write")
        }
    }

    /// Takes note of a write whose precondition did not hold.
    private mutating func met(_ item: PushItem) {
        let before = conflicting[item.key].flatMap { $0.call == item.call ? $0.count : nil } ?? 0
        conflicting[item.key] = (item.call, before + 1)
        conflicts[item.key, default: 0] += 1
        outcome.counts.conflicts += 1
    }
}

extension PushItem {
    /// Whether both may go in one request: to one collection, and both deletions or none.
    fileprivate func isLike(_ other: PushItem) -> Bool {
        key.collection == other.key.collection && call.isDeletion == other.call.isDeletion
    }
}

extension ServerCall {
    fileprivate var isDeletion: Bool { if case .delete = self { true } else { false } }

    fileprivate var bodyBytes: Int {
        switch self {
        case .create(_, _, let body), .update(_, _, let body, _): body.count
        default: 0
        }
    }
}
