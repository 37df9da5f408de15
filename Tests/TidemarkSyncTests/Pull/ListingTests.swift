// ListingTests.swift — a list in the making, page by page, without a store or a server.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import TidemarkSync
@testable import ViewsSupport

@Suite struct `a list in the making` {
    private static func list(
        _ after: String? = nil, known: [String] = [], pagesMax: Int = 100
    ) -> Listing {
        var tasks = CollectionModel("tasks")
        tasks.pagesMax = pagesMax
        return Listing(
            tasks, after: after.map { Revision($0) }, epoch: nil,
            known: Set(known.map { ExactString($0) }), asOf: Position(9))
    }

    private static func page(
        next: String? = nil, cursor: String? = nil, moves: Bool = false
    ) -> ListPage {
        ListPage(
            records: [], next: next, cursor: cursor.map { Revision($0) }, movesCursor: moves)
    }

    private static func named(_ ids: String..., wanted: [String] = []) -> PageResult {
        var result = PageResult()
        result.named = Set(ids.map { ExactString($0) })
        result.wanted = wanted.map { ServerReference(id: $0, revision: nil) }
        return result
    }

    @Test func `asks for page after page, and goes on where the first one said`() {
        var list = Self.list("3")
        guard case .list(_, let after, nil)? = list.call else {
            Issue.record("no first call")
            return
        }
        #expect(after == Revision("3"))

        let first = list.took(Self.page(next: "/p2", cursor: "5"), Self.named("a"))
        #expect(first == nil)
        guard case .list(_, _, "/p2")? = list.call else {
            Issue.record("no second call")
            return
        }
        let last = list.took(Self.page(cursor: "6"), Self.named("b"))
        #expect(last == nil)

        #expect(list.call == nil && list.cursor == Revision("5") && list.pages == 2)
        #expect(list.movesCursor)
    }

    @Test func `goes on where the last page said that moves the cursor`() {
        var list = Self.list("3")
        _ = list.took(Self.page(next: "/p2", cursor: "5", moves: true), Self.named())
        _ = list.took(Self.page(cursor: "6", moves: true), Self.named())

        #expect(list.cursor == Revision("6"))
    }

    @Test(arguments: [nil, "3"] as [String?], [nil, "5"] as [String?])
    func `goes on in a later run only where its first page told a cursor`(
        _ after: String?, _ cursor: String?
    ) {
        var list = Self.list(after)
        _ = list.took(Self.page(next: "/p2", cursor: cursor), Self.named("a"))

        #expect((list.state != nil) == (cursor != nil))
    }

    @Test func `ends where it leads in a circle, or on and on`() {
        var list = Self.list(pagesMax: 3)
        let begun = list.took(Self.page(next: "/p2"), Self.named())
        let again = list.took(Self.page(next: "/p2"), Self.named())
        #expect(begun == nil && again == .malformed("the list goes in a circle"))

        list = Self.list(pagesMax: 2)
        let first = list.took(Self.page(next: "/p2"), Self.named())
        let second = list.took(Self.page(next: "/p3"), Self.named())
        #expect(first == nil)
        #expect(second == .malformed("the list has more than 2 pages (pagesMax)"))
    }

    @Test func `ends where a page names just what the two before it named`() {
        var list = Self.list()
        list.target = PullTarget("tasks", ["list": "home"])
        #expect(list.took(Self.page(next: "2"), Self.named("a", "b")) == nil)
        #expect(list.took(Self.page(next: "3"), Self.named("c", "b")) == nil)
        #expect(list.took(Self.page(next: "4"), Self.named("b", "c")) == nil)
        let again = list.took(Self.page(next: "5"), Self.named("b", "c"))
        #expect(
            again
                == .malformed(
                    "page 4 of tasks (list=home) names just what the page before it names: the "
                        + "server turns no pages; set pageSize to more entities than the list "
                        + "has, or list it in smaller parts"))

