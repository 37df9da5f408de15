// SyncMachine.swift — what a sync run does next. A value: it is told what the views say and what
// was answered, and never asks by itself.
//
//   begun → readingBack → describing → pulling → listing → listed → pulling …
//         → refetching → choosing → pruning → pushing ⇄ askingLate → ended
//
// Each input is a method that returns what comes next: something to look up in the views, or a step
// to carry out. Until what came of that is told, only notes are taken, which return nothing, and
// what ends the run or restarts the pull.

package import TidemarkEvents
package import TidemarkRules
import TidemarkViews

/// What a sync run needs next.
package enum SyncAction: Sendable {
    /// To know what the views say: ``SyncMachine/learned(_:)``.
    case look(SyncLookup)
    /// That something is done: told of by the input that the step names.
    case perform(SyncStep)
}

/// One sync run.
package struct SyncMachine: Sendable {
    /// How often one entity's write may meet a newer version before the next run tries it again.
    package static let conflictsPerEntityMax = 5

    /// How often a collection's list is restarted in one run.
    static let restartsMax = 2

    /// Where a run is.
    enum State: Sendable {
        /// Nothing was decided: what earlier runs left is looked up first.
        case begun
        /// The entities whose last write has no known outcome are asked about, the next one last.
        case readingBack([EntityKey])
        /// The server is to be asked what tells its collections from others of the same names.
        case describing
        /// Between two lists: the next target is looked at, or everything is listed.
        case pulling
        /// A list is being made; what it names is fetched, what it does not name is asked about.
        case listing(Listing)
        /// A list came to its end, or could not go on.
        case listed(CollectionModel)
        /// Everything was listed: what is here only as a placeholder is asked about, the next
        /// question last; nil before the questions are made up.
        case refetching([Refetch]?)
        /// It is looked at whether what has to be chosen was.
        case choosing
        /// It is looked at whether something need not be kept.
        case pruning
        /// What is pending is sent, round by round.
        case pushing
        /// What failed in earlier runs is asked about: all else was sent.
        case askingLate
        /// Nothing is left to do.
        case ended
    }

    /// What the machine waits for.
    enum Awaited: Sendable {
        /// The first input.
        case beginning
        /// What the views say.
        case fact(SyncLookup)
        /// What came of a step.
        case result(SyncStep)
    }

    package internal(set) var outcome = SyncOutcome()
    let model: SyncModel
    let traits: ServerTraits
    /// Why it runs, the highest trigger first.
    let triggers: [SyncTrigger]
    /// Whether every collection is listed whole.
    let isFull: Bool
    package let scope: SyncScope
    /// When it began.
    let begun: Moment
    var state = State.begun
    var awaited = Awaited.beginning

    // MARK: What it knows of the server's clock

    /// What the server's clock is believed to show, as the log says, and by the last answer.
    var clock = ServerClock()
    /// The last thing that the server's clock said in this run and that was believed; before that,
    /// what it is believed to have shown when the run began.
    var serverTime: Timestamp?
    /// The last answer that says what the server's clock showed, and the last one that was
    /// believed.
    var heard: ClockSighting?
    var believed: ClockSighting?

    // MARK: What it knows of failures

    /// Whether the user waits for it, so that nothing that failed waits for its time.
    var isUrgent: Bool
    /// What failed in earlier runs, lists by an empty id.
    var failing: [EntityKey: FailingRow] = [:]
    /// The entities about which a call failed in this run.
    var failedNow: Set<EntityKey> = []
    /// The questions after what failed in earlier runs that are left, the next one last; nil before
    /// they are looked up.
    var late: [FailingCall]?
    /// The calls that failed since the server answered last.
    var streak = FailureStreak<ServerCall>()
    /// Why the last call failed; nil when it did not.
    package internal(set) var failedLast: SyncFailure?
    /// Collections whose conflicts a rule of the app did not decide.
    var withheld: Set<CollectionName> = []

    // MARK: What it knows of the pull

    /// Entities to ask about before anything else, the next one last.
    var asked: [EntityKey] = []
    /// What tells each collection from another one of its name, once the server was asked.
    var epochs: [CollectionName: Revision]?
    /// Whether the server is to be asked for that.
    let describes: Bool
    /// What is pulled, from the beginning on.
    var pulls: [PullTarget]
    /// What is still to be listed.
    var unpulled: ArraySlice<PullTarget>
    /// Lists that were begun before their turn.
    var early: [PullTarget: Listing] = [:]
    /// How often the pull was restarted from its first list.
    package internal(set) var pullRound = 0
    /// How often a list was restarted because the server did not know its cursor.
    var restarts: [PullTarget: Int] = [:]
    /// Lists that could not go on, and were not answered from the beginning yet.
    var begunAnew: Set<PullTarget> = []
    /// Lists of everything that an earlier run was cut off in and that are of no use any more.
    var discarded: Set<PullTarget> = []
    /// Whether an entity became accessible, and whether the pull was restarted for it.
    var hasGained = false
    var hasRestarted = false

    // MARK: What it knows of the push

    /// The round that is being sent; nil between two rounds.
    var planner: PushPlanner?
    /// How often an entity met a newer version, or was asked about for its version.
    var conflicts: [EntityKey: Int] = [:]
    /// The writes that met a precondition that did not hold, each with how often just so.
    var conflicting: [EntityKey: (call: ServerCall, count: Int)] = [:]
    /// Whether the server took no batch, so that each write is sent by itself.
    var sendsAlone = false

    package init(
        model: SyncModel, traits: ServerTraits = ServerTraits(), triggers: [SyncTrigger] = [],
        isFull: Bool = false, scope: SyncScope = .all, begun: Moment
    ) {
        self.model = model
        self.traits = traits
        self.triggers = triggers
        self.isFull = isFull
        self.scope = scope
        self.begun = begun
        isUrgent = triggers.contains(where: \.isUrgent)
        pulls = scope.pulled(model).map { PullTarget($0.name) }
        unpulled = pulls[...]
        describes = traits.describesCollections && !pulls.isEmpty
    }

    /// The list that is being made; nil between lists.
    package var list: Listing? { if case .listing(let list) = state { list } else { nil } }

    /// Whether it ended for what keeps runs from beginning, so that nothing of it is worth logging.
    package private(set) var isHeld = false

    // MARK: Inputs

    /// Begins the run, or leaves it to a later one: ``isHeld``.
    ///
    /// - Parameters:
    ///   - gates: what keeps a run from beginning.
    ///   - pace: when requests may be sent: a pull of some collections never waits for its first.
    package mutating func begin(_ gates: SyncGates, _ pace: RequestPace) -> SyncAction {
        guard case .beginning = awaited else { trap("begins twice") }
        // The highest trigger waits least.
        let hold = triggers.min().flatMap { gates.hold($0, at: begun) }
        let waits = scope.isPartialPull && pace.waitsToPull(lists: unlisted.count)
        guard scope != .cleanUp, hold != nil || waits else { return decide() }
        isHeld = true
        outcome.failure = hold.map { SyncFailure($0) }
        state = .ended
        return next()
    }

    /// Takes what the views say.
    package mutating func learned(_ fact: SyncFact) -> SyncAction {
        guard case .fact(let lookup) = awaited else { trap("is told what it did not ask") }
        switch (lookup, fact) {
        case (.clock, .clock(let known)):
            if let known { goBy(known) }
            return next()
        case (.earlierRuns, .earlierRuns(let left)):
            prepare(left)
            return next()
        case (.entity(let key), .entity(let facts)): return readBack(key, facts) ?? next()
        case (.standing(let target), .standing(let standing)):
            return begin(target, standing) ?? next()
        case (.contents(let plan), .contents(let contents)):
            state = .listing(Listing(plan, contents))
            return next()
        case (.absent(let list), .absent(let ids)): return finish(list, absent: ids) ?? next()
        case (.hasInReach, .holds(let isThere)): return hasRequired(isThere) ?? next()
        case (.placeholders, .placeholders(let due)):
            state = .refetching(questions(about: due).reversed())
            return next()
        case (.choices, .missing(let name)): return chosen(missing: name) ?? next()
        case (.canPrune(let now), .holds(let isMuch)): return prune(isMuch, now) ?? next()
        case (.outbox, .outbox(let candidates)):
            planner = PushPlanner(candidates, model, traits)
            return next()
        case (.pending(let key), .pending(let write)): return take(write, key) ?? next()
        case (.failing, .failing(let calls)):
            late = calls.filter { isDue($0.key, .read) }.reversed()
            return next()
        case (.failed(let call), .entity(let facts)): return askLate(call, facts) ?? next()
        default: trap("is told \(Self.caseName(fact))")
        }
    }

    /// Ends the run: for what the outside says, or because its time is over.
    package mutating func end(_ failure: SyncFailure) -> SyncAction {
        outcome.failure = failure
        return next()
    }

    // MARK: Deciding

    /// Decides what is next, from the server's clock on.
    mutating func decide() -> SyncAction {
        outcome.failure == nil ? look(.clock) : next()
    }

    mutating func look(_ lookup: SyncLookup) -> SyncAction {
        awaited = .fact(lookup)
        return .look(lookup)
    }

    mutating func perform(_ step: SyncStep) -> SyncAction {
        awaited = .result(step)
        return .perform(step)
    }

    /// What is next where the run is.
    private mutating func next() -> SyncAction {
        while true {
            if outcome.failure != nil { state = .ended }
            if case .ended = state { return perform(.finish) }
            if case .begun = state { return look(.earlierRuns) }
            if let action = nextReadBack() { return action }
            switch state {
            case .begun, .ended: break
            case .readingBack: trap("goes on while it reads back")
            case .describing:
                if describes, epochs == nil {
                    epochs = [:]
                    return perform(.describe(.describe(model.collections)))
                }
                state = .pulling
            case .pulling: if let action = nextTarget() { return action }
            case .listing(let list): if let action = goOn(list) { return action }
            case .listed(let collection): if let action = leave(collection) { return action }
            case .refetching(let questions):
                if let action = nextRefetch(questions) { return action }
            case .choosing: if let action = choose() { return action }
            case .pruning: if let action = beginPruning() { return action }
            case .pushing: if let action = nextPush() { return action }
            case .askingLate: if let action = nextLate() { return action }
            }
        }
    }

    /// Goes by what the log says of the server's clock.
    private mutating func goBy(_ known: ServerClock) {
        clock = known
        guard known.course != nil else { return }
        if let seen = believed, known.believed == nil || known.agrees(seen) { return }
        believed = nil
        serverTime = known.time(at: begun)
    }

    /// Takes note of what an answer says of the server's clock.
    mutating func hear(_ seen: ClockSighting) {
        heard = seen
        // What it was before counts for nothing where that proves wrong.
        if clock.see(seen, at: .start) != nil { serverTime = nil }
        guard !clock.isInDoubt, clock.agrees(seen) else { return }
        believed = seen
        serverTime = serverTime.map { max(seen.date, $0) } ?? seen.date
    }

    /// Ends the process: what drives the machine is wrong, and not what it was told.
    ///
    /// The message names cases only: what they hold is the user's.
    func trap(_ mistake: String) -> Never {
        let awaited =
            switch awaited {
            case .beginning: "its beginning"
            case .fact(let lookup): Self.caseName(lookup)
            case .result(let step): Self.caseName(step)
            }
        let state = Self.caseName(state)
        preconditionFailure("a sync run that awaits \(awaited) in state \(state) \(mistake)")
    }

    /// The name of an enum's case, without what it holds.
    static func caseName(_ value: Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? "\(value)"
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

    /// Whether a run of this scope sends what is pending, and asks about what was sent before.
    var pushes: Bool {
        switch self {
        case .all, .push: true
        case .pull, .cleanUp: false
        }
    }
}
