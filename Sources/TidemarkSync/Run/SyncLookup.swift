// SyncLookup.swift — what a sync run needs to know from the views, and their answers.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// What a decision needs to know from the views.
package enum SyncLookup: Sendable {
    /// The server's clock, before each decision. Answered by ``SyncFact/clock(_:)``.
    case clock
    /// What earlier runs left to one of a scope, at a time of the server, nil where that is in
    /// doubt. Answered by ``SyncFact/earlierRuns(_:)``.
    case earlierRuns(SyncScope, at: Timestamp?)
    /// The state of an entity that the server may be asked about. Answered by
    /// ``SyncFact/entity(_:)``.
    case entity(EntityKey)
    /// The states of several entities. Answered by ``SyncFact/entities(_:)``.
    case entities([EntityKey])
    /// The lists of a collection whose parameters come from documents. Answered by
    /// ``SyncFact/parts(_:)``.
    case parts(CollectionName)
    /// Where a list goes on, at a time of the server, nil where that is in doubt. Answered by
    /// ``SyncFact/standing(_:)``.
    case standing(PullTarget, at: Timestamp?)
    /// What the views hold of the entities that a list is to name. Answered by
    /// ``SyncFact/contents(_:)``.
    case contents(ListPlan)
    /// The entities that a finished list did not name. Answered by ``SyncFact/absent(_:)``.
    case absent(Listing)
    /// Whether a collection has an accessible entity. Answered by ``SyncFact/holds(_:)``.
    case hasInReach(CollectionName)
    /// The placeholders that the server is to be asked about at a time. Answered by
    /// ``SyncFact/placeholders(_:)``.
    case placeholders(dueAt: Timestamp)
    /// The failure code of the first choice in some collections that is still open. Answered by
    /// ``SyncFact/missing(_:)``.
    case choices([CollectionModel])
    /// Whether there is something to prune at a time. Answered by ``SyncFact/holds(_:)``.
    case canPrune(at: Timestamp)
    /// The part of the outbox that is sent next, of a queue or, without one, from the beginning.
    /// Answered by ``SyncFact/outbox(_:rest:)``.
    case outbox(PushQueue?)
    /// The pending write of an entity, also where the server refused it and it is sent again.
    /// Answered by ``SyncFact/pending(_:)``.
    case pending(PushCandidate, isRetried: Bool)
    /// What is to be done about writes that the server did not take. Answered by
    /// ``SyncFact/remedies(_:)``.
    case remedies([UntakenWrite])
    /// The folders in which some entities of trees lie on the server, and would lie after what is
    /// pending, the first so many of them. Answered by ``SyncFact/parts(_:)``.
    case foldersAround([EntityKey], atMost: Int)
    /// The answers that the server promised. Answered by ``SyncFact/tickets(_:)``.
    case tickets
    /// What is left of some keys of pools, or of all, at a time. Answered by
    /// ``SyncFact/pools(_:)``.
    case pools([PoolKey]?, at: Timestamp)
    /// The calls about entities that failed. Answered by ``SyncFact/failing(_:)``.
    case failing
    /// The state of an entity whose calls failed. Answered by ``SyncFact/entity(_:)``.
    case failed(FailingCall)
}

/// The views' answer to a ``SyncLookup``.
package enum SyncFact: Sendable {
    case clock(ServerClock?)
    case earlierRuns(EarlierRuns)
    case entity(EntityFacts)
    case entities([EntityFacts])
    case parts([PullTarget])
    case standing(ListStanding)
    case contents(ListContents)
    case absent([String])
    case holds(Bool)
    case placeholders([PlaceholderFacts])
    case missing(String?)
    /// In the order in which it is sent, and the queue of what comes later; nil for nothing.
    case outbox([PushCandidate], rest: PushQueue?)
    case pending(PendingWrite?)
    case remedies([Remedy])
    case pools([PoolFacts])
    case failing([FailingCall])
    case tickets([OpenTicket])
}

/// What earlier runs left unfinished.
package struct EarlierRuns: Sendable, Hashable {
    /// Failed calls, the latest at the end.
    package var failing: [FailingCall]
    /// Whether the last run failed as a whole, so that the next one waited.
    package var hasBackoff: Bool
    /// The entities whose last write has no known outcome.
    package var unanswered: [EntityKey]
    /// The answers that the server promised.
    package var tickets: [OpenTicket] = []
    /// The entities of which a list's word was left out, and that are to be read now.
    package var released: [EntityKey] = []
    /// What was found out of the server's preconditions.
    package var preconditions: KnownPreconditions?
    /// When lists were made that nothing was left open of, by when those runs began.
    package var listed: [CollectionName: Moment]
    /// The log's last position.
    package var last = Position.start
    /// Where the last run of everything was cut off; nil where it was not, and for other scopes.
    package var cut: CutPlace?
    /// How many runs of everything began since then, and never ended as their process died.
    package var diedSinceCut = 0

    package init(
        failing: [FailingCall] = [], hasBackoff: Bool = false, unanswered: [EntityKey] = [],
        listed: [CollectionName: Moment] = [:]
    ) {
        self.listed = listed
        self.failing = failing
        self.hasBackoff = hasBackoff
        self.unanswered = unanswered
    }
}

/// The state of an entity that decides whether and how it is read back.
package struct EntityFacts: Sendable, Hashable {
    package var attempt: EntityRow.Attempt?
    package var baseState: EntityRow.BaseState
    /// The id that the server uses.
    package var serverID: String
    /// The parameters of the first list of the entity alone, where a list's word on it was left
    /// out; nil where there is no such list.
    package var list: ListParameters?

    package init(
        serverID: String, _ baseState: EntityRow.BaseState = .absent,
        attempt: EntityRow.Attempt? = nil
    ) {
        self.serverID = serverID
        self.baseState = baseState
        self.attempt = attempt
    }
}

/// A placeholder that the server is to be asked about.
package struct PlaceholderFacts: Sendable, Hashable {
    package var key: EntityKey
    /// What it refers to in the field that groups placeholders into one call.
    package var together: String?

    package init(_ key: EntityKey, together: String? = nil) {
        self.key = key
        self.together = together
    }
}
