// ListPlan.swift — how a list begins: from where the last one ended, or one that was cut off, and
// what has to be known of what is here.
//
//   ListStanding   what the views say of the target
//   ListPlan       what is asked for, decided by it
//   ListContents   what is here of that
//   Listing        begins with both

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// How a target of a pull stands before it is listed.
package struct ListStanding: Sendable {
    /// A list of everything that an earlier run was cut off in.
    package var cut: CutListing?
    /// Where the last list ended.
    package var mark: WatermarkRow?
    /// Whether it is to be listed whole, because an earlier run was asked to and did not.
    package var isOwed = false
    /// Whether the user is asked about what the last list did not name.
    package var isHeld = false
    /// Whether its end says what became of writes without an answer.
    package var hasUnanswered = false
    /// The moments of those writes, by which a list of a span finds them.
    package var unansweredMoments: [Timestamp] = []
    /// The log's last position.
    package var last: Position

    package init(last: Position) { self.last = last }
}

/// What a list asks for, and what has to be known of what is here.
package struct ListPlan: Sendable {
    package var collection: CollectionModel
    package var target: PullTarget
    package var epoch: Revision?
    /// Where it goes on; nil for everything.
    package var after: Revision?
    /// The list of everything that it goes on with.
    package var cut: CutListing?
    /// The span that is listed, where it is not all of it.
    package var window: TimeSpan?
    /// The log's last position when it began.
    package var asOf: Position
    /// Whether the entities that are here are to be compared with what it names.
    package var comparesKnown = false
    /// Since when what was learned of an entity by itself is asked about again; nil where a list
    /// says it.
    package var aheadSince: Position?
    package var settles = false
    package var serverTime: Timestamp?
}

/// What is here of what a list is to name.
package struct ListContents: Sendable {
    /// The entities that the server had when it was last heard of.
    package var known: Set<ExactString>
    /// Those of which more was learned since the cursor than a list says.
    package var ahead: [String]
    /// What a list that was cut off named and that was not fetched since.
    package var wanted: [ServerReference]

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
            plan.collection, after: plan.after, epoch: plan.epoch, known: contents.known,
            knownCount: plan.cut?.state.knownCount, ahead: contents.ahead, window: plan.window,
            asOf: plan.asOf)
        target = plan.target
        serverTime = plan.serverTime
        settles = plan.settles
        if let cut = plan.cut { goOn(from: cut, wanted: contents.wanted) }
    }
}

extension SyncMachine {
    /// What a list of a target asks for.
    func plan(_ target: PullTarget, _ standing: ListStanding) -> ListPlan? {
        guard let collection = model[target.collection] else { return nil }
        let epoch = epochs?[collection.name]
        var plan = ListPlan(
            collection: collection, target: target, epoch: epoch, asOf: standing.last)
        plan.settles = standing.hasUnanswered
        plan.serverTime = sureTime
        if let cut = standing.cut, goesOn(with: cut.state, target, standing) {
            plan.cut = cut
            plan.epoch = epoch ?? cut.state.epoch
            plan.window = cut.window
            plan.asOf = cut.state.asOf
        } else {
            plan.after = cursor(of: collection, target, standing)
            plan.window = span(of: collection, standing.unansweredMoments)
        }
        // Of what a list of a part does not name nothing follows.
        plan.comparesKnown =
            plan.after == nil && collection.window == nil && collection.isSwept && !isTimeInDoubt
        if traits.cursorIsState {
            plan.aheadSince = standing.mark?.position ?? plan.cut?.state.asOf
        }
        return plan
    }

    /// Whether a list of everything that was cut off can go on.
    private func goesOn(
        with state: ListState, _ target: PullTarget, _ standing: ListStanding
    ) -> Bool {
        let epoch = epochs?[target.collection]
        guard !discarded.contains(target), epoch == nil || epoch == state.epoch else {
            return false
        }
        // What was asked for in doubt about the server's time, or by a wrong one, is asked for
        // anew.
        if let settledAt = clock.settledAt, state.asOf < settledAt { return false }
        // What changed meanwhile and was forgotten by the server no list of changes tells.
        let every = model.settings.fullPullEvery
        let isOld = FullPullRule.isDue(
            .init(epoch: nil, at: state.serverTime ?? serverTime), epoch: nil, now: serverTime,
            every: every == .zero ? SyncSettings().fullPullEvery : every)
        return !isOld && (state.cursor != nil || !standing.hasUnanswered)
    }

    /// Where a list goes on; nil when everything has to be listed.
    private func cursor(
        of collection: CollectionModel, _ target: PullTarget, _ standing: ListStanding
    ) -> Revision? {
        guard !isFull, !isTimeInDoubt, restarts[target] == nil, !standing.isOwed,
            !standing.isHeld, let mark = standing.mark
        else { return nil }
        let isDue = FullPullRule.isDue(
            .init(epoch: mark.epoch, at: mark.fullAt), epoch: epochs?[collection.name],
            now: serverTime, every: model.settings.fullPullEvery)
        if isDue { return nil }
        guard let rule = collection.since else { return mark.cursor }
        let date = SinceDecision.date(
            rule, since: mark.since, checkedAt: mark.checkedAt, now: serverTime)
        return date.map { Revision($0.description) }
    }

    /// The span that everything is listed within: the model's, and as far beyond it as what was
    /// sent without an answer lies, which else would be sent twice.
    private func span(of collection: CollectionModel, _ unanswered: [Timestamp]) -> TimeSpan? {
        guard let usual = collection.window?.span(around: windowTime) else { return nil }
        let first = unanswered.min().map { $0.adding(seconds: -1) } ?? usual.from
        let last = unanswered.max().map { $0.adding(seconds: 1) } ?? usual.to
        return TimeSpan(from: min(usual.from, first), to: max(usual.to, last))
    }
}
