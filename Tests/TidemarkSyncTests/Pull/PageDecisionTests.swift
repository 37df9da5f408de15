// PageDecisionTests.swift — which parts of a server's answer are logged, and where a feed goes on
// after a block, by the rows as they are: without a store, without a server.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkViews

@testable import TidemarkSync
@testable import ViewsSupport

@Suite struct `what of an answer is logged` {
    private let collection: CollectionName = "tasks"

    /// Rows of a model and some events: the model is event 1, the next one event 2.
    private static func news(_ events: [Event] = []) throws -> ServerNews {
        let memory = MemoryFold()
        try memory.apply([.model(.serverWins)] + events)
        return ServerNews(
            memory.fold, begun: Moment(now: Timestamp(rawValue: 1), bootID: "a", uptime: 1))
    }

    private static func server(
        _ id: String, _ text: String, revision: String = "1", asOf: UInt64? = nil
    ) -> Event {
        .about(.serverUpserted, "tasks/\(id)", text, asOf: asOf, revision: revision)
    }

    private static func record(
        _ id: String, _ text: String?, revision: String? = "1"
    ) -> ServerRecord {
        ServerRecord(
            id: id, revision: revision.map { Revision($0) }, serverTime: nil,
            document: text.map { Array($0.utf8) })
    }

    private static func list(after: String? = "3", known: [String] = []) -> Listing {
        Listing(
            CollectionModel("tasks"), after: after.map { Revision($0) }, epoch: nil,
            known: Set(known.map { ExactString($0) }), asOf: Position(9))
    }

    private static func decision(
        _ page: ListPage, _ list: Listing, _ news: ServerNews, asOf: UInt64 = 9,
        change: (inout ReadExchange) -> Void = { _ in }
    ) throws -> PageDecision {
        var exchange = ReadExchange(
            collection: "tasks", request: ServerRequest(method: .get, path: "/tasks"),
            sentAt: Timestamp(rawValue: 1), sentUptime: 0, asOf: Position(asOf),
            answer: AnswerRecord(RequestAnswered(status: 200)))
        change(&exchange)
        return try PageDecision(page, of: list, exchange, news)
    }

    private static func page(
        _ records: [ServerRecord] = [], references: [ServerReference] = [], next: String? = nil,
        cursor: String? = "3"
    ) -> ListPage {
        ListPage(
            records: records, references: references, next: next,
            cursor: cursor.map { Revision($0) })
    }

    // MARK: Records

