// SyncMachine+Pull.swift — what a sync run lists and fetches next.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    // MARK: Targets

    /// The next list; nil when it was begun before its turn, or all were made.
    mutating func nextTarget() -> SyncAction? {
        guard let target = unpulled.popFirst() else {
            state = scope == .all ? .refetching(nil) : .choosing
            return nil
        }
        guard let list = early.removeValue(forKey: target) else { return look(.standing(target)) }
        state = .listing(list)
        return nil
    }

    /// Begins a list, once it is known where the last one ended.
    mutating func begin(_ target: PullTarget, _ standing: ListStanding) -> SyncAction? {
        guard let plan = plan(target, standing) else {
            trap("is to list what its model does not have")
        }
        return look(.contents(plan))
    }

    // MARK: Lists that are asked for before their turn

    /// The targets that are still to be listed, the one in hand first.
    package var unlisted: [PullTarget] {
        let inHand = list.map { [$0.target] } ?? []
        return (inHand + unpulled).filter { outcome.paused[$0.collection] == nil }
    }

    /// The list of a target that was begun already: it is in hand, or was asked for before its
    /// turn.
    package func begunList(of target: PullTarget) -> Listing? {
        if let list, list.target == target { return list }
        return early[target]
    }

    /// What a list asks for that is begun before its turn; nil where the target is not to be listed
    /// any more.
    package func planEarly(_ target: PullTarget, _ standing: ListStanding) -> ListPlan? {
        unpulled.contains(target) ? plan(target, standing) : nil
    }

    /// Begins a list before its turn.
    package mutating func beginEarly(_ plan: ListPlan, _ contents: ListContents) -> Listing {
        let list = Listing(plan, contents)
        early[plan.target] = list
        return list
    }

    /// Takes note of a request whose answer nobody needs any more.
    package mutating func dropped() { outcome.counts.requests += 1 }

    /// Lists everything from the first target on, because a pull had to wait: what was asked for
    /// before its turn counts for nothing.
    package mutating func waitedToPull() -> SyncAction {
        relist()
        return decide()
    }

    /// Has everything listed from the first target on.
    mutating func relist() {
        pullRound += 1
        early = [:]
        unpulled = pulls[...]
        state = .pulling
    }

    // MARK: A list

    /// The next step of the list in hand; nil when it can't go on.
    mutating func goOn(_ list: Listing) -> SyncAction? {
        guard outcome.paused[list.target.collection] == nil else {
            state = .listed(list.collection)
            return nil
        }
        if let call = list.call { return perform(.list(call)) }
        var list = list
        list.wantAhead()
        state = .listing(list)
        if let ids = list.portion(traits.entitiesPerFetchMax) {
            return perform(.fetch(list.collection, ids: ids))
        }
        if let failure = list.failure {
            pauseList(failure)
            return nil
        }
        let isNextPass = list.beginNextPass()
        state = .listing(list)
        if isNextPass, let call = list.call { return perform(.list(call)) }
        return list.isReadBack || list.unnamed.isEmpty
            ? finish(list, absent: []) : look(.absent(list))
    }

    /// Ends a list that named what it had to name; of a few that it did not name the server is
    /// asked first, one by one.
    mutating func finish(_ list: Listing, absent ids: [String]) -> SyncAction? {
        var list = list
        if !isTimeInDoubt, !list.isReadBack, case .asked = list.sweep(absent: ids) {
            list.isReadBack = true
            state = .listing(list)
            asked = ids.map { EntityKey(list.collection.name, $0) }.reversed()
            return nil
        }
        state = .listed(list.collection)
        return perform(.complete(list))
    }

    /// Goes on after a list: everything is listed anew if something came into reach, and the run
    /// ends if an entity must be there and is not.
    mutating func leave(_ collection: CollectionModel) -> SyncAction? {
        if hasGained, !hasRestarted {
            hasRestarted = true
            relist()
        } else {
            state = .pulling
        }
        guard collection.access.missing != nil, outcome.paused[collection.name] == nil else {
            return nil
        }
        return look(.hasInReach(collection.name))
    }

    // MARK: What came of it

    /// Goes on with the list as it is with a page that was taken in.
    mutating func took(_ result: PageResult) {
        guard let list = result.list else { trap("is told of a page without its list") }
        state = .listing(list)
        if let failure = result.failure { return pauseList(failure) }
        if begunAnew.remove(list.target) != nil { outcome.restarted.insert(list.target.collection) }
        if result.isComplete { state = .listed(list.collection) }
    }

    /// The server does not know the cursor: the same list once more, from the beginning.
    mutating func startAnew() {
        guard let current = list else { trap("begins a list anew that it does not make") }
        guard current.after != nil || current.next != nil else {
            return pauseList(
                .malformed("a list of everything has no cursor that could be unknown"))
        }
        let target = current.target
        let count = restarts[target, default: 0]
        guard count < Self.restartsMax else {
            return pauseList(.malformed("the list's own cursor was unknown \(count + 1) times"))
        }
        restarts[target] = count + 1
        if current.isWhole { discarded.insert(target) }
        if current.isResuming { begunAnew.insert(target) }
        unpulled = [target] + unpulled
        state = .pulling
    }

    /// Leaves the list in hand to a later run.
    mutating func pauseList(_ failure: SyncFailure) {
        guard let list else { trap("leaves a list that it does not make") }
        outcome.paused[list.target.collection] = failure
        state = .listed(list.collection)
    }

    /// Takes note that a list was noted as complete.
    ///
    /// - Parameter withheld: collections whose rule did not answer, here or before.
    package mutating func completed(
        _ absent: Absent, withheld: [CollectionName: SyncFailure]
    ) -> SyncAction {
        guard case .result(.complete(let list)) = awaited else { trap("completed no list") }
        if absent.isHeld {
            outcome.held[list.collection.name] = absent.ids.count
        } else {
            outcome.counts.pulled += absent.ids.count
        }
        withhold(withheld)
        return decide()
    }
}
