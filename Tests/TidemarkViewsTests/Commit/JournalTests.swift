// JournalTests.swift — events and rows go together, or not at all.

import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkViews

@testable import ViewsSupport

@Suite struct `writing a commit` {
    let store: ScratchStore
    private let key = EntityKey("tasks", "1")

    init() throws { store = try ScratchStore() }

    @Test func `a throw leaves neither events nor rows`() throws {
        struct Thrown: Error {}
        try store.write(.about(.localCreated, "tasks/1", #"{"a":1}"#))
        let before = try (store.rows(), store.commits())

        #expect(throws: Thrown.self) {
            try store.journal.write(at: Timestamp(rawValue: 2)) { draft in
                try draft.append(.about(.localUpdated, "tasks/1", #"{"set":{"a":2}}"#))
                try draft.append(.about(.localDeleted, "tasks/1"))
                throw Thrown()
            }
        }

        #expect(try store.rows() == before.0)
        #expect(try store.commits() == before.1)
        #expect(try store.journal.read { $0.last } == Position(1))
        try LogChecks(store: store, place: "after a throw").all()
    }

    @Test func `a commit without events leaves no trace`() throws {
        try store.journal.write(at: Timestamp(rawValue: 2)) { _ in }

        #expect(try store.commits().isEmpty)
        #expect(try store.rows().isEmpty)
    }

    @Test func `a commit reads what it wrote`() throws {
        let documents = try store.journal.write(at: Timestamp(rawValue: 2)) { draft in
            var documents: [String?] = []
            #expect(draft.nextPosition == Position(1))
            let first = try draft.append(.about(.localCreated, "tasks/1", #"{"a":1}"#))
            documents.append(text(try draft.fold.entity(key).document))
            let second = try draft.append(.about(.localDeleted, "tasks/1"))
            documents.append(text(try draft.fold.entity(key).document))
            #expect((first, second) == (Position(1), Position(2)))
            return documents
        }

        #expect(documents == [#"{"a":1}"#, nil])
        #expect(try store.entity(key) == nil)
    }

    @Test func `what is folded is what is stored`() throws {
        // Written as nothing: a zero position, an empty name, an empty version.
        var nameless = Event.about(.localCreated, "tasks/1", "{}")
        nameless.entity = ""
        let early = Event.about(.serverUpserted, "tasks/1", "{}", asOf: 0, revision: "1")
        var cursor = Event(
            .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "tasks")
        cursor.revision = Revision("")
        var sent = Event.about(.requestSent, "tasks/1", mutation: 0)
        sent.serverTime = Timestamp(rawValue: 0)

        try store.write(nameless, early, cursor, sent)

        #expect(try store.entity(key)?.asOf == Position(2))
        #expect(try store.entity(key)?.attempt == nil)
        try LogChecks(store: store, place: "defaults").all()
    }

    @Test func `what the views made of a commit is in its record`() throws {
        func digests(_ document: String) throws -> [ViewDigest] {
            let store = try ScratchStore()
            try store.write(.about(.serverUpserted, "tasks/1", document, asOf: 1, revision: "1"))
            return try store.commits()[0].views
        }

        let (one, same, other) = (
            try digests(#"{"a":1}"#), try digests(#"{"a":1}"#), try digests(#"{"a":2}"#)
        )

        #expect(one == same)
        #expect(one.map(\.view) == [View.entities.rawValue])
        #expect(one[0].digest != other[0].digest)
        #expect(one[0].rows.count == 8)
        // The key's hash is the same, the value's is not.
        #expect(one[0].rows.prefix(4) == other[0].rows.prefix(4))
        #expect(one[0].rows.suffix(4) != other[0].rows.suffix(4))
        #expect(one[0].fingerprint == View.entities.fingerprint)
    }

    @Test func `a row that is removed and one that is empty have different digests`() {
        let key = RowKey.entity(EntityKey("tasks", "1"))

        #expect(ViewDigest.of([(key, nil)]) != ViewDigest.of([(key, [])]))
        #expect(ViewDigest.of([(key, [1])]) != ViewDigest.of([(key, [2])]))
        #expect(ViewDigest.of([]) == [])
    }

    @Test func `every view has a fingerprint of its own`() {
        #expect(Set(View.allCases.map(\.fingerprint)).count == View.allCases.count)
        #expect(View.allFingerprints.count == 4 * View.allCases.count)
    }

    @Test func `a store comes back as it was closed`() throws {
        try store.write(.about(.localCreated, "tasks/1", #"{"a":1}"#))
        try store.write(.about(.serverUpserted, "tasks/2", "{}", asOf: 1, revision: "1"))
        let before = try (store.rows(), store.commits())

        try store.reopen()

        #expect(try store.rows() == before.0)
        #expect(try store.commits() == before.1)
        try store.write(.about(.localDeleted, "tasks/1"))
        try LogChecks(store: store, place: "after opening again").all()
    }
}
