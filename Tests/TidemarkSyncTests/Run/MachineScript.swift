// MachineScript.swift — a run that is driven by hand: what the views and the server say to it is a
// value, and what it asks for a list of words.

import TidemarkEvents
import TidemarkRules

@testable import TidemarkSync
@testable import TidemarkViews

/// Drives a run from its beginning to its end, and writes down its steps.
struct MachineScript {
    /// What comes of a step instead of the usual answer.
    enum Reply {
        case answer(ServerAnswer)
        /// A promised answer that says too little of some entities.
        case overtook(ServerAnswer, [EntityKey])
        /// An answer that brought something into reach.
        case gain
        /// No answer, because the run's time was over.
        case cut
        /// A rule of the app did not answer.
        case withheld(CollectionName)
        /// No request could be made.
        case unsent(SyncFailure)
        /// An edit came in between.
        case overtaken
        /// Its group of requests has no room.
        case held(SyncFailure)
        /// The app has no other credentials.
        case notRenewed
    }

    var machine: SyncMachine

    // What the views say.
    var gates = SyncGates()
    var pace = RequestPace(
        RequestWindows([]), begun: Self.begun, time: SyncTime(from: Self.begun, deadline: nil))
    var clock: ServerClock?
    var earlier = EarlierRuns()
    var entities: [EntityKey: EntityFacts] = [:]
    /// The lists of collections whose parameters come from documents.
    var parts: [CollectionName: [PullTarget]] = [:]
    /// The lists that documents name once a step was taken, by its words.
    var partsAfter: [String: [PullTarget]] = [:]
    var marks: [CollectionName: WatermarkRow] = [:]
    var owed: Set<CollectionName> = []
    var feeds: [CollectionName: FeedStanding] = [:]
    /// Collections with a write that a list settles.
    var unanswered: Set<CollectionName> = []
    var known: [CollectionName: [String]] = [:]
    var absent: [CollectionName: [String]] = [:]
    var isHere = true
    var placeholders: [PlaceholderFacts] = []
    var missing: String?
    var canPrune = false
    /// A collection whose rule does not answer when a list of it ends.
    var ruleless: CollectionName?
    var pending: [PendingWrite] = []
    /// What the server promised.
    var tickets: [OpenTicket] = []
    /// The deletions that failed, and that others wait for.
    var awaited: Set<EntityKey> = []
    /// The request of its next promise.
    private var promised: UInt64 = 50
    var pools: [PoolFacts] = []
    /// What is done about writes that the server did not take.
    var remedies: ([UntakenWrite]) -> [Remedy] = { _ in [] }

    /// What comes of steps, by their words, in order.
    var replies: [String: [Reply]] = [:]
    /// What was asked for, in words.
    private(set) var steps: [String] = []
    /// Whether its start was to be logged before that.
    private(set) var hasStarted = false
    /// How many folders it last wanted to list amid the push, at the most; nil for never.
    private(set) var foldersMax: Int?

    static let begun = Moment(
        now: Timestamp(rawValue: 1_700_000_000_000_000), bootID: "boot", uptime: 1_000_000)

    init(
        _ collections: [CollectionModel] = [CollectionModel("lists"), CollectionModel("tasks")],
        traits: ServerTraits = ServerTraits(), triggers: [SyncTrigger] = [.timer],
        scope: SyncScope = .all, isFull: Bool = false,
        settings: SyncSettings = SyncSettings(), pools: [SyncModel.Pool] = []
    ) {
        var model = SyncModel(name: "script", collections: collections, pools: pools)
        model.settings = settings
        machine = SyncMachine(
            model: model, traits: traits, triggers: triggers, isFull: isFull, scope: scope,
            begun: Self.begun)
    }

    /// The steps of the whole run, in words, the end included.
    mutating func run() -> [String] {
        var action = machine.begin(gates, pace, lists: machine.unlisted.map { _ in nil })
        while steps.count < 100 {
            switch action {
            case .look(let lookup):
                if case .foldersAround(_, let atMost) = lookup { foldersMax = atMost }
                action = machine.learned(fact(lookup))
            case .perform(.start):
                hasStarted = true
                action = machine.started()
            case .perform(.finish):
                steps.append(machine.outcome.failure.map { "end \($0.kind)" } ?? "end")
                return steps
            case .perform(let step):
                let pause = machine.pause > 0 ? "after \(machine.pause) s " : ""
                steps.append(pause + step.words)
                action = reply(to: step)
            }
        }
        return steps + ["…"]
    }

    // MARK: The views