        // The last page may be any.
        list = Self.list()
        #expect(list.took(Self.page(next: "2"), Self.named("a")) == nil)
        #expect(list.took(Self.page(cursor: "5"), Self.named("a")) == nil)
        // Changes after everything may be what the last page named.
        list = Self.list(known: ["a", "b"])
        _ = list.took(Self.page(next: "2", cursor: "5"), Self.named("c"))
        _ = list.took(Self.page(), Self.named("a"))
        let hasBegun = list.beginNextPass()
        #expect(hasBegun && list.took(Self.page(next: "2"), Self.named("a")) == nil)
    }

    private static func numbered(_ news: PageResult, next: String? = nil) -> ListPage {
        ListPage(
            records: news.named.inOrder.map {
                ServerRecord(id: $0, revision: nil, document: Array("{}".utf8))
            }, next: next, cursor: nil)
    }

    /// A list of three pages of two, the last of which shows a shift, that is asked for once more.
    private static func listedAgain() -> Listing {
        var list = Self.list(known: (1...6).map(String.init))
        list.numberedPages = 2
        var last = Self.named("5", "6")
        last.isShift = true
        let first = Self.named("1", "2")
        let second = Self.named("3", "4")
        _ = list.took(Self.numbered(first, next: "2"), first)
        _ = list.took(Self.numbered(second, next: "3"), second)
        _ = list.took(Self.numbered(last), last)
        let isAgain = list.beginAgain()
        #expect(isAgain && list.pageSizeAgain == 4)
        return list
    }

    @Test func `asks one by one where no larger page came and fewer are named`() {
        let many = (0...Listing.readBackMax).map(String.init)
        var short = Self.listedAgain()
        let only = Self.named("1", "2")
        _ = short.took(Self.numbered(only), only)
        let isAgain = short.beginAgain()
        #expect(!isAgain && short.sweep(absent: many) == .none, "more than half")
        #expect(short.sweep(absent: ["6"]) == .asked)

        // One page with all that the server has is all.
        for (total, sweep) in [(3, Sweep.none), (2, Sweep.held)] {
            var only = Self.listedAgain()
            let named = Self.named("1", "2")
            var page = Self.numbered(named)
            page.total = total
            _ = only.took(page, named)
            let isAgain = only.beginAgain()
            #expect(!isAgain && only.sweep(absent: many) == sweep)
        }

        // With a page of that size the last one is known by its own.
        var whole = Self.listedAgain()
        let first = Self.named("1", "2", "3", "4")
        _ = whole.took(Self.numbered(first, next: "2"), first)
        let last = Self.named("5")
        _ = whole.took(Self.numbered(last), last)
        _ = whole.beginAgain()
        #expect(whole.sweep(absent: many) == .held)
    }

    @Test func `has what it only names fetched, then one by one where that fails`() {
        var list = Self.list()
        _ = list.took(Self.page(), Self.named(wanted: ["a", "b", "c"]))
        #expect(list.portion(50) == ["a", "b", "c"])

        list.fetchFailed(["a", "b", "c"], .forbidden)
        #expect(list.portion(50) == ["a"])
        list.fetchFailed(["a"], .forbidden)
        #expect(list.portion(50) == ["b"] && list.failure == nil)
        list.fetched(["b"])
        list.fetched(["c"])
        #expect(list.portion(50) == nil)
    }

    @Test func `fetches several at once again behind those that failed together`() {
        var list = Self.list()
        let ids = (10..<24).map(String.init)
        _ = list.took(Self.page(), Self.named(wanted: ids))
        func fail(_ failed: ArraySlice<String>) {
            #expect(list.portion(4) == Array(failed))
            list.fetchFailed(Array(failed), .forbidden)
            for id in failed {
                #expect(list.portion(4) == [id])
                list.fetched([id])
            }
        }

        fail(ids[0..<4])
        #expect(list.portion(4) == Array(ids[4..<8]))
        list.fetched(Array(ids[4..<8]))
        fail(ids[8..<12])

        #expect(list.portion(4) == ["22", "23"])
        // A server that never answers several is not asked for several each time.
        list.fetchFailed(["22", "23"], .forbidden)
        _ = list.took(Self.page(), Self.named(wanted: ["24", "25"]))
        list.fetched(["22"])
        list.fetched(["23"])
        #expect(list.portion(4) == ["24"] && list.failure == nil)
    }

    @Test func `gives up fetching after ten that fail`() {
        var list = Self.list()
        let ids = (10..<30).map(String.init)
        _ = list.took(Self.page(), Self.named(wanted: ids))
        for id in ids.prefix(10) { list.fetchFailed([id], .forbidden) }

        #expect(list.portion(50) == nil && list.failure == .forbidden)
    }

    @Test func `of everything lists what changed meanwhile before it concludes absence`() {
        var list = Self.list(known: ["a", "b"])
        _ = list.took(Self.page(cursor: "5"), Self.named("a"))
        #expect(list.isWhole && list.unnamed.map(\.text) == ["b"])

        let hasBegun = list.beginNextPass()
        #expect(hasBegun)
        guard case .list(_, let after, nil)? = list.call else {
            Issue.record("no second pass")
            return
        }
        #expect(after == Revision("5"))
        _ = list.took(Self.page(cursor: "6"), Self.named())
        // Nothing changed: that is the last pass.
        let goesOn = list.beginNextPass()
        #expect(!goesOn && list.cursor == Revision("6"))
    }

    @Test func `takes for absent what was there and nothing fresher is known of`() throws {
        var list = Self.list(known: ["a", "b", "c", "d"])
        _ = list.took(Self.page(cursor: "5"), Self.named("d"))
        var row = EntityRow()
        row.baseState = .live
        let fresh = Position(10)
        let rows: [String: Position?] = ["a": Position(9), "b": fresh, "c": nil]

        let absent = try list.absent { key in
            var own = row
            own.asOf = rows[key.id] ?? nil
            return own
        }

        #expect(absent == ["a", "c"])
    }

    @Test func `of ids goes on behind a full page, of which something can't be read`() {
        let articles = CollectionModel(
            "articles", feed: .init(order: "released", change: "updated"))
        let list = Listing(articles, after: nil, epoch: nil, known: [], asOf: Position(9))
        func next(_ ids: Range<Int>, unreadable: String?) -> String? {
            var page = ListPage(records: [], next: nil, cursor: nil)
            page.references = ids.map { ServerReference(id: "\($0)", revision: nil) }
            page.unreadable = [UnreadableRecord(id: unreadable, bytes: [], problem: "no version")]
            return list.bounded(page).next
        }
        #expect(next(1_000..<1_999, unreadable: "1999") == "1999")
        #expect(next(1_001..<2_000, unreadable: "1000") == "1999")
        #expect(next(1_001..<2_000, unreadable: nil) == "1999")
        #expect(next(1_001..<1_999, unreadable: "1000") == nil, "it is the last one")
    }
}

