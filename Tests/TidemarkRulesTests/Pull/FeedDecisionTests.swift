// FeedDecisionTests.swift — where a feed goes on after a block.

import TestSupport
import Testing
import TidemarkEvents

@testable import TidemarkRules

@Suite struct `a block of a feed` {
    private static let now =
        Timestamp(year: 2026, month: 11, day: 20, hour: 12, minute: 0, second: 0)
        ?? Timestamp(rawValue: 0)

    private func feed(
        _ block: Int = 3, ageMax: TimeSpan? = nil,
        compares: CollectionModel.FeedRule.Comparison = .verbatim
    ) -> FeedDecision {
        FeedDecision(
            FeedRule(
                order: "releaseDate", change: "updatedAt", block: block, ageMax: ageMax,
                compares: compares), .iso8601)
    }

    private func day(_ day: Int) -> FeedKey { FeedKey("2026-11-\(10 + day)T00:00:00Z") }

    private func block(
        _ days: [Int], last id: String? = nil, of count: Int? = nil, hasMore: Bool = false
    ) -> FeedBlockFacts {
        FeedBlockFacts(
            keys: days.map(day), lastID: id, count: count ?? days.count, hasMore: hasMore)
    }

    // MARK: Back

    @Test func `that is full goes on at its oldest key`() throws {
        let turn = try feed().turn(
            block([9, 8, 7]), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(turn == FeedTurn(cursor: .upTo(day(7)), isOver: false))
    }

    @Test(arguments: [[9, 8], [9], []])
    func `that is short ends the backfill`(_ days: [Int]) throws {
        let turn = try feed().turn(block(days), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(turn == FeedTurn(cursor: .end, isOver: true))
    }

    @Test func `that the server cut short does not end it`() throws {
        let turn = try feed().turn(
            block([9, 8], hasMore: true), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(turn.cursor == .upTo(day(8)))
    }

    @Test func `that has more than was asked for is a full one`() throws {
        let turn = try feed(2).turn(
            block([9, 8, 7, 6]), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(turn.cursor == .upTo(day(6)))
    }

    @Test
    func `whose keys are all one is followed by all that have it, by id, and then by older ones`()
        throws
    {
        let feed = feed()
        var turn = try feed.turn(
            block([9, 9, 9]), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(turn.cursor == .equal(day(9), after: nil))
        turn = try feed.turn(
            block([9, 9, 9], last: "c"), isBack: true, at: turn.cursor, now: Self.now)
        #expect(turn.cursor == .equal(day(9), after: "c"))
        turn = try feed.turn(
            block([9, 9], last: "e"), isBack: true, at: turn.cursor, now: Self.now)
        #expect(turn == FeedTurn(cursor: .before(day(9)), isOver: false))
    }

    @Test func `whose oldest key is older than the feed goes back ends the backfill`() throws {
        let feed = feed(ageMax: .days(5))
        let older = try feed.turn(
            block([6, 5, 4]), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(older == FeedTurn(cursor: .end, isOver: true))
        let young = try feed.turn(
            block([8, 7, 6]), isBack: true, at: .upTo(day(9)), now: Self.now)
        #expect(young.cursor == .upTo(day(6)))
        #expect(feed.isTooOld(day(4), Self.now) && !feed.isTooOld(day(6), Self.now))
        #expect(!self.feed().isTooOld(day(1), Self.now))
        #expect(!feed.isTooOld(FeedKey("soon"), Self.now))
    }

    @Test func `that is only too old by a time in doubt leaves the rest to a later run`() throws {
        let feed = feed(ageMax: .days(5))
        var turn = try feed.turn(
            block([6, 5, 4]), isBack: true, at: .upTo(day(9)), now: Self.now, isSure: false)
        #expect(turn == FeedTurn(cursor: .upTo(day(4)), isOver: true))
        turn = try feed.turn(
            block([4, 4, 4]), isBack: true, at: turn.cursor, now: Self.now, isSure: false)
        #expect(turn == FeedTurn(cursor: .equal(day(4), after: nil), isOver: true))
        turn = try feed.turn(
            block([4, 3]), isBack: true, at: .upTo(day(4)), now: Self.now, isSure: false)
        #expect(turn == FeedTurn(cursor: .end, isOver: true))
    }

    // MARK: Forward

    @Test func `of changes goes on at the last of them`() throws {
        let turn = try feed().turn(
            block([5, 6, 7]), isBack: false, at: .from(day(5)), now: Self.now)
        #expect(turn == FeedTurn(cursor: .from(day(7)), isOver: false))
    }

    @Test func `of changes that is short is the last for now, and moves on to its last key`() throws
    {
        let turn = try feed().turn(block([5, 6]), isBack: false, at: .from(day(5)), now: Self.now)
        #expect(turn == FeedTurn(cursor: .from(day(6)), isOver: true))
    }

    @Test(arguments: [
        FeedCursor.from(FeedKey("2026-11-15T00:00:00Z")), .after(FeedKey("2026-11-15T00:00:00Z")),
    ])
    func `without changes moves nothing`(_ cursor: FeedCursor) throws {
        let turn = try feed().turn(block([]), isBack: false, at: cursor, now: Self.now)
        #expect(turn == FeedTurn(cursor: cursor, isOver: true))
    }

    @Test func `of one change time is followed by all that have it, and then by later ones`() throws
    {
        let feed = feed(2)
        var turn = try feed.turn(
            block([6, 6]), isBack: false, at: .from(day(5)), now: Self.now)
        #expect(turn.cursor == .equal(day(6), after: nil))
        turn = try feed.turn(
            block([6], last: "b"), isBack: false, at: turn.cursor, now: Self.now)
        #expect(turn.cursor == .after(day(6)))
    }

    @Test(arguments: [(1, true), (9, true), (11, false)])
    func `that ends those of one key leaves them to a later run while others may come to have it`(
        _ minutes: Int64, _ isRecent: Bool
    ) throws {
        let feed = feed(2)
        let key = feed.key(of: Self.now.adding(seconds: -60 * minutes))
        let facts = FeedBlockFacts(keys: [key], lastID: "b", count: 1, hasMore: false)
        let forward = try feed.turn(
            facts, isBack: false, at: .equal(key, after: "a"), now: Self.now)
        #expect(
            forward
                == FeedTurn(
                    cursor: .after(key), isOver: false, later: isRecent ? .from(key) : nil))
        let back = try feed.turn(facts, isBack: true, at: .equal(key, after: "a"), now: Self.now)
        #expect(back == FeedTurn(cursor: .before(key), isOver: false))
    }

    @Test(arguments: [(1, true), (9, true), (11, false)])
    func `amid those of one key begins with them again while others may come to have it`(
        _ minutes: Int64, _ isRecent: Bool
    ) throws {
        let feed = feed(2)
        let key = feed.key(of: Self.now.adding(seconds: -60 * minutes))
        let facts = FeedBlockFacts(keys: [key, key], lastID: "c", count: 2, hasMore: false)
        var turn = try feed.turn(
            facts, isBack: false, at: .equal(key, after: "a"), now: Self.now)
        #expect(turn.cursor == .equal(key, after: "c") && !turn.isOver)
        #expect(turn.later == (isRecent ? .from(key) : nil))
        turn = try feed.turn(facts, isBack: true, at: .equal(key, after: "a"), now: Self.now)
        #expect(turn == FeedTurn(cursor: .equal(key, after: "c"), isOver: false))
    }

    @Test(arguments: ["2026-11-21T00:00:00Z", "9999-12-31T23:59:59Z"])
    func `with a change of the future goes on there, and a later run at the last one that is not`(
        _ future: String
    ) throws {
        let ahead = FeedKey(future)
        func turn(_ keys: [FeedKey], at cursor: FeedCursor) throws -> FeedTurn {
            let facts = FeedBlockFacts(
                keys: keys, lastID: nil, count: keys.count, hasMore: false)
            return try feed().turn(facts, isBack: false, at: cursor, now: Self.now)
        }
        let first = try turn([day(5), day(6), ahead], at: .from(day(5)))
        #expect(
            first
                == FeedTurn(
                    cursor: .from(ahead), isOver: false, later: .from(day(6)), isAhead: true))
        let short = try turn([day(6), ahead], at: .from(day(5)))
        #expect(short == FeedTurn(cursor: .from(day(6)), isOver: true))

        let alike = try turn([ahead, ahead, ahead], at: .from(ahead))
        #expect(alike.cursor == .equal(ahead, after: nil) && alike.isAhead && !alike.isOver)
        let none = try turn([ahead, ahead, ahead], at: .after(day(6)))
        #expect(none.later == .after(day(6)))
        let last = try turn([ahead], at: .from(ahead))
        #expect(last == FeedTurn(cursor: .from(ahead), isOver: true))
    }

    // MARK: Servers that do not what they are asked

    @Test(arguments: [
        FeedCursor.upTo(FeedKey("2026-11-17T00:00:00Z")), .before(FeedKey("2026-11-18T00:00:00Z")),
        .equal(FeedKey("2026-11-17T00:00:00Z"), after: nil),
    ])
    func `with a key that was not asked for is refused`(_ cursor: FeedCursor) {
        #expect(throws: FeedProblem.beyond(day(8), cursor)) {
            try feed().turn(block([8, 7, 6]), isBack: true, at: cursor, now: Self.now)
        }
    }

    @Test func `that is not sorted is refused, in both directions`() {
        #expect(throws: FeedProblem.disorder(day(6), day(7))) {
            try feed().turn(block([8, 6, 7]), isBack: true, at: .upTo(day(9)), now: Self.now)
        }
        #expect(throws: FeedProblem.disorder(day(7), day(6))) {
            try feed().turn(block([5, 7, 6]), isBack: false, at: .from(day(5)), now: Self.now)
        }
    }

    @Test func `of equals that ends where the one before did is refused`() {
        let cursor = FeedCursor.equal(day(9), after: "c")
        #expect(throws: FeedProblem.repeated(cursor)) {
            try feed().turn(
                block([9, 9, 9], last: "c"), isBack: true, at: cursor, now: Self.now)
        }
    }

