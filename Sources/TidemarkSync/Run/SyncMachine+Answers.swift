// SyncMachine+Answers.swift — what an answer means for the rest of a run.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// The result of a call.
package struct CallResult: Sendable {
    package var answer: ServerAnswer
    /// Of a push, the request in the log.
    package var sent: Position?
    /// Of a push, the request of each write in the log: the same one unless it is a batch.
    package var calls: [Position] = []
    /// The result of a page or a fetch.
    package var page = PageResult()
    /// What the server's clock showed, where the answer tells that.
    package var seen: ClockSighting?
    /// A notice of the server to the operator of the app.
    package var alert: String?
    /// Whether a document in the answer holds the credentials.
    package var isExposing = false
    /// Whether it was cut off by the run's deadline.
    package var isCut = false
    /// The group of requests whose quota the answer says is used up.
    package var exhausted: RequestGroup?
    /// Collections in which a server's change was not taken: a rule of the app did not answer.
    package var withheld: [CollectionName: SyncFailure] = [:]

    package init(_ answer: ServerAnswer) { self.answer = answer }
}

extension SyncMachine {
    // MARK: Inputs

    /// Takes the result of a call.
    package mutating func answered(_ result: CallResult) -> SyncAction {
        if case .result(.receive) = awaited { land(result.sent) }
        guard case .result(let step) = awaited, step.call != nil else { trap("called nobody") }
        if let alert = result.alert { outcome.alert = alert }
        outcome.counts.requests += 1
        outcome.counts.pulled += result.page.count
        if result.page.isGain { hasGained = true }
        if let seen = result.seen { hear(seen) }
        if case .failure(let failure) = result.answer, result.exhausted != nil {
            // The server answered; what needs another group goes on.
            streak.answered()
            holdBack(step, failure)
        } else if case .failure(let failure) = result.answer {
            // What the end of the run cuts off is no failure of a list.
            if !result.isCut || !step.isOfList { failed(failure, step) }
        } else {
            failedLast = nil
            streak.answered()
            took(result, step)
        }
        if result.isExposing, let collection = step.call?.collection {
            outcome.exposed.insert(collection.name)
        }
        withhold(result.withheld)
        if result.isCut { outcome.failure = .deadline }
        return goOn(after: step)
    }

    /// No request could be made of a call.
    package mutating func unsent(_ failure: SyncFailure) -> SyncAction {
        guard case .result(let step) = awaited, step.call != nil else { trap("called nobody") }
        failedLast = failure
        if case .list = step, beginsAnew(after: failure) {
            startAnew()
        } else if case .push(let items) = step, items.count > 1, !failure.stopsRun {
            // Each can be sent by itself, but not all of them together.
            sendsAlone = true
        } else if failure.stopsRun {
            outcome.failure = failure
        } else if case .readBackAll(_, let items) = step {
            readAlone(items)
        } else if case .readBack(let key, _, nil) = step, list?.readsBack(key) == true,
            !toldInPart.contains(key)
        {
            change { $0.cannotAsk(key.id) }
        } else if !refetchAlone(step, after: failure) {
            passOver(step, failure)
        }
        return goOn(after: step)
    }

    /// The credentials were renewed: the refused step is repeated.
    package mutating func renewed() -> SyncAction {
        guard case .result(.renew(let step)) = awaited else { trap("renewed nothing") }
        outcome.failure = nil
        putBack(step)
        return decide()
    }

    private mutating func goOn(after step: SyncStep) -> SyncAction {
        // Other credentials are asked for once nothing is on its way with these.
        outcome.failure == .unauthorized && flight.isEmpty ? perform(.renew(step)) : decide()
    }

    /// Blocks writes to collections for the rest of the run; the others go on.
    mutating func withhold(_ failures: [CollectionName: SyncFailure]) {
        outcome.failed.merge(failures) { known, _ in known }
        withheld.formUnion(failures.keys)
    }

    // MARK: What came

