// Listing.swift — a collection that is being listed: page by page, and what it did not name.
//
//   since the cursor           pages → fetch what is only named → complete
//   everything                 the same, then what changed meanwhile, then what was never named is
//                              read back or swept → complete

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// A list of one collection in the making.
package struct Listing: Sendable, Hashable {
    /// How many lists of changes are made after a list of everything, at most, until one is empty.
    private static let passesMax = 3
    /// How many entities that can't be fetched are passed over before the rest is left as well.
    private static let failuresMax = 10
    /// How many are fetched at once when a fetch of more of them failed.
    private static let manyMax = 50
    /// How many entities that were not named are asked after one by one.
    package static let readBackMax = 10

    package var collection: CollectionModel
    package var target: PullTarget
    /// What tells the collection from another one of its name, where that is known.
    package var epoch: Revision?
    /// Whether everything is listed, and not only what changed.
    package var isWhole: Bool
    /// The log's last position when the list began: what is known since then is fresher.
    package var asOf: Position
    /// Where the pages that are being fetched begin; nil for everything.
    package private(set) var after: Revision?
    private let began: Revision?
    /// Where the next list will go on.
    package private(set) var cursor: Revision?
    /// What the last page named as the next one.
    package private(set) var next: String?
    /// How many pages were fetched since ``after``.
    package private(set) var number = 0
    /// Named, and not yet fetched.
    package private(set) var wanted: [ServerReference] = []
    /// Of a list of everything: the entities that were here when it began and that it has not
    /// named.
    package private(set) var unnamed: Set<ExactString>
    /// Of which more was learned since the cursor than a list that names them not could say.
    package private(set) var ahead: [String]
    private let wasAhead: Bool
    /// How many entities were here when it began.
    package let knownCount: Int
    /// The server's clock when the list began, where it is known.
    package var serverTime: Timestamp?
    /// Whether its end says what became of writes without an answer.
    package var settles = false
    /// The span that is listed, where it is not all of it.
    package let window: TimeSpan?
    /// When it was asked for, by the server's clock, and a little earlier.
    package private(set) var asked: Timestamp?
    /// The last change among what it named, deletions included.
    package private(set) var latest: Timestamp?
    /// Whether what was not named was asked after one by one, so that nothing is left to conclude.
    package var isReadBack = false
    /// Whether it holds records without an id, so that what it does not name may be there.
    package private(set) var isDoubtful = false
    /// Why something that it names could not be fetched: then it is not complete.
    package private(set) var failure: SyncFailure?

    /// What it names that can't be read, by name.
    package private(set) var unreadable: Set<ExactString> = []
    /// How many pages it has, those of earlier runs included.
    package private(set) var pages = 0
    /// Whether it goes on where an earlier run was cut off, and nothing was answered since.
    package private(set) var isResuming = false

    /// The next pages asked for so far: a server that names one twice would lead in a circle.
    private var seen: Set<String> = []
    private var isPaging = true
    /// How many may be fetched at once, after a fetch of more of them failed.
    private var fetchesMax = Int.max
    private var failures = 0
    private var isPassEmpty = true
    private var passes = 0
    /// Whether what changed meanwhile is to be listed, also when everything was named.
    private var needsPass = false
    private var isAsked = false

    package init(
        _ collection: CollectionModel, after: Revision?, epoch: Revision?, known: Set<ExactString>,
        knownCount: Int? = nil, ahead: [String] = [], window: TimeSpan? = nil, asOf: Position
    ) {
        self.window = after == nil ? window : nil
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
    /// - Parameter wanted: what was named and not fetched.
    package mutating func goOn(from cut: CutListing, wanted: [ServerReference]) {
        let state = cut.state
        (after, next, cursor) = (state.after, state.next, state.cursor)
        (asked, serverTime) = (state.asked, state.serverTime ?? serverTime)
        (pages, number, isDoubtful) = (state.page, 1, state.isDoubtful)
        unreadable = Set(cut.unreadable.map { ExactString($0) })
        self.wanted = wanted
        isPaging = next != nil
        (isAsked, isResuming) = (!isPaging, isPaging)
        seen = next.map { [$0] } ?? []
        (passes, isPassEmpty) = (after == nil ? 0 : 1, false)
        needsPass = settles && passes == 0 && cursor != nil
    }

    /// The call for the next page; nil when there is no more.
    package var call: ServerCall? {
        guard isPaging else { return nil }
        guard let window, after == nil else { return .list(collection, after: after, page: next) }
        return .listWindow(collection, from: window.from, to: window.to, page: next)
    }

    /// Whether nothing of it was asked for yet.
    package var isUnasked: Bool { isPaging && !isAsked }

    /// Whether a page that names no next one would leave nothing open.
    package func isLast(_ page: ListPage, _ news: PageResult) -> Bool {
        page.next == nil && wanted.isEmpty && news.wanted.isEmpty && !needsPass
            && unnamed.isSubset(of: news.named)
            && ahead.allSatisfy { news.named.contains(ExactString($0)) }
    }

    /// Whether a later list can go on from its end.
    package var goesOn: Bool { cursor != nil || collection.since != nil }

    /// Whether the end of the list is worth noting: the cursor moved, everything was listed, or it
    /// says what became of writes without an answer.
    package var movesCursor: Bool {
        settles || cursor != nil && (isWhole || wasAhead || cursor != began)
    }

    /// Takes a page.
    ///
    /// - Returns: why the list can't go on: it leads in a circle, or on and on.
    package mutating func took(_ page: ListPage, _ news: PageResult) -> SyncFailure? {
        (isAsked, isResuming) = (true, false)
        pages += 1
        if number == 0 || page.movesCursor { cursor = page.cursor }
        if number == 0, passes == 0 { asked = news.asked }
        if let time = news.latest { latest = max(time, latest ?? time) }
        number += 1
        if !news.named.isEmpty { isPassEmpty = false }
        unnamed.subtract(news.named)
        ahead.removeAll { news.named.contains(ExactString($0)) }
        if page.unreadable.contains(where: { $0.id == nil }) { isDoubtful = true }
        unreadable.formUnion(page.unreadable.map { ExactString($0.name) })
        wanted += news.wanted
        next = page.next
        isPaging = page.next != nil
        guard let next = page.next else { return nil }
        guard seen.insert(next).inserted else { return .malformed("the list goes in a circle") }
        guard pages < collection.pagesMax else {
            return .malformed("the list has more than \(collection.pagesMax) pages (pagesMax)")
        }
        return nil
    }

    /// Takes note that nothing changed since ``after``; false when that was not what was asked.
    package mutating func tookNothing() -> Bool {
        isAsked = true
        guard let after, next == nil else { return false }
        if cursor == nil { cursor = after }
        isPaging = false
        return true
    }

    /// Has fetched what more is known of than the list, now at its end, says.
    package mutating func wantAhead() {
        guard !ahead.isEmpty else { return }
        let known = Set(wanted.map { ExactString($0.id) })
        wanted += ahead.filter { !known.contains(ExactString($0)) }
            .map { ServerReference(id: $0, revision: nil) }
        ahead = []
    }

    /// The next portion of what is to be fetched, or nil.
    package func portion(_ count: Int) -> [String]? {
        wanted.isEmpty ? nil : wanted.prefix(max(1, min(count, fetchesMax))).map(\.id)
    }

    /// What the list says of entities that are to be fetched.
    package func references(_ ids: [String]) -> [ServerReference] {
        let asked = Set(ids.map { ExactString($0) })
        return wanted.filter { asked.contains(ExactString($0.id)) }
    }

    package mutating func fetched(_ ids: [String]) {
        let ids = Set(ids.map { ExactString($0) })
        wanted.removeAll { ids.contains(ExactString($0.id)) }
    }

    /// Takes note that a fetch failed.
    ///
    /// From then on they are fetched one by one, or of very many fifty: one that can't be read must
    /// not hide the others. It is asked for again by itself, so that the list goes on without it.
    package mutating func fetchFailed(_ ids: [String], _ reason: SyncFailure) {
        fetchesMax = ids.count > Self.manyMax ? Self.manyMax : 1
        guard ids.count == 1 else { return }
        failures += 1
        fetched(ids)
        guard failures >= Self.failuresMax, !wanted.isEmpty else { return }
        failure = failure ?? reason
        wanted = []
    }

    /// Whether what changed since the list began has to be listed before anything is concluded from
    /// what was not named.
    ///
    /// An entity that changes while pages are fetched may move from a page that was not fetched yet
    /// to one that was.
    package mutating func beginNextPass() -> Bool {
        guard isWhole, !unnamed.isEmpty || needsPass, let cursor, passes < Self.passesMax,
            passes == 0 || !isPassEmpty
        else { return false }
        passes += 1
        needsPass = false
        after = cursor
        number = 0
        next = nil
        seen = []
        isPaging = true
        isPassEmpty = true
        return true
    }

    /// The entities that a list of everything should have named, in the order of their ids: those
    /// of which nothing fresher is known.
    package func absent(_ entity: (EntityKey) throws -> EntityRow?) throws -> [String] {
        let ids = unnamed.map(\.text).sorted {
            $0.utf8.lexicographicallyPrecedes($1.utf8)
        }
        return try ids.filter { id in
            guard let row = try entity(EntityKey(collection.name, id)), row.baseState == .live,
                !row.isPlaceholder || collection.access.hidesAbsent, row.attempt == nil
            else { return false }
            return row.asOf.map { $0 <= asOf } ?? true
        }
    }
}

/// What becomes of the entities that a list of everything did not name.
package enum Sweep: Sendable, Hashable {
    /// Nothing: there are none, or nothing can be concluded.
    case none
    /// The server is asked about each of them.
    case asked
    /// They are deleted.
    case deleted
    /// The user is asked first.
    case held
    /// They are out of reach.
    case outOfReach
}

extension Listing {
    /// What becomes of the entities that it did not name.
    package func sweep(absent ids: [String]) -> Sweep {
        guard isWhole, collection.isSwept, !ids.isEmpty else { return .none }
        if collection.access.hidesAbsent { return isDoubtful ? .none : .outOfReach }
        let isMuch = SweepRule.asksFirst(absent: ids.count, of: knownCount)
        if !isMuch, ids.count <= Self.readBackMax, !isReadBack { return .asked }
        return isMuch || isDoubtful ? .held : .deleted
    }
}

/// From one moment to another.
package struct TimeSpan: Sendable, Hashable {
    package var from: Timestamp
    package var to: Timestamp
}
