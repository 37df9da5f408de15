// IndexPropertyTests.swift — whatever is written, the indexes say what the entities say.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `every index` {
    private static let models: [[IndexModel]] = [
        [], [["list"]], [["list", .date("due")], ["done", "n", "title", .date("due")]],
        [["title"], ["list", "title"]], [["list"], ["n"], [.date("due"), "n"]],
    ]

    @Test(.enabled(if: TestRun.isWhole), arguments: (0..<6).map { 0x1DE_0100 + UInt64($0) })
    func `is as one made anew, and reads as all documents sorted`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let store = try ScratchStore()
        var model = Self.models[2]
        var checked = 0
        try store.write(.tasks(model, references: [Reference("list", to: "lists")]))
        for round in 0..<60 {
            let place: Comment = "seed \(seed), round \(round)"
            var references = [Reference("list", to: "lists")]
            if random.once(in: 3) { references = [] }
            var events: [Event] = []
            for _ in 0..<1 + random.below(8) { events.append(random.edit()) }
            if random.once(in: 6) {
                model = random.pick(Self.models)
                let dates = random.pick([DateFormat.iso8601, .seconds, .milliseconds])
                let migrations: [FieldMigration] =
                    random.once(in: 2) ? [] : [.require("n", default: 7)]
                events.insert(
                    .tasks(model, references: references, dates: dates, migrations: migrations),
                    at: random.below(events.count))
            }
            let start = random
            checked += try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
                var (random, checked) = (start, 0)
                for event in events {
                    try draft.append(event)
                    checked += try expectIndexes(draft.fold, of: "tasks", &random, place)
                }
                return checked
            }
            if random.once(in: 15) { try store.journal.rebuild(eventsPerStep: 20) }
            if random.once(in: 15) { try store.reopen() }

            #expect(try store.indexDifferences() == [], place)
            try store.journal.read { views in
                let indexes = try #require(try views.model()["tasks"]).allIndexes
                let found = try expectIndexes(views, of: "tasks", &random, place)
                #expect(found == indexes.count, place)
            }
        }
        #expect(checked > 100, "seed \(seed)")
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: (0..<6).map { 0x1DE_0200 + UInt64($0) << 8 })
    func `reads within a commit as the documents do, whatever the log says`(
        _ seed: UInt64
    ) throws {
        print("seed \(seed)")
        var checked = 0
        for seed in seed..<seed + 4 {
            let store = try ScratchStore()
            var maker = LogMaker(seed: seed, isHostile: false)
            for round in 0..<40 {
                // A model's indexes are made after its commit.
                try maker.write(about: 1, to: store.journal)
                let before = maker
                let time = Timestamp(rawValue: Int64(round + 1))
                let (after, found) = try store.journal.write(at: time) { draft in
                    var (maker, found) = (before, 0)
                    for _ in 0..<1 + maker.random.below(6) {
                        try maker.step(draft)
                        for name in ["lists", "tasks"] as [CollectionName] {
                            found += try expectIndexes(
                                draft.fold, of: name, &maker.random,
                                "seed \(seed), round \(round)")
                        }
                    }
                    return (maker, found)
                }
                maker = after
                checked += found
            }
            #expect(try store.indexDifferences() == [], "seed \(seed)")
        }
        #expect(checked > 20, "seed \(seed)")
    }

    /// Expects of all indexes of a collection that are there what the documents say.
    ///
    /// - Returns: how many that are.
    private func expectIndexes(
        _ views: some IndexReading, of name: CollectionName, _ random: inout SplitMix64,
        _ place: Comment
    ) throws -> Int {
        var count = 0
        for index in try views.model()[name]?.allIndexes ?? []
        where try views.hasIndex(index, in: name) {
            count += 1
            let all = try views.allIndexed(index, in: name)
            try expectRange(views, index, of: name, all, nil, nil, place)
            for _ in 0..<4 {
                let lower = random.bound(all, fields: index.fields.count)
                let upper = random.bound(all, fields: index.fields.count)
                try expectRange(views, index, of: name, all, lower, upper, place)
            }
        }
        return count
    }

    private func expectRange(
        _ views: some IndexReading, _ index: IndexModel, of name: CollectionName,
        _ all: [IndexedEntity], _ lower: IndexBound?, _ upper: IndexBound?, _ place: Comment
    ) throws {
        func isInside(_ components: [UInt8]) -> Bool {
            if let lower {
                let begins = components.starts(with: lower.components)
                let isBefore = components.lexicographicallyPrecedes(lower.components)
                if begins ? !lower.isInclusive : isBefore { return false }
            }
            if let upper {
                let begins = components.starts(with: upper.components)
                let isBehind = upper.components.lexicographicallyPrecedes(components)
                if begins ? !upper.isInclusive : isBehind { return false }
            }
            return true
        }
        let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0.components) })
        var results: [[IndexedEntity]] = []
        for reversed in [false, true] {
            var raw: [IndexedEntity] = []
            var found: [IndexedEntity] = []
            try views.forEachIndexed(
                index, in: name, from: lower, to: upper, reversed: reversed
            ) { components, isCut, id in
                let whole = try #require(byID[id], place)
                #expect(isCut ? whole.starts(with: components) : whole == components, place)
                raw.append(IndexedEntity(components: components, id: id))
                if !isCut || isInside(whole) {
                    found.append(IndexedEntity(components: whole, id: id))
                }
                return true
            }
            let ordered = raw.sorted(by: IndexedEntity.precedes)
            #expect(raw == (reversed ? ordered.reversed() : ordered), place)
            results.append(found.sorted(by: IndexedEntity.precedes))
        }
        #expect(results[0] == all.filter { isInside($0.components) }, place)
        #expect(results[1] == results[0], place)
    }
}

