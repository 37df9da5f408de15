// RollUpTests.swift — how an entity stands with all that counts in it.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

extension Event {
    fileprivate static func model(_ links: Reference?, _ visits: Reference?) -> Event {
        var (stays, visit, link) = (
            CollectionModel("stays"), CollectionModel("visits"), CollectionModel("links")
        )
        stays.references = [Reference("person", to: "people", rollUp: .always)]
        visit.references = [visits ?? Reference("stay", to: "stays", rollUp: .always)]
        link.references = [
            Reference("from", to: "people", rollUp: .always),
            links ?? Reference("to", to: "people", rollUp: .whereTrue("both")),
        ]
        let collections = [CollectionModel("people"), stays, visit, link]
        let model = SyncModel(name: "m", collections: collections)
        return .registered(model, at: Timestamp(rawValue: 0))
    }

    fileprivate static func says(_ key: String, _ text: String) -> Event {
        .about(.serverUpserted, key, text)
    }
}

@Suite struct `the status of a tree` {
    private func store() throws -> ScratchStore {
        let store = try ScratchStore()
        try store.write(.model(nil, nil))
        return store
    }

    private func status(_ key: String, _ store: ScratchStore) throws -> EntityStatus? {
        let key = try #require(EntityKey(key))
        return try store.journal.read { try $0.rolledUpStatus(of: key) }
    }

    private func rows(_ store: ScratchStore) throws -> [String] {
        try store.journal.read { views in
            var keys: [String] = []
            try views.walk(.ledger, Ledger.rollUps) { key, _ in
                if let key = EntityKey(bytes: key.dropFirst()) { keys.append("\(key)") }
                return true
            }
            return keys
        }
    }

