// Listing.swift — the state of one list: its pages, and the entities that it did not name.
//
//   since the cursor           pages → fetch references → complete
//   everything                 the same, then the changes since it began, then entities that were
//                              never named are read back or swept → complete

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// A list in progress.
package struct Listing: Sendable, Hashable {
    /// The most lists of changes after a list of everything, until one is empty.
    private static let passesMax = 3
    /// The most failed fetches before the rest of the references is left.
    private static let failuresMax = 10
    /// The most entities per fetch after a larger fetch failed.
    private static let manyMax = 50
    /// How many ids of a feed are listed at once.
    package static let idsMax = 1_000

    package var collection: CollectionModel
    package var target: PullTarget
    /// The parameters with which it is asked for; nil for the target's.
    package internal(set) var parameters: ListParameters?
    /// The identity of the collection on the server, where it is known.
    package var epoch: Revision?
    /// Whether everything is listed, not only changes.
    package var isWhole: Bool
    /// The log's last position when the list began: rows with a later answer are newer than it.
    package var asOf: Position
    /// The cursor that the current pages began at; nil for everything.
    package private(set) var after: Revision?
    private let began: Revision?
    /// The cursor of the next list.
    package private(set) var cursor: Revision?
    /// The token of the next page.
    package internal(set) var next: String?
    /// How many pages were fetched since ``after``.
    package private(set) var number = 0
    /// References that are not fetched yet.
    package private(set) var wanted: [ServerReference] = []
    /// Of a list of everything: the local entities that it has not named.
    ///
    /// Of one by folders: those that are missing where they lay.
    package internal(set) var unnamed: Set<ExactString>
    /// Entities with a newer answer than the cursor that it has not named.
    package private(set) var ahead: [String]
    /// Of one by folders: what an earlier one did not name and what is held until the user decides.
    package internal(set) var held: Set<ExactString> = []
    /// Its way through the folders, where the server knows a tree by paths: each is a page.
    package internal(set) var walk: TreeWalk?
    private let wasAhead: Bool
    /// How many local entities there were when it began.
    package let knownCount: Int
    /// The server's clock when the list began, where it is known.
    package var serverTime: Timestamp?
    /// Whether its end settles writes without an answer.
    package var settles = false
    /// Whether the run had not listed before what may come into reach, so that the date of the next
    /// list of changes stays.
    var keepsSince = false
    /// The window that is listed; nil for everything.
    package let window: TimeSpan?
    /// The parts of the window that are still to be listed, the next one last.
    var spans: [TimeSpan]
    /// Whether the window is listed in parts.
    var isSplit = false
    /// A time by the server's clock shortly before it was requested.
    package private(set) var asked: Timestamp?
    /// The last change of an entity that it named, deletions included.
    package private(set) var latest: Timestamp?
    /// The unnamed entities that were read back one by one last; none before.
    package internal(set) var readBack: [String] = []
    /// How many rounds of that there were.
    var rounds = 0
    /// The unnamed entities that no request can ask about.
    var unaskable: Set<ExactString> = []
    /// Whether it holds records without an id, so that what it does not name may be there.
    package private(set) var isDoubtful = false
    /// Why a page of it, or something that it names, could not be fetched: then it is not complete.
    package internal(set) var failure: SyncFailure?
    /// How many entities it asks for so far; nil for all.
    package internal(set) var limit: Int?
    /// Whether it may get more of a limit that several lists share.
    package internal(set) var isSharing = false
    /// How many entities a page usually has, where pages have numbers; nil where they have none.
    var numberedPages: Int?
    /// Whether something moved past one of its pages with numbers.
    var shifts = PageShifts()

    /// What it names that can't be read, by name.
    package private(set) var unreadable: Set<ExactString> = []
    /// How many pages it has, those of earlier runs included.
    package private(set) var pages = 0
    /// How many entities its pages of this run name.
    package private(set) var count = 0
    /// How many rows of the server's list its pages with numbers went past.
    private(set) var passed = 0
    /// How many of its pages failed.
    private(set) var failedPages = 0
    /// The first page that failed, at which a later run goes on; nil for the list's first page.
    private(set) var failedNext: String?
    /// Whether it goes on where an earlier run was cut off, and nothing was answered since.
    package internal(set) var isResuming = false
    /// Whether all folders are listed once more, as something may have been moved.
    var isForMoves = false
    /// Whether it is one by folders that went on where an earlier run left it.
    var isContinued = false

    /// The next pages asked for so far: a server that names one twice would lead in a circle.
    var seen: Set<ExactString> = []
    /// What the last page named: a server that turns no pages answers with the same one for ever.
    private var namedLast: Set<ExactString> = []
    /// How often it named the same ones again in a row.
    private var samePages = 0
    /// How often it may: entities may have changed places between two pages.
    private static let samePagesMax = 1
    /// Whether any page was told.
    var hasPages: Bool { number > 0 }
    package internal(set) var isPaging = true
    /// How many may be fetched at once, after a fetch of more of them failed.
    private var fetchesMax = Int.max
    /// Those that are fetched one by one, as a fetch of them together failed.
    private var alone: Set<ExactString> = []
    /// Whether the last fetch of several failed.
    private var hasFailedTogether = false
    private var failures = 0
    private var isPassEmpty = true
    private var passes = 0
    /// Whether what changed since the list began is to be listed, even if everything was named.
    private var needsPass = false
    var isAsked = false

    package init(
        _ collection: CollectionModel, after: Revision?, epoch: Revision?, known: Set<ExactString>,
        knownCount: Int? = nil, ahead: [String] = [], window: TimeSpan? = nil,
        walk: TreeWalk? = nil, asOf: Position
    ) {
        self.walk = walk
        self.window = after == nil ? window : nil
        spans = self.window.map { [$0] } ?? []
        self.collection = collection
        target = PullTarget(collection.name)
        self.epoch = epoch
        self.after = after
        began = after
        self.asOf = asOf
        isWhole = after == nil
        unnamed = known
        self.knownCount = knownCount ?? known.count
        self.ahead = ahead
        wasAhead = !ahead.isEmpty
    }

    /// Goes on where an earlier run was cut off.
    ///
    /// - Parameters:
    ///   - wanted: what was named and not fetched.
    ///   - missing: what is missing in the folders that were listed.
    package mutating func goOn(
        from cut: CutListing, wanted: [ServerReference], missing: Set<ExactString> = []
    ) {
        let state = cut.state
        (after, next, cursor) = (state.after, state.next, state.cursor)
        (asked, serverTime) = (state.asked, state.serverTime ?? serverTime)
        (pages, number, isDoubtful) = (state.page, 1, state.isDoubtful)
        unreadable = Set(cut.unreadable.map { ExactString($0) })
        self.wanted = wanted
        isPaging = next != nil
        (isAsked, isResuming) = (!isPaging, isPaging)
        seen = next.map { [ExactString($0)] } ?? []
        if isByNumber { goOnByNumber(from: state) }
        (passes, isPassEmpty) = (isWhole && after != nil ? 1 : 0, false)
        needsPass = settles && passes == 0 && cursor != nil
        if walk != nil { goOnWalking(cut, without: missing) }
    }

    /// The call for the next page; nil when there is no more.
    package var call: ServerCall? {
        guard isPaging, !isWalkSettled else { return nil }
        if let feed = collection.feed {
            // By it is known what would not stay here.
            let isTold = feed.ageMax != nil || collection.retention?.field == feed.order
            return .feed(
                collection,
                FeedBlock(
                    collection.idField, .ids(after: next), limit: Self.idsMax,
                    keyField: isTold ? feed.order : nil))
        }
        guard let span = spans.last, after == nil else {
            var (asked, page) = (collection, next)
            if let numbered {
                asked.pageSize = numbered.size
                page = numbered.number == 1 ? nil : sign + String(numbered.number)
            } else if let pageSizeAgain {
                asked.pageSize = pageSizeAgain
            }
            return target.parameters.isEmpty
                ? .list(asked, after: after, page: page)
                : .listPart(asked, parameters ?? target.parameters, after: after, page: page)
        }
        return .listWindow(collection, from: span.from, to: span.to, page: next)
    }

    /// Whether no page was requested yet.
    package var isUnasked: Bool { isPaging && !isAsked }

    /// Whether a page ends the list: nothing is left to fetch, read back or list.
    package func isLast(_ page: ListPage, _ news: PageResult) -> Bool {
        page.next == nil && walk == nil && failure == nil && !isAtLimit(page) && spans.count <= 1
            && !(isSharing && isFull(with: page)) && wanted.isEmpty
            && !beginsAgain(after: news) && news.wanted.isEmpty && !needsPass
            && unnamed.isSubset(of: news.named)
            && ahead.allSatisfy { news.named.contains(ExactString($0)) }
    }

    /// Whether a later list can begin at its end.
    package var goesOn: Bool {
        cursor != nil || collection.since != nil || isOfIDs || walk != nil
    }

    /// Whether it lists the ids of a feed.
    package var isOfIDs: Bool { collection.feed != nil && !target.isFeed }

    /// A page, with the id after which the next one begins where it is one of ids, and without what
    /// is more than the list asks for.
    package func bounded(_ page: ListPage) -> ListPage {
        var page = page
        if let limit, let numbered {
            // What is before it was named by an earlier page.
            page.records = Array(page.records.prefix(numbered.skipBefore + limit - count))
            // What comes next is found by its row: pages of several sizes share their numbers.
            page.next = page.next.map { "\(Self.sign(of: $0))\(passed + numbered.needed)" }
        }
        if isFull(with: page) { page.next = nil }
        guard isOfIDs else { return page }
        let isShort =
            page.references.count + page.unreadable.count < Self.idsMax && page.next == nil
        let last = [page.references.last?.id, page.unreadable.compactMap(\.id).last]
            .compactMap(\.self).max { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        // A page that names nothing and is not the last leads to itself, which ends the list.
        page.next = isShort ? nil : last ?? next ?? ""
        return page
    }

    /// Whether the end of the list is logged: the cursor moved, everything was listed, or it
    /// settles writes without an answer.
    package var movesCursor: Bool {
        settles || cursor != nil && (isWhole || wasAhead || cursor != began)
    }

    /// Adds a page.
    ///
    /// - Returns: why the list can't go on: its pages lead in a circle, or there are too many.
    package mutating func took(_ page: ListPage, _ news: PageResult) -> SyncFailure? {
        add(news)
        return turn(page, news)
    }

    /// Adds the entities that a page names.
    mutating func add(_ news: PageResult) {
        unnamed.subtract(news.named)
        ahead.removeAll { news.named.contains(ExactString($0)) }
        wanted += news.wanted
        if isByNumber { shifts.named.formUnion(news.named) }
        guard let step = news.step else { return }
        unnamed.formUnion(step.missing.map { ExactString($0) })
        walk?.took(step)
        if news.isUnmoved { walk?.useNoVersions() }
    }

    /// The list without its entities, of which there may be very many: what ``turn(_:_:)`` changes.
    var withoutEntities: Listing {
        var list = self
        (list.unnamed, list.ahead, list.wanted, list.shifts.named) = ([], [], [], [])
        list.walk = walk?.withoutEntities
        return list
    }

    /// Moves the entities over from the list as it was before a page.
    mutating func takeEntities(from before: inout Listing) {
        swap(&unnamed, &before.unnamed)
        swap(&ahead, &before.ahead)
        swap(&wanted, &before.wanted)
        swap(&shifts.named, &before.shifts.named)
        swap(&walk, &before.walk)
    }

    /// Adds a page, but for the entities that it names.
    ///
    /// - Returns: why the list can't go on: its pages lead in a circle, or there are too many.
    mutating func turn(_ page: ListPage, _ news: PageResult) -> SyncFailure? {
        (isAsked, isResuming) = (true, false)
        let named = named(by: page)
        if let numbered { passed += numbered.needed }
        if isByNumber { shifts.took(page, isShift: news.isShift) }
        pages += 1
        count += named
        if number == 0 || page.movesCursor { cursor = page.cursor }
        if number == 0, passes == 0 { asked = news.asked }
        if let time = news.latest { latest = max(time, latest ?? time) }
        number += 1
        if !news.named.isEmpty { isPassEmpty = false }
        // Of a tree it is doubtful in that folder only, which the walk knows.
        if walk == nil, page.unreadable.contains(where: { $0.id == nil }) { isDoubtful = true }
        unreadable.formUnion(page.unreadable.map { ExactString($0.name) })
        next = page.next
        isPaging = page.next != nil
        guard let next = page.next else {
            namedLast = []
            return endSpan(page)
        }
        guard seen.insert(ExactString(next)).inserted else {
            return .malformed("the list goes in a circle")
        }
        let isSame = walk == nil && !news.named.isEmpty && news.named == namedLast
        samePages = isSame ? samePages + 1 : 0
        guard samePages <= Self.samePagesMax else { return .malformed(samePage) }
        namedLast = news.named
        guard walk != nil || pages - shifts.pages < collection.pagesMax else {
            return .malformed("the list has more than \(collection.pagesMax) pages (pagesMax)")
        }
        return nil
    }

    /// Goes on behind a page that failed, where pages have numbers or are folders.
    mutating func pass(_ reason: SyncFailure) {
        if let walk {
            failure = failure ?? reason
            isAsked = true
            unnamed.subtract(walk.belowFolder.map { ExactString($0) })
            next = self.walk?.skip()
            isPaging = next != nil
            return
        }
        if failedPages == 0 { failedNext = next }
        failedPages += 1
        failure = failure ?? reason
        isAsked = true
        if let numbered {
            passed += numbered.needed
        } else {
            next = String((next.flatMap { Int($0) } ?? 1) + 1)
        }
    }

    /// Goes on with the next part of the window after the last page of one.
    ///
    /// - Returns: why the list can't go on: a day has more entities than the server lists.
    private mutating func endSpan(_ page: ListPage) -> SyncFailure? {
        guard after == nil, let span = spans.popLast() else { return nil }
        if isAtLimit(page) {
            guard let halves = span.halves else { return tooMany(in: span) }
            spans += halves
            isSplit = true
        }
        isPaging = !spans.isEmpty
        return nil
    }

    /// Nothing changed since ``after``; false when the list was not asked for changes.
    package mutating func tookNothing() -> Bool {
        isAsked = true
        guard let after, next == nil else { return false }
        if cursor == nil { cursor = after }
        isPaging = false
        return true
    }

    /// Adds entities with a newer answer than the cursor, which the list did not name, to the
    /// fetches.
    package mutating func wantAhead() {
        guard !ahead.isEmpty else { return }
        let known = Set(wanted.map { ExactString($0.id) })
        wanted += ahead.filter { !known.contains(ExactString($0)) }
            .map { ServerReference(id: $0, revision: nil) }
        ahead = []
    }

    /// The ids of the next fetch; nil when nothing is to be fetched.
    package func portion(_ count: Int) -> [String]? {
        guard let first = wanted.first else { return nil }
        if alone.contains(ExactString(first.id)) { return [first.id] }
        return wanted.prefix(max(1, min(count, fetchesMax)))
            .prefix { !alone.contains(ExactString($0.id)) }.map(\.id)
    }

    /// The references of entities that are to be fetched.
    package func references(_ ids: [String]) -> [ServerReference] {
        let asked = Set(ids.map { ExactString($0) })
        return wanted.filter { asked.contains(ExactString($0.id)) }
    }

    package mutating func fetched(_ ids: [String]) {
        if ids.count > 1 { hasFailedTogether = false }
        let ids = Set(ids.map { ExactString($0) })
        alone.subtract(ids)
        wanted.removeAll { ids.contains(ExactString($0.id)) }
    }

    /// A fetch failed.
    ///
    /// These are fetched one by one, or fifty at once after a very large fetch, so that one that
    /// can't be read does not hide the others. That one is requested again by itself, and the list
    /// goes on without it. Of a server that fails with several twice in a row all others are
    /// fetched one by one, too.
    package mutating func fetchFailed(_ ids: [String], _ reason: SyncFailure) {
        guard ids.count == 1 else {
            if ids.count > Self.manyMax {
                fetchesMax = Self.manyMax
            } else {
                if hasFailedTogether { fetchesMax = 1 }
                hasFailedTogether = true
                alone.formUnion(ids.map { ExactString($0) })
            }
            return
        }
        failures += 1
        fetched(ids)
        guard failures >= Self.failuresMax, !wanted.isEmpty else { return }
        failure = failure ?? reason
        wanted = []
    }

    /// Begins a list of the changes since the list began, which has to come before anything is
    /// concluded from absence, or settled; false where none is needed.
    ///
    /// An entity that changes while pages are fetched may move from a page that was not fetched yet
    /// to one that was.
    package mutating func beginNextPass() -> Bool {
        guard isWhole && !unnamed.isEmpty || needsPass, let cursor, passes < Self.passesMax,
            passes == 0 || !isPassEmpty
        else { return false }
        passes += 1
        needsPass = false
        after = cursor
        number = 0
        turnBack()
        isPassEmpty = true
        return true
    }

    /// Goes to the first page once more.
    mutating func turnBack() {
        next = nil
        (seen, namedLast) = ([], [])
        shifts.turnedBack()
        isPaging = true
    }
}
