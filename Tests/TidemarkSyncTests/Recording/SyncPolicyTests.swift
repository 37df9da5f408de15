// SyncPolicyTests.swift — each conflict policy from end to end, and the time that edits are stamped
// with.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `conflict policies` {
    /// A device whose edits of a note meet what a rival wrote `later` seconds after them.
    private func meet(
        _ policy: ConflictPolicy, later: Int = 0, rules: [ConflictRule] = [],
        _ mine: String, _ theirs: String,
        _ body: (SyncWorld, SyncDevice) async throws -> Void
    ) async throws {
        let world = SyncWorld.notes(policy)
        world.rivalPuts("notes/a", #"{"title":"old","n":1}"#)
        try await SyncDevice.with(world, rules: rules) { device in
            try await device.sync()
            world.clock.advance(by: .seconds(60))
            try device.patch("notes/a", mine)
            world.clock.advance(by: .seconds(later))
            world.rivalPuts("notes/a", theirs)
            world.clock.advance(by: .seconds(60))
            let outcome = try await device.sync()
            #expect(outcome.isSynced)
            #expect(try device.document("notes/a") == world.record("notes/a"))
            try await body(world, device)
            #expect(try await device.sync().counts.hasNews == false)
            try device.verify()
        }
    }

    @Test(arguments: [
        (0, "mine", "accepted"), (4, "mine", "accepted"), (5, "theirs", "superseded"),
        (30, "theirs", "superseded"),
    ])
    func `the newer side wins, by the server's clock`(
        _ later: Int, _ title: String, _ outcome: String
    ) async throws {
        let policy = ConflictPolicy.preferNewer(field: "last_modified", margin: .seconds(5))
        try await meet(policy, later: later, #"{"title":"mine"}"#, #"{"title":"theirs","n":1}"#) {
            world, device async throws in
            #expect(world.record("notes/a") == #"{"title":"\#(title)","n":1}"#)
            #expect(try device.mutations("notes/a") == [outcome])
        }
    }

    @Test func `a note with changes stays whole, and is sent whole`() async throws {
        for policy in [ConflictPolicy.overwriteUnlessDirty, .overwriteIfSynced] {
            try await meet(policy, #"{"title":"mine"}"#, #"{"title":"old","n":7,"z":1}"#) {
                world, device async throws in
                #expect(world.record("notes/a") == #"{"title":"mine","n":1}"#)
                #expect(try device.mutations("notes/a") == ["accepted"])
                #expect(try device.decisions() == ["notes/a localWins n z"])
            }
        }
    }

    @Test func `a note that was refused is overwritten, or stays until the user has decided`()
        async throws
    {
        for policy in [ConflictPolicy.overwriteUnlessDirty, .overwriteIfSynced] {
            let world = SyncWorld.notes(policy)
            world.rivalPuts("notes/a", #"{"title":"old"}"#)
            try await SyncDevice.with(world) { device in
                try await device.sync()
                try device.patch("notes/a", #"{"title":"bad"}"#)
                world.server.faults = FaultPlan([FaultRule(.answer(status: 400), method: .put)])
                try await device.sync()
                world.server.faults = FaultPlan([])
                world.rivalPuts("notes/a", #"{"title":"theirs"}"#)

                try await device.sync()

                let isKept = policy == .overwriteIfSynced
                #expect(try device.status("notes/a") == (isKept ? .error : .synced))
                #expect(
                    try device.document("notes/a")
                        == (isKept ? #"{"title":"bad"}"# : #"{"title":"theirs"}"#))
                #expect(
                    try device.mutations("notes/a") == [isKept ? "rejected" : "superseded"])
                if isKept {
                    try device.retry("notes/a")
                    #expect(try await device.sync().isSynced)
                    #expect(world.record("notes/a") == #"{"title":"bad"}"#)
                }
                try device.verify()
            }
        }
    }

    @Test func `what a person is asked about is not sent by a retry`() async throws {
        let world = SyncWorld.notes(.ask)
        world.rivalPuts("notes/a", #"{"title":"old"}"#)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.patch("notes/a", #"{"title":"mine"}"#)
            world.rivalPuts("notes/a", #"{"title":"theirs"}"#)
            try await device.sync()
            #expect(try device.status("notes/a") == .error)

            let error = #expect(throws: TidemarkError.self) { try device.retry("notes/a") }

            #expect(error?.code == .notFound)
            try await device.sync()
            #expect(world.record("notes/a") == #"{"title":"theirs"}"#)
            let issue = try #require(try device.replica.issues().first)
            #expect(issue.kind == .conflict)
            #expect(error?.message.contains("\(issue.id)") == true, "\(issue.id)")

            try await device.replica.answer(issue.id, .keepMine)
            #expect(try await device.sync().isSynced)
            #expect(world.record("notes/a") == #"{"title":"mine"}"#)
            try device.verify()
        }
    }

    @Test(arguments: ConflictSide.allCases)
    func `fields are merged, and only those that both changed are decided`(
        _ side: ConflictSide
    ) async throws {
        try await meet(
            .mergeFields(side), #"{"title":"mine","m":1}"#, #"{"title":"theirs","n":7}"#
        ) { world, device async throws in
            let title = side == .localWins ? "mine" : "theirs"
            #expect(world.record("notes/a") == #"{"title":"\#(title)","n":7,"m":1}"#)
            let outcome = side == .localWins ? "accepted" : "merged"
            #expect(try device.mutations("notes/a") == [outcome])
            #expect(try device.decisions() == ["notes/a \(side.rawValue) title"])
        }
    }
}

@Suite(.serialized) struct `the server's time of an edit` {
    private func stamp(_ device: SyncDevice) throws -> Timestamp? {
        let edits = try device.events().filter { (10...12).contains($0.event.kind.rawValue) }
        return edits.last?.event.serverTime
    }

    private let newer = ConflictPolicy.preferNewer(field: "last_modified", margin: .zero)

    @Test func `is known once a server was heard, and goes on as the device runs`() async throws {
        let world = SyncWorld.notes(newer)
        try await SyncDevice.with(world) { device in
            try device.put("notes/a", "{}")
            #expect(try stamp(device) == nil)

            try await device.sync()
            world.clock.advance(by: .seconds(90))
            try device.patch("notes/a", #"{"a":1}"#)

            #expect(try stamp(device) == world.clock.start.adding(seconds: 90))
            try device.delete("notes/a")
            #expect(try stamp(device) == world.clock.start.adding(seconds: 90))
            try device.verify()
        }
    }

    @Test func `is known after a run without news`() async throws {
        let world = SyncWorld.notes(newer)
        try await SyncDevice.with(world) { device in
            try await device.sync()
            world.clock.advance(by: .seconds(90))
            try await device.sync()
            try device.put("notes/a", "{}")

            #expect(try stamp(device) == world.clock.start.adding(seconds: 90))
            let now = world.clock.start.adding(seconds: 100)
            try device.replica.journal.read { views throws in
                #expect(
                    try views.serverNow(now, bootID: "boot-1", uptime: 100_000_000) == now)
                #expect(try views.serverNow(now, bootID: "another", uptime: 1) == now)
            }
        }
    }

    @Test func `goes without the time since a boot that is not known`() throws {
        var dependencies = Dependencies.seeded(1, clock: ManualClock())
        dependencies.uptime = { Uptime(bootID: "", microseconds: 7) }
        let notes = CollectionModel(
            "notes", lastChangeField: "last_modified", conflict: newer)
        let replica = try Replica.temporary(
            model: SyncModel(name: "m", collections: [notes]), dependencies: dependencies)
        let position = try replica.write { tx in
            try tx.put(EntityKey("notes", "a"), Array("{}".utf8))
        }
        let place = try #require(position)
        let event = try replica.journal.read { views in try views.event(at: place) }
        #expect(event?.kind == .localCreated)
        #expect(event?.uptime == nil && event?.bootID == nil)
        try replica.deleteTemporary()
    }

    @Test func `is in no event of a collection that does not ask for it`() async throws {
        let world = SyncWorld.notes(.mergeFields(.localWins))
        try await SyncDevice.with(world) { device in
            try await device.sync()
            try device.put("notes/a", "{}")
            #expect(try stamp(device) == nil)
        }
    }
}
