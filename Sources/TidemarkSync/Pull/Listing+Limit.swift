// Listing+Limit.swift — a list with a limit, by itself or with others, and pages with numbers.
//
//   a limit of its own     pages up to it → complete
//   a share of one         pages up to the share → waits for the others → more of it, or complete
//   a page that failed     the page behind it, until a third fails → not complete
//   a page that shifted    all pages once more, larger ones → complete; if one shifted again, or
//                          failed, or a run was cut off, or none was larger, what has no name is
//                          asked about one by one, unless it is many and more than half
//
// Pages are cut out of an order that may leave entities equal, and out of entities that come and
// go: what a server without cursors has moves past a page then, unseen.

import TidemarkEvents
import TidemarkRules

extension Listing {
    /// The most pages that fail before the rest of the list is left.
    private static let failedPagesMax = 3

    /// The next page of a list with a limit, where pages have numbers.
    var numbered: NumberedPage? {
        guard let numberedPages, let limit, limit > count, isWhole, after == nil, spans.isEmpty
        else { return nil }
        return NumberedPage(after: passed, needed: limit - count, usual: numberedPages)
    }

    /// What an adapter has before the number of a page.
    static func sign(of page: String) -> String { page.hasPrefix("+") ? "+" : "" }

    /// The sign of the next page.
    var sign: String { next.map { Self.sign(of: $0) } ?? "" }

    /// What is wrong where a page is the one before it again.
    var samePage: String {
        let part = target.parameters.isEmpty ? "" : " (\(target.parameters))"
        return "page \(number) of \(collection.name)\(part) names just what the page before it "
            + "names: the server turns no pages; set pageSize to more entities than the list has, "
            + "or list it in smaller parts"
    }

    /// Whether it has as many entities as it asks for, those of a page included.
    func isFull(with page: ListPage) -> Bool {
        guard let limit, isWhole else { return false }
        return count + named(by: page) >= limit
    }

    /// How many entities a page names that no earlier one did.
    func named(by page: ListPage) -> Int {
        max(0, page.records.count + page.references.count - (numbered?.skipBefore ?? 0))
    }

    /// Whether it waits for what other lists leave of a limit: the server may have more.
    package var waitsForShare: Bool {
        isSharing && !isPaging && failure == nil && isWhole && limit.map { count >= $0 } ?? false
    }

    /// Asks for more, of what other lists left.
    mutating func raise(by share: Int) {
        limit = limit.map { $0 + share }
        isPaging = true
    }

    /// Asks for no more than it has.
    mutating func endSharing() { isSharing = false }

    /// Whether it goes on behind a page that failed: not where its pages have no numbers, the model
    /// says otherwise, or too many failed.
    func goesOn(after failure: SyncFailure) -> Bool {
        if walk != nil { return next != nil && !failure.stopsRun }
        guard numberedPages != nil, collection.failedPage == .next, window == nil,
            failedPages + 1 < Self.failedPagesMax
        else { return false }
        switch failure {
        case .malformed: return true
        default: return failure.isServers
        }
    }
}

/// What shows that something moved past a page with a number: one names what a page before it
/// named and is not only pushed back, or there are fewer entities than there were.
struct PageShifts: Sendable, Hashable {
    /// What the pages since the first one named.
    var named: Set<ExactString> = []
    /// What the last page named, in its order.
    private var last: [ExactString] = []
    /// How many entities there are, as the last page said.
    private var total: Int?
    /// Whether something moved.
    private(set) var areThere = false
    /// Whether all pages are asked for once more.
    private(set) var isAgain = false
    /// How many pages there were before that; 0 where it has not come to it.
    private(set) var pages = 0
    /// Whether an earlier run was cut off before, so that what its pages named is not known here.
    private(set) var isAfterCut = false
    /// How many entities they named; nil where that is not known.
    private var namedBefore: Int? = 0
    /// The size of the largest page since.
    private var largestPage = 0

    /// Whether all pages are asked for once more, or were.
    var isListedAgain: Bool { pages > 0 }
    /// Whether they are, and all came before that in this run, so that what they name is here.
    var isBehindWhole: Bool { isAgain && !isAfterCut }

    /// What stands for the first page, which has no token, where a later run is to begin with it.
    static let firstPage = "1"

    /// Whether a page shows that something moved past one before it.
    ///
    /// What is only pushed back did not: where the newest change comes first, each edit elsewhere
    /// has a page begin with what the one before it ended with.
    func areShown(by page: ListPage) -> Bool {
        if let total, let now = page.total, now < total { return true }
        let ids = page.namedInOrder
        return ids.count { named.contains($0) } > pushedBack(ids)
    }

    /// How many of a page's first entities are the last ones of the page before it, in order.
    private func pushedBack(_ ids: [ExactString]) -> Int {
        guard let first = ids.first, let start = last.lastIndex(of: first) else { return 0 }
        let pushed = Array(last[start...])
        return ids.starts(with: pushed) ? pushed.count : 0
    }

    /// Adds a page, but for what it names.
    mutating func took(_ page: ListPage, isShift: Bool) {
        if isShift { areThere = true }
        largestPage = max(
            largestPage, page.records.count + page.references.count + page.unreadable.count)
        total = page.total ?? total
        last = page.namedInOrder
    }

    /// The next page is the first one again.
    mutating func turnedBack() {
        (namedBefore, largestPage) = (named.count, 0)
        (named, last, total, isAgain) = ([], [], nil, false)
    }

    /// Whether pages of a size that were asked for once more name fewer entities, and none has that
    /// size.
    ///
    /// Where the server gives no such pages, the last one of it is not known by its size. One page
    /// with as many as the server says that there are is all of it.
    func areShort(of size: Int) -> Bool {
        let isWhole = total.map { largestPage >= $0 } ?? false
        let isFewer = namedBefore.map { named.count < $0 } ?? true
        return isAgain && largestPage < size && isFewer && !isWhole
    }

