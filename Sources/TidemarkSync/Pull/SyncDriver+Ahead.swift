// SyncDriver+Ahead.swift — several lists at once: prefetched in parallel, logged in the order of
// the model. The folders of one list are in SyncDriver+Folders.swift.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// The actor on which requests run that are open at the same time, one step of one at a time.
///
/// Answers that come at once therefore come in the order of their requests, in every process alike.
@globalActor actor AheadLane {
    static let shared = AheadLane()
}

/// The answer to a prefetched list.
struct AnsweredList: Sendable {
    var target: PullTarget
    /// Of a list by folders, the folder; nil for the list's first request.
    var folder: FolderAhead?
    var answer: ServerAnswer
    /// What was sent; nil where no request could be made.
    var exchange: ReadExchange?
    /// Whether it was cut off by the run's deadline.
    var isCut = false
    /// Whether it was not requested, as its group of requests has no room.
    var isHeld = false
    /// The round of the pull in which it was requested, and the number of its credentials.
    var round = 0
    var proof = 0
    /// The index of the prefetched list within the run.
    var number = 0

    var endsRun: Bool {
        guard case .failure(let failure) = answer else { return false }
        return failure.stopsRun && !isHeld && exchange?.answer.exhausted == nil
    }
}

/// The prefetched lists of a pull.
struct ListsAhead {
    /// The next step of the prefetch.
    enum Next {
        /// The current list has its answer.
        case take(AnsweredList)
        /// Request one more list.
        case ask(PullTarget)
        /// Leave a list to a later run.
        case hold(PullTarget, SyncFailure)
        /// Wait until the limits allow one more request of a group.
        case wait(RequestGroup?)
        /// Wait for an answer.
        case await
        /// The current list is requested without prefetching.
        case inLine
        case end(SyncFailure)
    }

    var graph: PullGraph
    var answered: [PullTarget: AnsweredList] = [:]
    let round: Int
    /// How often the credentials were renewed.
    var proof = 0
    /// How many requests have no answer yet, those of earlier rounds included.
    var open = 0
    /// The group of requests of each list.
    var groups: [PullTarget: RequestGroup] = [:]
    /// The folders of the current list.
    var folders = FoldersAhead()

    /// The next step, until the current list has its answer.
    func next(_ target: PullTarget, _ pace: RequestPace, at moment: Moment) -> Next {
        if let answered = answered[target] { return .take(answered) }
        let ready = graph.ready
        let verdicts = ready.map { pace.verdict(at: moment, for: groups[$0]) }
        for (ready, verdict) in zip(ready, verdicts) {
            if case .hold(let failure) = verdict { return .hold(ready, failure) }
        }
        let free = verdicts.firstIndex(of: .go)
        if let free, !pace.isOver(at: moment) { return .ask(ready[free]) }
        guard let first = ready.first else { return open > 0 ? .await : .inLine }
        // An answer may come sooner than the time.
        guard open == 0 else { return .await }
        return free != nil ? .end(.deadline) : .wait(groups[first])
    }
}

extension SyncDriver {
    /// How the current list goes on.
    enum Turn {
        case answered(AnsweredList)
        /// It is requested without prefetching.
        case inLine
        /// The next step was decided again.
        case anew(SyncAction)
        /// It is left to a later run.
        case held(SyncFailure)
        case ended(SyncFailure)
    }