    private mutating func took(_ result: CallResult, _ step: SyncStep) {
        switch (step, result.answer) {
        case (.describe, .description(let list, let next)):
            for described in list { epochs[described.name] = described.epoch }
            describe = nextDescribe(next)
        case (.list, .page), (.list, .absent): took(result.page)
        case (.list, .cursorExpired): startAnew()
        case (.list, _): tookNothing()
        case (.feed, _): tookBlock(result.page)
        case (.fetch(_, let ids), _): change { $0.fetched(ids) }
        case (.readBack, _) where result.page.proof != nil,
            (.compare, _) where result.page.proof != nil:
            if let proof = result.page.proof { proofs.append(proof) }
            if case .readBack(let key, _, _) = step { askedForIDs.remove(key) }
        case (.readBack(let key, _, let attempt), _) where result.page.other != nil:
            if let call = result.page.other {
                toldInPart.insert(key)
                askedAnew.append(.readBack(key, call, attempt: attempt))
            }
        case (.readBack(let key, _, let attempt), _) where result.page.isPutOff:
            putOff(key, attempt)
        case (.readBack(let key, _, _), let answer) where askedForIDs.contains(key):
            tookID(of: key, answer)
        case (.readBack, _), (.compare, _):
            outcome.counts.readBack += 1
            // The answer may have released pending writes.
            if case .askingLate = state { state = .pushing }
        case (.readBackAll(_, let items), .records(let records)):
            let found = Set(records.map { ExactString($0.id) })
            let missing = items.filter { !found.contains(ExactString($0.id)) }
            outcome.counts.readBack += items.count - missing.count
            readAlone(missing)
        case (.readBackAll, _): break
        case (.push(let items), .deferred):
            if let sent = result.sent { promised(items, as: sent) }
        case (.push(let items), .batch(let answers)):
            for (item, answered) in zip(items, answers) { pushed(item, answered.answer) }
            for (index, call) in result.calls.enumerated() where index < answers.count {
                if case .deferred = answers[index].answer { promised([items[index]], as: call) }
            }
        case (.push(let items), _): for item in items { pushed(item, result.answer) }
        case (.poll(let ticket, _), let answer):
            took(answer, of: ticket, overtaken: result.page.overtaken)
        case (.refill, _):
            if let refill = result.page.refill { outcome.refills.append(refill) }
        case (.remedy(let remedy), let answer): took(answer, of: remedy)
        case (.describe, _), (.combine, _), (.refetch, _): break
        case (.receive, _), (.complete, _), (.cleanUp, _), (.renew, _), (.start, _), (.finish, _):
            trap("answered a step")
        }
        if case .list = step, let time = sureTime, list != nil, list?.serverTime == nil {
            change { $0.serverTime = time }
        }
    }

    /// How many pages the list of the server's collections may have.
    private static let describedMax = 100

    /// The call for the next page of the epochs; nil where all that the model names are known, and
    /// where the pages lead in a circle or don't end.
    private mutating func nextDescribe(_ next: String?) -> ServerCall? {
        guard let next, model.collections.contains(where: { epochs[$0.name] == nil }),
            described.count < Self.describedMax,
            described.insert(ExactString(next)).inserted
        else { return nil }
        return .describe(model.collections, page: next)
    }

    private mutating func tookNothing() {
        var wasAsked = false
        change { wasAsked = $0.tookNothing() }
        if !wasAsked {
            pauseList(.malformed("nothing is said to have changed since nothing"))
        }
    }

    /// Changes the current list.
    mutating func change(_ body: (inout Listing) -> Void) {
        guard case .listing(var list) = state else { trap("changes no list") }
        // Keeps the list's storage uniquely referenced while it is changed.
        state = .pulling
        body(&list)
        state = .listing(list)
    }

