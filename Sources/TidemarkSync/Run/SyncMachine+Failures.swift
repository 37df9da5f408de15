// SyncMachine+Failures.swift — what a failed call means for the rest of a run.
//
//   offline, 401, 410, 418, 429, 503 with Retry-After    the run ends
//   a list        its collection is not pulled; what has a precondition of its own is sent to it
//   an entity     it waits, by a backoff of its own that outlives the run; the rest goes on
//   three in a row, of two collections                   the server fails: the run ends
//
// What failed in an earlier run is asked last, and by itself.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Takes what earlier runs left: lists that failed are asked for last, or, where their time has
    /// not come, not at all.
    mutating func prepare(_ left: EarlierRuns) {
        // After a run that failed as a whole, whose time has come, everything is asked again.
        if left.hasBackoff { isUrgent = true }
        failing = Dictionary(uniqueKeysWithValues: left.failing.map { ($0.key, $0.row) })
        var late: [PullTarget] = []
        for call in left.failing where call.isList {
            let collection = call.key.collection
            guard unpulled.contains(where: { $0.collection == collection }) else { continue }
            let wait = isFull ? 0 : wait(call.row)
            if wait == 0 {
                late += unpulled.filter { $0.collection == collection }
            } else {
                outcome.paused[collection] = .backoff(seconds: wait.inWholeSeconds)
            }
        }
        let names = Set(late.map(\.collection)).union(outcome.paused.keys)
        pulls = pulls.filter { !names.contains($0.collection) } + late
        unpulled = pulls[...]
        state = scope.pushes ? .readingBack(left.unanswered.reversed()) : .describing
    }

    /// How long a call that failed is not made again, in microseconds; whoever asks for it waits
    /// for nothing.
    private func wait(_ row: FailingRow) -> Int64 { isUrgent ? 0 : row.gate.left(at: begun) }

    /// Whether a call about an entity that failed is to be made again.
    func isDue(_ key: EntityKey, _ kind: FailureStreak<ServerCall>.Kind) -> Bool {
        guard !failedNow.contains(key), !(streak.skips(kind) && hasFailed(key)) else {
            return false
        }
        return failing[key].map { wait($0) == 0 } ?? true
    }

    /// Whether calls about an entity failed in earlier runs.
    func hasFailed(_ key: EntityKey) -> Bool { failing[key] != nil }

    /// Whether a collection could not be listed in an earlier run.
    package func isFailing(_ collection: CollectionName?) -> Bool {
        collection.map { failing[.list(of: $0)] != nil } ?? false
    }

    /// Whether nothing is to be sent to a collection: a rule did not answer, or it could not be
    /// listed and has no versions, so that a write could undo what others did.
    func isBlocked(_ name: CollectionName) -> Bool {
        if withheld.contains(name) { return true }
        guard outcome.paused[name] != nil else { return false }
        return model[name].map { !traits.isVersioned($0) } ?? true
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
        case .describe, .refetch, .complete, .cleanUp, .renew, .finish: nil
        }
    }

    /// Leaves the lists that failed in earlier runs to the next one.
    private mutating func skipFailingLists(_ failure: SyncFailure) {
        for target in unpulled where isFailing(target.collection) {
            outcome.paused[target.collection] = outcome.paused[target.collection] ?? failure
        }
        unpulled = unpulled.filter { outcome.paused[$0.collection] == nil }[...]
    }

    // MARK: What came of a call

    /// Whether the list in hand is begun anew after a failure: the server does not take the page
    /// any more that an earlier run was to ask for next.
    ///
    /// What may be the server's own failure is tried for some runs.
    package func beginsAnew(after failure: SyncFailure) -> Bool {
        guard let list, list.isResuming else { return false }
        switch failure {
        case .client, .forbidden, .malformed: return true
        case .server(_, nil), .timeout, .foreign:
            let before = failing[.list(of: list.target.collection)]?.gate.failures ?? 0
            return before + 1 >= FailingRow.failuresTold
        default: return false
        }
    }

    /// What the failure of a read concerns, where it is not the run as a whole; nil of any other
    /// failure.
    package func concern(of failure: SyncFailure, _ step: SyncStep) -> FailureConcern? {
        guard !failure.stopsRun else { return nil }
        switch step {
        // It is asked for from the beginning, and tells then whether it fails.
        case .list: return beginsAnew(after: failure) ? nil : .list
        case .readBack(_, _, let attempt):
            return attempt == nil && list?.isReadBack == true ? .absent : .entity
        case .fetch(_, let ids): return ids.count == 1 ? .entity : nil
        case .refetch, .describe, .push, .complete, .cleanUp, .renew, .finish: return nil
        }
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
    mutating func passOver(_ step: SyncStep, _ failure: SyncFailure) {
        switch step {
        case .list: pauseList(failure)
        case .fetch(let collection, let ids):
            change { $0.fetchFailed(ids, failure) }
            if ids.count == 1 { failedNow.insert(EntityKey(collection.name, ids[0])) }
        case .readBack(let key, _, _): failedNow.insert(key)
        case .push(let items): for item in items { failedNow.insert(item.key) }
        // What can't be asked is not known: the time of the last list of everything decides. And
        // placeholders stay what they are.
        case .describe, .refetch, .complete, .cleanUp, .renew, .finish: break
        }
    }

    /// Ends a run in which nothing was answered as the last call did.
    mutating func endUnanswered() {
        if outcome.failure == nil, streak.isAll { outcome.failure = failedLast }
    }
}
