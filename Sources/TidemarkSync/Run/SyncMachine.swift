// SyncMachine.swift — what a sync run does next. Pure: it reads the views, never clock or network.
//
//   read back what was sent and never answered → pull each collection → ask for what is here only
//   as placeholders → push until nothing is left
//
// A run of a narrower scope leaves out the others.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// One sync run.
package struct SyncMachine: Sendable {
    /// How often one entity's write may meet a newer version before the next run tries it again.
    package static let conflictsPerEntityMax = 5

    /// How often a collection's list is begun anew in one run.
    static let restartsMax = 2

    package internal(set) var outcome = SyncOutcome()
    let model: SyncModel
    let traits: ServerTraits
    /// Whether every collection is listed whole.
    let isFull: Bool
    let scope: SyncScope
    /// What the server's clock is believed to show, as the log says, and by the last answer.
    private(set) var clock = ServerClock()
    /// The last thing that the server's clock said in this run and that was believed; before that,
    /// what it is believed to have shown when the run began.
    private(set) var serverTime: Timestamp?
    /// The last answer that says what the server's clock showed, and the last one that was
    /// believed.
    private(set) var heard: ClockSighting?
    private var believed: ClockSighting?
    /// The device's clock, where the server's is not known.
    private(set) var deviceTime = Timestamp(rawValue: 0)
    private var unread: [EntityKey]?
    /// What failed in earlier runs, lists by an empty id; nil before it was read.
    var failing: [EntityKey: FailingRow]?
    /// The entities about which a call failed in this run.
    var failedNow: Set<EntityKey> = []
    /// The questions after what failed in earlier runs that are left, the next one last.
    var late: [FailingCall]?
    /// The calls that failed since the server answered last.
    var streak = FailureStreak<ServerCall>()
    /// Why the last call failed; nil when it did not.
    package internal(set) var failedLast: SyncFailure?
    /// Collections whose conflicts a rule of the app did not decide.
    var withheld: Set<CollectionName> = []
    /// Whether the user waits for it, so that nothing that failed waits for its time.
    var isUrgent: Bool
    /// Entities to ask after, beyond those of unknown attempts.
    var asked: [EntityKey] = []
    var epochs: [CollectionName: Revision]?
    /// How often a collection's list was begun anew because the server did not know its cursor.
    var restarts: [CollectionName: Int] = [:]
    /// Collections whose list could not go on, and was not answered from the beginning yet.
    var begunAnew: Set<CollectionName> = []
    /// Collections of which an earlier run's list of everything is of no use any more.
    var discarded: Set<CollectionName> = []
    var unpulled: ArraySlice<CollectionModel>
    /// Lists that were begun before their turn.
    var early: [CollectionName: Listing] = [:]
    /// How often the pull was begun anew, from its first collection.
    package internal(set) var pullRound = 0
    var listing: Listing?
    /// The questions after placeholders that are left, the next one last; nil before they are made
    /// up.
    var refetches: [Refetch]?
    var round: ArraySlice<PushCandidate>?
    var roundPushed = false
    var conflicts: [EntityKey: Int] = [:]
    /// The writes that met a precondition that did not hold, each with how often just so.
    var conflicting: [EntityKey: (call: ServerCall, count: Int)] = [:]
    /// Whether nothing is left to be sent, as far as was seen.
    var isSent = false
    /// Whether the server took no batch, so that each write is sent by itself.
    var sendsAlone = false
    /// What is pulled, from the beginning on.
    var pulls: ArraySlice<CollectionModel>
    /// The collection that was listed last, until its end was taken note of.
    var listed: CollectionModel?
    /// Whether something came into reach, and whether everything was begun anew for it.
    var hasGained = false
    var hasRestarted = false
    /// Whether everything was pulled, and what follows from it was decided.
    var hasPulled = false

    package init(
        model: SyncModel, traits: ServerTraits = ServerTraits(), isFull: Bool = false,
        scope: SyncScope = .all, isUrgent: Bool = false
    ) {
        self.isUrgent = isUrgent
        self.model = model
        self.traits = traits
        self.isFull = isFull
        self.scope = scope
        pulls = scope.pulled(model)[...]
        unpulled = pulls
        if !traits.describesCollections || unpulled.isEmpty { epochs = [:] }
        if !scope.pushes { unread = [] }
    }

    /// The list that is being fetched; nil between lists.
    package var list: Listing? { listing }

    // MARK: What to do

    /// The next step, by what the views say.
    ///
    /// - Parameter now: the device's clocks; the server's time is known by them between answers.
    package mutating func next(_ views: ViewReader, at now: Moment) throws -> SyncStep {
        deviceTime = now.now
        if let known = try views.serverClock() { goBy(known, at: now) }
        if outcome.failure != nil { return .finish }
        try prepare(views, at: now)
        if let step = try nextReadBack(views) { return step }
        if epochs == nil {
            epochs = [:]
            return .describe(.describe(model.collections))
        }
        while true {
            if let step = try nextPull(views) { return step }
            if try endsAfterList(views) { return .finish }
            guard let collection = unpulled.popFirst() else { break }
            listed = collection
            listing = try early.removeValue(forKey: collection.name) ?? begin(collection, views)
        }
        if scope == .all, let step = try nextRefetch(views, at: now) { return step }
        if let step = try endPull(views) { return step }
        return scope.pushes ? try nextPush(views, at: now) : .finish
    }

    /// Goes by what the log says of the server's clock.
    private mutating func goBy(_ known: ServerClock, at begun: Moment) {
        clock = known
        guard known.course != nil else { return }
        if let seen = believed, known.believed == nil || known.agrees(seen) { return }
        believed = nil
        serverTime = known.time(at: begun)
    }

    /// Takes note of what an answer says of the server's clock.
    private mutating func hear(_ seen: ClockSighting) {
        heard = seen
        // What it was before counts for nothing where that proves wrong.
        if clock.see(seen, at: .start) != nil { serverTime = nil }
        guard !clock.isInDoubt, clock.agrees(seen) else { return }
        believed = seen
        serverTime = serverTime.map { max(seen.date, $0) } ?? seen.date
    }

    mutating func nextReadBack(_ views: ViewReader) throws -> SyncStep? {
        if unread == nil { unread = try views.unknownAttempts().reversed() }
        while let key = unread?.popLast() {
            guard let attempt = try views.entity(key)?.attempt else { continue }
            // Asked in vain before: at the end.
            if let failed = failing?[key], failed.reads > 0 || streak.skips(.read) { continue }
            if let step = try readBack(key, attempt, views) { return step }
        }
        while let key = asked.popLast() {
            if let step = try readBack(key, nil, views) { return step }
        }
        return nil
    }

    func readBack(
        _ key: EntityKey, _ attempt: EntityRow.Attempt?, _ views: ViewReader, isLate: Bool = false
    ) throws -> SyncStep? {
        guard let collection = model[key.collection], !withheld.contains(key.collection) else {
            return nil
        }
        if collection.ids != .client {
            // Who names entities can't be asked for one that it has not named; what a list named
            // and could not be fetched it has. Of the others the list tells, where there is one.
            let isListed = scope == .all && !isLate && outcome.paused[key.collection] == nil
            let state = try views.entity(key)?.baseState ?? .absent
            let isNamed = state != .absent || failing?[key].map { !$0.isWrite } ?? false
            guard attempt == nil ? isNamed : state == .live && !isListed else { return nil }
        }
        let id = try views.serverID(of: key)
        return .readBack(key, .read(collection, id: id), attempt: attempt)
    }

    // MARK: What came of it

    /// Takes note of an answer, before the next step.
    ///
    /// - Parameters:
    ///   - news: what a page or a fetch brought.
    ///   - seen: the server's clock, where the answer says so.
    ///   - alert: what the server has to say to whoever runs the app.
    package mutating func took(
        _ answer: ServerAnswer, to step: SyncStep, news: PageResult = PageResult(),
        seen: ClockSighting?,
        alert: String? = nil
    ) {
        if let alert { outcome.alert = alert }
        outcome.counts.requests += 1
        outcome.counts.pulled += news.count
        if news.isGain { hasGained = true }
        if let seen { hear(seen) }
        if case .failure(let failure) = answer {
            failed(failure, step)
            return
        }
        failedLast = nil
        streak.answered()
        switch (step, answer) {
        case (.describe, .description(let list)):
            epochs = [:]
            for described in list { epochs?[described.name] = described.epoch }
        case (.list, .page): took(news)
        case (.list, .cursorExpired): startAnew()
        case (.list, _):
            if listing?.tookNothing() == false {
                pause(.malformed("nothing is said to have changed since nothing"))
            }
        case (.fetch(_, let ids), _): listing?.fetched(ids)
        case (.readBack, _):
            outcome.counts.readBack += 1
            isSent = false
        case (.push(let items), .batch(let answers)):
            for (item, answered) in zip(items, answers) { pushed(item, answered.answer) }
        case (.push(let items), _): for item in items { pushed(item, answer) }
        case (.describe, _), (.refetch, _), (.complete, _), (.cleanUp, _), (.finish, _): break
        }
        let time = sureTime
        if case .list = step, listing?.serverTime == nil { listing?.serverTime = time }
    }

    /// Takes note that a document that came with an answer holds the credentials.
    mutating func exposes(_ step: SyncStep) {
        if let collection = step.call?.collection { outcome.exposed.insert(collection.name) }
    }

    /// Has a step done once more, after an answer that ended the run.
    package mutating func again(_ step: SyncStep) {
        outcome.failure = nil
        switch step {
        case .describe: epochs = nil
        case .readBack(let key, _, nil): asked.append(key)
        case .readBack(let key, _, _?):
            if let row = failing?[key], row.reads > 0 {
                late?.append(FailingCall(key: key, row: row))
            } else {
                unread?.append(key)
            }
        case .push: round = nil
        case .refetch(let collection, let ids, let together):
            refetches?.append(Refetch(collection: collection, ids: ids, together: together))
        // Still in hand.
        case .list, .fetch, .complete, .cleanUp, .finish: break
        }
    }

    /// How much of a step's kind is known to be left, the step included; nil where only the server
    /// knows.
    package func left(with step: SyncStep) -> Int? {
        switch step {
        case .readBack: (unread?.count ?? 0) + asked.count + 1
        case .push(let items): (round?.count ?? 0) + items.count
        case .describe, .list, .fetch, .refetch, .complete, .cleanUp, .finish: nil
        }
    }

    /// Takes note of collections that nothing is to be sent to in this run; the others go on.
    package mutating func pause(_ collections: [CollectionName: SyncFailure]) {
        outcome.paused.merge(collections) { known, _ in known }
        withheld.formUnion(collections.keys)
    }

    /// Whether the server answered anything in this run.
    package var hasAnswer: Bool { streak.hasAnswer }

    /// Whether a collection could not be listed in an earlier run.
    package func isFailing(_ collection: CollectionName?) -> Bool {
        collection.map { failing?[EntityKey.list(of: $0)] != nil } ?? false
    }

    /// Ends the run before it began, or in its middle.
    package mutating func end(_ failure: SyncFailure) { outcome.failure = failure }

    /// Takes stock of the outbox at the end.
    package mutating func takeStock(_ views: ViewReader) throws {
        let counts = try OutboxCounts(views)
        outcome.pending = counts.pending
        outcome.refused = counts.refused
        outcome.unsettled = try views.failingCalls().count { !$0.isList }
        outcome.held = counts.held
        outcome.isTimeInDoubt = try views.serverClock()?.isInDoubt ?? false
    }
}

extension SyncScope {
    /// The collections that a run of this scope lists, in the order of the model.
    func pulled(_ model: SyncModel) -> [CollectionModel] {
        switch self {
        case .all: model.collections
        case .pull(let names): model.collections.filter { names.contains($0.name) }
        case .push, .cleanUp: []
        }
    }

    /// Whether a run of this scope sends what is pending, and asks after what was sent before.
    fileprivate var pushes: Bool {
        switch self {
        case .all, .push: true
        case .pull, .cleanUp: false
        }
    }
}
