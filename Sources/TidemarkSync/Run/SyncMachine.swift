// SyncMachine.swift — decides the next step of a sync run. A value: it takes facts from the views
// and answers from the server, and never asks by itself.
//
//   begun → readingBack → describing → combining → pulling → listing → listed → pulling …
//         → refetching → choosing → pruning → pushing → refilling → askingLate → ended
//
// The push gives way to lists of folders, as before one is deleted:
//
//   pushing → pulling → listing → listed → pulling … → pushing
//
// It is followed by the lists that were left for after it, and by another one:
//
//   refilling → pulling → listing → listed → pulling … → pushing
//
// An answer that was asked for late may release writes:
//
//   askingLate → pushing
//
// Each input is a method that returns what comes next: something to look up in the views, or a step
// to carry out. Until what came of that is told, only notes are taken, which return nothing, and
// what ends the run or restarts the pull.

package import TidemarkEvents
package import TidemarkRules
import TidemarkViews

/// What a sync run needs next.
package enum SyncAction: Sendable {
    /// A fact from the views, told by ``SyncMachine/learned(_:)``.
    case look(SyncLookup)
    /// A step to carry out; its outcome is told by the input that the step names.
    case perform(SyncStep)
}

/// One sync run.
package struct SyncMachine: Sendable {
    /// How often the writes of one entity may meet a newer version in one run.
    package static let conflictsPerEntityMax = 5

    /// How often a collection's list is restarted in one run.
    static let restartsMax = 2

    /// The phase of a run.
    enum State: Sendable {
        /// Nothing is decided yet: what earlier runs left is looked up first.
        case begun
        /// The entities whose last write has no known outcome are asked about, the next one last.
        case readingBack([EntityKey])
        /// The server is to be asked for the epochs of its collections.
        case describing
        /// The server is to be asked for what lists would bring that are not due.
        case combining
        /// Between two lists: the next target is looked up, or everything is listed.
        case pulling
        /// A list is being made; what it names is fetched, what it does not name is asked about.
        case listing(Listing)
        /// A part of a feed is being listed.
        case feeding(FeedListing)
        /// A list came to its end, or could not go on.
        case listed(CollectionModel)
        /// Everything was listed: the server is asked about placeholders, the next question last;
        /// nil before the questions are collected.
        case refetching([Refetch]?)
        /// Checks whether all required choices were made.
        case choosing
        /// Checks whether there is something to prune.
        case pruning
        /// What is pending is sent, round by round.
        case pushing
        /// Everything was sent: pools are filled of which too little is left.
        case refilling
        /// Everything was sent: what failed in earlier runs is asked about.
        case askingLate
        /// Nothing is left to do.
        case ended
    }

    /// The input that the machine waits for.
    enum Awaited: Sendable {
        /// The first input.
        case beginning
        /// A fact from the views.
        case fact(SyncLookup)
        /// The outcome of a step.
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
    /// The log's last position then.
    var beganAt = Position.start
    var state = State.begun
    var awaited = Awaited.beginning

    // MARK: What it knows of the server's clock

    /// The state of the server's clock by the log, and by the last answer.
    var clock = ServerClock()
    /// The latest believed time of the server in this run; before any answer, what its clock was
    /// believed to show when the run began.
    var serverTime: Timestamp?
    /// The last answer that tells the server's time, and the last one that was believed.
    var heard: ClockSighting?
    var believed: ClockSighting?

    // MARK: What it knows of failures

    /// Whether the user waits for the run, so that backoffs of single calls are ignored.
    var isUrgent: Bool
    /// What failed in earlier runs; lists have an empty id.
    var failing: [EntityKey: FailingRow] = [:]
    /// Whether something had more time than usual in this run, and got no answer.
    var hasWaitedLong = false
    /// The entities about which a call failed in this run.
    var failedNow: Set<EntityKey> = []
    /// The failed calls of earlier runs that are still to be asked about, the next one last; nil
    /// before they are looked up.
    var late: [FailingCall]?
    /// The calls that have failed since the server last answered.
    var streak = FailureStreak<ServerCall>()
    /// Collections of which too many calls of a kind failed in a row: the others wait for the next
    /// run.
    var stuck: [FailureStreak<ServerCall>.Kind: Set<CollectionName>] = [:]
    /// Why the last call failed; nil when it did not.
    package internal(set) var failedLast: SyncFailure?
    /// Collections with a conflict that a rule of the app failed to decide.
    var withheld: Set<CollectionName> = []
    /// Collections whose lists are left to a later run, as their group of requests has no room.
    var heldBack: Set<CollectionName> = []

    // MARK: What it knows of the pull

    /// The collections of which a list came to its end.
    var listedWhole: Set<CollectionName> = []
    /// Entities to read before anything else, the next one last.
    var asked: [EntityKey] = []
    /// Entities of trees whose write got no answer: they are read once more after the walk of this
    /// run, which tells where they are.
    var putOff: [EntityKey] = []
    /// The trees that were walked in this run, from their roots, and what was put off and is
    /// nowhere in them.
    var walked: Set<CollectionName> = []
    var missed: Set<EntityKey> = []
    /// Entities that are read back by another call, as the answer to the first one told nothing.
    var askedAnew: [SyncStep] = []
    /// The entities of which such a call is asked again, as the answer before did not tell enough.
    var toldInPart: Set<EntityKey> = []
    /// How many seconds it is waited before the next step is carried out.
    package internal(set) var pause: Int64 = 0
    /// What is compared before anything else.
    var proofs: [ContentProof] = []
    /// The epochs of collections, as far as the server told them.
    var epochs: [CollectionName: Revision] = [:]
    /// The next call that asks for epochs; nil where none is left.
    var describe: ServerCall?
    /// The later pages of epochs that were asked for.
    var described: Set<ExactString> = []
    /// All targets of the pull.
    var pulls: [PullTarget]
    /// The targets that are still to be listed.
    var unpulled: ArraySlice<PullTarget>
    /// The lists of collections whose parameters came from documents in this run.
    var opened: [CollectionName: [PullTarget]] = [:]
    /// Where the run before was cut off, if this one goes on there, and how many runs died since.
    var cut: CutPlace?
    var diedSinceCut = 0
    /// The list at which it goes on there.
    var wentOnAt: PullTarget?
    /// Whether its start is logged now.
    var logsStart = false
    /// What is listed only once what waits is sent.
    var afterPush = ListsAfterPush()
    /// Lists that were begun before their turn, by their target.
    var early: [PullTarget: Listing] = [:]
    /// How many rounds of lists there were before this one.
    package internal(set) var pullRound = 0
    /// How often a list was restarted because the server did not know its cursor.
    var restarts: [PullTarget: Int] = [:]
    /// Lists by folders or of changes that the run leaves before their end.
    package internal(set) var unended: [Listing] = []
    /// Lists by folders that went on where an earlier run left them, and begin anew after that.
    var continued: Set<PullTarget> = []
    /// Parts of collections whose lists failed in this run; the others go on.
    var pausedParts: Set<PullTarget> = []
    /// Trees that are listed whole after one of their folders.
    var walkedAfter: Set<CollectionName> = []
    /// Lists that could not be resumed, and whose first page has not come yet.
    var begunAnew: Set<PullTarget> = []
    /// Lists that an earlier run left unfinished and that can't be resumed any more.
    var discarded: Set<PullTarget> = []
    /// What lists share of a limit, and which of them wait for more of it.
    var shares = ListShares()
    /// Whether an entity became accessible, and whether the pull was restarted for it.
    var hasGained = false
    var hasRestarted = false

    /// The placeholders that were requested in this run, and whether what came may refer to more.
    var refetched: Set<EntityKey> = []
    var hasMoreToRefetch = false

    // MARK: What it knows of the push

    /// The round that is being sent; nil between two rounds.
    var planner: PushPlanner?
    /// Writes of trees that are on their way at the same time.
    var flight = WritesInFlight()
    /// Whether the server heeds preconditions, as far as that is known.
    var trial = PreconditionTrial()
    /// What is known of the server's room for files.
    var room = ServerRoom()
    /// What was listed of folders that are to be deleted.
    var deletions = ListedDeletions()
    /// What the server refused in trees, or had not to delete, of which the folders around it are
    /// still to be listed.
    var refusedInTrees: [EntityKey] = []
    /// What was made in trees and whose id of the server's is to be asked for, once all is sent.
    var made: [EntityKey] = []
    /// The entities that are read for that.
    var askedForIDs: Set<EntityKey> = []
    /// The trees of which one was read by itself first, and those of which the server told no ids.
    var triedForIDs: Set<CollectionName> = []
    var withoutIDs: Set<CollectionName> = []
    /// Whether the server had not at its path what was to be deleted.
    var missesDeleted = false
    /// The folders that were listed for that.
    var listedAround: Set<PullTarget> = []
    /// Whether lists are made for the push, which goes on after them.
    var isAmidPush = false
    /// How often an entity met a newer version, or was read for its version.
    var conflicts: [EntityKey: Int] = [:]
    /// The last write of an entity whose precondition did not hold, and how often this same write
    /// failed so.
    var conflicting: [EntityKey: (call: ServerCall, count: Int)] = [:]
    /// The promised answers that are asked for next, the next one last.
    var ticketsDue: [OpenTicket] = []
    /// How often each was asked for, by the request that it answers.
    var polls: [Position: Int] = [:]
    /// How often in a row the server failed when it was asked for one.
    var failedPolls: [Position: Int] = [:]
    /// Those that were promised in this run.
    var ownTickets: Set<Position> = []
    /// Those of them that are about deletions which come before anything else.
    var promisedDeletions: Set<Position> = []
    /// The collections of deletions that failed and come before anything else: others wait for
    /// them.
    var failedDeletions: Set<CollectionName> = []
    /// Those that are to be had by another word, at once.
    var namedAnew: Set<Position> = []
    /// Those that are asked for without a pause, as they waited together with another one.
    var rested: Set<Position> = []
    /// The entities whose write is not answered any more: what became of it is read back.
    var unsettled: Set<EntityKey> = []
    /// Those of them that are read by themselves.
    var readAlone: Set<EntityKey> = []
    /// What the server failed to tell of several together: it is asked for one by one at the end.
    var unreadTogether: [ReadBack] = []
    /// Collections of which only parts were not listed, as the server refuses these lists.
    var refusedParts: Set<CollectionName> = []
    /// The keys of pools that are still to be filled, the next one last; nil before they are looked
    /// up.
    var refills: [Refill]?
    /// Whether the server refused a batch, so that each write is sent by itself.
    var sendsAlone = false
    /// The entities whose promised answer was lost: each is sent by itself.
    var lostPromises: Set<EntityKey> = []
    /// What is done so that the server takes what it did not take.
    var remedies = Remedies()

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
        pulls = Self.targets(of: scope, in: model)
        unpulled = pulls[...]
        if traits.describesCollections, !pulls.isEmpty { describe = .describe(model.collections) }
    }

    /// The current list; nil between lists.
    package var list: Listing? { if case .listing(let list) = state { list } else { nil } }

    /// The current part of a feed; nil between them.
    package var feed: FeedListing? { if case .feeding(let feed) = state { feed } else { nil } }

    /// Whether it was kept from beginning, so that there is nothing to log.
    package private(set) var isHeld = false

    // MARK: Inputs

    /// Begins the run, or leaves it to a later one: then ``isHeld`` is true.
    ///
    /// - Parameters:
    ///   - gates: what keeps a run from beginning.
    ///   - pace: when requests may be sent. A pull of single collections does not begin if it would
    ///     have to wait before its first request.
    ///   - lists: the group of requests of each of its lists.
    package mutating func begin(
        _ gates: SyncGates, _ pace: RequestPace, lists: [RequestGroup?]
    ) -> SyncAction {
        guard case .beginning = awaited else { trap("begins twice") }
        let hold = gates.hold(triggers, at: begun)
        let isLight = scope.isPartialPull && !scope.isOfFolders
        let waits = isLight && !lists.isEmpty && pace.waitsToPull(lists)
        guard scope != .cleanUp, hold != nil || waits else { return decide() }
        isHeld = true
        outcome.failure = hold.map { SyncFailure($0) }
        if hold == nil { outcome.notDue = Set(pulls.map(\.collection)) }
        state = .ended
        return next()
    }

    /// Takes a fact from the views.
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
        case (.entities(let keys), .entities(let facts)):
            return readBack(keys, facts) ?? next()
        case (.parts(let name), .parts(let targets)):
            open(name, targets)
            return next()
        case (.standing(let target, _), .standing(let standing)):
            return begin(target, standing) ?? next()
        case (.contents(let plan), .contents(let contents)):
            goOver(to: Listing(plan, contents))
            return next()
        case (.absent(let list), .absent(let ids)): return finish(list, absent: ids) ?? next()
        case (.hasInReach(let name), .holds(let isThere)):
            hasRequired(isThere, in: name)
            return next()
        case (.placeholders, .placeholders(let due)):
            state = .refetching(questions(about: due).reversed())
            return next()
        case (.choices, .missing(let name)):
            chosen(missing: name)
            return next()
        case (.canPrune(let now), .holds(let isMuch)): return prune(isMuch, now) ?? next()
        case (.outbox(let queue), .outbox(let candidates, let rest)):
            if queue == nil { planner = PushPlanner(model, traits) }
            planner?.add(candidates, rest: rest)
            return next()
        case (.foldersAround, .parts(let targets)):
            list(around: targets)
            return next()
        case (.tickets, .tickets(let open)):
            if !take(open) { state = .refilling }
            return next()
        case (.pending(let candidate, _), .pending(let write)):
            return take(write, candidate.key) ?? next()
        case (.remedies, .remedies(let found)):
            take(found)
            return next()
        case (.pools, .pools(let facts)):
            plan(facts)
            return next()
        case (.failing, .failing(let calls)):
            late = calls.filter { isDue($0.key, .read) }.reversed()
            return next()
        case (.failed(let call), .entity(let facts)): return askLate(call, facts) ?? next()
        default: trap("is told \(Self.caseName(fact))")
        }
    }

    /// Ends the run because of something outside, or because its time is over.
    package mutating func end(_ failure: SyncFailure) -> SyncAction {
        outcome.failure = failure
        return next()
    }

    // MARK: Deciding

    /// Decides the next action, beginning with a look at the server's clock.
    mutating func decide() -> SyncAction {
        outcome.failure == nil ? look(.clock) : next()
    }

    mutating func look(_ lookup: SyncLookup) -> SyncAction {
        awaited = .fact(lookup)
        return .look(lookup)
    }

    mutating func perform(_ step: SyncStep) -> SyncAction {
        awaited = .result(step)
        pause = 0
        return .perform(step)
    }

    /// The next action in the run's current phase.
    mutating func next() -> SyncAction {
        while true {
            if !flight.isEmpty { return nextInFlight() }
            if outcome.failure != nil {
                leaveWalk()
                leaveChanges()
                noteCut()
                state = .ended
            }
            if case .ended = state {
                endWithoutRoom()
                return perform(.finish)
            }
            if case .begun = state { return look(.earlierRuns(scope, at: promiseTime)) }
            if logsStart {
                logsStart = false
                return perform(.start)
            }
            if let action = nextPoll() { return action }
            if let action = nextReadBack() { return action }
            if let action = nextRemedy() { return action }
            switch state {
            case .begun, .ended: break
            case .readingBack: trap("goes on while it reads back")
            case .describing:
                guard let call = describe else {
                    state = .combining
                    continue
                }
                describe = nil
                return perform(.describe(call))
            case .combining: if let action = combine() { return action }
            case .pulling: if let action = nextTarget() { return action }
            case .listing(let list): if let action = goOn(list) { return action }
            case .feeding(let feed): if let action = goOn(feed) { return action }
            case .listed(let collection): if let action = leave(collection) { return action }
            case .refetching(let questions):
                if let action = nextRefetch(questions) { return action }
            case .choosing: if let action = choose() { return action }
            case .pruning: if let action = beginPruning() { return action }
            case .pushing: if let action = nextPush() { return action }
            case .refilling:
                if listAfterPush() { continue }
                if let action = nextRefill() { return action }
            case .askingLate: if let action = nextLate() { return action }
            }
        }
    }

    /// Adopts what the log holds about the server's clock.
    private mutating func goBy(_ known: ServerClock) {
        clock = known
        guard known.course != nil else { return }
        if let seen = believed, known.believed == nil || known.agrees(seen) { return }
        believed = nil
        serverTime = known.time(at: begun)
    }

    /// Notes the server's time that an answer tells.
    mutating func hear(_ seen: ClockSighting) {
        heard = seen
        // A correction makes the earlier time void.
        if clock.see(seen, at: .start) != nil { serverTime = nil }
        guard !clock.isInDoubt, clock.agrees(seen) else { return }
        believed = seen
        serverTime = serverTime.map { max(seen.date, $0) } ?? seen.date
    }

    /// Ends the process, because the driver called the machine wrongly.
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
