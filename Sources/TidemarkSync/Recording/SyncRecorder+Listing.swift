// SyncRecorder+Listing.swift — what the log keeps of a list of everything while it is made, and
// when its end is worth an event.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension ListedReference {
    init(_ reference: ServerReference) {
        self.init(
            id: reference.id, revision: reference.revision, serverTime: reference.serverTime)
    }
}

extension ServerReference {
    package init(_ listed: ListedReference) {
        self.init(id: listed.id, revision: listed.revision, serverTime: listed.serverTime)
    }
}

extension SyncRecorder {
    /// What is kept of a list of everything with a page, so that a later run can go on with it; nil
    /// for nothing.
    func progress(
        of list: Listing, _ page: ListPage, _ news: PageResult, _ draft: Draft
    ) throws -> ListProgress? {
        guard list.isWhole else { return nil }
        let isKept = news.failure == nil && (page.next != nil || list.pages > 1)
        guard isKept, let state = list.state else {
            // What was kept of an earlier one is of no use any more.
            return try draft.fold.listed(list.target)?.state == nil
                ? nil : ListProgress(nil)
        }
        var payload = ListProgress(state)
        payload.references = news.wanted.map(ListedReference.init)
        let wanted = Set(news.wanted.map { ExactString($0.id) })
        payload.same = page.references.map(\.id).filter { !wanted.contains(ExactString($0)) }
        payload.unreadable = page.unreadable.map(\.name)
        return payload
    }

    /// Whether the end of a list of everything is what was waited for: it was owed, or cut off
    /// before, or tells of something that it can be read.
    func endsSomething(_ list: Listing, _ draft: Draft) throws -> Bool {
        guard list.isWhole else { return false }
        let name = list.collection.name
        return try draft.fold.isOwed(name) || draft.fold.listed(list.target)?.state != nil
            || !readableAgain(list, draft).isEmpty
    }

    /// What could not be read and was not named any more, by name.
    func readableAgain(_ list: Listing, _ draft: Draft) throws -> [String] {
        guard list.isWhole, list.collection.window == nil else { return [] }
        return try draft.fold.unreadable(of: list.collection.name).filter {
            !list.unreadable.contains(ExactString($0))
        }
    }

    /// Whether the same entities are held already, and the end of the list says nothing else.
    func isHeldAlready(
        _ list: Listing, _ absent: Absent, _ draft: Draft
    ) throws -> Bool {
        guard absent.isHeld, !list.settles, let held = try draft.fold.held(list.target),
            let mark = try draft.fold.watermark(list.target), mark.cursor == list.cursor,
            mark.epoch == list.epoch || list.epoch == nil
        else { return false }
        if list.collection.since != nil,
            SinceDecision.isNews(
                since: mark.since, checkedAt: mark.checkedAt, latest: list.latest,
                asked: list.asked)
        {
            return false
        }
        return try held.ids.map(ExactString.init) == absent.ids.map(ExactString.init)
            && !endsSomething(list, draft)
    }

    /// Whether a page names what an earlier list did not: that is worth an event.
    func namesAbsent(
        _ named: Set<ExactString>, _ target: PullTarget, _ draft: Draft
    ) throws -> Bool {
        let held = Set((try draft.fold.held(target)?.ids ?? []).map(ExactString.init))
        return try !named.isDisjoint(with: held)
            || !named.isDisjoint(with: draft.fold.absentInDoubt(target.collection))
    }

    /// Whether something may still be concluded from what a list did not name, so that what a look
    /// at an entity says is worth an event also where it is nothing new.
    func isInDoubt(_ key: EntityKey, _ start: Position, _ draft: Draft) throws -> Bool {
        if try draft.fold.isUnreadable(key) || draft.fold.held(PullTarget(key.collection)) != nil {
            return true
        }
        guard let listed = try draft.fold.listed(PullTarget(key.collection)) else { return false }
        return listed.state != nil && listed.begun != start
    }
}
