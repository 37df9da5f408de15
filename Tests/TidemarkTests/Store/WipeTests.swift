// WipeTests.swift — an app drops what was synced: who is told, what is refused, and what the log
// still tells.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a wipe` {
    private func with(_ body: (Replica) async throws -> Void) async throws {
        try await TreeStore.with([("patients/2", #"{"id":"2","name":"Ada"}"#)], body)
    }

    @Test func `is one event, of which who observes is told`() async throws {
        try await with { replica in
            var rows = replica.observe(rows: TreePatient.all).makeAsyncIterator()
            #expect(try await rows.next()?.map(\.status) == [.synced, .synced])
            var count = replica.observe(count: TreePatient.all).makeAsyncIterator()
            #expect(try await count.next() == 2)
            let before = try replica.read(\.position)
            try await replica.wipe(keeping: ["visits"])

            #expect(try await rows.next()?.isEmpty == true)
            #expect(try await count.next() == 0)
            #expect(try replica.read(\.position).rawValue == before.rawValue + 1)
            #expect(try replica.read { try $0.document(EntityKey("visits", "1")) } != nil)
        }
    }

    @Test func `refuses while changes wait in what it drops, and changes nothing`() async throws {
        try await with { replica in
            try replica.edit("visits/1")
            let before = try replica.read(\.position)
            let error = #expect(throws: TidemarkError.self) { try replica.wipe(keeping: []) }
            #expect(error?.code == .pendingChanges)
            #expect(
                error?.message
                    == "1 change is not on the server; sync first, or wipe with "
                    + "discardingPending, and nothing of them is sent")
            #expect(try replica.read(\.position) == before)

            // What stays may wait.
            try replica.wipe(keeping: ["visits"])
            #expect(try replica.read { try $0.outboxCount() } == 1)
            try replica.wipe(keeping: [], discardingPending: true)
            #expect(try replica.read { try $0.outboxCount() } == 0)
        }
    }

    @Test func `refuses to keep what the model does not have, and wipes nothing`() async throws {
        try await with { replica in
            let before = try replica.read(\.position)
            let error = #expect(throws: TidemarkError.self) {
                try replica.wipe(keeping: ["visits", "patient"])
            }
            #expect(error?.code == .noModel)
            #expect(error?.message.contains("no collection patient") == true)
            #expect(try replica.read(\.position) == before)
        }
        let tree = SyncModel(
            name: "m",
            collections: [
                CollectionModel("patients", embeds: [.init("stays", "stays")]),
                CollectionModel(
                    "stays", references: [Reference("patient", to: "patients")], lists: []),
            ])
        try await Replica.withTemporary(
            model: tree, dependencies: .seeded(0, clock: ManualClock())
        ) { replica in
            let error = #expect(throws: TidemarkError.self) {
                try replica.wipe(keeping: ["patients"])
            }
            #expect(error?.code == .invalidKey)
            #expect(
                error?.message
                    == "stays comes in the records of patients, which would not be listed anew: "
                    + "keep both, or neither; nothing was wiped")
            try replica.wipe(keeping: ["patients", "stays"])
        }
    }

    @Test func `refuses to keep what would be seen again without its owner`() async throws {
        let (teams, belongs) = (CollectionName("teams"), Reference("team", to: "teams"))
        var model = SyncModel(
            name: "m",
            collections: [
                CollectionModel(teams), CollectionModel("entries", references: [belongs]),
            ])
        model.collections[0].access.hidesAbsent = true
        model.collections[1].access.owner = "team"
        try await Replica.withTemporary(
            model: model, dependencies: .seeded(0, clock: ManualClock())
        ) { replica in
            let before = try replica.read(\.position)
            let error = #expect(throws: TidemarkError.self) {
                try replica.wipe(keeping: ["entries"])
            }
            #expect(error?.code == .invalidKey)
            #expect(
                error?.message
                    == "what of entries is out of reach with its owner in teams would be seen "
                    + "again: keep both, or neither; nothing was wiped")
            #expect(try replica.read(\.position) == before)
            try replica.wipe(keeping: [teams])
            try replica.wipe(keeping: [teams, "entries"])
        }
    }

    @Test func `leaves the past as it was`() async throws {
        try await with { replica in
            let key = EntityKey("patients", "1")
            let before = try replica.read(\.position)
            try replica.edit("visits/1")
            try replica.wipe(keeping: [], discardingPending: true)

            #expect(try replica.read { try $0.document(key) } == nil)
            let document = try replica.read(asOf: before) { try $0.document(key) }
            #expect(document.map { String(decoding: $0, as: UTF8.self) }?.contains("Zoe") == true)
            let history = try replica.journal.withTimelines { views, timeline in
                try EntityHistory(try timeline(key), field: nil, views)
            }
            let words = history?.entries.map(\.words)
            #expect(words == ["first heard of from the server", "wiped here"])
        }
    }
}