@Suite struct `the end of a list of everything without a cursor` {
    private static let gone = Absent(ids: ["1"])
    private static let held = Absent(ids: ["1"], isHeld: true)
    private static let hidden = Absent(ids: ["1"], isOutOfReach: true)

    /// Rows of a task, and of lists that ended.
    private static func rows(_ lists: [Event]) throws -> MemoryFold {
        let memory = MemoryFold()
        let task = Event.about(.serverUpserted, "tasks/1", #"{"a":1}"#, revision: "1")
        try memory.apply([.model(.serverWins), task] + lists)
        return memory
    }

    private static func ended(holding ids: [String] = [], cursor: String? = nil) -> Event {
        var completed = PullCompleted()
        completed.isFull = true
        if !ids.isEmpty { (completed.held, completed.knownCount) = (ids, 30) }
        return Event(
            .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
            revision: cursor.map { Revision($0) }, json: completed.encoded)
    }

    /// The end of the next one, past one of whose pages something may have moved.
    private static func end(
        after lists: [Event], shifts: Bool = false, naming ids: Set<String> = []
    ) throws -> ListEnd {
        let news = ServerNews(
            try rows(lists).fold,
            begun: Moment(now: Timestamp(rawValue: 1), bootID: "a", uptime: 1))
        var list = Listing(
            CollectionModel("tasks"), after: nil, epoch: nil, known: [ExactString("1")],
            asOf: Position(9))
        var page = PageResult()
        page.named = Set(ids.map { ExactString($0) })
        _ = list.took(ListPage(records: [], next: nil, cursor: nil), page)
        if shifts { list.shifts.cutShort() }
        return ListEnd(list, news)
    }

    @Test func `deletes nothing, but holds and hides`() throws {
        let end = try Self.end(after: [])
        for absent in [Absent(), Self.gone] { #expect(try end.decision(absent) == .nothing) }
        // What is out of reach is so whether or not a later list goes on.
        for absent in [Self.held, Self.hidden] {
            #expect(try end.decision(absent) == .logged(absent))
        }
    }

    @Test(arguments: [nil, "8"] as [String?])
    func `asks once about what it holds, and answers for what was held`(_ cursor: String?) throws {
        let end = try Self.end(after: [Self.ended(holding: ["1"], cursor: cursor)])
        #expect(try end.decision(Self.held) == .heldAlready(Self.held))
        let other = Absent(ids: ["2"], isHeld: true)
        #expect(try end.decision(other) == .logged(other))
        #expect(try end.decision(Absent()) == .logged(Absent()))
        #expect(try end.completed(Absent()).held.isEmpty)
    }

    @Test func `lets nothing go where what it does not name may be there`() throws {
        let before = [Self.ended(holding: ["1", "2"])]
        let end = try Self.end(after: before, shifts: true)
        #expect(try end.decision(Absent()) == .nothing)
        // It may be logged for the writes that it settles. Of the other one nothing is here.
        #expect(try end.completed(Absent()).held == ["1"])
        #expect(try end.completed(Absent()).knownCount == 30)

        // It was read back, or named by another list.
        let row = Event.about(.serverUpserted, "tasks/1", #"{"a":2}"#, revision: "2")
        let told = try Self.end(after: before + [row], shifts: true)
        #expect(try told.completed(Absent()).held.isEmpty)
        #expect(try told.completed(Absent()).knownCount == nil)
        let naming = try Self.end(after: before, shifts: true, naming: ["1"])
        #expect(try naming.completed(Absent()).held.isEmpty)
    }

    @Test func `holds, and lets go of what was held, and tells no place to go on from`() throws {
        let asking = try Self.rows([Self.ended(holding: ["1"])]).fold
        #expect(try asking.held("tasks")?.ids == ["1"])
        #expect(try asking.watermark("tasks") == nil)

        let answered = try Self.rows([Self.ended(holding: ["1"]), Self.ended()]).fold
        #expect(try answered.held("tasks") == nil)
    }
}
