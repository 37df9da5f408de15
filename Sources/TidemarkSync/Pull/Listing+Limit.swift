// Listing+Limit.swift — a list with a limit, by itself or with others, and pages with numbers.
//
//   a limit of its own     pages up to it → complete
//   a share of one         pages up to the share → waits for the others → more of it, or complete
//   a page that failed     the page behind it, up to three → not complete

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
