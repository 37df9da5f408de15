// SyncDriver+Ahead.swift — several lists at once: asked for before their turn, persisted in the
// order of the model.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// Where lists that are asked for before their turn run, one step of one of them at a time.
///
/// What is answered at once is so answered in the order in which it was asked for, in each process
/// the same.
@globalActor private actor AheadLane {
    static let shared = AheadLane()
}

/// An answer to a list that was asked for before its turn.
struct AnsweredList: Sendable {
    var collection: CollectionName
    var answer: ServerAnswer
    /// What was sent; nil where no request could be made.
    var exchange: ReadExchange?
    /// Whether it was cut off because the run's time was over.
    var isCut = false
    /// In which round of the pull it was asked for, and with which credentials.
    var round = 0
    var proof = 0
    /// The how many-th of the run's lists that were asked for before their turn.
    var number = 0

    var endsRun: Bool {
        if case .failure(let failure) = answer { failure.stopsRun } else { false }
    }
}

/// The lists of a pull that were asked for before their turn.
struct ListsAhead {
    var graph: PullGraph
    var answered: [CollectionName: AnsweredList] = [:]
    let round: Int
    /// How often the credentials were others.
    var proof = 0
    /// How many requests have no answer yet, those of earlier rounds included.
    var open = 0
}

extension SyncDriver {
    /// What becomes of a list whose turn it is.
    enum Turn {
        case answered(AnsweredList)
        /// It is asked for by itself.
        case inLine
        /// What is next is decided anew.
        case anew
        case ended(SyncFailure)
    }

    /// Asks for lists as long as one more may be asked for, until the one whose turn it is has its
    /// answer.
    func turn(
        of list: Listing, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<AnsweredList, any Error>
    ) async throws -> Turn {
        if run.ahead?.round != run.machine.pullRound {
            if let turn = await beginRound(&run) { return turn }
        }
        guard model.settings.parallel > 1 else { return .inLine }
        let name = list.collection.name
        while var ahead = run.ahead {
            if let answered = ahead.answered.removeValue(forKey: name) {
                run.ahead = ahead
                return .answered(answered)
            }
            for ready in ahead.graph.ready {
                if run.window.wait(at: now(in: run)) > 0 {
                    // An answer may come sooner than the time.
                    if run.ahead?.open ?? 0 > 0 { break }
                    if case .failure(let failure) = await wait(&run) { return .ended(failure) }
                }
                if let left = run.time.left(at: run.moment),
                    left < SyncTime.requestTimeMin
                {
                    if run.ahead?.open ?? 0 > 0 { break }
                    return .ended(.deadline)
                }
                try ask(for: ready, &run, &group)
            }
            guard run.ahead?.open ?? 0 > 0 || run.ahead?.answered[name] != nil else {
                return .inLine
            }
            if run.ahead?.answered[name] == nil {
                try await takeNext(&run, &group)
            }
        }
        return .inLine
    }

    /// Begins a round of the pull: a pull of everything waits until all of its lists fit into the
    /// limits that ask for it, and is then decided anew.
    private func beginRound(_ run: inout SyncRun) async -> Turn? {
        let lists = run.machine.unlisted
        if case .all = run.machine.scope {
            switch await wait(&run, lists: lists.count) {
            case .failure(let failure): return .ended(failure)
            case .success(1...):
                run.machine.restartPull()
                return .anew
            case .success: break
            }
        }
        var ahead = ListsAhead(
            graph: PullGraph(lists, parallel: model.settings.parallel),
            round: run.machine.pullRound)
        // What was asked for before counts for nothing now.
        if let before = run.ahead {
            (ahead.open, ahead.proof) = (before.open, before.proof)
            for collection in model.collections {
                before.answered[collection.name].map { drop($0, &run) }
            }
        }
        run.ahead = ahead
        return nil
    }