extension SplitMix64 {
    private static let long = String(repeating: "long ", count: 40)
    private static let ids =
        (0..<8).map { "t\($0)" }
        + (0..<4).map { String(repeating: "i", count: 66 + $0 * 15) + "\($0)" }
        + (0..<4).map { String(repeating: "i", count: 395) + "\($0)" }
    private static let texts = [
        "", "a", "b", "é", "a\u{0}", long, long + "a", long + "b", long + long + "c",
    ]

    fileprivate mutating func fields() -> [UInt8] {
        var object = JSONObject()
        if !once(in: 4) { object["list"] = .string(pick(["l1", "l2", Self.long + "l"])) }
        if !once(in: 4) { object["title"] = .string(pick(Self.texts)) }
        if !once(in: 3) { object["done"] = pick([true, false, nil]) }
        if !once(in: 3) { object["n"] = pick([1, -1, 2, "1", ["a"], .object([:])]) }
        if !once(in: 3) {
            object["due"] = pick(["2026-11-21T10:00:00Z", "2026-11-21T10:30:00+01:00", 5, "soon"])
        }
        return object.isEmpty ? Array("{}".utf8) : JSONValue.object(object).encoded()
    }

    fileprivate mutating func edit() -> Event {
        let key = EntityKey("tasks", pick(Self.ids))
        let other = EntityKey("lists", "l1")
        let about = once(in: 10) ? other : key
        switch below(8) {
        case 0, 1: return event(.localCreated, about, fields())
        case 2, 3:
            let set = try? JSONDocument(parsing: fields())
            let patch = Patch(
                set: (set?.keys ?? []).map { Patch.Field($0, Array(set?.rawValue($0) ?? [])) },
                unset: once(in: 2) ? [] : ["list", "due"].filter { set?.rawValue($0) == nil })
            return event(.localUpdated, about, patch.encoded)
        case 4: return event(.localDeleted, about, nil)
        case 5, 6: return event(.serverUpserted, about, fields())
        default: return event(once(in: 2) ? .serverDeleted : .localDiscarded, about, nil)
        }
    }

    private func event(_ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?) -> Event {
        Event(kind, recordedAt: Timestamp(rawValue: 1), key: key, json: json)
    }

    /// A bound at the first components of some entity, or of none.
    fileprivate mutating func bound(_ all: [IndexedEntity], fields: Int) -> IndexBound? {
        guard !once(in: 5), !all.isEmpty else { return nil }
        let components = pick(all).components
        var end = 0
        for _ in 0..<1 + below(fields) {
            end = OrderKey.end(of: components[...], from: end) ?? components.count
        }
        var bytes = Array(components[..<end])
        if once(in: 4), bytes.count > 3, bytes[0] == 6 { bytes = Array(bytes.prefix(3)) }
        return IndexBound(bytes, isInclusive: once(in: 2))
    }
}
