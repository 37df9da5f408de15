// ListPlan.swift — how a list begins: at the last cursor, at the page where one was cut off, or
// from the start, and which local entities it is compared with.
//
//   ListStanding   what the views say of the target
//   ListPlan       what is requested, decided from the standing
//   ListContents   the local entities that the plan needs
//   Listing        begins with plan and contents

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// What the views say of a pull target before it is listed.
package struct ListStanding: Sendable {
    /// A list that an earlier run did not finish.
    package var cut: CutListing?
    /// Where the last list ended.
    package var mark: WatermarkRow?
    /// Whether an earlier run was asked to list everything and did not finish that.
    package var isOwed = false
    /// Whether the list of changes after that one goes on from the date of before.
    package var keepsDate = false
    /// Whether entities that the last list did not name are held until the user decides.
    package var isHeld = false
    /// Whether there are writes without an answer that the list's end settles.
    package var hasUnanswered = false
    /// The times in those writes' documents, which a list of a window has to include.
    package var unansweredMoments: [Timestamp] = []
    /// Where its feed goes on, where it is one.
    package var feed = FeedStanding()
    /// The log's last position.
    package var last: Position

    package init(last: Position) { self.last = last }
}

/// What a list requests, and which local entities it needs to know.
package struct ListPlan: Sendable {
    package var collection: CollectionModel
    package var target: PullTarget
    package var epoch: Revision?
    /// The cursor it begins at; nil for everything.
    package var after: Revision?
    /// The unfinished list that it continues.
    package var cut: CutListing?
    /// The window that is listed; nil for everything.
    package var window: TimeSpan?
    /// The log's last position when it began.
    package var asOf: Position
    /// Whether local entities are compared with what it names.
    package var comparesKnown = false
    /// Entities with a newer answer than this position are read by themselves; nil where the list
    /// brings them.
    package var aheadSince: Position?
    package var settles = false
    package var serverTime: Timestamp?
    /// The server's time, as far as it is known.
    package var now: Timestamp
    /// How many entities it asks for at first; nil for all.
    package var limit: Int?
    /// How many entities a page usually has, where pages have numbers.
    package var numberedPages: Int?
    /// How the versions of folders are used, in a tree by paths.
    var versions = TreeWalk.VersionUse.none
    /// Whether the folders are listed that are to be deleted, with all that lies in them.
    var isBeforeDeletion = false
}

/// The local entities that a list is compared with.
package struct ListContents: Sendable {
    /// The entities that the server had, as far as the log knows.
    package var known: Set<ExactString>
    /// The entities about which the log holds newer answers than a list from the cursor can bring.
    package var ahead: [String]
    /// References of the unfinished list that were not fetched yet.
    package var wanted: [ServerReference]
    /// What is known of the places of a tree, where the server knows it by paths.
    package var walk: TreeWalk?
    /// What is missing in the folders that the unfinished list listed.
    package var missing: Set<ExactString> = []
    /// Of a tree by paths, what an earlier list did not name and what is held.
    package var held: Set<ExactString> = []
    /// The parameters with which it is asked for; nil for the target's.
    package var parameters: ListParameters?

    package init(
        known: Set<ExactString> = [], ahead: [String] = [], wanted: [ServerReference] = []
    ) {
        self.known = known
        self.ahead = ahead
        self.wanted = wanted
    }
}

extension Listing {
    package init(_ plan: ListPlan, _ contents: ListContents) {
        self.init(
            plan.collection, after: plan.after, epoch: plan.epoch,
            known: contents.walk == nil ? contents.known : [],
            knownCount: max(plan.cut?.state.knownCount ?? 0, contents.known.count),
            ahead: contents.ahead, window: plan.window, walk: contents.walk, asOf: plan.asOf)
        target = plan.target
        parameters = contents.parameters
        held = contents.held
        serverTime = plan.serverTime
        settles = plan.settles
        (limit, isSharing) = (plan.limit, plan.target.isShared && plan.limit != nil)
        numberedPages = plan.numberedPages
        if let walk, walk.isOfFolders {
            isPaging = walk.isThere
            next = walk.folder.path.isEmpty ? nil : walk.folder.path
        }
        if limit == 0, isWhole { isPaging = false }
        if let cut = plan.cut {
            goOn(from: cut, wanted: contents.wanted, missing: contents.missing)
        }
    }
}