    @Test func `is the server's while nothing waits, and costs no row`() throws {
        let store = try store()
        try store.write(.says("people/1", "{}"))
        try store.write(.says("stays/1", #"{"person":"1"}"#))
        try store.write(.says("visits/1", #"{"stay":"1"}"#))

        #expect(try status("people/1", store) == .synced)
        #expect(try status("people/2", store) == nil)
        #expect(try rows(store) == [])
    }

    @Test func `tells of an edit three levels down, and no more once it is discarded`() throws {
        let store = try store()
        try store.write(.says("people/1", "{}"))
        try store.write(.says("stays/1", #"{"person":"1"}"#))
        try store.write(.says("visits/1", #"{"stay":"1"}"#))
        try store.write(.about(.localUpdated, "visits/1", #"{"set":{"n":1}}"#))

        for key in ["visits/1", "stays/1", "people/1"] {
            #expect(try status(key, store) == .updated)
        }
        #expect(try rows(store) == ["people/1", "stays/1", "visits/1"])
        try store.write(.about(.localDiscarded, "visits/1"))
        #expect(try status("people/1", store) == .synced)
        #expect(try rows(store) == [])
    }

    @Test func `moves with what moves, and with what comes before its parent`() throws {
        let store = try store()
        try store.write(.about(.localCreated, "visits/1", #"{"stay":"1"}"#))
        try store.write(.says("people/1", "{}"))
        try store.write(.says("people/2", "{}"))
        try store.write(.says("stays/1", #"{"person":"1"}"#))
        #expect(try status("people/1", store) == .updated)

        try store.write(.says("stays/1", #"{"person":"2"}"#))
        #expect(try status("people/1", store) == .synced)
        #expect(try status("people/2", store) == .updated)
        try store.write(.about(.localUpdated, "visits/1", #"{"set":{"stay":"9"}}"#))
        #expect(try status("people/2", store) == .synced)
    }

    @Test func `counts a link at its start, and at its end where it goes both ways`() throws {
        let store = try store()
        for id in 1...3 { try store.write(.says("people/\(id)", "{}")) }
        try store.write(.about(.localCreated, "links/1", #"{"from":"1","to":"2"}"#))
        try store.write(.about(.localCreated, "links/2", #"{"from":"1","to":"3","both":true}"#))

        #expect(try status("people/1", store) == .updated)
        #expect(try status("people/2", store) == .synced)
        #expect(try status("people/3", store) == .updated)
    }

    @Test func `counts what is deleted here where it was`() throws {
        let store = try store()
        try store.write(.says("people/1", "{}"))
        try store.write(.says("stays/1", #"{"person":"1"}"#))
        try store.write(.about(.localDeleted, "stays/1"))

        #expect(try status("people/1", store) == .updated)
        try store.write(.about(.serverDeleted, "stays/1"))
        #expect(try status("people/1", store) == .synced)
    }

    @Test func `counts what named a server's id in the entity that it turns out to be`() throws {
        let store = try store()
        try store.write(.about(.localCreated, "people/a", "{}"))
        let covers = try store.journal.read { $0.last.rawValue }
        try store.write(.about(.requestSent, "people/a", "{}", mutation: covers))
        try store.write(.about(.localCreated, "stays/1", #"{"person":"7"}"#))
        try store.write(.about(.localCreated, "stays/2", #"{"person":"a"}"#))
        #expect(try rows(store) == ["people/7", "people/a", "stays/1", "stays/2"])

        try store.write(
            .about(
                .pushAccepted, "people/a", #"{"serverID":"7"}"#, mutation: covers,
                call: covers + 1))

        #expect(try status("people/a", store) == .updated)
        #expect(try status("people/7", store) == .updated)
        #expect(try rows(store) == ["people/a", "stays/1", "stays/2"])
        try store.write(.about(.localDiscarded, "stays/1"))
        #expect(try status("people/a", store) == .updated)
        try store.write(.about(.localDiscarded, "stays/2"))
        #expect(try status("people/a", store) == .synced)
        #expect(try rows(store) == [])
        try LogChecks(store: store, place: "aliases").all()
    }

    struct Aggregate: CustomTestStringConvertible, Sendable {
        /// The case's id, where it is one of DHIS2's.
        let id: String
        let all: [EntityStatus]
        let expected: EntityStatus
        var testDescription: String { "\(id): \(all)" }

        init(_ id: String, _ all: [EntityStatus], _ expected: EntityStatus) {
            (self.id, self.all, self.expected) = (id, all, expected)
        }
    }

    /// AG01 to AG09 of DHIS2's aggregated states, as far as there are such statuses.
    static let aggregates = [
        Aggregate("AG01", [.synced], .synced), Aggregate("AG02", [.created], .updated),
        Aggregate("AG03", [.uploading, .synced], .updated),
        Aggregate("AG05", [.warning, .error, .created], .error),
        Aggregate("AG08", [.confirmed, .synced], .confirmed),
        Aggregate("AG09", [.relayed, .updated], .updated),
        Aggregate("relayed", [.confirmed, .relayed, .synced], .relayed),
        Aggregate("warning", [.created, .warning, .synced], .warning),
        Aggregate("none", [], .synced), Aggregate("deleted", [.deleted, .synced], .updated),
        Aggregate("updated", [.synced, .updated], .updated),
        Aggregate("stub", [.created, .placeholder, .error], .placeholder),
        Aggregate("only stubs", [.placeholder], .placeholder),
        Aggregate("many", [.error, .error, .synced, .uploading, .deleted], .error),
    ]

    @Test(arguments: aggregates)
    func `is that of the worst of all, in any order`(_ one: Aggregate) {
        for all in [one.all, one.all.reversed()] {
            let classes = all.map { RollUpClasses(RollUpClass($0)) }
            let tree = classes.reduce(into: RollUpClasses()) { $0.formUnion($1) }
            #expect(tree.status == one.expected)
        }
    }

    @Test(arguments: 1...(TestRun.isWhole ? 60 : 12))
    func `is as a look at all entities finds it, after any events in any order`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let store = try store()
        let models: [Event] = [
            .model(nil, nil), .model(Reference("to", to: "people"), nil),
            .model(nil, Reference("stay", to: "stays")),
        ]
        for _ in 0..<60 {
            let name = random.pick(["people", "stays", "visits", "links"])
            let key = "\(name)/\(random.below(4))"
            let both = random.once(in: 2)
            let document = """
                {"person":"\(random.below(4))","stay":"\(random.below(4))",\
                "from":"\(random.below(4))","to":"\(random.below(4))","both":\(both)}
                """
            let event: Event? =
                switch random.below(13) {
                case 0...3: .says(key, document)
                case 4: .about(.localCreated, key, document)
                case 5, 6: .about(.localUpdated, key, #"{"set":{"stay":"\#(random.below(4))"}}"#)
                case 7: .about(.localDeleted, key)
                case 8: .about(.localDiscarded, key)
                case 9, 10: .about(.serverDeleted, key)
                case 11: .wiped(keeping: random.pick([[], ["people"], ["people", "visits"]]))
                default: nil
                }
            try store.write(event ?? random.pick(models))
        }

        try store.journal.read { views in try expectStatuses(views, "seed \(seed)") }
        try LogChecks(store: store, place: "seed \(seed)").all()
    }

    /// Finds what is below each entity by looking at all of them.
    private func expectStatuses(_ views: ViewReader, _ place: Comment) throws {
        let model = try views.model()
        var own: [EntityKey: RollUpClasses] = [:]
        var parents: [EntityKey: [EntityKey]] = [:]
        for collection in model.collections {
            try views.forEachEntity(in: collection.name) { key, row in
                own[key] = RollUpClasses(row.rollUpClass)
                let bytes =
                    try row.document(in: collection)
                    ?? row.baseValue(in: collection).document?.bytes
                guard let document = try bytes.map({ try JSONDocument(parsing: $0) }) else {
                    return true
                }
                for reference in collection.references {
                    if case .whereTrue(let field)? = reference.rollUp,
                        document.value(field) != true
                    {
                        continue
                    }
                    guard reference.rollUp != nil else { continue }
                    for id in document.ids(in: reference.field) {
                        parents[key, default: []].append(EntityKey(reference.collection, id))
                    }
                }
                return true
            }
        }
        var all = own
        // Three levels at most.
        for _ in 0..<4 {
            for (key, above) in parents {
                for parent in above { all[parent, default: []].formUnion(all[key] ?? []) }
            }
        }
        for (key, classes) in all {
            guard let found = try views.rolledUpStatus(of: key) else { continue }
            #expect(found == classes.status, "\(key), \(place)")
        }
    }
}
