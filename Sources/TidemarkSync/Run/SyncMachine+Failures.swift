// SyncMachine+Failures.swift — what a failed call means for the rest of a run.
//
//   offline, 401, 410, 418, 429, 503 with Retry-After    the run ends
//   a list        its collection is not pulled; writes with a precondition are still sent
//   an entity     it waits, by a backoff of its own that outlives the run; the rest goes on
//   several that are read back together    they are read one by one once all else is done
//   a deletion    where deletions go first, what may need its place waits for the next run, up to
//                 the third failure
//   an id         the next list tells it, and all others that were to be asked for
//   an upload     there is no room for it (507): the server answers, and the rest goes on
//   three in a row, of two collections                   the server fails: the run ends; folders
//                 of a tree count as one call, up to the tenth
//   ten in a row, of one collection                      the others of it wait for the next run
//
// Calls that failed in an earlier run come last, and alone.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Takes what earlier runs left: lists that failed are requested last, or not at all before
    /// their backoff is over.
    mutating func prepare(_ left: EarlierRuns) {
        // After the backoff of a run that failed as a whole, everything is tried again.
        if left.hasBackoff { isUrgent = true }
        trial.known = left.preconditions
        beganAt = left.last
        failing = Dictionary(uniqueKeysWithValues: left.failing.map { ($0.key, $0.row) })
        var late: [PullTarget] = []
        for call in left.failing where call.isList {
            let collection = call.key.collection
            guard unpulled.contains(where: { $0.collection == collection }) else { continue }
            // What is refused of one part must not keep the others waiting.
            let isOfPart = call.row.isRefusal && model[collection]?.isListedInParts == true
            let wait = isFull || isOfPart ? 0 : wait(call.row)
            if wait == 0 {
                late += unpulled.filter { $0.collection == collection }
            } else {
                outcome.failed[collection] = .backoff(seconds: wait.inWholeSeconds)
            }
        }
        let names = Set(late.map(\.collection)).union(outcome.failed.keys)
        outcome.notDue = notDue(left.listed).subtracting(names)
        pulls =
            pulls.filter { !names.union(outcome.notDue).contains($0.collection) } + late
        unpulled = pulls[...]
        if !isFull { (cut, diedSinceCut) = (left.cut, left.diedSinceCut) }
        let goesOn = goOnAtCut()
        // What is not due may come to be listed after all, and the place with it.
        logsStart = goesOn || cut != nil && !outcome.notDue.isEmpty
        if case .fetch(let keys) = scope { asked = keys.reversed() }
        if scope == .all { asked = left.released.filter { isDue($0, .read) }.reversed() }
        if scope.reservations != nil { return state = .refilling }
        guard scope.pushes else { return state = .describing }
        let awaited = prepare(left.tickets)
        let unanswered = left.unanswered.filter { !awaited.contains($0) }
        state = .readingBack(unanswered.reversed())
    }

    /// The collections whose lists are not old enough to be made anew; none where a person asked
    /// for the run, or the server let it be known that something changed.
    private func notDue(_ listed: [CollectionName: Moment]) -> Set<CollectionName> {
        guard scope == .all, !isFull, !triggers.isEmpty, triggers.allSatisfy(\.isRoutine) else {
            return []
        }
        let fresh = model.collections.filter { collection in
            guard let age = listed[collection.name].flatMap({ begun.microseconds(since: $0) })
            else { return false }
            return age < Int64(collection.listEvery.seconds) * 1_000_000
        }
        // With what may come into reach all is listed whose dates stay without it.
        let isAccessDue = model.collections.contains {
            $0.access.relistsOnGain && $0.listEvery != .zero
                && outcome.failed[$0.name] == nil && !fresh.contains($0)
        }
        return Set(fresh.filter { !isAccessDue || $0.since == nil }.map(\.name))
    }

    /// Has every list made that was left out as not due.
    mutating func listAll() {
        let late = pulls.filter { isFailing($0.collection) }
        let listed = Set(pulls.map(\.collection)).union(outcome.notDue)
            .subtracting(late.map(\.collection))
        pulls =
            Self.targets(of: scope, in: model).filter { listed.contains($0.collection) } + late
        outcome.notDue = []
    }

    /// How long a failed call is not repeated, in microseconds; 0 in an urgent run.
    private func wait(_ row: FailingRow) -> Int64 { isUrgent ? 0 : row.gate.left(at: begun) }

    /// How often in a row what a step asks about got no answer in time in earlier runs; 0 once
    /// something in this run had more time for that and got none, so that many of them do not keep
    /// the run open for long.
    func timeouts(of step: SyncStep) -> Int {
        guard !hasWaitedLong else { return 0 }
        var keys = step.keys
        if keys.isEmpty, let collection = step.call?.collection {
            keys = [.list(of: collection.name)]
        }
        let rows = keys.compactMap { failing[$0] }
        return rows.filter { FailureKind(rawValue: $0.gate.reason) == .timeout }
            .map(\.gate.failures).max() ?? 0
    }

    /// Whether a failed call about an entity is due again.
    func isDue(_ key: EntityKey, _ kind: FailureStreak<ServerCall>.Kind) -> Bool {
        guard !failedNow.contains(key), !(streak.skips(kind) && hasFailed(key)) else {
            return false
        }
        return failing[key].map { wait($0) == 0 } ?? true
    }

    /// Whether an entity waits for the next run, as too many others of its collection failed.
    func isStuck(_ key: EntityKey, _ kind: FailureStreak<ServerCall>.Kind) -> Bool {
        stuck[kind]?.contains(key.collection) ?? false
    }

    /// Whether calls about an entity failed in earlier runs.
    func hasFailed(_ key: EntityKey) -> Bool { failing[key] != nil }

    /// Whether a collection could not be listed in an earlier run.
    package func isFailing(_ collection: CollectionName?) -> Bool {
        collection.map { failing[.list(of: $0)] != nil } ?? false
    }

    /// Whether writes to a collection are blocked: a rule did not answer, or there are no versions,
    /// so that a write could undo changes of others, and the list failed or comes after the push.
    ///
    /// A list that only waits for its group of requests is like one that is not due. A part whose
    /// list the server refuses is not there, or not for this user: others change nothing in it that
    /// a write could undo.
    func isBlocked(_ name: CollectionName) -> Bool {
        if withheld.contains(name) { return true }
        let isUnlisted =
            outcome.failed[name] != nil && !heldBack.contains(name) && !refusedParts.contains(name)
        guard isUnlisted || afterPush.has(name) else { return false }
        // What is known by its path is written with its own version.
        return model[name].map { !traits.isVersioned($0) && !$0.isByPath } ?? true
    }

    /// The kind of a step whose call failed in an earlier run, so that another failure says nothing
    /// of the server; for lists only if the server answered another call.
    private func knownToFail(_ step: SyncStep) -> FailureStreak<ServerCall>.Kind? {
        if step.isOfList {
            return streak.hasAnswer && isFailing(step.call?.collection?.name) ? .list : nil
        }
        guard let key = step.key, hasFailed(key) else { return nil }
        return if case .push = step { .write } else { .read }
    }

    /// Leaves the lists that failed in earlier runs to the next run.
    private mutating func skipFailingLists(_ failure: SyncFailure) {
        for target in unpulled where isFailing(target.collection) {
            outcome.failed[target.collection] = outcome.failed[target.collection] ?? failure
        }
        unpulled = unpulled.filter { outcome.failed[$0.collection] == nil }[...]
    }

    // MARK: The outcome of a call

    /// Whether the current list begins again after a failure: the server no longer accepts the page
    /// token that an earlier run left.
    ///
    /// A failure that may be the server's own is retried for some runs first.
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

    /// What the failure of a read concerns; nil where that is the run as a whole, or nothing.
    package func concern(of failure: SyncFailure, _ step: SyncStep) -> FailureConcern? {
        guard !failure.stopsRun else { return nil }
        switch step {
        // It restarts from the beginning, which tells whether it fails.
        case .list:
            if beginsAnew(after: failure) { return nil }
            // Of a list by folders one failure counts, however many of them fail.
            return list.map { $0.walk != nil && $0.failure != nil } == true ? nil : .list
        case .feed: return .list
        // The next list brings it.
        case .readBack(let key, _, _) where askedForIDs.contains(key): return nil
        case .readBack(_, _, let attempt):
            return attempt == nil && list?.readBack.isEmpty == false ? .absent : .entity
        case .compare: return .entity
        case .fetch(_, let ids): return ids.count == 1 ? .entity : nil
        case .refill: return .pool
        case .refetch, .describe, .combine, .readBackAll, .push, .receive, .poll, .remedy,
            .complete, .cleanUp, .renew, .start, .finish:
            return nil
        }
    }

    /// A call failed.
    mutating func failed(_ failure: SyncFailure, _ step: SyncStep) {
        failedLast = failure
        if case .timeout = failure, timeouts(of: step) > 0 { hasWaitedLong = true }
        if case .list = step, beginsAnew(after: failure) {
            if !failure.isServers { streak.answered() }
            startAnew()
            return
        }
        if case .push(let items) = step, items.count > 1, failure.isOfRequest {
            // A batch that was refused as a whole, perhaps for its size: none of it was done.
            streak.answered()
            sendsAlone = true
            return
        }
        guard !failure.stopsRun else {
            // What a later answer says of credentials may be mended, anything else not.
            if outcome.failure == nil || outcome.failure == .unauthorized {
                outcome.failure = failure
            }
            return
        }
        if case .readBackAll(_, let items) = step, failure.isMalformed || !failure.isServers {
            // Perhaps only one of them can't be read, or not so many at once.
            streak.answered()
            return readAlone(items)
        }
        if case .readBack(let key, _, _) = step, askedForIDs.contains(key) {
            leaveIDs()
            if !failure.isServers { streak.answered() }
            return
        }
        if refetchAlone(step, after: failure) { return streak.answered() }
        if lacksRoom(step, failure) {
            room.refused()
            passOver(step, failure)
            return streak.answered()
        }
        let known = knownToFail(step)
        let isFolder = isOneFolder(step, failure)
        passOver(step, failure)
        if case .push(let items) = step { noteFailedDeletions(items) }
        // Of a server that makes no values nothing else is known.
        if case .refill = step { return }
        guard failure.isServers else { return streak.answered() }
        guard let call = step.call else { return }
        // What came of an entity may be broken there; of several these are asked for one by one.
        if case .fetch(_, let ids) = step, failure.isMalformed,
            ids.count > 1 || streak.hasAnswer
        {
            return
        }
        if case .refetch = step, failure.isMalformed, streak.hasAnswer { return }
        let count = scope == .all || scope == .push ? model.collections.count : pulls.count
        let name = call.collection?.name
        let isEnd = streak.failed(
            call, name, kind: step.kind, known: known, isForeign: failure.isForeign,
            isFolder: isFolder, isFirst: !step.asksAfterWrites, of: count)
        if let kind = step.kind, let name, streak.leavesOthers(kind) {
            stuck[kind, default: []].insert(name)
        }
        // Of writes that are on their way together the first one says why the run ends.
        if isEnd, outcome.failure == nil { outcome.failure = failure }
        if known == .list, streak.skips(.list) { skipFailingLists(failure) }
    }

    /// Whether what failed is one folder of a tree, behind which the list goes on.
    private func isOneFolder(_ step: SyncStep, _ failure: SyncFailure) -> Bool {
        guard case .list = step, let list, list.walk != nil else { return false }
        return streak.hasAnswer && list.goesOn(after: failure)
    }

    /// Leaves the subject of a call to a later run.
    mutating func passOver(_ step: SyncStep, _ failure: SyncFailure) {
        switch step {
        case .list:
            if list?.shifts.isBehindWhole == true {
                change { $0.endAgain() }
            } else if list?.goesOn(after: failure) == true {
                change { $0.pass(failure) }
            } else {
                leaveChanges()
                pauseList(failure)
            }
        case .feed: pauseFeed(failure)
        case .fetch(_, let ids)
        where ids.count > 1 && traits.absenceNeedsList && failure.saysAbsent:
            // The collection itself is out of reach: of none of them that says that it is gone.
            pauseList(failure)
        case .fetch(_, let ids):
            // What went since the list named it is no reason to leave the others.
            let isGone = ids.count == 1 && failure.saysAbsent
            change { isGone ? $0.fetched(ids) : $0.fetchFailed(ids, failure) }
            failedNow.formUnion(step.keys)
        case .readBack(let key, _, _):
            failedNow.insert(key)
            askedForIDs.remove(key)
        case .compare, .push: failedNow.formUnion(step.keys)
        case .readBackAll(_, let items): unreadTogether += items
        case .poll(let ticket, _): pollFailed(ticket, failure)
        case .combine:
            // The lists themselves tell what it would have.
            listAll()
            relist()
            goOnAtCut()
        case .refill(let refill): pass(refill, failure)
        // Without descriptions the age of the last list of everything decides. Placeholders stay,
        // and what was refused.
        case .describe, .refetch, .receive, .remedy, .complete, .cleanUp, .renew, .start, .finish:
            break
        }
    }

    // MARK: Deletions that go first

    /// Has what needs the place of deletions that failed wait for the next run, unless they failed
    /// so often that it would wait for ever.
    mutating func noteFailedDeletions(_ items: [PushItem]) {
        guard traits.deletesFirst else { return }
        for item in items where item.call.isDeletion {
            let failures = failing[item.key]?.gate.failures ?? 0
            if failures + 1 < FailingRow.failuresTold {
                failedDeletions.insert(item.key.collection)
            }
        }
    }

    /// Has others wait for a deletion that failed in an earlier run, and is not sent in this one.
    ///
    /// Where nothing of its collection is sent, for another reason, nobody waits for it.
    mutating func holdOthers(for candidate: PushCandidate) {
        let name = candidate.key.collection
        if candidate.isAwaited, !isBlocked(name) { failedDeletions.insert(name) }
    }

    /// Whether a write waits for a deletion that failed: of its collection, or of one that shares
    /// requests with it.
    func waitsForFailed(_ candidate: PushCandidate) -> Bool {
        guard !candidate.isDeletion, !failedDeletions.isEmpty else { return false }
        let name = candidate.key.collection
        return failedDeletions.contains(name)
            || traits.bundled.contains(name) && !failedDeletions.isDisjoint(with: traits.bundled)
    }

    // MARK: Groups of requests

    /// A call is not made: its group of requests has no room for too long.
    package mutating func held(_ failure: SyncFailure) -> SyncAction {
        guard case .result(let step) = awaited, step.call != nil else { trap("called nobody") }
        holdBack(step, failure)
        return decide()
    }

    /// Lists are not made: all of them together don't fit into the limits of their group.
    package mutating func held(
        _ failure: SyncFailure, lists: [CollectionName]
    ) -> SyncAction {
        guard case .result(.list) = awaited else { trap("holds no list") }
        for name in lists where outcome.failed[name] == nil {
            outcome.failed[name] = failure
            heldBack.insert(name)
        }
        noteHeldBack(failure)
        return decide()
    }

    /// Notes when there is room again for what is left to a later run.
    private mutating func noteHeldBack(_ failure: SyncFailure) {
        let told: Int64? = if case .tooManyRequests(let seconds) = failure { seconds } else { nil }
        outcome.heldBackFor = min(outcome.heldBackFor ?? .max, told ?? 0)
    }

    /// Leaves a step to a later run, as its group of requests has no room.
    ///
    /// A list whose entities can't be fetched or read back is not complete.
    mutating func holdBack(_ step: SyncStep, _ failure: SyncFailure) {
        if case .readBack(let key, _, _) = step {
            failedNow.insert(key)
            askedForIDs.remove(key)
        }
        if case .readBackAll(_, let items) = step { failedNow.formUnion(items.map(\.key)) }
        if let list { heldBack.insert(list.collection.name) }
        if case .feeding(let feed) = state { heldBack.insert(feed.collection.name) }
        switch step {
        case .list, .fetch:
            leaveChanges()
            pauseList(failure)
        case .feed: pauseFeed(failure)
        case .readBack, .readBackAll: if list != nil { pauseList(failure) }
        case .compare: passOver(step, failure)
        // What was not due may wait.
        case .combine: return
        case .describe, .refetch, .push, .receive, .poll, .complete, .cleanUp, .renew, .start,
            .finish, .refill, .remedy:
            passOver(step, failure)
        }
        noteHeldBack(failure)
    }

    /// Ends a run without any answer by the failure of its last call.
    mutating func endUnanswered() {
        if outcome.failure == nil, streak.isAll { outcome.failure = failedLast }
    }
}

extension SyncFailure {
    /// Whether the server says that nothing is there.
    fileprivate var saysAbsent: Bool {
        if case .client(let status, _) = self { status == 404 || status == 410 } else { false }
    }
}

extension SyncStep {
    /// The kind of its call, where there may be many of one collection.
    fileprivate var kind: FailureStreak<ServerCall>.Kind? {
        switch self {
        case .readBack, .readBackAll: .read
        case .push: .write
        default: nil
        }
    }
}
