// SyncMachine+Pull.swift — what a sync run lists and fetches next, and what came of it.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    func begin(_ collection: CollectionModel, _ views: ViewReader) throws -> Listing {
        let epoch = epochs?[collection.name]
        if let cut = try cutListing(collection, epoch, views) {
            return try goOn(collection, epoch, cut, views)
        }
        let after = try cursor(of: collection, epoch, views)
        // Of what a list of a part does not name nothing follows.
        let isWhole =
            after == nil && collection.window == nil && collection.isSwept
            && !isTimeInDoubt
        let span = try span(of: collection, views)
        var list = Listing(
            collection, after: after, epoch: epoch,
            known: isWhole ? try known(collection, views) : [],
            ahead: try ahead(collection.name, views),
            window: span, asOf: views.last)
        list.serverTime = sureTime
        list.settles = try views.hasUnanswered(in: collection.name)
        return list
    }

    /// The list of everything that an earlier run was cut off in; nil where there is none that can
    /// go on.
    private func cutListing(
        _ collection: CollectionModel, _ epoch: Revision?, _ views: ViewReader
    ) throws -> CutListing? {
        guard !discarded.contains(collection.name),
            let state = try views.listing(collection.name),
            epoch == nil || epoch == state.epoch
        else { return nil }
        // What was asked for in doubt about the server's time, or by a wrong one, is asked for
        // anew.
        if let settledAt = clock.settledAt, state.asOf < settledAt { return nil }
        // What changed meanwhile and was forgotten by the server no list of changes tells.
        let every = model.settings.fullPullEvery
        let isOld = FullPullRule.isDue(
            .init(epoch: nil, at: state.serverTime ?? serverTime), epoch: nil, now: serverTime,
            every: every == .zero ? SyncSettings().fullPullEvery : every)
        if isOld { return nil }
        if state.cursor == nil, try views.hasUnanswered(in: collection.name) { return nil }
        return CutListing(state: state, pages: try views.listedPages(collection.name))
    }

    /// Goes on with a list that was cut off.
    private func goOn(
        _ collection: CollectionModel, _ epoch: Revision?, _ cut: CutListing, _ views: ViewReader
    ) throws -> Listing {
        var known: Set<ExactString> = []
        if collection.window == nil, collection.isSwept, !isTimeInDoubt {
            known = try self.known(collection, views, asOf: cut.state.asOf)
        }
        for id in cut.named where known.remove(id) == nil {
            let found = try views.found(EntityKey(collection.name, id.text))
            if let found { known.remove(ExactString(found.key.id)) }
        }
        var list = Listing(
            collection, after: nil, epoch: epoch ?? cut.state.epoch, known: known,
            knownCount: cut.state.knownCount,
            ahead: try ahead(collection.name, views, cut), window: cut.window, asOf: cut.state.asOf)
        list.serverTime = sureTime
        list.settles = try views.hasUnanswered(in: collection.name)
        let wanted = try cut.wanted { try views.entity(EntityKey(collection.name, $0)) }
        list.goOn(from: cut, wanted: wanted)
        return list
    }

    /// The span that everything is listed within: the model's, and as far beyond it as what was
    /// sent without an answer lies, which else would be sent twice.
    private func span(of collection: CollectionModel, _ views: ViewReader) throws -> TimeSpan? {
        guard let usual = collection.window?.span(around: windowTime) else {
            return nil
        }
        let moments = try views.unansweredMoments(in: collection)
        let first = moments.min().map { $0.adding(seconds: -1) } ?? usual.from
        let last = moments.max().map { $0.adding(seconds: 1) } ?? usual.to
        return TimeSpan(from: min(usual.from, first), to: max(usual.to, last))
    }

    /// The entities of which something was learned since the collection's cursor was noted: by
    /// writing or reading them.
    ///
    /// A server whose cursor stands for a state says nothing of them once another client has
    /// brought that state back.
    ///
    /// - Parameter cut: where an earlier run was cut off in a list, what its pages tell.
    private func ahead(
        _ collection: CollectionName, _ views: ViewReader, _ cut: CutListing? = nil
    ) throws -> [String] {
        let mark = try views.watermark(collection)?.position ?? cut?.state.asOf
        guard traits.cursorIsState, let mark else { return [] }
        var ids: [String] = []
        try views.forEachEntity(in: collection) { key, row in
            let isAhead = row.basePosition.map { $0 > mark } ?? false
            guard row.isAssumed || (isAhead && !row.isPlaceholder) else { return true }
            let id = try views.serverID(of: key, row, idField: model[collection]?.idField)
            if row.isAssumed || cut?.tells(id ?? key.id, row) != true { ids.append(id ?? key.id) }
            return true
        }
        return ids
    }

    /// Where a list goes on; nil when everything has to be listed.
    private func cursor(
        of collection: CollectionModel, _ epoch: Revision?, _ views: ViewReader
    ) throws -> Revision? {
        guard !isFull, !isTimeInDoubt, restarts[collection.name] == nil,
            try !views.isOwed(collection.name), try views.held(collection.name) == nil,
            let mark = try views.watermark(collection.name)
        else { return nil }
        let isDue = FullPullRule.isDue(
            .init(epoch: mark.epoch, at: mark.fullAt), epoch: epoch, now: serverTime,
            every: model.settings.fullPullEvery)
        if isDue { return nil }
        guard let rule = collection.since else { return mark.cursor }
        let date = SinceDecision.date(
            rule, since: mark.since, checkedAt: mark.checkedAt, now: serverTime)
        return date.map { Revision($0.description) }
    }

    /// The entities of a collection that the server had when it was last heard of.
    ///
    /// - Parameter asOf: only of those that were heard of until then.
    private func known(
        _ collection: CollectionModel, _ views: ViewReader, asOf: Position? = nil
    ) throws -> Set<ExactString> {
        var ids: Set<ExactString> = []
        guard collection.isSwept else { return ids }
        try views.forEachEntity(in: collection.name) { key, row in
            // A placeholder of what is out of reach when it is not named is out of reach as well.
            let isHere = collection.access.hidesAbsent ? row.isListed : row.isInReach
            let wasHeard = asOf.map { row.basePosition ?? .start <= $0 } ?? true
            if isHere, wasHeard { ids.insert(ExactString(key.id)) }
            return true
        }
        return ids
    }

    // MARK: Lists that are asked for before their turn

    /// The collections that are still to be pulled, the one in hand first.
    var unlisted: [CollectionModel] {
        let inHand = listing.map { [$0.collection] } ?? []
        return (inHand + unpulled).filter { outcome.paused[$0.name] == nil }
    }

    /// Begins the list of a collection before its turn, or hands out the one in hand; nil where
    /// the collection is not to be pulled any more.
    mutating func beginEarly(
        _ name: CollectionName, _ views: ViewReader
    ) throws -> Listing? {
        if let listing, listing.collection.name == name { return listing }
        guard let collection = unpulled.first(where: { $0.name == name }) else { return nil }
        let list = try early[name] ?? begin(collection, views)
        early[name] = list
        return list
    }

    /// Takes note of a request whose answer nobody needs any more.
    mutating func dropped() { outcome.counts.requests += 1 }

    /// Has everything listed from the first collection on; what was asked for before its turn
    /// counts for nothing.
    mutating func restartPull() {
        pullRound += 1
        early = [:]
        listing = nil
        unpulled = pulls
    }

    /// The next step of the list in hand; nil when it is done.
    mutating func nextPull(_ views: ViewReader) throws -> SyncStep? {
        guard var current = listing else { return nil }
        defer { if listing != nil { listing = current } }
        guard outcome.paused[current.collection.name] == nil else {
            listing = nil
            return nil
        }
        if let call = current.call { return .list(call) }
        current.wantAhead()
        if let ids = current.portion(traits.entitiesPerFetchMax) {
            return .fetch(current.collection, ids: ids)
        }
        if let failure = current.failure {
            pause(failure)
            return nil
        }
        if current.beginNextPass(), let call = current.call { return .list(call) }
        let absent = try current.absent(views.entity)
        let isDeletion =
            current.collection.isSwept && !current.collection.access.hidesAbsent
        if isDeletion, !isTimeInDoubt, !current.isReadBack,
            !absent.isEmpty,
            absent.count <= Listing.readBackMax,
            !SweepRule.asksFirst(absent: absent.count, of: current.knownCount)
        {
            current.isReadBack = true
            asked = absent.map { EntityKey(current.collection.name, $0) }.reversed()
            if let step = try nextReadBack(views) { return step }
        }
        defer { listing = nil }
        return .complete(current)
    }

    // MARK: What came of it

    /// Goes on with the list as it is with a page that was taken in.
    mutating func took(_ news: PageResult) {
        listing = news.list
        if let failure = news.failure {
            pause(failure)
            return
        }
        if let name = listing?.collection.name, begunAnew.remove(name) != nil {
            outcome.restarted.insert(name)
        }
        if news.isComplete { listing = nil }
    }

    /// The server does not know the cursor: the same collection once more, from the beginning.
    mutating func startAnew() {
        guard let current = listing else { return }
        guard current.after != nil || current.next != nil else {
            pause(.malformed("a list of everything has no cursor that could be unknown"))
            return
        }
        let count = restarts[current.collection.name, default: 0]
        guard count < Self.restartsMax else {
            pause(.malformed("the list's own cursor was unknown \(count + 1) times"))
            return
        }
        restarts[current.collection.name] = count + 1
        if current.isWhole { discarded.insert(current.collection.name) }
        if current.isResuming { begunAnew.insert(current.collection.name) }
        unpulled = [current.collection] + unpulled
        listing = nil
    }

    mutating func pause(_ failure: SyncFailure) {
        guard let name = listing?.collection.name else { return }
        outcome.paused[name] = failure
        listing = nil
    }

    /// Takes note that a list was noted as complete.
    mutating func completed(_ list: Listing, _ absent: Absent) {
        if absent.isHeld {
            outcome.held[list.collection.name] = absent.ids.count
        } else {
            outcome.counts.pulled += absent.ids.count
        }
    }
}
