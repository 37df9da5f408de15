// PageDecision.swift — what of a page is logged, decided by the rows as they are before it.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What a page of a list brings.
package struct PageDecision {
    /// What each of its records means for the log, in their order; of those of one entity the last
    /// one counts, and the others mean nothing new.
    package let verdicts: [ServerNews.Verdict]
    /// The records that are left out with all that stands in them, by index.
    let withheld: Set<Int>
    /// Its records that can't be read and that were not noted yet.
    let unreadable: [UnreadableRecord]
    /// What the next step depends on; what is counted while the records are written is missing.
    package let result: PageResult
    /// Whether the page is logged now.
    ///
    /// A page without news waits until something else is logged.
    package let isLogged: Bool
    /// What is kept of the list so that a later run can go on with it; nil for nothing.
    package let progress: ListProgress?
    /// The list with the page, and with the server's time of the page where it had none; without
    /// its entities.
    let list: Listing

    package init(
        _ page: ListPage, of list: Listing, _ exchange: ReadExchange, _ news: ServerNews
    ) throws {
        let collection = list.collection.name
        // By index: none of the records is copied.
        let records = page.records
        var verdicts: [ServerNews.Verdict] = []
        verdicts.reserveCapacity(records.count)
        var latest: Timestamp?
        // Reading the answer's date takes longer than looking at a record.
        let asked = exchange.asked
        var withheld: Set<Int> = []
        let (named, hasRepeats) = try Self.named(page, collection, news)
        let overtaken = hasRepeats ? records.overtaken : []
        for index in records.indices {
            if let time = records[index].serverTime, asked.map({ time <= $0 }) ?? false {
                latest = max(time, latest ?? time)
            }
            if overtaken.contains(index) {
                verdicts.append(.same)
                continue
            }
            var verdict = try news.verdict(on: records[index], in: collection, asOf: exchange.asOf)
            if verdict != .outdated, try news.withholds(records[index], in: list.collection) {
                withheld.insert(index)
                if verdict == .new {
                    verdict = try news.withheld(records[index].id, in: collection)
                }
            }
            verdicts.append(verdict)
        }
        (self.verdicts, self.withheld) = (verdicts, withheld)
        unreadable = try page.unreadable.filter { try news.isNew($0, in: collection) }
        var result = PageResult()
        result.count = unreadable.count
        let ids = try list.isOfIDs ? news.idList(of: collection) : nil
        result.wanted = try page.references.filter {
            try news.isWanted($0, in: collection, by: ids)
        }
        result.named = named
        result.step = page.step
        // What was missing and is named now.
        let back = list.walk == nil ? [] : list.unnamed.intersection(result.named)
        result.isShift = list.isByNumber && list.shifts.areShown(by: page)
        result.asked = asked
        result.latest = latest
        result.isComplete = list.isLast(page, result)
        result.isCut = list.lacksChanges(page)
        if page.step?.isSameVersion == true, !news.overwrites {
            let isMissing = page.step?.missing.isEmpty == false
            result.isUnmoved =
                try isMissing
                || records.indices.contains {
                    try verdicts[$0] == .new && news.isChange(records[$0], in: collection)
                }
        }
        var list = list.withoutEntities
        if let step = page.step { list.walk?.count(step) }
        result.failure = list.turn(page, result)
        result.list = list
        list.serverTime = list.serverTime ?? exchange.answer.serverTime
        let movesCursor = try result.isComplete && ListEnd(list, news).isWorthNoting
        let progress =
            try result.isComplete ? nil : Self.progress(of: list, page, back, result, news)
        // No event is a folder in which nothing is new, missing or perhaps moved there; nor one
        // of several pages of changes without news or anything to fetch, unless the list goes by
        // date. How far it is the end of its run says, where it is cut off.
        let isKept = list.isWhole || list.collection.since != nil
        let isOfMany =
            list.walk == nil && isKept
            ? page.next != nil || list.number > 1 : progress?.references.isEmpty == false
        let endsKept = result.failure != nil && progress != nil
        isLogged =
            try verdicts.contains { $0 == .new || $0 == .withheld } || !unreadable.isEmpty
            || movesCursor || isOfMany || endsKept || exchange.concern != nil
            || exchange.isClockNews
            || news.namesAbsent(result.named, list.target)
            || !list.areHeld(page.step?.missing ?? []) || !back.isEmpty
        self.progress = progress
        self.list = list
        self.result = result
    }

    /// Every entity that the page names, readable or not: by its id, and by the id of its key; and
    /// whether several of its records may be of one.
    private static func named(
        _ page: ListPage, _ collection: CollectionName, _ news: ServerNews
    ) throws -> (ids: Set<ExactString>, hasRepeats: Bool) {
        var named: Set<ExactString> = []
        named.reserveCapacity(page.records.count + page.references.count)
        var hasRepeats = false
        func add(_ id: String, isRecord: Bool = false) throws {
            let isNew = named.insert(ExactString(id)).inserted
            if isRecord, !isNew { hasRepeats = true }
            guard isNew, news.fold.hasBindings else { return }
            named.insert(ExactString(try news.fold.resolve(EntityKey(collection, id)).id))
        }
        for index in page.records.indices { try add(page.records[index].id, isRecord: true) }
        for reference in page.references { try add(reference.id) }
        for id in page.unreadable.compactMap(\.id) {
            // What is no key has no row that could be asked for.
            if EntityKey.isUsable(id: id) {
                try add(id)
            } else {
                named.insert(ExactString(id))
            }
        }
        for id in page.unspoken { try add(id) }
        return (named, hasRepeats)
    }

    private static func progress(
        of list: Listing, _ page: ListPage, _ back: Set<ExactString>, _ result: PageResult,
        _ news: ServerNews
    ) throws -> ListProgress? {
        let isWiped = try news.fold.isWiped(list.collection.name, after: list.asOf)
        let missing = page.step?.missing ?? []
        let isOfMany = page.next != nil || list.pages > 1 || !missing.isEmpty
        let isKept = !isWiped && result.failure == nil && isOfMany
        guard isKept, let state = list.state else {
            // What was kept of an earlier list is of no use any more, nor is what was kept of
            // a list of changes that would fail at its next page again.
            guard list.isWhole || result.failure != nil,
                try news.fold.listed(list.target)?.state != nil
            else { return nil }
            return ListProgress(nil)
        }
        var progress = ListProgress(state)
        progress.references = result.wanted.map(ListedReference.init)
        let wanted = Set(result.wanted.map { ExactString($0.id) })
        progress.same = page.references.map(\.id).filter { !wanted.contains(ExactString($0)) }
        progress.unreadable = page.unreadable.map(\.name)
        if list.walk != nil {
            progress.same = back.inOrder
            progress.missing = missing
            progress.references = TreeWalk.references(to: page.step?.moved ?? [])
            // Pages before it may not be logged.
            progress.unreadable = list.unreadable.inOrder
        }
        return progress
    }
}

extension [ServerRecord] {
    /// The records, by index, behind which another one of the same id comes: what that says counts.
    var overtaken: Set<Int> {
        var last: [ExactString: Int] = [:]
        var overtaken: Set<Int> = []
        for index in indices {
            if let before = last.updateValue(index, forKey: ExactString(self[index].id)) {
                overtaken.insert(before)
            }
        }
        return overtaken
    }
}
