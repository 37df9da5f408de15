// OutcomeTests.swift — waiting for what becomes of a change.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Picture: Entity {
    static let collection: CollectionName = "pictures"
    let id: Tidemark.ID<Picture>
    var title: String?
    var photo: JSONValue?
}

@Suite(.serialized) struct `what becomes of a change` {
    private static let key = EntityKey("notes", "a")

    private func with(_ body: (SyncDevice) async throws -> Void) async throws {
        let world = SyncWorld.notes(.serverWins)
        try await SyncDevice.with(world) { device in
            try await body(device)
            try device.verify()
        }
    }

    private func create(_ device: SyncDevice, _ title: String = "mine") throws -> Position {
        try device.replica.write { tx in
            let change = try tx.create(Self.key, Array(#"{"title":"\#(title)"}"#.utf8))
            #expect(tx.position == change)
            return change
        }
    }

    private func now(_ change: Position, _ device: SyncDevice) throws -> MutationOutcome? {
        try device.replica.read { try $0.outcome(of: change) }
    }

    @Test func `is known once the server took it, also to who waits from before`() async throws {
        try await with { device in
            let change = try create(device)
            #expect(try now(change, device) == nil)
            let replica = device.replica
            async let outcome = replica.outcome(of: change)

            try await device.sync()

            #expect(try await outcome == .accepted)
            #expect(try await replica.outcome(of: change) == .accepted)
        }
    }

    @Test func `is not its refusal, but what follows from the answer to that`() async throws {
        try await with { device in
            let change = try create(device)
            let replica = device.replica
            device.world.server.faults = FaultPlan([FaultRule(.answer(status: 403), method: .put)])
            async let outcome = replica.outcome(of: change)
            try await device.sync()
            let issue = try #require(try replica.issues().first)
            #expect(try now(change, device) == nil)

            device.world.server.faults = FaultPlan()
            try await replica.answer(issue.id, .retry)
            device.world.clock.advance(by: .seconds(3600))
            try await device.sync()

            #expect(try await outcome == .accepted)
        }
    }

    @Test func `is not told any more where its event was dropped`() async throws {
        try await with { device in
            let change = try create(device)
            try await device.replica.write { tx in try tx.discard(Self.key) }
            #expect(try now(change, device) == .discarded)
            for number in 1...4 { try device.put("notes/f\(number)", "{}") }
            let journal = device.replica.journal
            let scratch = FileManager.default.temporaryDirectory
                .appendingPathComponent("tidemark-outcome-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: scratch) }
            try journal.seal(keeping: 1)
            try journal.truncate(
                through: change, at: device.world.clock.now, in: { scratch.path })

            let error = #expect(throws: TidemarkError.self) { try now(change, device) }
            #expect(error?.code == .notFound)
            await #expect(throws: TidemarkError.self) {
                try await device.replica.outcome(of: change)
            }
        }
    }

    @Test func `is that it was given up, where it was`() async throws {
        try await with { device in
            let change = try create(device)
            let replica = device.replica
            async let outcome = replica.outcome(of: change)

            try await replica.write { try $0.discard(Self.key) }

            #expect(try await outcome == .discarded)
        }
    }

    @Test func `is known after a restart, and may come after one`() async throws {
        try await with { device in
            let first = try create(device)
            try await device.sync()
            let second = try await device.replica.write { tx in
                try tx.patch(Self.key, Patch(set: [.init("title", Array(#""other""#.utf8))]))
            }
            let change = try #require(second)
            try device.restart()
            let replica = device.replica
            async let outcome = replica.outcome(of: change)

            try await device.sync()

            #expect(try await outcome == .accepted)
            #expect(try await replica.outcome(of: first) == .accepted)
        }
    }

    @Test func `is told to who only reads once it is known, and not waited for`() async throws {
        try await with { device in
            let change = try create(device)
            let reader = try Replica.open(reading: device.replica.directory)
            defer { try? reader.close() }
            let error = await #expect(throws: TidemarkError.self) {
                try await reader.outcome(of: change)
            }
            #expect(error?.code == .readOnly)

            try await device.sync()

            #expect(try await reader.outcome(of: change) == .accepted)
        }
    }

    @Test func `is nothing where there was no change`() async throws {
        try await with { device in
            let change = try create(device)
            try await device.sync()
            let error = await #expect(throws: TidemarkError.self) {
                try await device.replica.outcome(of: Position(change.rawValue + 1))
            }
            #expect(error?.code == .notFound)
        }
    }

    @Test func `is found by the position right after it, also where it names new files`() throws {
        var pictures = CollectionModel("pictures")
        pictures.contents = [ContentRule("photo")]
        let model = SyncModel(name: "m", collections: [pictures])
        try withReplica(model) { replica in
            let (tea, milk) = (try replica.importText("tea"), try replica.importText("milk"))
            let changes = try replica.write { tx in
                var changes: [Position] = []
                let document = JSONValue.object(["photo": tea]).encoded()
                let put = try tx.put(EntityKey("pictures", "1"), document)
                #expect(tx.position == put)
                changes.append(tx.position)
                try tx.update(Picture.self, "1") { $0.photo = milk }
                changes.append(tx.position)
                try tx.update(Picture.self, "1") { $0.photo = milk }
                changes.append(tx.position)
                try tx.update(Picture.self, "1") { $0.title = "milk" }
                changes.append(tx.position)
                return changes
            }
            #expect(changes.map(\.rawValue) == [3, 5, 5, 7])
            for change in changes {
                #expect(try replica.read { try $0.outcome(of: change) } == nil)
            }
        }
    }

    @Test func `is not waited for any more by who is cancelled, or where the store is closed`()
        async throws
    {
        try await with { device in
            let change = try create(device)
            let replica = device.replica
            let waiting = Task { try await replica.outcome(of: change) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }

            let other = Task { try await replica.outcome(of: change) }
            try device.restart()
            let error = await #expect(throws: TidemarkError.self) { try await other.value }
            #expect(error?.code == .closed)
        }
    }
}
