// SyncMachine+Push.swift — what a sync run sends next, and what came of it.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// How many bytes of bodies one request carries, unless a single one is larger.
    private static let batchBytesMax = 1 << 20

    mutating func nextPush(_ views: ViewReader) throws -> SyncStep {
        while true {
            if round == nil {
                round = try views.pushCandidates(model)[...]
                roundPushed = false
            }
            if let step = try nextOfRound(views) {
                roundPushed = true
                return step
            }
            // A push may have made room for what waited for it, or an edit came in between.
            round = nil
            if !roundPushed { return .finish }
        }
    }

    /// The first of the round that can be sent, and those after it that go with it in one request.
    private mutating func nextOfRound(_ views: ViewReader) throws -> SyncStep? {
        var items: [PushItem] = []
        var bytes = 0
        let countMax =
            sendsAlone ? 1 : min(model.settings.batchSize, traits.writesPerRequestMax)
        while let candidate = round?.first, items.count < max(1, countMax) {
            let row = try views.entity(candidate.key)
            if let row, let collection = model[candidate.key.collection],
                isReady(candidate.key, row)
            {
                if row.baseState == .live, row.revision == nil, isVersioned(collection) {
                    // Without a version there is no precondition: how it stands is asked first.
                    guard items.isEmpty else { break }
                    round?.removeFirst()
                    conflicts[candidate.key, default: 0] += 1
                    let id = try views.serverID(of: candidate.key)
                    return .readBack(candidate.key, .read(collection, id: id), attempt: nil)
                }
                if let item = try item(candidate.key, row, collection, views) {
                    let isAlike = items.first.map { $0.isLike(item) } ?? true
                    bytes += item.call.bodyBytes
                    guard isAlike, items.isEmpty || bytes <= Self.batchBytesMax else { break }
                    items.append(item)
                }
            }
            round?.removeFirst()
        }
        return items.isEmpty ? nil : .push(items)
    }

    private func isReady(_ key: EntityKey, _ row: EntityRow) -> Bool {
        outcome.paused[key.collection] == nil
            && conflicts[key, default: 0] < Self.conflictsPerEntityMax
            && row.attempt == nil && !row.isPlaceholder && !row.isHidden && row.status != .error
    }

    /// Whether a write names the version that the entity must still be of.
    private func isVersioned(_ collection: CollectionModel) -> Bool {
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
        return item
    }

    /// Takes note that the last step was overtaken by an edit, and nothing was sent.
    package mutating func replan() { round = nil }

    /// Takes note that a write was refused without being sent.
    package mutating func refused(_ item: PushItem) { outcome.counts.rejected += 1 }

    /// Takes note of what became of one write.
    mutating func pushed(_ item: PushItem, _ answer: ServerAnswer) {
        switch (item.call, answer) {
        case (_, .failure(let failure)): failed(failure, .push([item]))
        case (.delete, .absent): outcome.counts.pushed += 1
        case (_, .conflictUnknown):
            asked.append(item.key)
            conflicts[item.key, default: 0] += 1
            outcome.counts.conflicts += 1
        case (_, .conflict), (_, .absent):
            conflicts[item.key, default: 0] += 1
            outcome.counts.conflicts += 1
        case (_, .refused): outcome.counts.rejected += 1
        default: outcome.counts.pushed += 1
        }
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
