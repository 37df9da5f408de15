// LocalOnlyTests.swift — edits of what is kept on this device alone: each is the base at once, and
// nothing waits.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a collection that is kept on this device alone` {
    private static let model = SyncModel(
        name: "m",
        collections: [CollectionModel("tasks"), CollectionModel("drafts", localOnly: true)])
    private let key = EntityKey("drafts", "1")
    private let fold = MemoryFold()

    private func row() throws -> EntityRow { try #require(try fold.entity(key)) }

    @Test func `takes each edit at once, and nothing waits`() throws {
        try fold.apply([.registered(Self.model), .about(.localCreated, "drafts/1", #"{"a":1}"#)])
        #expect(try text(row().base) == #"{"a":1}"#)

        try fold.apply([.about(.localUpdated, "drafts/1", #"{"set":{"b":2},"unset":["a"]}"#)])

        #expect(try row().pending.isEmpty && row().current.isEmpty && row().asOf == nil)
        #expect(try row().status == .synced)
        #expect(try row().basePosition == Position(3))
        #expect(try text(row().document) == #"{"b":2}"#)
        for number in [2, 3] as [UInt64] {
            let mutation = try #require(try fold.mutation(number))
            #expect(mutation.outcome == .accepted && mutation.proof == Position(number))
            #expect(mutation.attempts == 0)
        }
        let others = fold.rows.keys.filter { key in
            key.tree == .ledger && key != .store("model")
                && !key.bytes.starts(with: Ledger.settled)
        }
        #expect(others.isEmpty)
    }

    @Test func `keeps no row of what was deleted, and lets it be made again`() throws {
        try fold.apply([
            .registered(Self.model), .about(.localCreated, "drafts/1", #"{"a":1}"#),
            .about(.localDeleted, "drafts/1"),
        ])
        #expect(try fold.entity(key) == nil)
        #expect(try fold.mutation(3)?.outcome == .accepted)

        try fold.apply([.about(.localCreated, "drafts/1", #"{"a":2}"#)])
        #expect(try text(row().document) == #"{"a":2}"#)
    }

    @Test func `has nothing of what is deleted or changed and was never there`() throws {
        try fold.apply([
            .registered(Self.model), .about(.localDeleted, "drafts/1"),
            .about(.localUpdated, "drafts/1", #"{"set":{"b":2}}"#),
        ])
        #expect(try fold.entity(key) == nil)
    }

    @Test func `owes no list, also where a run lists everything whole`() throws {
        try fold.apply([
            .registered(Self.model),
            Event(
                .syncStarted, recordedAt: Timestamp(rawValue: 1),
                json: Array(#"{"trigger":"userRequested","full":true}"#.utf8)),
        ])
        #expect(fold.rows[.owed("tasks")] != nil)
        #expect(fold.rows[.owed("drafts")] == nil)
    }

    @Test func `is none that was synced while it is in doubt what came of a write`() throws {
        let synced = SyncModel(name: "m", collections: [CollectionModel("drafts")])
        try fold.apply([
            .registered(synced), .about(.localCreated, "drafts/1", #"{"a":1}"#),
            .about(.requestSent, "drafts/1", mutation: 2), .about(.localDiscarded, "drafts/1"),
        ])
        #expect(try row().pending.isEmpty && row().attempt != nil)
        let changed = try fold.fold.localOnlyChanged(by: Self.model)
        #expect(changed?.name == "drafts")
    }

    @Test func `has no list of when it was synced`() throws {
        func model(localOnly: Bool) -> Event {
            var drafts = CollectionModel("drafts", localOnly: localOnly)
            if !localOnly { drafts.retention = .init(field: "at", ageMax: .days(30)) }
            return .registered(SyncModel(name: "m", collections: [drafts]))
        }
        let list = #"{"scope":"","complete":true,"full":true}"#
        try fold.apply([
            model(localOnly: false),
            Event(
                .pullCompleted, recordedAt: Timestamp(rawValue: 1), collection: "drafts",
                revision: Revision("1"), json: Array(list.utf8)),
            Event(
                .syncStarted, recordedAt: Timestamp(rawValue: 1),
                json: Array(#"{"trigger":"userRequested","full":true}"#.utf8)),
        ])
        let mark = RowKey.watermark(PullTarget("drafts"))
        #expect(fold.rows[mark] != nil && fold.rows[.owed("drafts")] != nil)

        try fold.apply([model(localOnly: true)])
        #expect(fold.rows[mark] == nil && fold.rows[.owed("drafts")] == nil)
    }

    @Test func `is told of as it is`() throws {
        let store = try ScratchStore()
        try store.write(
            .registered(Self.model), .about(.localCreated, "drafts/1", #"{"a":1}"#))
        func explanation() throws -> EntityExplanation? {
            try store.journal.read { try EntityExplanation(EntityTarget(key), $0) }
        }

        let base = try explanation()?.lines.dropFirst().first
        #expect(base?.hasPrefix("  kept on this device alone: @2") == true)
        try store.write(
            .about(.localUpdated, "drafts/1", #"{"set":{"b":2}}"#),
            .about(.localDeleted, "drafts/1"))
        #expect(try explanation() == nil)
        let history = try #require(try store.journal.history(of: EntityTarget(key)))
        #expect(history.entries.map(\.position.rawValue) == [2, 3, 4])
        for entry in history.entries {
            #expect(entry.outcomes.map(\.outcome) == [.accepted])
        }
    }

    @Test func `is folded alike live and anew, whatever is edited`() throws {
        var random = SplitMix64(seed: 0x5EED_0C41)
        let store = try ScratchStore()
        try store.write(.registered(Self.model))
        var known: Set<String> = []
        for number in 0..<80 {
            let name = random.pick(["drafts/1", "drafts/2", "drafts/3", "tasks/1"])
            if known.insert(name).inserted {
                try store.write(.about(.localCreated, name, #"{"n":\#(number)}"#))
            } else if random.once(in: 4) {
                known.remove(name)
                try store.write(.about(.localDeleted, name))
            } else {
                try store.write(.about(.localUpdated, name, #"{"set":{"n":\#(number)}}"#))
            }
        }

        try LogChecks(store: store, place: "edits of drafts").all()
        try store.journal.read { views in
            try views.forEachEntity { key, row in
                #expect(row.pending.isEmpty || key.collection == "tasks")
                return true
            }
        }
        #expect(try Set(store.seen()) == known)
    }
}
