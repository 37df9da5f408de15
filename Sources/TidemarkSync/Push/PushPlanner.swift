// PushPlanner.swift — what is sent next, and what goes with it in one request. A value: it reads
// nothing and sends nothing.
//
//   candidates → look at the first → it waits, or is asked about, or joins the call in hand
//              → the call is full, or what is next is not like it → send
//
// What is pending is looked at one by one, just before it is sent: what was sent before may have
// changed it.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// One entity's part of a push.
package struct PushItem: Sendable, Hashable {
    /// The entity that the write touches.
    package var key: EntityKey
    package var call: ServerCall
    /// The mutations that the write carries, in order.
    package var covers: [Position]
    /// Why it is not sent at all; nil where it is.
    package var refusal: ServerRefusal?

    package init(
        _ key: EntityKey, _ call: ServerCall, covers: [Position], refusal: ServerRefusal? = nil
    ) {
        self.key = key
        self.call = call
        self.covers = covers
        self.refusal = refusal
    }
}

/// Plans one round of a push: each candidate is sent, asked about or passed over once.
package struct PushPlanner: Sendable {
    /// How often just the same write meets a precondition that does not hold before it is taken for
    /// refused: what the server says of the entity in between does not explain it.
    package static let samesMax = 3
    /// How many bytes of bodies one request carries, unless a single one is larger.
    package static let batchBytesMax = 1 << 20

    /// What is next.
    package enum Next: Sendable, Hashable {
        /// What is pending on an entity has to be known: ``PushPlanner/take(_:_:)``.
        case look(EntityKey)
        /// Writes that go in one request, but for those with a refusal, which don't go at all.
        case send([PushItem])
        /// How an entity stands of which no version is known.
        case ask(EntityKey, ServerCall)
    }

    /// What this run knows of a candidate.
    package struct Standing: Sendable, Hashable {
        /// Whether it goes by itself: it failed before, and may be what a whole batch failed for.
        package var isAlone = false
        /// How often it met a newer version, or was asked about.
        package var conflicts = 0
        /// The write that met a precondition that did not hold, and how often just so.
        package var met: ServerCall?
        package var metCount = 0

        package init() {}
    }

    private let model: SyncModel
    private let traits: ServerTraits
    private var waiting: ArraySlice<PushCandidate>
    /// The call in hand.
    private var items: [PushItem] = []
    private var bytes = 0
    /// Whether the call in hand takes no more.
    private var isFull = false
    /// Whether anything was planned.
    package private(set) var hasPlanned = false

    package init(_ candidates: [PushCandidate], _ model: SyncModel, _ traits: ServerTraits) {
        waiting = candidates[...]
        self.model = model
        self.traits = traits
    }

    /// How many candidates had no turn yet.
    package var left: Int { waiting.count }

    /// What is next; nil when every candidate had its turn.
    ///
    /// - Parameter count: how many writes go in one request.
    package mutating func next(upTo count: Int) -> Next? {
        guard !isFull, items.count < max(1, count), let first = waiting.first else {
            return flush()
        }
        return .look(first.key)
    }

    /// Passes over the entity that was to be looked at.
    package mutating func pass() { waiting.removeFirst() }

    /// Takes what is pending on the entity that was to be looked at.
    ///
    /// - Returns: what is to be asked or refused before anything else; nil to go on.
    package mutating func take(_ pending: PendingWrite?, _ standing: Standing) -> Next? {
        guard let candidate = waiting.first else {
            preconditionFailure("no candidate is looked at")
        }
        guard let pending, let collection = model[candidate.key.collection]
        else {
            waiting.removeFirst()
            return nil
        }
        if standing.isAlone, !items.isEmpty {
            isFull = true
            return nil
        }
        if pending.isLive, pending.revision == nil, traits.isVersioned(collection) {
            // Without a version there is no precondition: how it stands is asked first.
            guard items.isEmpty else {
                isFull = true
                return nil
            }
            waiting.removeFirst()
            hasPlanned = true
            return ask(pending, collection, standing)
        }
        guard let item = item(pending, collection, standing) else {
            waiting.removeFirst()
            return nil
        }
        let size = item.call.bodyBytes
        let isAlike = items.first.map { $0.isLike(item) } ?? true
        guard isAlike, items.isEmpty || bytes + size <= Self.batchBytesMax else {
            isFull = true
            return nil
        }
        waiting.removeFirst()
        items.append(item)
        bytes += size
        isFull = standing.isAlone
        return nil
    }

    private mutating func flush() -> Next? {
        guard !items.isEmpty else { return nil }
        let planned = items
        (items, bytes, isFull, hasPlanned) = ([], 0, false, true)
        return .send(planned)
    }

    /// How an entity is dealt with of which the server named no version: it is asked about, and
    /// where that was in vain its changes are refused, for nothing of it can be replaced without
    /// undoing what others did.
    private func ask(
        _ pending: PendingWrite, _ collection: CollectionModel, _ standing: Standing
    ) -> Next {
        guard standing.conflicts > 0 else {
            return .ask(pending.key, .read(collection, id: pending.id))
        }
        let call = ServerCall.delete(
            collection, id: pending.key.id, revision: PushWrite.noRevision)
        return .send(
            [PushItem(pending.key, call, covers: pending.covers, refusal: .unversioned)])
    }

    /// The write for an entity; nil when it has to wait.
    private func item(
        _ pending: PendingWrite, _ collection: CollectionModel, _ standing: Standing
    ) -> PushItem? {
        guard let write = pending.write else { return nil }
        var refusal = collection.refusal(of: write.operation)
        if refusal == nil, let stranded = pending.stranded {
            refusal = "\(stranded.field) names \(stranded.id), which is not here any more"
        }
        // What is not sent at all waits for nothing.
        guard refusal != nil || pending.needs.isEmpty else { return nil }
        let call: ServerCall =
            switch write {
            case .create(let body): .create(collection, id: pending.id, body: body)
            case .update(let body, let revision):
                .update(collection, id: pending.id, body: body, revision: revision)
            case .delete(let revision):
                .delete(collection, id: pending.id, revision: revision)
            }
        var item = PushItem(pending.key, call, covers: pending.covers)
        item.refusal = refusal.map { ServerRefusal(status: 0, message: $0) }
        if standing.met == call, standing.metCount >= Self.samesMax { item.refusal = .unexplained }
        return item
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
        case .list, .listWindow, .describe, .read, .fetch, .refetch, .delete, .batch: 0
        }
    }
}