    private func fact(_ lookup: SyncLookup) -> SyncFact {
        switch lookup {
        case .clock: .clock(clock)
        case .earlierRuns: .earlierRuns(earlier)
        case .entity(let key): .entity(facts(key))
        case .entities(let keys): .entities(keys.map { facts($0) })
        case .failed(let call): .entity(facts(call.key))
        case .parts(let name):
            .parts(
                (parts[name] ?? [])
                    + Set(steps).flatMap { partsAfter[$0] ?? [] }.filter { $0.collection == name })
        case .standing(let target, _): .standing(standing(target.collection))
        case .contents(let plan):
            .contents(
                ListContents(
                    known: plan.comparesKnown
                        ? Set(known[plan.collection.name, default: []].map { ExactString($0) })
                        : []))
        // What was read back is gone, or newer than the list.
        case .absent(let list):
            .absent(
                (absent[list.collection.name] ?? []).filter {
                    !steps.contains("read \(list.collection.name)/\($0)")
                })
        case .hasInReach: .holds(isHere)
        case .placeholders: .placeholders(placeholders)
        case .choices: .missing(missing)
        case .canPrune: .holds(canPrune)
        case .outbox:
            .outbox(
                pending.map {
                    var candidate = PushCandidate($0.key, isDeletion: $0.isDeletion)
                    candidate.isAwaited = awaited.contains($0.key)
                    return candidate
                }, rest: nil)
        case .pending(let candidate, let isRetried):
            .pending(pending.first { $0.key == candidate.key && (isRetried || !$0.wasRefused) })
        case .remedies(let writes): .remedies(remedies(writes))
        case .pools(let keys, _):
            .pools(pools.filter { keys?.contains($0.key) ?? true })
        case .failing: .failing(earlier.failing.filter { !$0.isList })
        case .foldersAround: .parts([])
        case .tickets: .tickets(tickets)
        }
    }

    private func facts(_ key: EntityKey) -> EntityFacts {
        entities[key] ?? EntityFacts(serverID: key.id)
    }

    private func standing(_ name: CollectionName) -> ListStanding {
        var standing = ListStanding(last: Position(9))
        standing.mark = marks[name]
        standing.isOwed = owed.contains(name)
        standing.feed = feeds[name] ?? FeedStanding()
        standing.hasUnanswered = unanswered.contains(name)
        return standing
    }

    // MARK: The server

    private mutating func reply(to step: SyncStep) -> SyncAction {
        let own = replies[step.words]?.isEmpty == false ? replies[step.words]?.removeFirst() : nil
        switch own {
        case .unsent(let failure): return machine.unsent(failure)
        case .overtaken: return machine.overtaken()
        case .held(let failure): return machine.held(failure)
        case .notRenewed: return machine.end(.unauthorized)
        case .cut:
            var result = CallResult(.failure(.timeout("")))
            result.isCut = true
            return machine.answered(result)
        case .answer(let answer): return answered(answer, step)
        case .overtook(let answer, let keys):
            return answered(answer, step) { $0.page.overtaken = keys }
        case .gain: return answered(usual(step), step) { $0.page.isGain = true }
        case .withheld(let name):
            return answered(usual(step), step) { $0.withheld = [name: .ruleMissing("merge")] }
        case nil: break
        }
        switch step {
        case .complete(let list):
            let ids = absent[list.collection.name] ?? []
            var gone = Absent()
            if case .held = list.sweep(absent: ids) { (gone.ids, gone.isHeld) = (ids, true) }
            let withheld = ruleless.map { [$0: SyncFailure.ruleMissing("merge")] } ?? [:]
            return machine.completed(gone, withheld: withheld)
        case .cleanUp: return machine.cleanedUp()
        case .renew: return machine.renewed()
        case .push(let items) where items.allSatisfy({ $0.refusal != nil }):
            for item in items { machine.refused(item) }
            settle(items.map(\.key))
            return machine.sentNothing()
        case .push(let items):
            // The driver refuses by itself, and sends the others.
            let refused = items.filter { $0.refusal != nil }
            for item in refused { machine.refused(item) }
            settle(refused.map(\.key))
            let sent = SyncStep.push(items.filter { $0.refusal == nil })
            return answered(usual(sent), sent)
        default: return answered(usual(step), step)
        }
    }

