// MigrationTests.swift — a store of an older model, opened by a newer one.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A note as the newer app knows it.
private struct Note: Entity, Equatable {
    static let collection: CollectionName = "notes"
    let id: Tidemark.ID<Note>
    var title: String
    var priority: Int
}

/// The older app's world: seven notes, some with edits that were never sent.
private struct OlderApp {
    let world: SyncWorld

    static func model(_ migrations: [FieldMigration] = []) -> SyncModel {
        SyncModel(
            name: "notes",
            collections: [
                CollectionModel(
                    "notes", lastChangeField: "last_modified", migrations: migrations)
            ], settings: SyncSettings(batchSize: 1))
    }

    /// The newer app's model.
    static let newer: SyncModel = {
        var model = OlderApp.model([
            .rename("description", to: "title"), .remove("colour"),
            .require("priority", default: 0),
        ])
        model.collections[0].indexes = [["priority", "title"]]
        return model
    }()

    init() {
        world = SyncWorld(
            model: Self.model(),
            [
                FaultRule(
                    .answer(status: 400, body: Array(#"{"message":"no such colour"}"#.utf8)),
                    method: .put, recordID: { $0 == "refused" })
            ])
    }

    /// Makes the store: what it holds is the same each time.
    func makeStore() async throws -> Replica {
        for id in ["plain", "renamed", "removed", "both", "refused", "met"] {
            world.rivalPuts(
                "notes/\(id)", #"{"description":"\#(id)","colour":"grey","extra":[1.0]}"#)
        }
        let device = try SyncDevice.make(world, seed: 6)
        try await device.sync()
        world.clock.advance(by: .seconds(60))
        try device.patch("notes/refused", #"{"colour":"purple"}"#)
        try await device.sync()
        world.clock.advance(by: .seconds(60))
        try device.patch("notes/renamed", #"{"description":"edited"}"#)
        try device.patch("notes/removed", #"{"colour":"red"}"#)
        try device.patch("notes/both", #"{"colour":"blue","description":"edited"}"#)
        try device.patch("notes/met", #"{"description":"mine"}"#)
        try device.put("notes/made", #"{"description":"made","colour":"green"}"#)
        return device.replica
    }

    /// What the server does when it changes to the newer shape: some notes are written anew.
    func migrateServer() {
        world.server.faults = FaultPlan([])
        world.rivalPuts(
            "notes/both", #"{"title":"both","priority":2,"colour":"grey","extra":[1.0]}"#)
        world.rivalPuts("notes/met", #"{"title":"theirs","priority":1,"extra":[1.0]}"#)
    }
}

@Suite(.serialized) struct `a store of an older model` {
    /// The store as an earlier build wrote it, opened by the newer app.
    private func migrated(
        _ body: (OlderApp, Replica) async throws -> Void
    ) async throws {
        let app = OlderApp()
        // Made again for the server's side of it; the store is the one that was kept.
        try await app.makeStore().deleteTemporary()
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-migrated-\(UUID().uuidString)")
        try FileManager.default.copyItem(
            at: Golden.folder.deletingLastPathComponent().appending(path: "migrations/notes"),
            to: folder)
        defer { try? FileManager.default.removeItem(at: folder) }
        let replica = try await Replica.open(
            at: folder.path(percentEncoded: false), model: OlderApp.newer,
            dependencies: .seeded(6, clock: app.world.clock))
        try await body(app, replica)
        try await replica.close()
    }

    @Test func `makes a lost edit again under the new names`() async throws {
        let world = SyncWorld(model: OlderApp.model())
        world.rivalPuts("notes/a", #"{"description":"old","extra":1}"#)
        let device = try SyncDevice.make(world, seed: 7)
        try await device.sync()
        try device.patch("notes/a", #"{"description":"mine"}"#)
        world.rivalPuts("notes/a", #"{"description":"theirs","extra":2}"#)
        try await device.sync()
        let (directory, issue) = (
            device.replica.directory, try #require(try device.replica.issues().first)
        )
        #expect(issue.kind == .conflict)
        try await device.replica.close()

        let replica = try await Replica.open(
            at: directory, model: OlderApp.newer, dependencies: .seeded(7, clock: world.clock))
        try await replica.answer(issue.id, .keepMine)
        let note = try replica.read { try $0.document(EntityKey("notes", "a")) }
        #expect(JSON.value("title", of: note ?? [])?.stringValue == "mine")
        #expect(JSON.value("extra", of: note ?? [])?.int64Value == 2)
        try replica.deleteTemporary()
    }

    @Test func `sends no field of a creation that was renamed and then removed`() async throws {
        let world = SyncWorld(model: OlderApp.model())
        let device = try SyncDevice.make(world, seed: 8)
        try await device.sync()
        try device.put("notes/a", #"{"title":"x","colour":"red"}"#)
        let directory = device.replica.directory
        try await device.replica.close()

        let replica = try await Replica.open(
            at: directory,
            model: OlderApp.model([.rename("colour", to: "color"), .remove("color")]),
            dependencies: .seeded(8, clock: world.clock))
        let engine = SyncDevice.engine(
            replica, SyncWire(world.server), adapter: try SyncWorld.remote.makeAdapter())
        #expect(try await engine.sync().isSynced)
        #expect(world.record("notes/a") == #"{"title":"x"}"#)
        try replica.deleteTemporary()
    }

    private func mutations(_ replica: Replica, _ id: String) throws -> [String] {
        try replica.journal.read { views in
            try views.outbox(all: true).filter { $0.mutation.key.id == id }.map(\.word)
        }
    }

    private func text(_ replica: Replica, _ id: String) throws -> String {
        let bytes = try replica.read { try $0.document(EntityKey("notes", id)) }
        return String(decoding: try #require(bytes), as: UTF8.self)
    }

    @Test func `is read as the newer one says`() async throws {
        try await migrated { _, replica async throws in
            let notes = try replica.read { try $0.all(Note.self) }
            #expect(
                notes.map { "\($0.id) \($0.title) \($0.priority)" } == [
                    "both edited 0", "made made 0", "met mine 0", "plain plain 0",
                    "refused refused 0", "removed removed 0", "renamed edited 0",
                ])
        }
    }

    @Test func `gives up edits of nothing but a removed field, and says so`() async throws {
        try await migrated { _, replica async throws in
            #expect(try mutations(replica, "removed") == ["superseded"])
            #expect(try mutations(replica, "refused") == ["superseded"])
            #expect(try mutations(replica, "both") == ["pending"])
            let key = EntityKey("notes", "refused")
            #expect(try replica.read { try $0.status(of: key) } == .synced)
            #expect(try replica.issues().isEmpty)
            var lines: [String] = []
            try replica.journal.read { views in
                try views.forEachDecision { position, decision in
                    lines.append("\(decision.key) \(decision.rule) \(decision.fields)")
                    let event = try views.event(at: position)
                    #expect(event?.kind == .modelRegistered)
                    #expect(decision.inputs.last == position)
                    return true
                }
            }
            #expect(
                lines == [
                    #"notes/refused removedField ["colour"]"#,
                    #"notes/removed removedField ["colour"]"#,
                    #"notes/both removedField ["colour"]"#,
                    #"notes/made removedField ["colour"]"#,
                ])
        }
    }

    @Test func `sends what was pending in the newer shape, and keeps what it does not know`()
        async throws
    {
        try await migrated { app, replica async throws in
            app.migrateServer()
            let engine = SyncDevice.engine(
                replica, SyncWire(app.world.server), adapter: try SyncWorld.remote.makeAdapter())
            let outcome = try await engine.sync()
            #expect(outcome.isSynced)

            let world = app.world
            #expect(
                world.record("notes/renamed")
                    == #"{"colour":"grey","extra":[1.0],"title":"edited","priority":0}"#)
            #expect(
                world.record("notes/both")
                    == #"{"title":"edited","priority":2,"colour":"grey","extra":[1.0]}"#)
            #expect(world.record("notes/made") == #"{"title":"made","priority":0}"#)
            #expect(
                world.record("notes/plain")
                    == #"{"description":"plain","colour":"grey","extra":[1.0]}"#)
            // A new name alone is no change, and a change under it is one of the same field.
            #expect(try mutations(replica, "both") == ["merged"])
            #expect(try mutations(replica, "met") == ["superseded"])
            #expect(try mutations(replica, "renamed") == ["accepted"])
            #expect(try mutations(replica, "made") == ["merged"])
            #expect(try replica.issues().map(\.kind) == [.conflict])
            #expect(try replica.read { try $0.outboxCount() } == 0)
        }
    }

    @Test func `is changed by the names of the newer one`() async throws {
        try await migrated { _, replica async throws in
            try await replica.write { tx in
                try tx.update(Note.self, Tidemark.ID("plain")) { $0.priority = 3 }
                try tx.update(Note.self, Tidemark.ID("renamed")) { $0.title = "again" }
            }
            #expect(
                try text(replica, "plain").hasSuffix(#""title":"plain","priority":3}"#))
            let note = try replica.read { try $0.get(Note.self, Tidemark.ID("renamed")) }
            #expect(note?.title == "again")
        }
    }

    @Test func `verifies, and gives the same rows when it is folded again`() async throws {
        try await migrated { app, replica async throws in
            app.migrateServer()
            let engine = SyncDevice.engine(
                replica, SyncWire(app.world.server), adapter: try SyncWorld.remote.makeAdapter())
            #expect(try await engine.sync().isSynced)
            for bytesPerStep in [1, 7_000, 1_000_000] {
                try replica.journal.rebuild(bytesPerStep: bytesPerStep)
                let scratch = FileManager.default.temporaryDirectory
                    .appending(path: "tidemark-refold-\(UUID().uuidString)")
                defer { try? FileManager.default.removeItem(at: scratch) }
                let comparison = try replica.journal.compareWithRebuilt(
                    in: scratch.path(percentEncoded: false))
                #expect(comparison.isEqual)
            }
        }
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["TIDEMARK_MAKE_MIGRATIONS"] != nil))
    func `makes the golden store of migrations`() async throws {
        let name = "TIDEMARK_MAKE_MIGRATIONS"
        let folder = try #require(ProcessInfo.processInfo.environment[name])
        let target = URL(filePath: folder).appending(path: "notes")
        let replica = try await OlderApp().makeStore()
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        try await replica.close()
        for file in ["data.mdb", "identity.json"] {
            try FileManager.default.copyItem(
                at: URL(filePath: replica.directory).appending(path: file),
                to: target.appending(path: file))
        }
        try FileManager.default.removeItem(atPath: replica.directory)
    }
}