    /// All pages are asked for once more.
    mutating func begunAgain(behind pages: Int) {
        (areThere, isAgain, isAfterCut) = (false, true, false)
        self.pages = pages
    }

    /// Notes for a later run what it is to know.
    ///
    /// - Parameter isAtFailed: whether that goes on at a page that failed, and so has not come.
    func note(in state: inout ListState, isAtFailed: Bool) {
        state.total = total.map { max(0, $0) }
        if isListedAgain {
            state.pass = 2
        } else if areThere, !isAtFailed {
            (state.pass, state.next, state.total) = (2, Self.firstPage, nil)
        }
    }

    /// Goes on where an earlier run was cut off.
    ///
    /// Of pages that are asked for once more those before are not compared with those behind: what
    /// they did not name may have moved past one.
    mutating func goOn(from state: ListState) {
        total = state.total
        isAfterCut = state.after == nil
        guard state.pass > 1 else { return }
        namedBefore = nil
        (isAgain, pages) = (state.after == nil, state.page)
        areThere = state.next != Self.firstPage
    }

    /// They end at one that failed, or that may not be the last.
    mutating func cutShort() { areThere = true }
}

extension ListPage {
    /// What it names and can be read, in its order.
    fileprivate var namedInOrder: [ExactString] {
        records.map { ExactString($0.id) } + references.map { ExactString($0.id) }
    }
}

extension Listing {
    /// Whether it goes over pages with numbers to the last one.
    var isByNumber: Bool {
        numberedPages != nil && limit == nil && walk == nil && window == nil
    }

    /// How many entities a page has where all are asked for once more: the same pages would show
    /// the same of what the server's order leaves equal.
    var pageSizeAgain: Int? {
        shifts.isAgain ? numberedPages.map { $0 * 2 } : nil
    }

    /// Whether all pages are asked for once more after this one, if it is the last.
    func beginsAgain(after news: PageResult) -> Bool {
        guard isByNumber, !shifts.isListedAgain else { return false }
        return shifts.areThere || news.isShift
    }

    /// Whether a list that goes on where an earlier run was cut off lacks more than it can ask
    /// about one by one: only pages that are asked for in one run tell what is gone.
    private var lacksMany: Bool {
        let few = collection.access.hidesAbsent ? 0 : Self.readBackMax
        return shifts.isAfterCut && unnamed.count > few
    }

    /// Goes on where an earlier run was cut off, or with the first page once more.
    mutating func goOnByNumber(from state: ListState) {
        shifts.goOn(from: state)
        if next == PageShifts.firstPage { (next, seen, isResuming) = (nil, [], false) }
    }

    /// Asks for all pages once more where something moved past one of them, or may have while no
    /// run went on; false where nothing did, or they were asked for twice.
    ///
    /// The list's cursor stays that of the first page that came.
    package mutating func beginAgain() -> Bool {
        if let size = pageSizeAgain, shifts.areShort(of: size) { shifts.cutShort() }
        guard isByNumber, shifts.areThere || lacksMany, !shifts.isListedAgain else { return false }
        turnBack()
        shifts.begunAgain(behind: pages)
        return true
    }

    /// Ends at a page that failed while all were asked for once more: what came before is there.
    mutating func endAgain() {
        (next, isPaging) = (nil, false)
        shifts.cutShort()
    }
}

/// What the lists of collections have of the limits that they share: ``CollectionModel/listLimit``.
struct ListShares: Sendable {
    /// How many entities each of them names so far.
    private var counts: [PullTarget: Int] = [:]
    /// Those that have their share, and may get more.
    private var waiting: [Listing] = []
    /// Those that go on in this round.
    private var round: [Listing] = []

    /// Notes how many entities a list names.
    mutating func note(_ list: Listing) {
        if list.isSharing, list.isWhole { counts[list.target] = list.count }
    }

    /// Has a list wait for the others.
    mutating func wait(_ list: Listing) { waiting.append(list) }

    /// The next list that goes on: with more of what others left, or to its end; nil for none.
    mutating func next() -> Listing? {
        if round.isEmpty { beginRound() }
        return round.isEmpty ? nil : round.removeFirst()
    }

    /// Shares what is left of a collection's limit among those that wait for it.
    private mutating func beginRound() {
        guard let name = waiting.first?.target.collection, let all = waiting.first?.target.limit
        else { return }
        let lists = waiting.filter { $0.target.collection == name }
        waiting.removeAll { $0.target.collection == name }
        let taken = counts.reduce(0) { $0 + ($1.key.collection == name ? $1.value : 0) }
        for (index, list) in lists.enumerated() {
            var list = list
            let share = Self.share(index, of: lists.count, in: all - taken)
            if share > 0 {
                list.raise(by: share)
            } else if all > taken {
                waiting.append(list)
                continue
            } else {
                list.endSharing()
            }
            round.append(list)
        }
    }

    /// One of so many even shares, which together are all of it.
    static func share(_ index: Int, of count: Int, in all: Int) -> Int {
        guard all > 0 else { return 0 }
        return all * (index + 1) / count - all * index / count
    }
}

extension SyncMachine {
    /// How many entities a list asks for at first that shares a limit with others.
    func firstShare(of target: PullTarget, _ collection: CollectionModel) -> Int? {
        let all = opened[collection.name] ?? pulls
        let sharing = all.filter { $0.collection == collection.name && $0.isShared }
        guard let all = target.limit, let index = sharing.firstIndex(of: target) else {
            return target.limit
        }
        return ListShares.share(index, of: sharing.count, in: all)
    }
}