    private mutating func answered(
        _ answer: ServerAnswer, _ step: SyncStep, _ change: (inout CallResult) -> Void = { _ in }
    ) -> SyncAction {
        var result = CallResult(answer)
        if case .page(let page) = answer, var list = machine.list {
            result.page.named = Set(
                (page.records.map(\.id) + page.references.map(\.id)).map { ExactString($0) })
            result.page.wanted = page.references
            result.page.isComplete = list.isLast(page, result.page)
            result.page.isCut = list.lacksChanges(page)
            result.page.failure = list.took(page, result.page)
            result.page.list = list
        }
        // Of a feed one block is all there is.
        if case .page = answer, var feed = machine.feed {
            feed.isOver = true
            result.page.feed = feed
        }
        if case .push(let items) = step {
            switch answer {
            case .refused:
                // It stays in the outbox, and waits for the user.
                for item in items {
                    for place in pending.indices where pending[place].key == item.key {
                        pending[place].wasRefused = true
                    }
                }
            case .stored, .record, .deleted: settle(items.map(\.key))
            case .deferred:
                result.sent = Position(promised)
                promised += 10
                settle(items.map(\.key))
            case .batch(let answers):
                for (item, part) in zip(items, answers) {
                    if case .stored = part.answer { settle([item.key]) }
                }
            default: break
            }
        }
        if case .poll(let ticket, _) = step {
            switch answer {
            case .batch, .absent: tickets.removeAll { $0.call == ticket.call }
            default: break
            }
        }
        change(&result)
        return machine.answered(result)
    }

    /// Takes out of the outbox what has an outcome.
    private mutating func settle(_ keys: [EntityKey]) {
        pending.removeAll { keys.contains($0.key) }
    }

    private func usual(_ step: SyncStep) -> ServerAnswer {
        switch step {
        case .describe: .description([])
        case .combine: .combined([])
        case .list, .feed: .page(ListPage(records: [], next: nil, cursor: nil))
        case .fetch, .refetch, .readBackAll: .records([])
        case .readBack, .compare: .absent
        case .push(let items) where items.count == 1: .stored(id: items[0].key.id, nil)
        case .push(let items):
            .batch(items.map { BatchedAnswer(status: 200, .stored(id: $0.key.id, nil)) })
        case .poll: .waiting
        case .refill: .reserved(ReservedValues(pattern: nil, values: []))
        case .remedy(let remedy): .stored(id: remedy.key.id, nil)
        case .complete, .receive, .cleanUp, .renew, .start, .finish: .absent
        }
    }
}

extension SyncStep {
    /// The step in words.
    var words: String {
        switch self {
        case .describe(.describe(_, let page?)): "describe page \(page)"
        case .describe: "describe"
        case .receive: "receive"
        case .combine(.combined(let collections)):
            "combine " + collections.map(\.name.rawValue).joined(separator: ",")
        case .combine: "combine"
        case .list(.list(let collection, let after, let page)):
            "list \(collection.name)" + (after.map { " after \($0)" } ?? "")
                + (page.map { " page \($0)" } ?? "")
        case .feed(.feed(let collection, let block)): "feed \(collection.name) \(block.bound)"
        case .list(let call), .feed(let call): "list \(call.collection?.name ?? "")"
        case .fetch(let collection, let ids):
            "fetch \(collection.name)/\(ids.joined(separator: ","))"
        case .refetch(let collection, let ids, let together):
            "refetch \(collection.name)/\(ids.joined(separator: ","))"
                + (together.map { " of \($0)" } ?? "")
        case .readBackAll(let collection, let items):
            "read \(collection.name)/\(items.map(\.id).joined(separator: ",")) sent"
        case .readBack(let key, _, let attempt): "read \(key)" + (attempt == nil ? "" : " sent")
        case .compare(let proof): "compare \(proof.key)"
        case .complete(let list): "complete \(list.target)"
        case .poll(let ticket, let seconds): "poll \(ticket.ticket) after \(seconds) s"
        case .cleanUp: "clean up"
        case .push(let items):
            (items.allSatisfy { $0.refusal != nil } ? "refuse " : "push ")
                + items.map { "\($0.key)" }.joined(separator: ",")
        case .refill(let refill): "reserve \(refill.count) \(refill.key)"
        case .remedy(let remedy): remedy.name
        case .renew: "renew"
        case .start: "start"
        case .finish: "end"
        }
    }
}

extension PendingWrite {
    /// What was made here and never sent, or changed or deleted of what the server has.
    init(_ key: EntityKey, _ change: PushOperation, needs: [EntityKey] = []) {
        self.init(
            key, isLive: change != .create, revision: change == .create ? nil : Revision("1"),
            covers: [Position(5)])
        let body = Array(#"{"id":"\#(key.id)"}"#.utf8)
        write =
            switch change {
            case .create: .create(body: body)
            case .update: .update(body: body, changes: body, revision: Revision("1"))
            case .delete: .delete(revision: Revision("1"))
            }
        self.needs = needs
    }

    var isDeletion: Bool { if case .delete? = write { true } else { false } }
}

extension PushCandidate {
    init(_ key: EntityKey, isDeletion: Bool = false) {
        self.init(key: key, first: Position(5), isDeletion: isDeletion, attempts: 0)
    }
}
