// ReferrerTests.swift — which entities may refer to others: all that do, and no look at the rest.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what refers to an entity` {
    private let references = [
        Reference("owner", to: "people"), Reference("/near/person/id", to: "people"),
    ]

    private func store() throws -> ScratchStore {
        let store = try ScratchStore()
        var notes = CollectionModel("notes")
        notes.references = references
        let model = SyncModel(name: "m", collections: [CollectionModel("people"), notes])
        try store.write(.registered(model, at: Timestamp(rawValue: 0)))
        return store
    }

    /// The ids of the notes that are looked at, and of those that name one of the people.
    private func found(_ targets: Set<EntityKey>, _ fold: Fold) throws -> (
        seen: [String], naming: [String]
    ) {
        let collection = try #require(try fold.knownCollection("notes"))
        var result: (seen: [String], naming: [String]) = ([], [])
        try fold.forEachReferrer(to: targets, by: references, in: collection) { key, row in
            result.seen.append(key.id)
            if try names(targets, row, fold) { result.naming.append(key.id) }
            return true
        }
        return result
    }

    private func names(_ targets: Set<EntityKey>, _ row: EntityRow, _ fold: Fold) throws -> Bool {
        guard let bytes = row.document, let document = try? JSONDocument(parsing: bytes) else {
            return false
        }
        return try references.contains { reference in
            try document.ids(in: reference.field).contains {
                targets.contains(try fold.resolve(EntityKey("people", $0)))
            }
        }
    }

    @Test func `is looked up, also behind a path, in lists and as a number`() throws {
        let store = try store()
        let documents = [
            #"{"owner":"7"}"#, #"{"owner":7}"#, #"{"owner":[3,"7"]}"#, #"{"owner":"8"}"#,
            #"{"near":{"person":{"id":"7"}}}"#, #"{"near":{"person":{}}}"#, #"{"near":7}"#,
            #"{"owner":["8"]}"#,
        ]
        for (index, document) in documents.enumerated() {
            try store.write(.about(.serverUpserted, "notes/\(index)", document))
        }
        for index in 20..<60 {
            try store.write(.about(.serverUpserted, "notes/\(index)", #"{"owner":"\#(index)"}"#))
        }

        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            let found = try found([EntityKey("people", "7")], draft.fold)
            #expect(found.naming == ["0", "1", "2", "4"])
            // A list may hold any.
            #expect(found.seen == ["0", "1", "2", "4", "7"])

            try draft.append(.about(.localUpdated, "notes/3", #"{"set":{"owner":"7"}}"#))
            try draft.append(.about(.localDeleted, "notes/0"))
            let after = try self.found([EntityKey("people", "7")], draft.fold)
            #expect(after.naming == ["1", "2", "3", "4"])
        }
    }

    @Test func `is looked up among what the same commit wrote, too`() throws {
        let store = try store()
        let person: Set = [EntityKey("people", "7")]
        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            for index in 0..<50 {
                let document = #"{"owner":"\#(index % 25)"}"#
                try draft.append(.about(.serverUpserted, "notes/\(index)", document))
            }
            let found = try self.found(person, draft.fold)
            #expect(found.seen == ["32", "7"])

            // What names another one by now may be looked at.
            try draft.append(.about(.serverUpserted, "notes/7", #"{"owner":"8"}"#))
            try draft.append(.about(.serverUpserted, "notes/9", #"{"owner":["3",7]}"#))
            let after = try self.found(person, draft.fold)
            #expect(after.seen == ["32", "7", "9"])
            #expect(after.naming == ["32", "9"])
        }
    }

    /// A model by which notes are hidden while their owners can't be had.
    private static let hiding: SyncModel = {
        var notes = CollectionModel("notes")
        notes.references = [Reference("owner", to: "people", missing: .hides)]
        return SyncModel(name: "m", collections: [CollectionModel("people"), notes])
    }()

    @Test func `is looked up among what is hidden for want of others, too`() throws {
        let store = try ScratchStore()
        try store.write(.registered(Self.hiding))
        for index in 1...20 {
            try store.write(.about(.serverUpserted, "notes/\(index)", #"{"owner":"\#(index)"}"#))
        }
        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            let notes = try #require(try draft.fold.knownCollection("notes"))
            var seen: [String] = []
            try draft.fold.forEachReferrer(
                to: [EntityKey("people", "7")], by: notes.references, in: notes
            ) { key, row in
                if row.isHidden { seen.append(key.id) }
                return true
            }
            #expect(seen == ["7"])
        }
    }

    @Test(arguments: [1, 100])
    func `is read once in a fold without indexes`(_ deletions: Int) throws {
        let memory = MemoryFold()
        var events: [Event] = [.registered(Self.hiding)]
        for index in 0..<200 {
            events.append(.about(.serverUpserted, "people/\(index)", "{}"))
            events.append(
                .about(.serverUpserted, "notes/\(index)", #"{"owner":"\#(index)"}"#))
        }
        try memory.apply(events)
        let before = memory.walked

        try memory.apply((0..<deletions).map { Event.about(.serverDeleted, "people/\($0)") })
        let last = try #require(try memory.entity(EntityKey("notes", "\(deletions - 1)")))
        #expect(last.isHidden)
        let walked = memory.walked - before
        #expect(walked <= 250, "\(walked) rows")
    }

    @Test(arguments: 1...(TestRun.isWhole ? 40 : 8))
    func `is what a look at all of them finds, in the same order`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let store = try store()
        let long = String(repeating: "p", count: 150)
        let ids = ["1", "12", "a", "ä", long, long + "a"]
        func value() -> String {
            let text = "\"\(random.pick(ids))\""
            return random.pick([text, text, "1", "12", "[\(text),12]", "null", "{}"])
        }
        func event() -> Event {
            let key = "notes/\(random.pick(["1", "2", "3", "4", "5", long]))"
            let document = #"{"owner":\#(value()),"near":{"person":{"id":\#(value())}}}"#
            switch random.below(6) {
            case 0: return .about(.localUpdated, key, #"{"set":{"owner":\#(value())}}"#)
            case 1: return .about(.localDeleted, key)
            case 2: return .about(.serverDeleted, key)
            case 3: return .about(.localCreated, key, document)
            default: return .about(.serverUpserted, key, document)
            }
        }
        for _ in 0..<20 { try store.write(event()) }
        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            for _ in 0..<6 {
                try draft.append(event())
                let targets = Set((0..<2).map { _ in EntityKey("people", random.pick(ids)) })
                var all: [String] = []
                try draft.fold.forEachEntity(in: "notes") { key, row in
                    if try names(targets, row, draft.fold) { all.append(key.id) }
                    return true
                }
                #expect(try found(targets, draft.fold).naming == all, "seed \(seed)")
            }
        }
    }
}
