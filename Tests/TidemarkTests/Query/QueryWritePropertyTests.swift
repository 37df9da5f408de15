// QueryWritePropertyTests.swift — random queries within random writes: an index, a scan, and the
// same query after the commit find the same; and an index spares the rest of the collection.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport
@testable import TidemarkViews

private typealias Chore = QueryChore

@Suite struct `random queries within writes` {
    private static let rooms = ["r1", "r2", "17", "s1"]
    private static let ids =
        (0..<24).map { "d\($0)" }
        + (0..<6).map { "d\($0)" + String(repeating: "i", count: 60 + 60 * $0) }

    /// What a write found by a query.
    private struct Found: Sendable {
        var terms: QueryTerms
        var ids: [String]
        var counts: [Int]
    }

    private static func found(
        _ terms: QueryTerms, by indexes: [IndexModel]? = nil, in rows: some IndexReading
    ) throws -> (found: Found, words: String) {
        let query = try rows.documentQuery(terms, of: "chores")
        var plan = try rows.plan(query)
        if let indexes { plan = QueryPlan(query, indexes: indexes) }
        var ids: [String] = []
        try rows.forEachFound(query, plan) { entity in
            ids.append(entity.key.id)
            return true
        }
        let counts = try rows.counts(query, by: .field(IndexField("a"))).groups.map(\.count)
        #expect(try rows.count(query) == ids.count)
        #expect(counts.reduce(0, +) == ids.count)
        return (
            Found(terms: terms, ids: ids, counts: counts.sorted()),
            QueryExplanation(query, plan).description
        )
    }

    private static func document(_ random: inout SplitMix64) -> [UInt8] {
        var object: JSONObject = [:]
        for name in ["a", "b", "c"] where !random.once(in: 5) {
            object[name] = random.pick(`random queries`.values)
        }
        let rooms: [JSONValue] = ["r1", "r2", "s1", "17", 17]
        if !random.once(in: 4) { object["room"] = random.pick(rooms) }
        return JSONValue.object(object).encoded()
    }

    private static func terms(
        _ random: inout SplitMix64, in rows: some IndexReading
    ) throws -> QueryTerms {
        var terms = `random queries`.terms(&random)
        let room = QueryField(.field("room"))
        if random.once(in: 3) {
            let id = EntityKey("rooms", random.pick(rooms))
            let named = QueryTerm.compare(room, .equal, .id(id))
            if random.once(in: 2) { terms.condition = nil }
            terms.condition = terms.condition.map { QueryTerm.or($0, named) } ?? named
        }
        if random.once(in: 6) { terms.order.insert(QueryTerms.Order(room), at: 0) }
        guard random.once(in: 3) else { return terms }
        let place = try rows.document(of: EntityKey("chores", random.pick(ids)))
        if let place { terms.bound = random.once(in: 2) ? .after(place) : .before(place) }
        return terms
    }

    private static func step(_ tx: WriteContext, _ random: inout SplitMix64) throws {
        let key = EntityKey("chores", random.pick(ids))
        let json = document(&random)
        func append(_ kind: EventKind, _ key: EntityKey, _ json: [UInt8]) throws {
            let (now, last) = (tx.draft.now, tx.draft.last)
            try tx.draft.append(Event(kind, recordedAt: now, key: key, asOf: last, json: json))
        }
        switch random.below(10) {
        case 0...3: try tx.put(key, json)
        case 4: if try tx.document(key) != nil { try tx.delete(key) }
        case 5, 6: try append(.serverUpserted, key, json)
        case 7: try append(.serverDeleted, key, Array("{}".utf8))
        case 8:
            if try !tx.draft.fold.entity(key).pending.isEmpty { try tx.discard(key) }
        default: try name("r1", "s1", tx)
        }
    }