    private func ask(
        for name: CollectionName, _ run: inout SyncRun,
        _ group: inout ThrowingTaskGroup<AnsweredList, any Error>
    ) throws {
        guard var ahead = run.ahead else { return }
        defer { run.ahead = ahead }
        ahead.graph.asked(name)
        var answered = AnsweredList(
            collection: name, answer: .failure(.cancelled), round: ahead.round, proof: ahead.proof)
        let machine = run.machine
        try host.willDecide()
        let (begun, asOf, list) = try journal.read { views in
            var machine = machine
            let list = try machine.beginEarly(name, views)
            return (machine, views.last, list)
        }
        run.machine = begun
        guard let call = list?.call else {
            // It is not to be pulled any more.
            ahead.graph.answered(name)
            return
        }
        let request: ServerRequest
        do { request = try adapter.request(for: call) } catch {
            answered.answer = .failure(error)
            ahead.graph.answered(name, endsRun: answered.endsRun)
            ahead.answered[name] = answered
            return
        }
        let question = SyncQuestion(
            step: .list(call), call: call, request: request, list: list, isAhead: true)
        let asking = try host.asking(question, asking(in: run, asOf: asOf))
        run.window.add(asking.sentAt)
        run.asked += 1
        run.open.append(run.asked)
        answered.number = run.asked
        ahead.open += 1
        let driver = limited(by: run.time)
        let (proof, blank, sent) = (run.proof.credentials, answered, run.moment)
        let work: @AheadLane @Sendable () async -> AnsweredList = {
            var answered = blank
            let (answer, record) = await driver.host.answer(
                question, asking, proof, driver.limits)
            answered.answer = answer
            answered.isCut = driver.isCut(answer, record, since: sent)
            answered.exchange = ReadExchange(
                key: nil, collection: name, request: request, sentAt: asking.sentAt,
                sentUptime: asking.sentUptime, asOf: asking.asOf, answer: record, settles: nil)
            return answered
        }
        group.addTask(operation: work)
    }

    /// Waits for the next answer, whosever it is.
    private func takeNext(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<AnsweredList, any Error>
    ) async throws {
        host.willTake()
        guard var answered = try await group.next() else { return }
        run.moment = dependencies.moment
        run.ahead?.open -= 1
        let place = run.open.firstIndex(of: answered.number) ?? 0
        run.open.remove(at: place)
        answered.exchange?.note.overtook = place
        guard var ahead = run.ahead, answered.round == ahead.round else {
            return drop(answered, &run)
        }
        if answered.answer == .failure(.unauthorized), answered.proof < ahead.proof {
            // The credentials are others by now.
            drop(answered, &run)
            ahead.graph.forget(answered.collection)
        } else {
            ahead.graph.answered(answered.collection, endsRun: answered.endsRun)
            ahead.answered[answered.collection] = answered
        }
        run.ahead = ahead
    }

    /// Waits until everything that was asked for has its answer.
    func settle(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<AnsweredList, any Error>
    ) async throws {
        while run.ahead?.open ?? 0 > 0 { try await takeNext(&run, &group) }
    }

    /// Hands an answer over at its turn.
    func take(_ answered: AnsweredList, _ step: SyncStep, _ run: inout SyncRun) async throws {
        guard var exchange = answered.exchange else {
            if case .failure(let failure) = answered.answer { run.machine.unsent(failure, step) }
            return
        }
        run.isCut = answered.isCut
        let seen = exchange.answer.sighting(begun: run.begun)
        exchange.isClockNews = run.machine.isClockNews(seen)
        let news = try await note(exchange, step, answered.answer, &run)
        run.machine.took(
            answered.answer, to: step, news: news, seen: seen, alert: exchange.answer.alert)
        if exchange.answer.isExposing { run.machine.exposes(step) }
    }

    /// Has the lists asked for once more that were refused for credentials that are others by now.
    func forgetRefused(_ run: inout SyncRun, _ name: CollectionName?) {
        guard var ahead = run.ahead else { return }
        ahead.proof += 1
        if let name { ahead.graph.forget(name) }
        for collection in model.collections {
            guard let answered = ahead.answered[collection.name],
                answered.answer == .failure(.unauthorized)
            else { continue }
            drop(answered, &run)
            ahead.answered[collection.name] = nil
            ahead.graph.forget(collection.name)
        }
        run.ahead = ahead
    }

    /// Ends what is still being asked for, and takes note of what was answered for nothing.
    func drop(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<AnsweredList, any Error>
    ) async throws {
        guard let ahead = run.ahead else { return }
        group.cancelAll()
        for collection in model.collections {
            ahead.answered[collection.name].map { drop($0, &run) }
        }
        run.ahead?.answered = [:]
        var left: [AnsweredList] = []
        while let answered = try await group.next() { left.append(answered) }
        for answered in left.sorted(by: { $0.number < $1.number }) { drop(answered, &run) }
    }

    private func drop(_ answered: AnsweredList, _ run: inout SyncRun) {
        guard let exchange = answered.exchange else { return }
        run.recorder.note(exchange)
        run.machine.dropped()
    }
}
