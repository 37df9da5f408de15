// SyncMachine+Failures.swift — what a failed call means for the rest of a run.
//
//   offline, 401, 410, 418, 429, 503 with Retry-After    the run ends
//   a list        its collection is not pulled; what has a precondition of its own is sent to it
//   an entity     it waits, by a backoff of its own that outlives the run; the rest goes on
//   three in a row, of two collections                   the server fails: the run ends
//
// What failed in an earlier run is asked last, and by itself.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Reads, once in a run, what failed in earlier ones: lists that did are asked for last, or,
    /// where their time has not come, not at all.
    mutating func prepare(_ views: ViewReader, at now: Moment) throws {
        guard failing == nil else { return }
        let calls = try views.failingCalls()
        // After a run that failed as a whole, whose time has come, everything is asked again.
        if try views.gates().backoff != nil { isUrgent = true }
        failing = Dictionary(uniqueKeysWithValues: calls.map { ($0.key, $0.row) })
        var late: [CollectionModel] = []
        for call in calls where call.isList {
            guard let collection = unpulled.first(where: { $0.name == call.key.collection }) else {
                continue
            }
            let left = isFull ? 0 : wait(call.row, at: now)
            if left == 0 {
                late.append(collection)
            } else {
                outcome.paused[collection.name] = .backoff(seconds: left.inWholeSeconds)
            }
        }
        let names = Set(late.map(\.name)).union(outcome.paused.keys)
        pulls = (pulls.filter { !names.contains($0.name) } + late)[...]
        unpulled = pulls
    }

    /// How long a call that failed is not made again, in microseconds; whoever asks for it waits
    /// for nothing.
    private func wait(_ row: FailingRow, at now: Moment) -> Int64 {
        isUrgent ? 0 : row.gate.left(at: now)
    }

    /// Whether a call about an entity that failed is to be made again.
    func isDue(
        _ key: EntityKey, _ kind: FailureStreak<ServerCall>.Kind, at now: Moment
    ) -> Bool {
        guard !failedNow.contains(key), !(streak.skips(kind) && hasFailed(key)) else {
            return false
        }
        return failing?[key].map { wait($0, at: now) == 0 } ?? true
    }

    /// Whether calls about an entity failed in earlier runs.
    func hasFailed(_ key: EntityKey) -> Bool { failing?[key] != nil }

    /// Whether nothing is to be sent to a collection: a rule did not answer, or it could not be
    /// listed and has no versions, so that a write could undo what others did.
    func isBlocked(_ name: CollectionName) -> Bool {
        if withheld.contains(name) { return true }
        guard outcome.paused[name] != nil else { return false }
        return model[name].map { !isVersioned($0) } ?? true
    }

    /// What a step asks for that failed in an earlier run, so that it says nothing of the server if
    /// it fails again; lists only where the server answered something else.
    private func knownToFail(_ step: SyncStep) -> FailureStreak<ServerCall>.Kind? {
        switch step {
        case .list(let call):
            streak.hasAnswer && isFailing(call.collection?.name) ? .list : nil
        case .readBack(let key, _, _): hasFailed(key) ? .read : nil
        case .fetch(let collection, let ids):
            ids.count == 1 && hasFailed(EntityKey(collection.name, ids[0])) ? .read : nil
        case .push(let items): items.count == 1 && hasFailed(items[0].key) ? .write : nil
        case .describe, .refetch, .complete, .cleanUp, .finish: nil
        }
    }

    /// Leaves the lists that failed in earlier runs to the next one.
    private mutating func skipFailingLists(_ failure: SyncFailure) {
        for collection in unpulled where isFailing(collection.name) {
            outcome.paused[collection.name] = outcome.paused[collection.name] ?? failure
        }
        unpulled = unpulled.filter { outcome.paused[$0.name] == nil }[...]
    }

    // MARK: What came of a call

    /// Whether the list in hand is begun anew after a failure: the server does not take the page
    /// any more that an earlier run was to ask for next.
    ///
    /// What may be the server's own failure is tried for some runs.
    package func beginsAnew(after failure: SyncFailure) -> Bool {
        guard let listing, listing.isResuming else { return false }
        switch failure {
        case .client, .forbidden, .malformed: return true
        case .server(_, nil), .timeout, .foreign:
            let before = failing?[.list(of: listing.collection.name)]?.gate.failures ?? 0
            return before + 1 >= FailingRow.failuresTold
        default: return false
        }
    }

    /// Takes note of a call of which no request could be made.
    package mutating func unsent(_ failure: SyncFailure, _ step: SyncStep) {
        failedLast = failure
        if case .list = step, beginsAnew(after: failure) { return startAnew() }
        if case .push(let items) = step, items.count > 1, failure.isOfRequest {
            // One of them, perhaps, of which no request can be made by itself either.
            sendsAlone = true
            return
        }
        guard !failure.stopsRun else {
            outcome.failure = failure
            return
        }
        passOver(step, failure)
    }

    /// Takes note of a call that failed.
    mutating func failed(_ failure: SyncFailure, _ step: SyncStep) {
        failedLast = failure
        if case .list = step, beginsAnew(after: failure) {
            if !failure.isServers { streak.answered() }
            startAnew()
            return
        }
        if case .push(let items) = step, items.count > 1, failure.isOfRequest {
            // Refused as a whole, for its size perhaps: none of it was done.
            streak.answered()
            sendsAlone = true
            return
        }
        guard !failure.stopsRun else {
            outcome.failure = failure
            return
        }
        let known = knownToFail(step)
        passOver(step, failure)
        guard failure.isServers else { return streak.answered() }
        guard let call = step.call else { return }
        let isForeign = if case .foreign = failure { true } else { false }
        let count = scope == .all || scope == .push ? model.collections.count : pulls.count
        let isFirst = if case .readBack = step { false } else { true }
        let isEnd = streak.failed(
            call, call.collection?.name, known: known, isForeign: isForeign, isFirst: isFirst,
            of: count)
        if isEnd { outcome.failure = failure }
        if known == .list, streak.skips(.list) { skipFailingLists(failure) }
    }

    /// Leaves what a call was about to a later one.
    private mutating func passOver(_ step: SyncStep, _ failure: SyncFailure) {
        switch step {
        case .list: pause(failure)
        case .fetch(let collection, let ids):
            listing?.fetchFailed(ids, failure)
            if ids.count == 1 { failedNow.insert(EntityKey(collection.name, ids[0])) }
        case .readBack(let key, _, _): failedNow.insert(key)
        case .push(let items): for item in items { failedNow.insert(item.key) }
        // What can't be asked is not known: the time of the last list of everything decides. And
        // placeholders stay what they are.
        case .describe, .refetch, .complete, .cleanUp, .finish: break
        }
    }

    /// Ends a run in which nothing was answered as the last call did.
    mutating func endUnanswered() {
        if outcome.failure == nil, streak.isAll { outcome.failure = failedLast }
    }

    // MARK: What is asked last

    /// The next question after an entity whose calls failed in earlier runs; nil when there is none
    /// that is due.
    mutating func nextFailing(_ views: ViewReader, at now: Moment) throws -> SyncStep? {
        if late == nil {
            let calls = try views.failingCalls().filter {
                !$0.isList && isDue($0.key, .read, at: now)
            }
            late = calls.reversed()
        }
        while let call = late?.popLast() {
            let row = try views.entity(call.key) ?? EntityRow()
            // A write that failed without a trace is pushed again, and not asked after.
            guard row.attempt != nil || call.row.reads > 0 || !call.row.isWrite,
                isDue(call.key, .read, at: now),
                let step = try readBack(call.key, row.attempt, views, isLate: true)
            else { continue }
            return step
        }
        return nil
    }
}