    @Test func `that is full of records without a key is refused`() {
        #expect(throws: FeedProblem.noKeys(3)) {
            try feed().turn(block([], of: 3), isBack: true, at: .upTo(day(9)), now: Self.now)
        }
    }

    // MARK: Keys

    @Test func `has its keys compared as the server does: as texts, or as times`() {
        let texts = feed()
        let times = feed(compares: .instants)
        let zulu = FeedKey("2026-11-20T00:00:00Z")
        let offset = FeedKey("2026-11-20T00:00:00+00:00")
        let fraction = FeedKey("2026-11-20T00:00:00.500Z")

        #expect(!texts.areSame(zulu, offset))
        #expect(times.areSame(zulu, offset))
        // As texts, a full stop and a plus come before the letter.
        #expect(texts.isBefore(offset, fraction) && texts.isBefore(fraction, zulu))
        #expect(times.isBefore(zulu, fraction))
    }

    @Test(arguments: [
        (#""2026-11-20T00:00:00Z""#, true), (#""0001-01-01T00:00:00Z""#, true),
        (#""9999-12-31T23:59:59Z""#, true), ("1795337759000", true), (#""soon""#, false),
        (#""""#, false), ("null", false), ("true", false), ("[1]", false),
    ])
    func `has a key where the field holds a time`(_ value: String, _ isKey: Bool) throws {
        let document = try JSONDocument(parsing: Array(#"{"at":\#(value)}"#.utf8))
        #expect((feed().key(document.value("at")) != nil) == isKey)
    }

    @Test func `sends back the key as the server wrote it`() throws {
        for value in [#""2026-11-20T00:00:00.500+01:00""#, "1795337759000"] {
            let document = try JSONDocument(parsing: Array(#"{"at":\#(value)}"#.utf8))
            let key = try #require(feed().key(document.value("at")))
            #expect(String(decoding: key.value.encoded(), as: UTF8.self) == value)
        }
    }

    /// A feed of records that do not change is walked whole, whatever the keys are.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `after block brings every record once or at its edge, in few requests`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let size = 2 + Int(random.next() % 4)
        let count = Int(random.next() % 40)
        let records = (0..<count).map { index in
            (id: "r\(100 + index)", key: day(Int(random.next() % 9)))
        }
        let feed = feed(size)
        for isBack in [true, false] {
            var cursor: FeedCursor = isBack ? .upTo(day(9)) : .from(day(0))
            var seen: Set<String> = []
            var requests = 0
            while requests < 200 {
                requests += 1
                let block = Self.answer(records, cursor, size)
                seen.formUnion(block.map(\.id))
                let turn = try feed.turn(
                    FeedBlockFacts(
                        keys: block.map(\.key), lastID: block.last?.id, count: block.count,
                        hasMore: false), isBack: isBack, at: cursor, now: Self.now)
                cursor = turn.cursor
                if turn.isOver { break }
            }
            #expect(seen == Set(records.map(\.id)), "seed \(seed)")
            #expect(requests <= 3 * count + 4, "seed \(seed)")
        }
    }

    /// What a server answers.
    private static func answer(
        _ records: [(id: String, key: FeedKey)], _ cursor: FeedCursor, _ size: Int
    ) -> [(id: String, key: FeedKey)] {
        let texts = records.sorted { ($0.key.text, $0.id) < ($1.key.text, $1.id) }
        let found: [(id: String, key: FeedKey)] =
            switch cursor {
            case .upTo(let key): texts.reversed().filter { $0.key.text <= key.text }
            case .before(let key): texts.reversed().filter { $0.key.text < key.text }
            case .from(let key): texts.filter { $0.key.text >= key.text }
            case .after(let key): texts.filter { $0.key.text > key.text }
            case .equal(let key, let id): texts.filter { $0.key == key && $0.id > id ?? "" }
            case .end: []
            }
        return Array(found.prefix(size))
    }
}
