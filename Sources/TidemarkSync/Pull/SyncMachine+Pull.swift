// SyncMachine+Pull.swift — what a sync run lists and fetches next.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    // MARK: Targets

    /// The targets of a run, in the order of its lists: of each collection its lists, and of a feed
    /// its parts before it.
    ///
    /// Lists whose parameters come from documents are one target until these are read.
    static func targets(of scope: SyncScope, in model: SyncModel) -> [PullTarget] {
        inListOrder(scope.pulled(model)).flatMap { collection in
            if case .select(let parts) = scope {
                return parts.filter { $0.collection == collection.name }.map(\.target)
            }
            if case .folders(let folders) = scope, collection.isByPath {
                var seen: Set<PullTarget> = []
                return folders.filter { $0.collection == collection.name }.map(\.target)
                    .filter { seen.insert($0).inserted }
            }
            let scopes = collection.feed == nil ? [] : [PullTarget.forward, PullTarget.back]
            let lists =
                collection.hasListSources ? [.open(collection.name)] : collection.listTargets
            return scopes.map { PullTarget(collection.name, scope: $0) } + lists
        }
    }

    /// Collections in the order in which they are listed.
    ///
    /// That is the order of the model, but that others which are listed by date come after what may
    /// come into reach: their dates count on it.
    static func inListOrder(_ collections: [CollectionModel]) -> [CollectionModel] {
        var first: Set<CollectionName> = []
        for collection in collections.reversed()
        where collection.access.relistsOnGain || first.contains(collection.name) {
            first.insert(collection.name)
            // What it refers to, and what its own list waits for, stand before it in the model.
            first.formUnion(collection.references.map(\.collection) + collection.listedAfter)
            first.formUnion((collection.lists ?? []).flatMap(\.from).map(\.collection))
        }
        let last = collections.lastIndex(where: \.access.relistsOnGain) ?? collections.startIndex
        let isDatedBefore = collections[..<last].contains {
            $0.since != nil && !first.contains($0.name)
        }
        guard isDatedBefore else { return collections }
        return collections.filter { first.contains($0.name) }
            + collections.filter { !first.contains($0.name) }
    }

    /// The next list; nil when it was prefetched, or all are done.
    mutating func nextTarget() -> SyncAction? {
        guard let target = unpulled.popFirst() else {
            if let list = shares.next() {
                state = .listing(list)
                return nil
            }
            // Something that was not listed brought an entity into reach.
            if isGainOpen {
                relistAll()
                return nil
            }
            if isAmidPush {
                endListsAmidPush()
                return nil
            }
            state = scope == .all ? .refetching(nil) : .choosing
            return nil
        }
        if target.isOpen { return look(.parts(target.collection)) }
        guard let list = early.removeValue(forKey: target) else {
            return look(.standing(target, at: promiseTime))
        }
        goOver(to: list)
        return nil
    }

    /// Goes over to the list that is made next.
    ///
    /// The date of its next list of changes stays where the run did not list before it what may
    /// come into reach: what was out of reach meanwhile, unseen, may have changed since that date.
    mutating func goOver(to list: Listing) {
        var list = list
        let earlier = Self.inListOrder(model.collections).prefix { $0.name != list.collection.name }
        list.keepsSince =
            list.collection.since != nil
            && earlier.contains { collection in
                collection.access.relistsOnGain && collection.lists?.isEmpty != true
                    && !listedWhole.contains(collection.name)
            }
        state = .listing(list)
    }

    /// Takes the lists of a collection whose parameters come from documents, those that are not
    /// known yet: none where there are no such documents.
    mutating func open(_ collection: CollectionName, _ targets: [PullTarget]) {
        let known = Set(opened[collection] ?? [])
        opened[collection] = targets
        unpulled = afterPush.passOver(targets.filter { !known.contains($0) }) + unpulled
    }

    /// Whether lists became known in this run, by documents.
    package var hasOpened: Bool { !opened.isEmpty }

    /// Whether the pull is to be restarted because an entity became accessible.
    private var isGainOpen: Bool { hasGained && !hasRestarted }

    /// Restarts the pull because an entity became accessible, with all lists.
    private mutating func relistAll() {
        hasRestarted = true
        listAll()
        relist()
    }

    /// Asks for what lists would bring that are not due, where one request brings several; nil
    /// where it would not be worth a request.
    mutating func combine() -> SyncAction? {
        state = .pulling
        let collections = model.collections.filter {
            outcome.notDue.contains($0.name) && traits.combined.contains($0.name)
        }
        return collections.count > 1 ? perform(.combine(.combined(collections))) : nil
    }

    /// Begins a list, once it is known where the last one ended.
    mutating func begin(_ target: PullTarget, _ standing: ListStanding) -> SyncAction? {
        if let collection = model[target.collection], let rule = collection.feed {
            return beginFeed(target, collection, rule, standing)
        }
        guard let plan = plan(target, standing) else {
            trap("is to list what its model does not have")
        }
        return look(.contents(plan))
    }

    // MARK: Prefetched lists

    /// The targets that are still to be listed, the current one first.
    package var unlisted: [PullTarget] {
        let inHand = list.map { [$0.target] } ?? []
        return (inHand + unpulled).filter {
            !isPaused($0) && model[$0.collection]?.feed == nil
        }
    }

    /// The list of a target that has begun: the current one, or one that was prefetched.
    package func begunList(of target: PullTarget) -> Listing? {
        if let list, list.target == target { return list }
        return early[target]
    }

    /// The plan of a list that is prefetched; nil where the target is no longer to be listed.
    package func planEarly(_ target: PullTarget, _ standing: ListStanding) -> ListPlan? {
        // New entities are named by the position at which their list begins: folders of one tree
        // don't begin at the same.
        target.folder == nil && unpulled.contains(target) ? plan(target, standing) : nil
    }

    /// Begins a list ahead of the current one.
    package mutating func beginEarly(_ plan: ListPlan, _ contents: ListContents) -> Listing {
        let list = Listing(plan, contents)
        early[plan.target] = list
        return list
    }

    /// Begins the lists that are left anew because the first one had to wait: prefetched answers
    /// are discarded.
    ///
    /// What of feeds came before is not asked for again: it would take up the limit once more.
    package mutating func waitedToPull() -> SyncAction {
        let inHand = list.map { [$0.target] } ?? []
        beginRound(inHand + unpulled)
        return decide()
    }

    /// Restarts the pull at its first target.
    mutating func relist() {
        afterPush = ListsAfterPush()
        opened = [:]
        beginRound(pulls[...])
    }

    /// Begins a round of lists; prefetched answers of the one before are discarded.
    mutating func beginRound(_ targets: ArraySlice<PullTarget>) {
        pullRound += 1
        early = [:]
        shares = ListShares()
        walkedAfter = []
        unpulled = targets
        state = .pulling
    }

    // MARK: A list

    /// The next step of the current list; nil when it can't go on.
    mutating func goOn(_ list: Listing) -> SyncAction? {
        guard list.isBeforeDeletion || !isPaused(list.target) else {
            state = .listed(list.collection)
            return nil
        }
        if let call = list.call { return perform(.list(call)) }
        if list.waitsForShare {
            shares.wait(list)
            state = .pulling
            return nil
        }
        var list = list
        list.wantAhead()
        state = .listing(list)
        if let ids = list.portion(traits.entitiesPerFetchMax) {
            return perform(.fetch(list.collection, ids: ids))
        }
        // Of a list by folders all counts of those that were listed.
        if let failure = list.failure, list.walk == nil {
            pauseList(failure)
            return nil
        }
        list.endWalk()
        let goesOn = list.beginAgain() || list.beginNextPass()
        state = .listing(list)
        if goesOn, let call = list.call { return perform(.list(call)) }
        return list.unnamed.isEmpty ? finish(list, absent: []) : look(.absent(list))
    }

    /// Ends a list whose pages and fetches are done; entities that it did not name are read back
    /// first, one by one, where only that tells: a few, and more as long as all of them are gone.
    mutating func finish(_ list: Listing, absent ids: [String]) -> SyncAction? {
        if let walk = list.walk, walk.isOfFolders {
            if list.isBeforeDeletion { deletions.note(list) }
            endFolders(list, walk)
            return nil
        }
        var list = list
        if !isTimeInDoubt, case .asked = list.sweep(absent: ids) {
            list.readBackNext(of: list.askable(ids))
            state = .listing(list)
            asked = list.readBack.map { EntityKey(list.collection.name, $0) }.reversed()
            return nil
        }
        if !isTimeInDoubt, list.walkAgain(for: ids, putOff: unfound(by: list)) {
            state = .listing(list)
            return nil
        }
        if let failure = list.failure {
            outcome.failed[list.collection.name] = failure
            refusedParts.remove(list.collection.name)
        }
        state = .listed(list.collection)
        return perform(.complete(list))
    }

    /// Ends the list of some folders: where something is missing in them, or the server does not
    /// show them, all of the tree is listed.
    private mutating func endFolders(_ list: Listing, _ walk: TreeWalk) {
        let name = list.collection.name
        state = .listed(list.collection)
        if let failure = list.failure, failure.isServers || list.isBeforeDeletion {
            outcome.failed[name] = failure
        } else if list.failure != nil || walk.leavesOpen, walkedAfter.insert(name).inserted {
            unpulled.removeAll { $0.collection == name }
            unpulled = list.collection.listTargets + unpulled
        }
    }

    /// Goes on after a list: the pull restarts if an entity became accessible, and the run ends if
    /// a required entity is missing.
    mutating func leave(_ collection: CollectionModel) -> SyncAction? {
        if isGainOpen {
            relistAll()
        } else {
            state = .pulling
        }
        guard outcome.failed[collection.name] == nil else { return nil }
        listedWhole.insert(collection.name)
        guard collection.access.missing != nil else {
            listed(collection)
            return nil
        }
        return look(.hasInReach(collection.name))
    }

    /// Notes that a list was made to its end, where that is not done in every run.
    mutating func listed(_ collection: CollectionModel) {
        guard collection.listEvery != .zero, !scope.isOfFolders, !isAmidPush else {
            return
        }
        outcome.listed.insert(collection.name)
    }

    // MARK: What came of it

    /// Goes on with the list as it is after a page.
    mutating func took(_ result: PageResult) {
        guard var list = result.list else { trap("is told of a page without its list") }
        // The entities stay where they are: none of them is copied for a page.
        change { current in
            list.takeEntities(from: &current)
            list.add(result)
            current = list
        }
        shares.note(list)
        if let failure = result.failure { return pauseList(failure) }
        if result.isCut { return startAnew() }
        if begunAnew.remove(list.target) != nil { outcome.restarted.insert(list.target.collection) }
        if result.isComplete { state = .listed(list.collection) }
    }

    /// The server does not know the cursor: the list restarts from the beginning.
    mutating func startAnew() {
        guard let current = list else { trap("begins a list anew that it does not make") }
        guard current.after != nil || current.next != nil else {
            return pauseList(
                .malformed("a list of everything has no cursor that could be unknown"))
        }
        let target = current.target
        // Where a list of changes can't go on, the next one from its cursor tells the same, or that
        // the server does not know that either.
        if current.isResuming, !current.isWhole {
            discarded.insert(target)
            unpulled = [target] + unpulled
            state = .pulling
            return
        }
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

    /// Leaves the current list to a later run.
    mutating func pauseList(_ failure: SyncFailure) {
        guard let list else { trap("leaves a list that it does not make") }
        leaveWalk()
        let name = list.target.collection
        let isOnly = outcome.failed[name] == nil || refusedParts.contains(name)
        // One that was told in part may be changed by others.
        if isOnly, failure.isRefusal, !list.target.parameters.isEmpty, !list.hasPages {
            refusedParts.insert(name)
        } else {
            refusedParts.remove(name)
        }
        outcome.failed[name] = failure
        pausedParts.insert(list.target)
        state = .listed(list.collection)
    }

    /// Notes how far a list by folders is that the run leaves.
    mutating func leaveWalk() {
        if let list, list.walk != nil { unended.append(list) }
    }

    /// Notes how far a list of changes is that the run leaves before its next page: its last ones
    /// may be no events.
    mutating func leaveChanges() {
        if let list, !list.isWhole, list.next != nil, !list.isResuming { unended.append(list) }
    }

    /// Whether a list does not go on in this run: it failed, or something of its collection did
    /// that concerns all of it.
    ///
    /// The ids of a feed are listed whatever came of its other parts.
    func isPaused(_ target: PullTarget) -> Bool {
        let name = target.collection
        guard outcome.failed[name] != nil else { return false }
        let isPart = !target.parameters.isEmpty || model[name]?.feed != nil
        return !isPart || pausedParts.contains(target)
            || heldBack.contains(name) || withheld.contains(name)
    }

    /// A list was logged as complete.
    ///
    /// - Parameter withheld: collections whose rule did not answer, here or before.
    package mutating func completed(
        _ absent: Absent, withheld: [CollectionName: SyncFailure]
    ) -> SyncAction {
        guard case .result(.complete(let list)) = awaited else { trap("completed no list") }
        deletions.note(list)
        if absent.isHeld {
            outcome.held[list.collection.name] = absent.ids.count
        } else {
            outcome.counts.pulled += absent.ids.count
        }
        // What changed since in the folders that an earlier run listed comes in the same run, once
        // what waits is sent: a walk that is always cut off would keep it waiting for ever.
        if list.isContinued, continued.insert(list.target).inserted {
            if scope.pushes {
                afterPush.targets.append(list.target)
            } else {
                unpulled = [list.target] + unpulled
            }
        } else if list.walk != nil {
            readAfterWalk(list)
        }
        withhold(withheld)
        return decide()
    }
}
