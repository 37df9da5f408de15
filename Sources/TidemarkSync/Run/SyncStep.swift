// SyncStep.swift — the next step of a sync run, and how long its request may take.

package import TidemarkEvents
package import TidemarkViews

/// The next step of a sync run.
package indirect enum SyncStep: Sendable, Hashable {
    /// Log that the run begins, before it asks for anything: it goes on where one was cut off.
    case start
    /// Read an entity: its last write has no known outcome, its version is not known, or a whole
    /// list did not name it.
    case readBack(EntityKey, ServerCall, attempt: EntityRow.Attempt?)
    /// Fetch the content of a file whose last write has no known outcome, to compare it with what
    /// was sent.
    case compare(ContentProof)
    /// Read several entities of a collection whose last writes have no known outcome.
    case readBackAll(CollectionModel, [ReadBack])
    /// Ask for the epochs of the collections.
    case describe(ServerCall)
    /// Ask for what several lists would bring that are not due.
    case combine(ServerCall)
    /// Fetch a page of a collection.
    case list(ServerCall)
    /// Fetch a block of a feed.
    case feed(ServerCall)
    /// Fetch entities that a list only named.
    case fetch(CollectionModel, ids: [String])
    /// Ask for entities that are only placeholders here and that all refer to the same entity.
    case refetch(CollectionModel, ids: [String], together: String?)
    /// Log that a collection was listed to its end.
    case complete(Listing)
    /// Prune what retention no longer keeps, by the server's time.
    case cleanUp(now: Timestamp)
    /// Send what is pending on entities: one, or several in one request.
    case push([PushItem])
    /// Wait for the answer of any write that is on its way.
    case receive
    /// Ask for an answer that the server promised, after a pause.
    case poll(OpenTicket, afterSeconds: Int64)
    /// Have values of a pool reserved.
    case refill(Refill)
    /// Have the server do something so that it takes what it did not take.
    case remedy(Remedy)
    /// Ask the app for other credentials: those of a step were not accepted.
    case renew(SyncStep)
    /// Nothing is left to do.
    case finish

    /// The call to make, where the step makes one.
    package var call: ServerCall? {
        switch self {
        case .readBack(_, let call, _), .describe(let call), .combine(let call),
            .list(let call), .feed(let call):
            call
        case .compare(let proof): proof.call
        case .fetch(let collection, let ids): .fetch(collection, ids: ids)
        case .readBackAll(let collection, let items): .fetch(collection, ids: items.map(\.id))
        case .refetch(let collection, let ids, let together):
            .refetch(collection, ids: ids, together: together)
        case .push(let items): items.count == 1 ? items[0].call : .batch(items.map(\.call))
        case .poll(let ticket, _): .poll(ticket.ticket, of: ticket.items.map(\.call))
        case .refill(let refill): refill.call
        case .remedy(let remedy): remedy.call
        case .receive, .complete, .cleanUp, .renew, .start, .finish: nil
        }
    }

    /// The entities that it is about by themselves; none for a list, or several read together.
    var keys: [EntityKey] {
        switch self {
        case .readBack(let key, _, _): [key]
        case .compare(let proof): [proof.key]
        case .fetch(let collection, let ids) where ids.count == 1:
            [EntityKey(collection.name, ids[0])]
        case .push(let items): items.map(\.key)
        case .fetch, .refetch, .readBackAll, .list, .feed, .describe, .combine, .receive, .poll,
            .refill, .remedy, .complete, .cleanUp, .renew, .start, .finish:
            []
        }
    }

    /// The one entity that it is about.
    var key: EntityKey? { keys.count == 1 ? keys[0] : nil }

    /// The write without a known outcome that a read of its entity settles.
    var attempt: EntityRow.Attempt? {
        switch self {
        case .readBack(_, _, let attempt): attempt
        case .compare(let proof): proof.attempt
        default: nil
        }
    }
}

/// An entity whose last write has no known outcome.
package struct ReadBack: Sendable, Hashable {
    package var key: EntityKey
    /// The id that the server uses.
    package var id: String
    package var attempt: EntityRow.Attempt
}

extension SyncStep {
    /// The file that its request sends, or may bring; nil for none.
    var file: ContentName? {
        if case .compare(let proof) = self {
            if proof.checksums != nil { return nil }
            return .file(sha256: proof.digest, bytes: proof.bytes)
        }
        return call?.file
    }

    /// Whether it lists a part of a collection.
    var isOfList: Bool {
        switch self {
        case .list, .feed: true
        default: false
        }
    }

    /// Whether it asks what became of writes, or how an entity stands.
    var asksAfterWrites: Bool {
        switch self {
        case .readBack, .readBackAll, .poll: true
        default: false
        }
    }
}

extension ServerCall {
    /// How many bytes of documents its request sends at most, about.
    var sentBytes: Int {
        switch self {
        case .create(_, _, let body): body.count
        case .update(_, _, let body, let changes, _): max(body.count, changes.count)
        case .perform(_, _, _, _, let body): body?.count ?? 0
        case .batch(let calls): calls.reduce(0) { $0 + $1.sentBytes }
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .refetch, .read, .fetch,
            .delete, .reserve, .poll:
            0
        }
    }
}

extension TransportLimits {
    /// The longest that a request may take because others before it timed out.
    private static let deadlineMax = Duration.seconds(600)

    /// The limits of a step's request: time by the bytes that it sends, beside the usual time; and
    /// twice as much for each time in a row that it was not enough.
    func of(_ step: SyncStep, timeouts: Int) -> TransportLimits {
        var bytes = step.call?.sentBytes ?? 0
        if case .file(_, let count)? = step.file { bytes = max(bytes, count) }
        var limits = allowing(bytes: UInt64(clamping: bytes))
        for _ in 0..<min(timeouts, 40) where limits.deadline < Self.deadlineMax {
            limits.deadline = min(limits.deadline * 2, Self.deadlineMax)
        }
        return limits
    }
}