    /// Prefetches lists, as many as may be open at once, until the current one has its answer.
    func turn(
        of list: Listing, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws -> Turn {
        if run.ahead?.round != run.machine.pullRound {
            if let turn = await beginRound(&run) { return turn }
        } else if run.machine.hasOpened {
            goOn(with: run.machine.unlisted, &run)
        }
        guard model.settings.parallel > 1 else { return .inLine }
        run.ahead?.graph.goOn(to: list.target)
        while let ahead = run.ahead {
            switch ahead.next(list.target, run.pace, at: run.moment) {
            case .take(let answered):
                run.ahead?.answered[list.target] = nil
                if answered.isHeld, case .failure(let failure) = answered.answer {
                    return .held(failure)
                }
                return .answered(answered)
            case .ask(let target): try ask(for: target, &run, &group)
            case .hold(let target, let failure): hold(target, failure, &run)
            case .wait(let counted):
                switch await wait(&run, { $0.verdict(at: $1, for: counted, slept: $2) }) {
                case .ended(let failure): return .ended(failure)
                // What is to be held is found out once more.
                case .held, .over: break
                }
            case .await: try await takeNext(&run, &group)
            case .inLine: return .inLine
            case .end(let failure): return .ended(failure)
            }
        }
        return .inLine
    }

    /// Begins a round of the pull.
    ///
    /// Where a limit asks for it, a pull of everything waits until all of its lists fit into the
    /// limit, and is then decided again.
    private func beginRound(_ run: inout SyncRun) async -> Turn? {
        let lists = run.machine.unlisted
        let groups = groups(of: lists)
        if case .all = run.machine.scope {
            for group in groups {
                let own = groups.filter { $0 == group }
                if case .hold(let failure) = run.pace.verdict(at: run.moment, pulling: own) {
                    let held = zip(lists, groups).filter { $0.1 == group }.map(\.0.collection)
                    return .anew(run.machine.held(failure, lists: held))
                }
            }
            switch await wait(&run, { $0.verdict(at: $1, pulling: groups, slept: $2) }) {
            case .ended(let failure), .held(let failure): return .ended(failure)
            case .over(1...): return .anew(run.machine.waitedToPull())
            case .over: break
            }
        }
        // What an answer shows only in part adds to what the list before showed.
        var ahead = ListsAhead(
            graph: PullGraph(
                [], model, parallel: model.settings.parallel,
                inTurn: adapter.traits.shownInPart),
            round: run.machine.pullRound)
        add(lists, to: &ahead)
        // Answers of the round before are discarded.
        if let before = run.ahead {
            (ahead.open, ahead.proof, ahead.folders) = (before.open, before.proof, before.folders)
            for answered in before.inOrder { drop(answered, &run) }
        }
        run.ahead = ahead
        return nil
    }

    /// Adds the lists that have become known since the round began, where there are any.
    private func goOn(with lists: [PullTarget], _ run: inout SyncRun) {
        guard var ahead = run.ahead, let first = lists.first, !ahead.graph.has(first) else {
            return
        }
        add(lists, to: &ahead)
        run.ahead = ahead
    }

    /// Adds lists, but for those behind one whose parameters are not known yet: what it comes after
    /// is not known either.
    private func add(_ lists: [PullTarget], to ahead: inout ListsAhead) {
        let known = Array(lists.prefix { !$0.isOpen })
        ahead.graph.add(known, model)
        for (target, group) in zip(known, groups(of: known)) { ahead.groups[target] = group }
    }

    /// Leaves a list to a later run, as its group of requests has no room.
    private func hold(_ target: PullTarget, _ failure: SyncFailure, _ run: inout SyncRun) {
        guard var ahead = run.ahead else { return }
        var held = AnsweredList(target: target, answer: .failure(failure))
        held.isHeld = true
        ahead.graph.answered(target)
        ahead.answered[target] = held
        run.ahead = ahead
    }

    private func ask(
        for target: PullTarget, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) throws {
        guard var ahead = run.ahead else { return }
        defer { run.ahead = ahead }
        ahead.graph.asked(target)
        var answered = AnsweredList(
            target: target, answer: .failure(.cancelled), round: ahead.round, proof: ahead.proof)
        let (list, asOf) = try host.read(journal) { views in
            (try begin(target, &run.machine, views), views.last)
        }
        guard let list, let call = list.call else {
            // It is not to be listed any more.
            ahead.graph.answered(target)
            return
        }
        do {
            try send(call, asOf: asOf, as: &answered, &ahead, &run, &group)
        } catch let error as SyncFailure {
            answered.answer = .failure(error)
            ahead.graph.answered(target, endsRun: answered.endsRun)
            ahead.answered[target] = answered
        }
    }

    /// Sends the request of a list, or of a folder, without waiting for its answer.
    ///
    /// - Throws: ``SyncFailure`` where no request can be made of the call.
    func send(
        _ call: ServerCall, asOf: Position, as answered: inout AnsweredList,
        _ ahead: inout ListsAhead, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) throws {
        let request = try adapter.request(for: call)
        let question = question(.list(call), call, request, asOf: asOf, isAhead: true, in: run)
        let driver = limited(for: question.step, in: run)
        let reply = try driver.host.ask(question, run.proof.credentials, driver.limits)
        run.pace.sent(at: reply.sentAt, of: question.group)
        run.asked += 1
        run.open.append(run.asked)
        answered.number = run.asked
        ahead.open += 1
        let (blank, sent) = (answered, run.moment)
        let work: @AheadLane @Sendable () async -> Arrival = {
            var answered = blank
            let (answer, record) = await reply.answer()
            answered.answer = answer
            answered.isCut = driver.isCut(answer, record, to: question, since: sent)
            answered.exchange = ReadExchange(question, reply, record)
            return .list(answered)
        }
        group.addTask(operation: work)
    }

    /// The list of a target, begun ahead unless it is the current one; nil where the target is no
    /// longer to be listed.
    private func begin(
        _ target: PullTarget, _ machine: inout SyncMachine, _ views: ViewReader
    ) throws -> Listing? {
        if let list = machine.begunList(of: target) { return list }
        guard let collection = model[target.collection],
            let plan = machine.planEarly(
                target, try views.standing(of: target, collection, at: machine.promiseTime))
        else { return nil }
        return machine.beginEarly(plan, try views.contents(of: plan, adapter))
    }

    /// Waits for the next answer of any list.
    func takeNext(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws {
        guard case .list(let answered)? = try await host.next(of: &group) else { return }
        arrived(answered, &run)
    }

    /// Keeps the answer of a list until its turn comes.
    func arrived(_ answered: AnsweredList, _ run: inout SyncRun) {
        var answered = answered
        run.moment = dependencies.moment
        run.ahead?.open -= 1
        let place = run.open.firstIndex(of: answered.number) ?? 0
        run.open.remove(at: place)
        answered.exchange?.overtook = place
        if let answer = answered.exchange?.answer { run.hold(answer) }
        if let folder = answered.folder { return take(answered, of: folder, &run) }
        guard var ahead = run.ahead, answered.round == ahead.round else {
            return drop(answered, &run)
        }
        if answered.answer == .failure(.unauthorized), answered.proof < ahead.proof {
            // The credentials were renewed since.
            drop(answered, &run)
            ahead.graph.forget(answered.target)
        } else {
            ahead.graph.answered(answered.target, endsRun: answered.endsRun)
            ahead.answered[answered.target] = answered
        }
        run.ahead = ahead
    }

    /// Waits until all open requests are answered.
    func settle(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws {
        while run.ahead?.open ?? 0 > 0 { try await takeNext(&run, &group) }
    }

    /// Processes an answer when its list is the current one.
    func take(
        _ answered: AnsweredList, _ step: SyncStep, _ run: inout SyncRun
    ) async throws -> SyncAction {
        guard let exchange = answered.exchange else {
            guard case .failure(let failure) = answered.answer else {
                preconditionFailure("an answer without a request")
            }
            return run.machine.unsent(failure)
        }
        return try await took(exchange, step, answered.answer, isCut: answered.isCut, &run)
    }

    /// Requests lists again that were refused for credentials which were renewed since.
    func forgetRefused(_ run: inout SyncRun, _ target: PullTarget?) {
        guard var ahead = run.ahead else { return }
        ahead.proof += 1
        if let target { ahead.graph.forget(target) }
        for answered in ahead.inOrder where answered.answer == .failure(.unauthorized) {
            drop(answered, &run)
            ahead.answered[answered.target] = nil
            ahead.graph.forget(answered.target)
        }
        for answered in ahead.folders.forgetRefused() { drop(answered, &run) }
        run.ahead = ahead
    }

    /// Cancels open requests, and counts answers that are not used.
    func drop(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws {
        guard let ahead = run.ahead else { return }
        group.cancelAll()
        for answered in ahead.inOrder + ahead.folders.inOrder { drop(answered, &run) }
        run.ahead?.answered = [:]
        run.ahead?.folders = FoldersAhead()
        var left: [AnsweredList] = []
        while let arrival = try await group.next() {
            if case .list(let answered) = arrival { left.append(answered) }
        }
        for answered in left.sorted(by: { $0.number < $1.number }) { drop(answered, &run) }
    }

    func drop(_ answered: AnsweredList, _ run: inout SyncRun) {
        guard let exchange = answered.exchange else { return }
        run.recorder.note(exchange)
        run.machine.countRequest()
    }
}

extension ListsAhead {
    /// Answers that were not processed, in the order in which lists are logged.
    fileprivate var inOrder: [AnsweredList] { graph.targets.compactMap { answered[$0] } }
}