    /// Makes a room, and has it accepted under an id of the server's.
    private static func name(_ id: String, _ serverID: String, _ tx: WriteContext) throws {
        let key = EntityKey("rooms", id)
        guard try tx.draft.fold.entity(key).isEmpty else { return }
        let created = try tx.create(key, Array(#"{"title":"Room"}"#.utf8))
        let call = try tx.draft.append(
            Event(.requestSent, recordedAt: tx.draft.now, key: key, mutation: created))
        try tx.draft.append(
            Event(
                .pushAccepted, recordedAt: tx.draft.now, key: key, mutation: created, call: call,
                json: Array(#"{"serverID":"\#(serverID)"}"#.utf8)))
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: (0..<8).map { 0x9E_0001 + UInt64($0) })
    func `find the same by an index and by a scan, and as after the commit`(
        seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let all: [IndexModel] = [
            ["a"], [.date("b")], ["a", "b"], ["b", .date("c"), "a"], ["c", "a", "b"],
            ["room", "a"],
        ]
        var model = QueryStore.model(all.filter { _ in !random.once(in: 4) })
        if random.once(in: 2) { model.collections[0].ids = .serverText }
        try withReplica(model) { replica throws in
            var indexed = 0
            for round in 0..<25 {
                let place = "seed \(seed), round \(round)"
                let start = random
                let (after, found, count) = try replica.write { tx in
                    var (random, found, count) = (start, [Found](), 0)
                    for _ in 0..<1 + random.below(round == 0 ? 80 : 12) {
                        try Self.step(tx, &random)
                        let terms = try Self.terms(&random, in: tx.draft.fold)
                        let (own, words) = try Self.found(terms, in: tx.draft.fold)
                        let (scanned, _) = try Self.found(terms, by: [], in: tx.draft.fold)
                        #expect(own.ids == scanned.ids, "\(place): \(words)")
                        if words.hasPrefix("index") { count += 1 }
                    }
                    for _ in 0..<12 {
                        let terms = try Self.terms(&random, in: tx.draft.fold)
                        found.append(try Self.found(terms, in: tx.draft.fold).found)
                    }
                    return (random, found, count)
                }
                random = after
                indexed += count
                try replica.read { store throws in
                    for own in found {
                        let (committed, words) = try Self.found(own.terms, in: store.views)
                        #expect(own.ids == committed.ids, "\(place): \(words)")
                        #expect(own.counts == committed.counts, "\(place): \(words)")
                    }
                }
            }
            #expect(indexed > 15, "seed \(seed)")
        }
    }

    // MARK: Ranges

    private static func field(_ name: String) -> QueryField { QueryField(.field(name)) }

    /// A range of a field, open on either side or on both, in some order, up to some limit.
    private static func range(_ random: inout SplitMix64) -> QueryTerms {
        let field = Self.field(random.pick(["a", "b"]))
        var parts: [QueryTerm] = []
        if random.once(in: 3) {
            let group = JSONNumber(random.below(3))
            parts.append(.compare(Self.field("c"), .equal, .number(group)))
        }
        for side: [QueryComparison] in [[.greater, .greaterOrEqual], [.less, .lessOrEqual]]
        where !random.once(in: 3) {
            let end = JSONNumber(random.below(600) - 200)
            parts.append(.compare(field, random.pick(side), .number(end)))
        }
        var terms = QueryTerms()
        for part in parts {
            terms.condition = terms.condition.map { QueryTerm.and($0, part) } ?? part
        }
        let isDescending = random.once(in: 2)
        if !random.once(in: 4) {
            terms.order = [QueryTerms.Order(field, isDescending: isDescending)]
            if random.once(in: 3), field == Self.field("a") {
                terms.order.append(QueryTerms.Order(Self.field("b"), isDescending: isDescending))
            }
        }
        if !random.once(in: 4) { terms.limit = random.pick([1, 2, 5, 30, 70]) }
        if random.once(in: 5) { terms.offset = random.below(5) }
        return terms
    }

    private static func numbers(_ random: inout SplitMix64) -> [UInt8] {
        let object: JSONObject = [
            "a": .number(JSONNumber(random.below(600) - 200)),
            "b": .number(JSONNumber(random.below(600) - 200)),
            "c": .number(JSONNumber(random.below(3))),
        ]
        return JSONValue.object(object).encoded()
    }

    /// Moves, or deletes, one after another of what a range has, or of neighbours by id.
    private static func move(_ tx: WriteContext, _ random: inout SplitMix64) throws {
        var queue = range(&random)
        (queue.limit, queue.offset) = (1, 0)
        let isQueue = random.once(in: 2)
        let start = random.below(150)
        for number in start..<start + 1 + random.below(50) {
            var key = EntityKey("chores", "e\(number % 150)")
            if isQueue {
                let query = try tx.draft.fold.documentQuery(queue, of: "chores")
                var next: EntityKey?
                try tx.draft.fold.forEachFound(query) { entity in
                    next = entity.key
                    return false
                }
                guard let next else { return }
                key = next
            }
            let isThere = try tx.document(key) != nil
            if isThere, random.once(in: 8) {
                try tx.delete(key)
            } else {
                try tx.put(key, numbers(&random))
            }
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: (0..<4).map { 0x9E_0101 + UInt64($0) })
    func `find in ranges of several indexes what their commit leaves there`(
        seed: UInt64
    ) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let indexes: [IndexModel] = [["a"], ["b"], ["a", "b"], ["c", "a"], ["c", "b"]]
        try withReplica(QueryStore.model(indexes)) { replica throws in
            var indexed = 0
            for round in 0..<6 {
                let place = "seed \(seed), round \(round)"
                let start = random
                let (after, found, count) = try replica.write { tx in
                    var (random, found, count) = (start, [Found](), 0)
                    if round == 0 {
                        for number in 0..<150 {
                            let key = EntityKey("chores", "e\(number)")
                            try tx.create(key, Self.numbers(&random))
                        }
                    }
                    for _ in 0..<6 {
                        try Self.move(tx, &random)
                        for _ in 0..<4 {
                            let terms = Self.range(&random)
                            let (own, words) = try Self.found(terms, in: tx.draft.fold)
                            let (scanned, _) = try Self.found(terms, by: [], in: tx.draft.fold)
                            #expect(own.ids == scanned.ids, "\(place): \(words)")
                            if words.hasPrefix("index") { count += 1 }
                        }
                    }
                    for _ in 0..<12 {
                        found.append(try Self.found(Self.range(&random), in: tx.draft.fold).found)
                    }
                    return (random, found, count)
                }
                random = after
                indexed += count
                try replica.read { store throws in
                    for own in found {
                        let (committed, words) = try Self.found(own.terms, in: store.views)
                        #expect(own.ids == committed.ids, "\(place): \(words)")
                        #expect(own.counts == committed.counts, "\(place): \(words)")
                    }
                }
            }
            #expect(indexed > 60, "seed \(seed)")
        }
    }

    // MARK: Reads

    /// How many rows and records of indexes were read.
    private final class Reads {
        var count = 0
    }

    @Test func `read what an index names and what their commit wrote, and nothing else`() throws {
        let chores = (0..<400).map { number in
            var chore = Chore("c\(number)")
            chore.points = number
            return chore
        }
        let replica = try QueryStore.make([["points"]], chores)
        defer { try? replica.deleteTemporary() }

        try replica.journal.read { views in
            let (stored, reads) = (views.rows, Reads())
            let source = RowSource(
                get: { key in
                    reads.count += 1
                    return try stored.get(key)
                },
                walk: { tree, prefix, from, reversed, visit in
                    try stored.walk(tree, prefix, from, reversed) { key, value in
                        reads.count += 1
                        return try visit(key, value)
                    }
                },
                walkIndex: { prefix, from, reversed, visit in
                    try stored.walkIndex(prefix, from, reversed) { key, value in
                        reads.count += 1
                        return try visit(key, value)
                    }
                })
            let fold = Fold(
                source, ModelCache(), hasBindings: false, indexNames: views.indexNames)
            func write(_ kind: EventKind, _ id: String, _ json: String, _ number: UInt64) throws {
                let event = Event(
                    kind, recordedAt: Timestamp(rawValue: 1), key: EntityKey("chores", id),
                    json: Array(json.utf8))
                try fold.apply(event.checked, at: Position(views.last.rawValue + number))
            }
            try write(.localCreated, "n1", #"{"title":"","points":7}"#, 1)
            try write(.localUpdated, "c9", #"{"set":{"points":7},"unset":[]}"#, 2)
            try write(.localUpdated, "c8", #"{"set":{"points":null},"unset":[]}"#, 3)
            try write(.localDeleted, "c6", "", 4)

            func found(_ query: EntityQuery<Chore>, readingUpTo most: Int) throws -> String {
                reads.count = 0
                var ids: [String] = []
                let query = try fold.documentQuery(query.terms, of: "chores")
                try fold.forEachFound(query) { entity in
                    ids.append(entity.key.id)
                    return true
                }
                #expect(reads.count <= most, "\(reads.count) reads for \(ids)")
                return ids.joined(separator: " ")
            }
            let byPoints = Chore.all.order(by: \.points)
            #expect(try found(Chore.where(\.points == 7), readingUpTo: 8) == "c7 c9 n1")
            #expect(try found(Chore.where(\.points == 9), readingUpTo: 8) == "")
            let some = Chore.where(.in(\.points, 5..<10))
            #expect(try found(some, readingUpTo: 16) == "c5 c7 c9 n1")
            #expect(try found(byPoints.limit(3), readingUpTo: 12) == "c8 c0 c1")
            let last = Chore.all.order(by: \.points, .descending).offset(1).limit(2)
            #expect(try found(last, readingUpTo: 12) == "c398 c397")
            let one = Chore.where(\.id == Tidemark.ID("c300"))
            #expect(try found(one, readingUpTo: 4) == "c300")
            let lastByID = Chore.all.order(by: \.id, .descending).limit(2)
            #expect(try found(lastByID, readingUpTo: 8) == "n1 c99")

            // Who takes one after another passes over those that were taken before only once.
            let next = Chore.where(.in(\.points, 10..<1000)).order(by: \.points).limit(1)
            for number in 10..<400 {
                #expect(try found(next, readingUpTo: 40) == "c\(number)")
                let json = #"{"set":{"points":\#(number + 1000)},"unset":[]}"#
                try write(.localUpdated, "c\(number)", json, UInt64(number))
            }
            #expect(try found(next, readingUpTo: 40) == "")
            let after = Chore.where(\.points >= 20).order(by: \.points).limit(1)
            #expect(try found(after, readingUpTo: 40) == "c10")
            let before = Chore.where(\.points < 1000).order(by: \.points, .descending).limit(2)
            #expect(try found(before, readingUpTo: 40) == "n1 c9")

            // What they leave behind is passed over no further than the range goes.
            #expect(try found(Chore.where(\.points == 20), readingUpTo: 8) == "")
            let below = Chore.where(.in(\.points, 380..<390)).order(by: \.points, .descending)
            #expect(try found(below, readingUpTo: 16) == "")

            // Of an index that nobody reads no records are held.
            let held = fold.memory(WrittenRecordsMemory.self)
            #expect(held.known.count == 1)
            let inRoom = Chore.where(\.room == Tidemark.ID("r1"))
            #expect(try found(inRoom, readingUpTo: 16) == "")
            #expect(held.known.count == 2)
        }
    }
}

extension RowReading {
    /// The place of an entity, as a cursor tells it.
    fileprivate func document(of key: EntityKey) throws -> QueryTerms.Place? {
        let collection = try model()[key.collection]
        return try entity(at: .entity(key)).document(in: collection)
            .map { QueryTerms.Place(key, $0) }
    }
}
