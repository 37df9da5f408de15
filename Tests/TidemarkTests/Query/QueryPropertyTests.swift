// QueryPropertyTests.swift — random queries of random entities: an index, a scan, and Swift's own
// filter and sort find the same.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Chore = QueryChore

@Suite struct `random queries` {
    private static let long = String(repeating: "long ", count: 90)
    private static let texts = [
        "", "a", "Ab", "b", "\u{e9}", "e\u{301}", "\u{1F600}", "\u{0}a", "\"q\"\n", long,
        long + "a",
        long + "b", String(repeating: "z", count: 384), String(repeating: "z", count: 400),
    ]

    // MARK: Entities of the app's type

    private struct TypedCase {
        var condition: EntityCondition<Chore>
        var isTrue: (Chore) -> Bool
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: 0..<6)
    func `find what filtering and sorting decoded entities finds`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let indexes = Self.indexes(&random)
        let chores = (0..<60).map { Self.chore("c\($0)", &random) }
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        let all = try replica.read { try $0.all(Chore.self) }
        #expect(all.count == chores.count)
        var indexed = 0
        for _ in 0..<150 {
            let wanted = Self.typed(&random, depth: 3)
            var query = Chore.where(wanted.condition)
            var expected = all.filter(wanted.isTrue)
            if random.once(in: 2) {
                let direction = random.pick([EntityQuery<Chore>.Direction.ascending, .descending])
                (query, expected) = Self.ordered(&random, query, expected, direction)
            }
            var isBefore = false
            if !expected.isEmpty, random.once(in: 3) {
                let place = random.below(expected.count)
                let id = expected[place].id
                let cursor = try #require(try replica.read { try $0.cursor(at: id) })
                isBefore = random.once(in: 2)
                query = isBefore ? query.before(cursor) : query.after(cursor)
                expected = Array(isBefore ? expected[..<place] : expected[(place + 1)...])
            }
            if random.once(in: 3) {
                let (skipped, count) = (random.below(4), random.below(12))
                query = query.offset(skipped).limit(count)
                expected = Array(
                    isBefore
                        ? expected.dropLast(skipped).suffix(count)
                        : expected.dropFirst(skipped).prefix(count))
            }
            let words = try replica.explained(query)
            if words.hasPrefix("index") { indexed += 1 }
            #expect(try replica.ids(query) == expected.map(\.id.rawValue), "seed \(seed): \(words)")
            #expect(try replica.count(query) == expected.count, "seed \(seed): \(words)")
            let uncommitted = try replica.write { try $0.all(query).map(\.id.rawValue) }
            #expect(uncommitted == expected.map(\.id.rawValue), "seed \(seed): \(words)")
            let counts = QueryCounts(expected)
            #expect(
                try replica.read { try QueryCounts(query, in: $0) } == counts,
                "seed \(seed): \(words)")
            #expect(
                try replica.write { try QueryCounts(query, in: $0) } == counts,
                "seed \(seed): \(words)")
        }
        #expect(indexed > 20, "seed \(seed)")
    }

    private static func chore(_ id: String, _ random: inout SplitMix64) -> Chore {
        var chore = Chore(id)
        chore.title = random.pick(texts)
        chore.room = random.pick([nil, Tidemark.ID("a"), Tidemark.ID("b")])
        chore.due = random.pick([nil, date(0), date(86_400), date(-1), date(1_795_000_000)])
        chore.points = random.pick([nil, 0, 1, -1, 2, 1 << 53, 1 << 53 + 1, .max, .min])
        chore.isDone = random.once(in: 2)
        chore.colour = random.pick(QueryColour.allCases + [nil])
        return chore
    }

    private static func typed(_ random: inout SplitMix64, depth: Int) -> TypedCase {
        if depth > 0, !random.once(in: 3) {
            let (one, other) = (typed(&random, depth: depth - 1), typed(&random, depth: depth - 1))
            switch random.below(5) {
            case 0:
                return TypedCase(
                    condition: one.condition || other.condition,
                    isTrue: { one.isTrue($0) || other.isTrue($0) })
            case 1: return TypedCase(condition: !one.condition, isTrue: { !one.isTrue($0) })
            default:
                return TypedCase(
                    condition: one.condition && other.condition,
                    isTrue: { one.isTrue($0) && other.isTrue($0) })
            }
        }
        let text = random.pick(texts)
        let number = random.pick([nil, 0, 1, 2, 1 << 53, .max])
        let due = random.pick([date(0), date(86_400), date(-0.5)])
        func precedes(_ left: String, _ right: String) -> Bool {
            left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        switch random.below(9) {
        case 0:
            return TypedCase(
                condition: \.title == text, isTrue: { $0.title.utf8.elementsEqual(text.utf8) })
        case 1:
            return TypedCase(
                condition: .hasPrefix(\.title, text),
                isTrue: { $0.title.utf8.starts(with: text.utf8) })
        case 2:
            return TypedCase(condition: \.title > text, isTrue: { precedes(text, $0.title) })
        case 3: return TypedCase(condition: \.points == number, isTrue: { $0.points == number })
        case 4:
            return TypedCase(
                condition: \.points < number,
                isTrue: { chore in
                    guard let points = chore.points, let number else { return false }
                    return points < number
                })
        case 5:
            return TypedCase(
                condition: .in(\.points, [number, 1]),
                isTrue: { $0.points == number || $0.points == 1 })
        case 6:
            return TypedCase(
                condition: \.due >= due, isTrue: { chore in chore.due.map { $0 >= due } ?? false })
        case 7: return TypedCase(condition: \.colour != .red, isTrue: { $0.colour != .red })
        default:
            return TypedCase(
                condition: \.room == Tidemark.ID("a"), isTrue: { $0.room?.rawValue == "a" })
        }
    }

    private static func ordered(
        _ random: inout SplitMix64, _ query: EntityQuery<Chore>, _ chores: [Chore],
        _ direction: EntityQuery<Chore>.Direction
    ) -> (EntityQuery<Chore>, [Chore]) {
        func sorted<Value>(
            _ value: (Chore) -> Value?, _ precedes: (Value, Value) -> Bool
        ) -> [Chore] {
            // By id at first, then by the value: sorting keeps the order of equals.
            let byID = chores.sorted { $0.id.rawValue < $1.id.rawValue }
            let result = byID.sorted { left, right in
                switch (value(left), value(right)) {
                case (let left?, let right?): precedes(left, right)
                case (nil, .some): true
                default: false
                }
            }
            return direction == .descending ? result.reversed() : result
        }
        switch random.below(4) {
        case 0:
            return (
                query.order(by: \.title, direction),
                sorted(\.title) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            )
        case 1: return (query.order(by: \.points, direction), sorted(\.points, <))
        case 2: return (query.order(by: \.due, direction), sorted(\.due, <))
        default: return (query.order(by: \.isDone, direction), sorted({ $0.isDone ? 1 : 0 }, <))
        }
    }

    private static func indexes(_ random: inout SplitMix64) -> [IndexModel] {
        let all: [IndexModel] = [
            ["title"], ["points"], [.date("due")], ["done", .date("due")], ["room", "title"],
            ["title", "points"], ["colour", "done", "points"], ["points", .date("due"), "title"],
        ]
        return all.filter { _ in !random.once(in: 3) }
    }

    // MARK: Documents of any kind

    @Test(.enabled(if: TestRun.isWhole), arguments: 10..<16)
    func `find the same on an index as on a scan, whatever the documents hold`(
        seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let indexes: [IndexModel] = [
            ["a"], [.date("b")], ["a", "b"], ["b", .date("c"), "a"], ["c", "a", "b"],
        ]
        let replica = try QueryStore.make(indexes)
        defer { try? replica.deleteTemporary() }
        try Self.fill(replica, seed)
        let model = QueryStore.model(indexes)
        let queries = try (0..<200).map { _ in
            try Self.query(Self.terms(&random), in: model)
        }
        let results = try replica.read { context in
            try queries.map { query in
                var (indexed, scanned): ([String], [String]) = ([], [])
                let plan = try context.views.plan(query)
                try context.views.forEachFound(query) {
                    indexed.append($0.key.id)
                    return true
                }
                try context.views.forEachFound(query, QueryPlan(query, indexes: [])) {
                    scanned.append($0.key.id)
                    return true
                }
                let words = QueryExplanation(query, plan).description
                return (words, indexed, scanned, try context.views.count(query))
            }
        }
        for (words, indexed, scanned, count) in results {
            #expect(indexed == scanned, "seed \(seed): \(words)")
            #expect(count == scanned.count, "seed \(seed): \(words)")
        }
        #expect(results.count { $0.0.hasPrefix("index") && !$0.1.isEmpty } > 10, "seed \(seed)")
    }

    private static func fill(_ replica: Replica, _ seed: UInt64) throws {
        try replica.write { tx in
            var random = SplitMix64(seed: seed)
            for number in 0..<80 {
                let tail = random.once(in: 8) ? String(repeating: "i", count: 300) : ""
                try tx.create(
                    EntityKey("chores", "d\(number)\(tail)"), Self.document(&random))
            }
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: 20..<26)
    func `begin and end at the place of any entity, on an index as on a scan`(
        seed: UInt64
    ) throws {
        let indexes: [IndexModel] = [
            ["a"], [.date("b")], ["a", "b"], ["b", .date("c"), "a"], ["c", "a", "b"],
        ]
        let replica = try QueryStore.make(indexes)
        defer { try? replica.deleteTemporary() }
        try Self.fill(replica, seed)
        let model = QueryStore.model(indexes)
        try replica.read { context throws in
            var random = SplitMix64(seed: seed)
            var skipping = 0
            func found(_ terms: QueryTerms, isIndexed: Bool = true) throws -> [FoundEntity] {
                let query = try Self.query(terms, in: model)
                var plan = QueryPlan(query, indexes: [])
                if isIndexed { plan = try context.views.plan(query) }
                if case .index = plan.access, plan.skipsToStart { skipping += 1 }
                var found: [FoundEntity] = []
                try context.views.forEachFound(query, plan) { entity in
                    found.append(entity)
                    return true
                }
                return found
            }
            for _ in 0..<150 {
                var terms = Self.terms(&random)
                (terms.limit, terms.offset) = (nil, 0)
                let wanted = try found(terms).map(\.key)
                var unfiltered = terms
                unfiltered.condition = nil
                let all = try found(unfiltered)
                let place = random.below(all.count)
                let earlier = Set(all[..<place].map(\.key))
                let cursor = QueryTerms.Place(all[place].key, all[place].document)
                let limit = random.below(12)
                terms.limit = limit
                let after = wanted.filter { !earlier.contains($0) && $0 != cursor.key }
                let before = wanted.filter { earlier.contains($0) }
                for isIndexed in [true, false] {
                    terms.bound = .after(cursor)
                    let next = try found(terms, isIndexed: isIndexed).map(\.key)
                    #expect(next == Array(after.prefix(limit)), "seed \(seed): \(terms)")
                    terms.bound = .before(cursor)
                    let previous = try found(terms, isIndexed: isIndexed).map(\.key)
                    #expect(previous == Array(before.suffix(limit)), "seed \(seed): \(terms)")
                }
            }
            #expect(skipping > 2, "seed \(seed)")
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: 30..<34)
    func `find one entity's in the order of an index, however its id is written`(
        seed: UInt64
    ) throws {
        let indexes: [IndexModel] = [["room", "a"], ["room", .date("b"), "a"]]
        var model = QueryStore.model(indexes)
        model.collections[0].ids = .serverNumber
        try withReplica(model) { replica throws in
            try replica.write { tx in
                var random = SplitMix64(seed: seed)
                let rooms: [JSONValue] = ["17", 17, "17", 17, 18]
                for number in 0..<400 {
                    let tail = String(repeating: "i", count: random.pick([0, 0, 0, 66, 90, 300]))
                    var object: JSONObject = ["room": random.pick(rooms)]
                    for name in ["a", "b"] { object[name] = random.pick(Self.values) }
                    try tx.create(
                        EntityKey("chores", "d\(number % 7)\(tail)\(number)"),
                        JSONValue.object(object).encoded())
                }
            }
            let room = QueryField(.field("room"))
            let orders = [
                [QueryField(.field("a"))], [room, QueryField(.field("a"))],
                [QueryField(.field("b"), .date), QueryField(.field("a"))],
            ]
            try replica.read { context throws in
                var random = SplitMix64(seed: seed)
                func found(_ terms: QueryTerms, isIndexed: Bool) throws -> [FoundEntity] {
                    let query = try Self.query(terms, in: model)
                    var plan = QueryPlan(query, indexes: [])
                    if isIndexed { plan = try context.views.plan(query) }
                    #expect(plan.isInOrder == isIndexed)
                    var found: [FoundEntity] = []
                    try context.views.forEachFound(query, plan) { entity in
                        found.append(entity)
                        return true
                    }
                    return found
                }
                for (fields, isDescending) in orders.flatMap({ [($0, false), ($0, true)] }) {
                    var terms = QueryTerms(
                        condition: .compare(room, .equal, .id(EntityKey("rooms", "17"))))
                    terms.order = fields.map { QueryTerms.Order($0, isDescending: isDescending) }
                    let all = try found(terms, isIndexed: false)
                    #expect(all.count > 200)
                    #expect(try found(terms, isIndexed: true).map(\.key) == all.map(\.key))
                    for _ in 0..<8 {
                        let place = random.below(all.count)
                        let cursor = QueryTerms.Place(all[place].key, all[place].document)
                        terms.limit = random.pick([1, 20, 400])
                        let limit = terms.limit ?? 0
                        terms.bound = .after(cursor)
                        let after = try found(terms, isIndexed: true)
                        #expect(after.map(\.key) == all[(place + 1)...].prefix(limit).map(\.key))
                        terms.bound = .before(cursor)
                        let before = try found(terms, isIndexed: true)
                        #expect(before.map(\.key) == all[..<place].suffix(limit).map(\.key))
                    }
                }
            }
        }
    }

    static let values: [JSONValue] =
        texts.map { .string($0) }
        + [
            "1970-01-01T00:00:00Z", "1970-01-01T01:00:00+01:00", "2026-11-18T11:06:40.5Z", "2026",
            .null, true, false, 0, 1, -1, [1, "a"], ["k": .null],
        ]
        + ["1.0", "-0", "1e400", "9007199254740993", "0.1"].compactMap {
            JSONNumber(text: $0).map { .number($0) }
        }

    private static func document(_ random: inout SplitMix64) -> [UInt8] {
        var object: JSONObject = [:]
        for name in ["a", "b", "c"] where !random.once(in: 5) { object[name] = random.pick(values) }
        return JSONValue.object(object).encoded()
    }

    private static func query(
        _ terms: QueryTerms, in model: SyncModel
    ) throws -> DocumentQuery {
        try DocumentQuery(
            terms, of: "chores", in: model, hasAliases: { _ in false }, ids: { [$0.id] })
    }

    static func terms(_ random: inout SplitMix64) -> QueryTerms {
        var terms = QueryTerms(condition: term(&random, depth: 3))
        while random.once(in: 2) {
            terms.order.append(
                QueryTerms.Order(
                    field(&random), isDescending: random.once(in: 2),
                    isNullGreatest: random.once(in: 4)))
        }
        if random.once(in: 3) { terms.limit = random.below(30) }
        if random.once(in: 5) { terms.offset = random.below(5) }
        return terms
    }

    private static func field(_ random: inout SplitMix64) -> QueryField {
        if random.once(in: 20) { return QueryField(.id) }
        let kind: IndexField.Kind = random.once(in: 3) ? .date : .value
        return QueryField(.field(random.pick(["a", "b", "c"])), kind)
    }

    private static func term(_ random: inout SplitMix64, depth: Int) -> QueryTerm {
        if depth > 0, !random.once(in: 3) {
            let (one, other) = (term(&random, depth: depth - 1), term(&random, depth: depth - 1))
            switch random.below(6) {
            case 0: return .or(one, other)
            case 1: return .not(one)
            default: return .and(one, other)
            }
        }
        let field = field(&random)
        switch random.below(4) {
        case 0: return .isIn(field, (0..<random.below(5)).map { _ in literal(&random, field) })
        case 1: return .hasPrefix(field, ExactString(random.pick(texts)))
        default:
            return .compare(
                field, random.pick(QueryComparison.allCases), literal(&random, field))
        }
    }

    private static func literal(_ random: inout SplitMix64, _ field: QueryField) -> QueryLiteral {
        if field.kind == .date, random.once(in: 2) {
            return .time(Timestamp(microseconds: random.pick([0, 1_795_000_000_500_000])))
        }
        switch random.pick(values) {
        case .string(let text): return .text(text)
        case .bool(let value): return .bool(value)
        case .number(let number): return .number(number)
        case .null, .array, .object: return .null
        }
    }
}
