// DroppedCollectionTests.swift — a newer app's model lacks a collection in which edits wait.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a model without a collection` {
    /// The usual one, without its tasks.
    private static var newer: SyncModel {
        var model = SyncWorld.usualModel
        model.collections.removeAll { $0.name == "tasks" }
        return model
    }

    /// A store of the older app with two tasks and a list that were synced; some edits wait.
    private func withStore(
        _ edit: (SyncDevice) throws -> Void, _ body: (SyncDevice, Replica) throws -> Void
    ) async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            for key in ["tasks/a", "tasks/b", "lists/l"] { try device.put(key, #"{"n":1}"#) }
            #expect(try await device.sync().isSynced)
            try edit(device)
            try body(device, device.replica)
        }
    }

    private func reopen(_ replica: Replica, _ model: SyncModel) throws {
        try Replica.open(
            at: replica.directory, model: model, dependencies: .seeded(9, clock: ManualClock())
        ).close()
    }

    @Test func `in which edits wait is refused, and says where, how many, and what to do`()
        async throws
    {
        try await withStore { device in
            try device.patch("tasks/a", #"{"n":2}"#)
            try device.patch("tasks/a", #"{"n":3}"#)
            try device.delete("tasks/b")
            try device.patch("lists/l", #"{"n":2}"#)
        } _: { device, replica in
            let (position, registered) = (try replica.position, try replica.registration)

            #expect {
                try reopen(replica, Self.newer)
            } throws: { error in
                guard let error = error as? TidemarkError else { return false }
                return error.code == .pendingChanges
                    && error.message.hasPrefix("3 edits wait in tasks, ")
                    && error.message.contains("Replica.open(existing:)")
            }

            #expect(try replica.position == position)
            #expect(try replica.registration == registered)
            try reopen(replica, SyncWorld.usualModel)
        }
    }

    @Test func `is taken once they were discarded`() async throws {
        try await withStore { device in
            try device.patch("tasks/a", #"{"n":2}"#)
        } _: { device, replica in
            expect(.pendingChanges) { try reopen(replica, Self.newer) }

            let older = try Replica.open(
                existing: replica.directory, dependencies: .seeded(9, clock: ManualClock()))
            try older.write { tx in try tx.discard(EntityKey("tasks", "a")) }
            try older.close()

            try reopen(replica, Self.newer)
            #expect(try replica.registration?.model == Self.newer)
        }
    }

    @Test func `is taken once they were synced`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try device.put("tasks/a", #"{"n":1}"#)
            expect(.pendingChanges) { try reopen(device.replica, Self.newer) }

            #expect(try await device.sync().isSynced)

            try reopen(device.replica, Self.newer)
            #expect(try device.replica.registration?.model == Self.newer)
        }
    }

    @Test func `in which nothing waits is taken, whatever waits in others`() async throws {
        try await withStore { device in
            try device.patch("lists/l", #"{"n":2}"#)
        } _: { device, replica in
            try reopen(replica, Self.newer)
            #expect(try replica.registration?.model == Self.newer)
        }
    }

    @Test func `that an earlier build took leaves edits that say so, and can be discarded`()
        async throws
    {
        try await withStore { device in
            try device.patch("tasks/a", #"{"n":2}"#)
        } _: { device, replica in
            let registration = ModelRegistration(model: Self.newer, remote: SyncWorld.remote)
            _ = try replica.journal.write(at: device.world.clock.now) { draft in
                try draft.append(
                    Event(.modelRegistered, recordedAt: draft.now, json: registration.encoded))
            }

            let entry = try #require(try replica.journal.read(OutboxExplanation.all).first)
            #expect(entry.holds == [.noCollection("tasks")] && entry.next == .never)
            try device.discard("tasks/a")

            #expect(try replica.journal.read { try $0.outbox(all: false) }.isEmpty)
        }
    }
}