    @Test func `a record is new where the log does not hold it`() throws {
        let news = try Self.news([Self.server("1", #"{"a":1}"#, revision: "7")])
        func verdict(_ record: ServerRecord) throws -> ServerNews.Verdict {
            try news.verdict(on: record, in: collection, asOf: Position(9))
        }
        #expect(try verdict(Self.record("2", #"{"a":1}"#)) == .new)
        #expect(try verdict(Self.record("1", #"{"a":1}"#, revision: "8")) == .new)
        #expect(try verdict(Self.record("1", #"{"a":2}"#, revision: "7")) == .new)
        #expect(try verdict(Self.record("1", nil, revision: "8")) == .new)
    }

    @Test func `a record is the same however its document is written`() throws {
        let news = try Self.news([Self.server("1", #"{"a":1,"b":2}"#, revision: "7")])
        func verdict(_ text: String) throws -> ServerNews.Verdict {
            try news.verdict(
                on: Self.record("1", text, revision: "7"), in: collection, asOf: Position(9))
        }
        #expect(try verdict(#"{"a":1,"b":2}"#) == .same)
        #expect(try verdict(#"{ "b": 2, "a": 1 }"#) == .same)
    }

    @Test func `a tombstone of an entity that never was here is nothing new`() throws {
        let news = try Self.news()
        let verdict = try news.verdict(
            on: Self.record("1", nil), in: collection, asOf: Position(9))
        #expect(verdict == .same)
    }

    @Test(arguments: [true, false])
    func `a tombstone of what was pruned is new once, where it hides what names it`(
        _ hides: Bool
    ) throws {
        let now = Timestamp(milliseconds: 1_795_000_000_000)
        var lists = CollectionModel("lists")
        lists.retention = RetentionRule(field: "at", ageMax: .days(30))
        var tasks = CollectionModel("tasks")
        tasks.references = [Reference("list", to: "lists", missing: hides ? .hides : .keeps)]
        let past = now.adding(seconds: -60 * 86_400)
        let memory = MemoryFold()
        for event in [
            .registered(SyncModel(name: "m", collections: [lists, tasks])),
            .about(.serverUpserted, "lists/1", #"{"at":"\#(past)"}"#, revision: "7"),
            Event(
                .timerFired, recordedAt: Timestamp(rawValue: 1),
                json: TimerFired(.cleanUp, now: now).encoded),
        ] as [Event] {
            try memory.apply([event])
        }
        func isNew() throws -> Bool {
            let news = ServerNews(memory.fold, begun: Moment(now: now, bootID: "a", uptime: 1))
            let verdict = try news.verdict(
                on: Self.record("1", nil), in: "lists", asOf: Position(9))
            #expect(try news.isNew(nil, of: EntityKey("lists", "1")) == (verdict == .new))
            return verdict == .new
        }
        #expect(try isNew() == hides)

        try memory.apply([.about(.serverDeleted, "lists/1")])
        #expect(try !isNew())
    }

    @Test func `a record is compared with the run's word that waits for the rest of its set`()
        throws
    {
        let memory = MemoryFold()
        let time = Timestamp(rawValue: 1)
        let model = SyncModel(
            name: "m", collections: [CollectionModel("tasks", pushes: [], allOrNone: "all")])
        var word = Self.server("1", #"{"a":1}"#, revision: "7", asOf: 2)
        word.sync = Position(2)
        try memory.apply([
            Event(
                .modelRegistered, recordedAt: time, json: ModelRegistration(model: model).encoded),
            Event(
                .syncStarted, recordedAt: time,
                json: Array(#"{"begunAt":0,"bootID":"b","uptime":0}"#.utf8)),
            word,
        ])
        func verdict(_ record: ServerRecord, run: UInt64 = 2) throws -> ServerNews.Verdict {
            let begun = Moment(now: time, bootID: "a", uptime: 1)
            let news = ServerNews(memory.fold, begun: begun, run: Position(run))
            return try news.verdict(on: record, in: collection, asOf: Position(9))
        }
        #expect(try verdict(Self.record("1", nil, revision: "8")) == .new)
        #expect(try verdict(Self.record("1", nil, revision: "8"), run: 1) == .same)
        #expect(try verdict(Self.record("1", #"{"a":1}"#, revision: "7")) == .same)
        #expect(try verdict(Self.record("1", #"{"a":2}"#, revision: "8")) == .new)
    }

    @Test func `a record that was asked for before a newer answer is skipped`() throws {
        let news = try Self.news([Self.server("1", #"{"a":1}"#, revision: "7", asOf: 6)])
        func verdict(_ revision: String) throws -> ServerNews.Verdict {
            try news.verdict(
                on: Self.record("1", #"{"a":0}"#, revision: revision), in: collection,
                asOf: Position(5))
        }
        #expect(try verdict("6") == .outdated)
        // The same version says nothing else.
        #expect(try verdict("7") == .same)
    }

    @Test func `a record that was asked for before its entity was taken over is skipped`() throws {
        // The second event is of another one, the third the take-over.
        let news = try Self.news([
            .about(.localCreated, "tasks/2", "{}"), Self.server("1", #"{"a":1}"#, revision: "7"),
        ])
        for revision in ["7", "8"] {
            let record = Self.record("1", #"{"a":2}"#, revision: revision)
            #expect(
                try news.verdict(on: record, in: collection, asOf: Position(2)) == .outdated)
        }
    }

    @Test(arguments: [
        (revision: "7", isWanted: false), (revision: "8", isWanted: true),
        (revision: nil, isWanted: true),
    ])
    func `a reference is fetched where its version is not here`(
        _ expected: (revision: String?, isWanted: Bool)
    ) throws {
        let news = try Self.news([Self.server("1", #"{"a":1}"#, revision: "7")])
        let reference = ServerReference(id: "1", revision: expected.revision.map { Revision($0) })
        #expect(try news.isWanted(reference, in: collection) == expected.isWanted)
    }

    @Test func `what is read back is new where its document differs, whatever its version says`()
        throws
    {
        let news = try Self.news([Self.server("1", #"{"a":1,"b":2}"#, revision: "-")])
        func isNew(_ text: String, revision: String? = "-") throws -> Bool {
            try news.isNew(
                Self.record("1", text, revision: revision), of: EntityKey("tasks", "1"))
        }
        #expect(try isNew(#"{ "b": 2, "a": 1 }"#) == false)
        #expect(try isNew(#"{"a":2,"b":2}"#))
        #expect(try isNew(#"{"a":1,"b":2}"#, revision: "8"))
    }

    // MARK: Pages

    @Test func `of several records of one entity the last one counts`() throws {
        let (a, b) = (#"{"a":1}"#, #"{"b":1}"#)
        func verdicts(_ texts: [String?], here: String? = nil) throws -> [ServerNews.Verdict] {
            let news = try Self.news(here.map { [Self.server("1", $0)] } ?? [])
            let records = [Self.record("2", b)] + texts.map { Self.record("1", $0) }
            return try Array(
                Self.decision(Self.page(records), Self.list(), news).verdicts.dropFirst())
        }
        #expect(try verdicts([a, nil]) == [.same, .same])
        #expect(try verdicts([nil, a]) == [.same, .new])
        #expect(try verdicts([nil, a], here: a) == [.same, .same])
        #expect(try verdicts([b, a], here: a) == [.same, .same])
        #expect(try verdicts([a, b, nil], here: a) == [.same, .same, .new])
    }

    @Test func `a page without news waits, unless the cursor moves`() throws {
        let news = try Self.news([Self.server("1", #"{"a":1}"#)])
        let same = [Self.record("1", #"{"a":1}"#)]
        let idle = try Self.decision(Self.page(same), Self.list(), news)
        #expect(!idle.isLogged && idle.result.isComplete && idle.verdicts == [.same])

        let moved = try Self.decision(Self.page(same, cursor: "4"), Self.list(), news)
        #expect(moved.isLogged && moved.result.isComplete)

        let isNoted = try Self.decision(Self.page(same), Self.list(), news) {
            $0.isClockNews = true
        }
        #expect(isNoted.isLogged)
    }

    @Test func `pages of changes without news wait, however many there are`() throws {
        let news = try Self.news([Self.server("1", #"{"a":1}"#)])
        let same = [Self.record("1", #"{"a":1}"#)]

        let first = try Self.decision(Self.page(same, next: "/p2"), Self.list(), news)
        let list = try #require(first.result.list)
        let last = try Self.decision(Self.page(cursor: nil), list, news)

        #expect(!first.isLogged && !first.result.isComplete)
        #expect(!last.isLogged && last.result.isComplete)
        let whole = try Self.decision(Self.page(same, next: "/p2"), Self.list(after: nil), news)
        #expect(whole.isLogged)
        // By them the date of the list moves.
        var dated = Self.list()
        dated.collection.since = SinceRule(ageMax: .months(2))
        #expect(try Self.decision(Self.page(same, next: "/p2"), dated, news).isLogged)
    }

    @Test func `a page is not the last one while something that it names is to be fetched`() throws
    {
        let news = try Self.news()
        let reference = ServerReference(id: "1", revision: Revision("8"))
        let page = Self.page(references: [reference], cursor: "8")
        let decision = try Self.decision(page, Self.list(), news)
        #expect(!decision.result.isComplete && decision.result.wanted == [reference])
        #expect(decision.result.named.map(\.text) == ["1"])
        // The machine adds the entities to its own list.
        #expect(decision.result.list?.portion(10) == nil)
    }

    @Test func `a list of everything is kept with each page but the only one`() throws {
        let news = try Self.news()
        let page = Self.page([Self.record("1", #"{"a":1}"#)], next: "/p2", cursor: "8")
        let first = try Self.decision(page, Self.list(after: nil), news)
        #expect(first.isLogged && first.progress?.state?.page == 1)

        let only = try Self.decision(Self.page(cursor: "8"), Self.list(after: nil), news)
        #expect(only.result.isComplete && only.progress == nil)
    }

    @Test func `a list of changes is kept with each page that brings something but the only one`()
        throws
    {
        let news = try Self.news()
        let page = Self.page([Self.record("1", #"{"a":1}"#)], next: "/p2", cursor: "8")
        let first = try Self.decision(page, Self.list(), news)
        let state = try #require(first.progress?.state)
        #expect(first.isLogged && state.isOfChanges && state.page == 1)
        #expect(state.after == Revision("3") && state.cursor == Revision("8"))

        let only = Self.page([Self.record("1", #"{"a":1}"#)], cursor: "8")
        #expect(try Self.decision(only, Self.list(), news).progress == nil)
        // Another date is asked for by then.
        var dated = Self.list()
        dated.collection.since = SinceRule(ageMax: .months(2))
        #expect(try Self.decision(page, dated, news).progress == nil)
        // What is only named is to be fetched.
        let references = [ServerReference(id: "2", revision: Revision("8"))]
        let naming = Self.page(references: references, next: "/p2", cursor: "8")
        #expect(try Self.decision(naming, Self.list(), news).isLogged)
    }

    @Test func `a list that leads in a circle says so with its page`() throws {
        var list = Self.list(after: nil)
        let news = try Self.news()
        let page = Self.page([Self.record("1", #"{"a":1}"#)], next: "/p2")
        list = try #require(Self.decision(page, list, news).result.list)
        let again = try Self.decision(page, list, news)
        #expect(again.result.failure == .malformed("the list goes in a circle"))
    }

    @Test func `a list of changes that leads in a circle ends what was kept, without news, too`()
        throws
    {
        let page = Self.page(
            [Self.record("1", #"{"a":1}"#, revision: "7")], next: "/p2", cursor: "8")
        let first = try Self.decision(page, Self.list(), Self.news())
        var kept = PullPage()
        kept.list = first.progress
        let news = try Self.news([
            Self.server("1", #"{"a":1}"#, revision: "7"),
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                json: kept.encoded),
        ])
        let list = try #require(first.result.list)

        let again = try Self.decision(page, list, news)

        #expect(!again.verdicts.contains(.new) && again.isLogged)
        #expect(again.progress != nil && again.progress?.state == nil)
        // Nothing was kept of one that has no page in the log.
        let other = try Self.news([Self.server("1", #"{"a":1}"#, revision: "7")])
        #expect(try !Self.decision(page, list, other).isLogged)
    }

    // MARK: The end of a list

    @Test func `the end of a list of everything concludes what it did not name`() throws {
        let news = try Self.news([Self.server("1", #"{"a":1}"#)])
        var list = Self.list(after: nil, known: ["1"])
        _ = list.took(Self.page(cursor: "8"), PageResult())
        let absent = Absent(ids: ["1"])
        #expect(try ListEnd(list, news).decision(absent) == .logged(absent))
    }

    @Test func `the end of a list of changes is logged where the cursor moved`() throws {
        let news = try Self.news()
        for (cursor, expected) in [("3", ListEnd.Decision.nothing), ("4", .logged(Absent()))] {
            var list = Self.list()
            _ = list.took(Self.page(cursor: cursor), PageResult())
            #expect(try ListEnd(list, news).decision(Absent()) == expected)
        }
    }

    @Test func `what is held already is not held again`() throws {
        var completed = PullCompleted()
        completed.isFull = true
        (completed.held, completed.knownCount) = (["1"], 30)
        let held = Event(
            .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
            revision: Revision("8"), json: completed.encoded)
        let news = try Self.news([Self.server("1", #"{"a":1}"#), held])
        var list = Self.list(after: nil, known: ["1"])
        _ = list.took(Self.page(cursor: "8"), PageResult())
        func decision(_ ids: [String]) throws -> ListEnd.Decision {
            try ListEnd(list, news).decision(Absent(ids: ids, isHeld: true))
        }
        #expect(try decision(["1"]) == .heldAlready(Absent(ids: ["1"], isHeld: true)))
        #expect(try decision(["1", "2"]) == .logged(Absent(ids: ["1", "2"], isHeld: true)))
    }
}

@Suite struct `a block of a feed` {
    private static let rule = FeedRule(order: "released", change: "updated", block: 2)
    private static let articles = CollectionModel("articles", feed: rule)
    /// 2026-11-18.
    private static let now = Timestamp(milliseconds: 1_795_000_000_000)
    private static let last = FeedKey("2026-01-02T00:00:00Z")

    private static func news() throws -> ServerNews {
        let memory = MemoryFold()
        try memory.apply([.registered(SyncModel(name: "news", collections: [articles]))])
        return ServerNews(memory.fold, begun: Moment(now: now, bootID: "a", uptime: 1))
    }

    private static func record(
        _ id: String, updated: String, _ title: String = ""
    ) -> ServerRecord {
        let document =
            #"{"released":"2026-01-03T00:00:00Z","updated":"\#(updated)","title":"\#(title)"}"#
        return ServerRecord(
            id: id, revision: nil, serverTime: nil, document: Array(document.utf8))
    }

    private static func forward(from cursor: FeedCursor) -> FeedListing {
        FeedListing(
            collection: articles, rule: rule,
            target: PullTarget("articles", scope: PullTarget.forward), asOf: Position(1),
            cursor: cursor, forward: cursor, isFirst: false)
    }

    private static func decision(
        _ records: [ServerRecord], _ feed: FeedListing
    ) throws -> FeedPageDecision {
        let exchange = ReadExchange(
            collection: "articles", request: ServerRequest(method: .get, path: "/articles"),
            sentAt: now, sentUptime: 0, asOf: Position(1),
            answer: AnswerRecord(RequestAnswered(status: 200)))
        let page = ListPage(records: records, next: nil, cursor: nil)
        return try FeedPageDecision(page, of: feed, exchange, news())
    }

    @Test func `dated ahead moves the list only until it is over, which later runs begin anew`()
        throws
    {
        let ahead = [1, 2, 3].map { "2030-01-01T0\($0):00:00Z" }
        let first = try Self.decision(
            [Self.record("f1", updated: ahead[0]), Self.record("f2", updated: ahead[1])],
            Self.forward(from: .from(Self.last)))
        let list = try #require(first.result.feed)
        #expect(list.cursor == .from(FeedKey(ahead[1])) && !list.isOver)
        #expect(list.kept == .from(Self.last))
        #expect(first.cursors.isEmpty && !first.result.isComplete)

        let second = try Self.decision([Self.record("f3", updated: ahead[2])], list)
        let end = try #require(second.result.feed)
        // What ends here, and is noted where it settles writes, is the place of before.
        #expect(end.isOver && end.cursor == .from(Self.last))
        #expect(end.forward == .from(Self.last))
        #expect(second.cursors.isEmpty && second.result.isComplete)
    }

    @Test func `goes on behind the last change that is not dated ahead, as later runs do`() throws {
        let (day, ahead) = ("2026-01-05T00:00:00Z", "2030-01-01T00:00:00Z")
        let decision = try Self.decision(
            [Self.record("a1", updated: day), Self.record("f1", updated: ahead)],
            Self.forward(from: .from(Self.last)))
        let list = try #require(decision.result.feed)

        #expect(list.cursor == .from(FeedKey(ahead)) && list.kept == .from(FeedKey(day)))
        #expect(decision.cursors == [Named(PullTarget.forward, FeedCursor.from(FeedKey(day)))])
    }

    @Test func `has each entity once, as it says it last`() throws {
        let day = "2026-01-05T00:00:00Z"
        let decision = try Self.decision(
            [Self.record("a1", updated: day, "old"), Self.record("a1", updated: day, "new")],
            Self.forward(from: .from(Self.last)))

        #expect(decision.records == [Self.record("a1", updated: day, "new")])
        #expect(decision.verdicts == [.new])
    }
}

@Suite struct `the last changes of a page that no row holds` {
    @Test func `are one of each entity, the last that the page tells`() throws {
        var tags = CollectionModel("tags", lastChangeField: "at")
        tags.since = SinceRule(ageMax: .months(2))
        let memory = MemoryFold()
        try memory.apply([.registered(SyncModel(name: "dated", collections: [tags]))])
        let news = ServerNews(
            memory.fold, begun: Moment(now: Timestamp(rawValue: 1), bootID: "a", uptime: 1))
        // Two tombstones of what never was here.
        let records = ([5, 9] as [Int64]).map { time in
            ServerRecord(
                id: "7", revision: nil, serverTime: Timestamp(rawValue: time), document: nil)
        }

        let times = try news.timesWithoutRow(
            ListPage(records: records, next: nil, cursor: nil), of: tags)

        #expect(times == [Named("7", Timestamp(rawValue: 9))])
        var page = PullPage()
        page.times = times
        // A name that stands twice in an object makes all of the event unreadable.
        #expect(try PullPage(reading: page.encoded).times == times)
    }
}
