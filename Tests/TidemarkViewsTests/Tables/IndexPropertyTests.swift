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
            try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
                for event in events { try draft.append(event) }
            }
            if random.once(in: 15) { try store.journal.rebuild(eventsPerStep: 20) }
            if random.once(in: 15) { try store.reopen() }

            #expect(try store.indexDifferences() == [], place)
            try store.journal.read { views in
                for index in try #require(try views.model()["tasks"]).allIndexes {
                    #expect(try views.hasIndex(index, in: "tasks"), place)
                    let all = try views.allIndexed(index, in: "tasks")
                    try expectRange(views, index, all, nil, nil, place)
                    for _ in 0..<4 {
                        let lower = random.bound(all, fields: index.fields.count)
                        let upper = random.bound(all, fields: index.fields.count)
                        try expectRange(views, index, all, lower, upper, place)
                    }
                }
            }
        }
    }

    private func expectRange(
        _ views: ViewReader, _ index: IndexModel, _ all: [IndexedEntity], _ lower: IndexBound?,
        _ upper: IndexBound?, _ place: Comment
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
                index, in: "tasks", from: lower, to: upper, reversed: reversed
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
