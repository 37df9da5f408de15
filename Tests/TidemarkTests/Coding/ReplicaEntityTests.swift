// ReplicaEntityTests.swift — the app's own types, and opening stores.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Chore: Entity, Equatable {
    static let collection: CollectionName = "tasks"
    let id: Tidemark.ID<Chore>
    var title: String
    var list: Tidemark.ID<Room>?
    var due: Date?
}

private struct Room: Entity, Equatable {
    static let collection: CollectionName = "lists"
    let id: Tidemark.ID<Room>
    var title: String
}

/// Of a collection that was forgotten in the model.
private struct Stray: Entity, Equatable {
    static let collection: CollectionName = "strays"
    let id: Tidemark.ID<Stray>
}

@Suite struct `entities of the app's own types` {
    private let tea = Chore(
        id: Tidemark.ID("tea"), title: "Buy tea", list: Tidemark.ID("home"),
        due: Date(timeIntervalSince1970: 1_795_000_000))

    @Test func `come back as they were created`() throws {
        try withReplica { replica in
            try replica.write { tx in
                try tx.create(Room(id: Tidemark.ID("home"), title: "Home"))
                try tx.create(tea)
                try tx.create(Chore(id: Tidemark.ID(tx.makeID()), title: "Mop"))
            }

            try replica.read { context in
                #expect(try context.get(Chore.self, tea.id) == tea)
                #expect(try context.get(Chore.self, Tidemark.ID("none")) == nil)
                let chores = try context.all(Chore.self)
                #expect(chores.map(\.title) == ["Mop", "Buy tea"])
                #expect(chores.first?.id.rawValue == "00000000-0000-4000-8000-000000000003")
                #expect(try context.all(Room.self).map(\.title) == ["Home"])
            }
            #expect(
                try replica.text(Chore.key(tea.id))
                    == #"{"due":"2026-11-18T11:06:40Z","id":"tea","list":"home","title":"Buy tea"}"#
            )
        }
    }

    @Test func `log what a change changed, and keep what the type does not know`() throws {
        try withReplica { replica in
            let json = #"{"extra":{"deep":[1.0]},"title":"Buy tea","id":"tea","list":"home","n":0}"#
            try replica.write { tx in _ = try tx.put(Chore.key(tea.id), Array(json.utf8)) }
            try replica.write { tx in
                try tx.update(Chore.self, tea.id) {
                    $0.title = "Buy green tea"
                    $0.list = nil
                }
            }

            #expect(
                try replica.text(Chore.key(tea.id))
                    == #"{"extra":{"deep":[1.0]},"title":"Buy green tea","id":"tea","n":0}"#)
            let last = try replica.position
            let event = try #require(try replica.journal.read { try $0.event(at: last) })
            #expect(
                String(decoding: event.payload, as: UTF8.self)
                    == #"{"set":{"title":"Buy green tea"},"unset":["list"]}"#)
        }
    }

    @Test func `log nothing for a change that changes nothing`() throws {
        try withReplica { replica in
            try replica.write { tx in try tx.create(tea) }
            let position = try replica.position
            try replica.write { tx in try tx.update(Chore.self, tea.id) { $0.title = tea.title } }

            #expect(try replica.position == position)
        }
    }

    @Test func `are gone after they were deleted, and can be made again`() throws {
        try withReplica { replica in
            try replica.write { tx in try tx.create(tea) }
            try replica.write { tx in try tx.delete(Chore.self, tea.id) }
            #expect(try replica.read { try $0.get(Chore.self, tea.id) } == nil)

            try replica.write { tx in try tx.create(tea) }
            #expect(try replica.read { try $0.get(Chore.self, tea.id) } == tea)
        }
    }

    @Test func `are saved again after a deletion, and nothing of them is gone on the server`()
        async throws
    {
        let world = SyncWorld()
        world.rivalPuts("tasks/tea", #"{"title":"Buy tea","colour":"red"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            let id = Tidemark.ID<Chore>("tea")
            let tea = try #require(try device.replica.read { try $0.get(Chore.self, id) })
            try await device.replica.write { tx in try tx.delete(Chore.self, id) }
            try await device.replica.write { tx in try tx.save(tea) }

            #expect(try await device.sync().isSynced)
            #expect(world.record("tasks/tea") == #"{"title":"Buy tea","colour":"red"}"#)
            try device.verify()
        }
    }

    @Test func `say what is wrong`() throws {
        try withReplica { replica in
            let none = Tidemark.ID<Chore>("none")
            try replica.write { tx in
                try tx.create(tea)
                try tx.put(EntityKey("tasks", "odd"), Array(#"{"id":"odd"}"#.utf8))
            }

            expect(.alreadyExists) { try replica.write { tx in try tx.create(tea) } }
            expect(.notFound) {
                try replica.write { tx in try tx.update(Chore.self, none) { $0.title = "x" } }
            }
            expect(.notFound) { try replica.write { tx in try tx.delete(Chore.self, none) } }
            expect(.undecodable) {
                _ = try replica.read { try $0.get(Chore.self, Tidemark.ID("odd")) }
            }
            expect(.undecodable) { _ = try replica.read { try $0.all(Chore.self) } }
            #expect(try replica.read { try $0.get(Chore.self, tea.id) } == tea)
        }
    }

    @Test func `can be written from many tasks at once`() async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        try await replica.write { tx in try tx.create(Room(id: Tidemark.ID("n"), title: "0")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...40 {
                group.addTask {
                    try await replica.write { tx in
                        try tx.update(Room.self, Tidemark.ID("n")) {
                            $0.title = String((Int($0.title) ?? 0) + 1)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }

        #expect(try replica.read { try $0.get(Room.self, Tidemark.ID("n")) }?.title == "40")
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.deleteTemporary()
    }
}

@Suite struct `opening a store` {
    private let model = SyncWorld.usualModel

    private func kinds(_ replica: Replica) throws -> [String] {
        var kinds: [String] = []
        _ = try replica.journal.dump(EventFilter()) { kinds.append($1.kind.description) }
        return kinds
    }

    /// Opens, asks, and closes again.
    private func reopen(
        _ directory: String, _ model: SyncModel, _ remote: Remote? = nil
    ) throws -> (kinds: [String], registration: ModelRegistration?) {
        let replica = try Replica.open(at: directory, model: model, remote: remote)
        let result = (try kinds(replica), try replica.registration)
        try replica.close()
        return result
    }

    @Test func `logs the model once, and again only when it changed`() throws {
        let first = try Replica.temporary(model: model)
        let directory = first.directory
        #expect(try kinds(first) == ["store.opened", "model.registered"])
        try first.close()

        #expect(try reopen(directory, model).kinds.count == 2)

        var other = model
        other.collections.append(CollectionModel("notes"))
        let changed = try reopen(directory, other)
        #expect(changed.kinds == ["store.opened", "model.registered", "model.registered"])
        #expect(changed.registration?.model == other)
        #expect(try reopen(directory, other).kinds.count == 3)

        let last = try Replica.open(existing: directory)
        #expect(try last.registration?.model == other)
        #expect(try kinds(last).count == 3)
        try last.deleteTemporary()
    }

    @Test func `keeps the first server`() throws {
        let first = try Replica.temporary(model: model, remote: SyncWorld.remote)
        let directory = first.directory
        try first.close()

        #expect(try reopen(directory, model).registration?.remote == SyncWorld.remote)
        let other = Remote.kinto(origin: "http://elsewhere.test", bucket: "x")
        let reopened = try reopen(directory, model, other)
        #expect(reopened.registration?.remote == SyncWorld.remote)
        #expect(reopened.kinds.count == 2)
        try FileManager.default.removeItem(atPath: directory)
    }

    @Test func `finds what was written before it was closed`() throws {
        let first = try Replica.temporary(model: model)
        try first.write { tx in _ = try tx.put(EntityKey("tasks", "t"), Array("{}".utf8)) }
        let root = try first.journal.verify(.deep).root
        try first.close()

        let second = try Replica.open(existing: first.directory)
        #expect(try second.text(EntityKey("tasks", "t")) == "{}")
        #expect(try second.journal.verify(.deep).root == root)
        try second.deleteTemporary()
    }

    @Test func `says that the model lacks a collection, however it is asked for`() async throws {
        try await Replica.withTemporary(model: model) { replica in
            try replica.read { store in
                expect(.noModel) { _ = try store.get(Stray.self, "a") }
                expect(.noModel) { _ = try store.all(Stray.self) }
                expect(.noModel) { _ = try store.all(Stray.all) }
                expect(.noModel) { _ = try store.decodable(Stray.self) }
                expect(.noModel) { _ = try store.undecodable(Stray.self) }
                expect(.noModel) { _ = try store.row(Stray.self, "a") }
            }
            try await replica.write { tx in
                expect(.noModel) { _ = try tx.get(Stray.self, "a") }
                expect(.noModel) { _ = try tx.all(Stray.self) }
                expect(.noModel) { try tx.save(Stray(id: "a")) }
            }
            var values = replica.observe(Stray.self, "a").makeAsyncIterator()
            let value = await #expect(throws: TidemarkError.self) { try await values.next() }
            var rows = replica.observe(row: Stray.self, "a").makeAsyncIterator()
            let row = await #expect(throws: TidemarkError.self) { try await rows.next() }
            #expect(value?.code == .noModel && row?.code == .noModel)
        }
    }

    @Test func `says when there is none, and when there is no folder to make it in`() throws {
        let missing = FileManager.default.temporaryDirectory.path + "/tidemark-not-there"

        expect(.noStore) { _ = try Replica.open(existing: missing) }
        expect(.invalidPath) { _ = try Replica.open(at: missing + "/deeper/down", model: model) }
        #expect(!FileManager.default.fileExists(atPath: missing))
    }

    @Test func `refuses to be used after it was closed`() throws {
        let replica = try Replica.temporary(model: model)
        try replica.close()

        expect(.closed) { _ = try replica.read { $0.position } }
        expect(.closed) {
            try replica.write { tx in _ = try tx.put(EntityKey("tasks", "t"), Array("{}".utf8)) }
        }
        try FileManager.default.removeItem(atPath: replica.directory)
    }
}