    /// Repeats a step later.
    private mutating func putBack(_ step: SyncStep) {
        switch step {
        case .describe(let call): describe = call
        case .combine: state = .combining
        case .readBack(let key, _, _):
            switch state {
            case .readingBack(let keys): state = .readingBack(keys + [key])
            case .askingLate:
                guard let row = failing[key] else { return asked.append(key) }
                late?.append(FailingCall(key: key, row: row))
            case .begun, .describing, .combining, .pulling, .listing, .feeding, .listed,
                .refetching, .choosing, .pruning, .pushing, .refilling, .ended:
                asked.append(key)
            }
        case .compare(let proof): proofs.append(proof)
        case .push: planAnew()
        case .readBackAll(_, let items): putBack(items.map(\.key))
        case .poll(let ticket, _): ticketsDue.append(ticket)
        case .refill(let refill): refills?.append(refill)
        case .remedy(let remedy): putBack(remedy)
        case .refetch(let collection, let ids, let together):
            guard case .refetching(let questions) = state else { trap("asked for nothing") }
            let question = Refetch(collection: collection, ids: ids, together: together)
            state = .refetching((questions ?? []) + [question])
        // The current list stays.
        case .list, .feed, .fetch, .receive, .complete, .cleanUp, .renew, .start, .finish: break
        }
    }

    // MARK: The server's time

    /// The server's time; nil where it is not known, or in doubt.
    var sureTime: Timestamp? { clock.isInDoubt ? nil : serverTime }

    /// The time that windows lie around: the server's as believed last, else that of the last
    /// answer, else the device's.
    var windowTime: Timestamp { serverTime ?? heard?.date ?? begun.now }

    /// Whether the server's time is in doubt before or after an answer, or is corrected by it.
    package func isClockNews(_ seen: ClockSighting?) -> Bool {
        guard let seen else { return false }
        var after = clock
        let correction = after.see(seen, at: .start)
        return clock.isInDoubt || after.isInDoubt || correction != nil
    }

    /// Whether the server's time is in doubt: everything is listed whole then, and nothing is
    /// concluded from what lists do not name.
    var isTimeInDoubt: Bool { clock.isInDoubt }

    // MARK: Progress and outcome

    /// How many steps of a step's kind are left as far as is known, itself included; nil where only
    /// the server knows.
    package func left(with step: SyncStep) -> Int? {
        switch step {
        case .readBack, .readBackAll:
            if case .readingBack(let keys) = state {
                keys.count + asked.count + 1
            } else {
                asked.count + 1
            }
        case .push(let items): (planner?.left ?? 0) + flight.count + flight.waits + items.count
        case .receive: (planner?.left ?? 0) + flight.count + flight.waits
        case .refill: (refills?.count ?? 0) + 1
        case .describe, .combine, .list, .feed, .fetch, .refetch, .poll, .remedy, .complete,
            .cleanUp, .renew, .start, .finish, .compare:
            nil
        }
    }

    /// Whether the server answered anything in this run.
    package var hasAnswer: Bool { streak.hasAnswer }

    /// Counts the outbox and what was left undone, at the end.
    package mutating func takeStock(_ stock: RunStock) {
        outcome.pending = stock.outbox.pending
        outcome.refused = stock.outbox.refused
        outcome.held = stock.outbox.held
        outcome.unsettled = stock.unsettled
        outcome.isTimeInDoubt = stock.isTimeInDoubt
        outcome.ignoresPreconditions = traits.triesPreconditions && stock.ignoresPreconditions
        // What is listed where the server says that it is not is to be deleted later.
        if missesDeleted, outcome.pending > 0 { outcome.heldBackFor = outcome.heldBackFor ?? 0 }
    }
}

/// What a store holds at the end of a run.
package struct RunStock: Sendable {
    package var outbox: OutboxCounts
    /// How many entities have failing calls.
    package var unsettled: Int
    /// Whether the server's time is in doubt.
    package var isTimeInDoubt: Bool
    /// Whether the server ignores preconditions.
    package var ignoresPreconditions: Bool

    package init(_ views: some RowReading) throws {
        outbox = try OutboxCounts(views)
        unsettled = try views.failingCalls().count { !$0.isList }
        isTimeInDoubt = try views.serverClock()?.isInDoubt ?? false
        ignoresPreconditions = try views.preconditions()?.areHeeded == false
    }
}