extension SyncMachine {
    /// The plan of a target's list.
    func plan(_ target: PullTarget, _ standing: ListStanding) -> ListPlan? {
        guard let collection = model[target.collection] else { return nil }
        let epoch = epochs[collection.name]
        var plan = ListPlan(
            collection: collection, target: target, epoch: epoch, asOf: standing.last,
            now: windowTime)
        plan.settles = standing.hasUnanswered && !target.isPart && target.folder == nil
        plan.serverTime = sureTime
        plan.limit = target.isShared ? firstShare(of: target, collection) : target.limit
        if !traits.unpaged.contains(collection.name) {
            plan.numberedPages = traits.numberedPages.map { collection.pageSize ?? $0 }
        } else if target.isShared {
            // What comes in one answer leaves nothing to others.
            plan.limit = nil
        }
        // Of what is missing in a single folder nothing follows: it may have been moved.
        guard target.folder == nil else {
            plan.isBeforeDeletion = deletions.isListing
            return plan
        }
        plan.after = cursor(of: collection, target, standing)
        if let cut = standing.cut, goesOn(with: cut.state, plan, standing) {
            plan.cut = cut
            if !cut.state.isOfChanges { plan.after = nil }
            plan.epoch = epoch ?? cut.state.epoch
            plan.window = cut.window
            plan.asOf = cut.state.asOf
        } else {
            plan.window = span(of: collection, standing.unansweredMoments)
        }
        plan.versions = use(ofVersionsIn: collection, plan, standing)
        // Of what a list of a part does not name nothing follows.
        plan.comparesKnown =
            plan.after == nil && collection.window == nil && collection.isSwept && !isTimeInDoubt
            && target.limit == nil
        if traits.cursorIsState {
            plan.aheadSince = standing.mark?.position ?? plan.cut?.state.asOf
        }
        return plan
    }

    /// Whether an unfinished list can be continued.
    private func goesOn(
        with state: ListState, _ plan: ListPlan, _ standing: ListStanding
    ) -> Bool {
        guard !discarded.contains(plan.target), plan.epoch == nil || plan.epoch == state.epoch
        else { return false }
        // Once everything is to be listed, one of changes is not enough. Where a cursor is a state,
        // what its pages brought can't be told from what that state may lack.
        if state.isOfChanges, plan.after == nil || traits.cursorIsState { return false }
        // The number of a page says where it is by the size of those before it.
        guard plan.numberedPages == state.pageSize else { return false }
        // A run that is asked for everything makes it of pages of its own.
        guard !isFull || state.asOf >= beganAt else { return false }
        // Pages requested while the server's time was in doubt or wrong are requested again.
        if let settledAt = clock.settledAt, state.asOf < settledAt { return false }
        // No list of changes tells what changed in the meantime and was forgotten by the server.
        let every = model.settings.fullPullEvery
        let isOld = FullPullRule.isDue(
            .init(epoch: nil, at: state.serverTime ?? serverTime), epoch: nil, now: serverTime,
            every: every == .zero ? SyncSettings().fullPullEvery : every)
        return !isOld && (state.cursor != nil || !standing.hasUnanswered)
    }

    /// How the versions of folders are used in a list.
    private func use(
        ofVersionsIn collection: CollectionModel, _ plan: ListPlan, _ standing: ListStanding
    ) -> TreeWalk.VersionUse {
        guard collection.tree?.folderVersionsMove == true, standing.mark?.isUnmoved != true else {
            return .none
        }
        let isDue = HabitRule.isDue(last: standing.mark?.walkedAt, now: begun.now)
        return isDue || isFull || standing.isOwed || plan.cut != nil ? .noted : .skipping
    }

    /// The cursor that a list begins at; nil when everything has to be listed.
    private func cursor(
        of collection: CollectionModel, _ target: PullTarget, _ standing: ListStanding
    ) -> Revision? {
        // A list of everything may not reach back to a write without an answer: changes come first.
        let isOwed = standing.isOwed && !(standing.keepsDate && standing.hasUnanswered)
        guard !isFull, !isTimeInDoubt, restarts[target] == nil, !isOwed, !standing.isHeld,
            let mark = standing.mark
        else { return nil }
        let isDue = FullPullRule.isDue(
            .init(epoch: mark.epoch, at: mark.fullAt), epoch: epochs[collection.name],
            now: serverTime, every: model.settings.fullPullEvery)
        if isDue { return nil }
        if let had = mark.limit, target.limit.map({ $0 > had }) ?? true { return nil }
        guard let rule = collection.since else { return mark.cursor }
        let date = SinceDecision.date(
            rule, since: mark.since, checkedAt: mark.checkedAt, now: serverTime)
        return date.map { Revision($0.description) }
    }

    /// The window of a list of everything: the model's, extended to the times of writes without an
    /// answer, which would otherwise be sent twice, as far back as the server lists.
    private func span(of collection: CollectionModel, _ unanswered: [Timestamp]) -> TimeSpan? {
        guard let window = collection.window else { return nil }
        let now = windowTime
        let usual = window.span(around: now)
        let earliest = window.reach.map { min(usual.from, now.subtracting($0)) }
        let first = unanswered.min().map { $0.adding(seconds: -1) } ?? usual.from
        let last = unanswered.max().map { $0.adding(seconds: 1) } ?? usual.to
        return TimeSpan(
            from: min(usual.from, max(first, earliest ?? first)), to: max(usual.to, last))
    }
}
