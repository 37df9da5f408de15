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
