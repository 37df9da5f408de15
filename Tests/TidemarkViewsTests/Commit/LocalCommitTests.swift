// LocalCommitTests.swift — who wants to know of edits is told, once they are on disk.

import Testing
import TidemarkEvents
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `who wants to know of edits` {
    private let store: ScratchStore
    private let told = Lock<[Position]>([])

    init() throws { store = try ScratchStore() }

    /// Notes the last position that can be read at the time of being told.
    private func watch() -> Int {
        let (journal, told) = (store.journal, told)
        return journal.shared.feed.watchEdits {
            let last = try? journal.read { $0.last }
            told.withLock { $0.append(last ?? .start) }
        }
    }

    private var positions: [UInt64] { told.withLock { $0.map(\.rawValue) } }

    @Test func `is told of each commit with one, when it can be read`() throws {
        _ = watch()

        try store.write(.about(.localCreated, "tasks/a", "{}"))
        try store.write(
            .about(.serverUpserted, "tasks/b", "{}"), .about(.localDeleted, "tasks/a"))

        #expect(positions == [1, 3])
    }

    @Test func `is told by writers that don't block, too`() async throws {
        _ = watch()

        try await store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            _ = try draft.append(.about(.localCreated, "tasks/a", "{}"))
        }

        #expect(positions == [1])
    }

    @Test func `is not told of what the server says, of nothing, or of what was not stored`() throws
    {
        struct Thrown: Error {}
        _ = watch()

        try store.write(.about(.serverUpserted, "tasks/a", "{}"))
        try store.write()
        #expect(throws: Thrown.self) {
            try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
                try draft.append(.about(.localCreated, "tasks/a", "{}"))
                throw Thrown()
            }
        }

        #expect(positions == [])
    }

    @Test func `is not told of what is kept on this device alone`() throws {
        let drafts = CollectionModel("drafts", localOnly: true)
        try store.write(
            .registered(SyncModel(name: "m", collections: [CollectionModel("tasks"), drafts])))
        _ = watch()

        try store.write(.about(.localCreated, "drafts/d", "{}"))
        try store.write(.about(.localUpdated, "drafts/d", #"{"set":{"n":1}}"#))
        try store.write(.about(.localDeleted, "drafts/d"), .about(.localCreated, "tasks/a", "{}"))

        #expect(positions == [5])
    }

    @Test func `is told no more than it wants`() throws {
        let first = watch()
        _ = watch()
        store.journal.shared.feed.unwatch(first)

        try store.write(.about(.localCreated, "tasks/a", "{}"))

        #expect(positions == [1])
    }
}
