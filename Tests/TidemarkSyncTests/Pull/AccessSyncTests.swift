// AccessSyncTests.swift — workspaces that are lost and gained, what must be there, and what is
// pruned, from end to end.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a run that` {
    /// A device with workspaces 1 and 2, each with a project and an entry.
    private func with(
        _ world: SyncWorld = .reach(), lost: Set<String> = [], onlyNames: Bool = false,
        _ body: (SyncWorld, SyncDevice, SyncBox<Set<String>>) async throws -> Void
    ) async throws {
        for id in ["1", "2"] {
            world.rivalPuts("workspaces/\(id)", #"{"name":"w\#(id)"}"#)
            world.rivalPuts("projects/\(id)", #"{"workspace_id":"\#(id)"}"#)
            world.entry(id, in: id)
        }
        let box = SyncBox<Set<String>>()
        box.value = lost
        let adapter = ReachAdapter(lost: box, onlyNames: onlyNames)
        try await SyncDevice.with(world, adapter: adapter) { device in
            #expect(try await device.sync().isSynced)
            try await body(world, device, box)
            try device.verify()
            let before = try device.rows()
            try device.replica.journal.rebuild()
            #expect(try device.rows() == before)
        }
    }

    private func ids(_ device: SyncDevice, _ collection: CollectionName) throws -> [String] {
        try device.replica.keys(in: collection).map(\.id)
    }

    private static let lists = ["workspaces", "projects", "user", "entries"]

    /// The collections that were listed whole, in order.
    private func listedWhole(_ world: SyncWorld) -> [String] {
        world.server.requestLog.filter { $0.method == .get && $0.path.hasSuffix("_since=0") }
            .map { request in
                let rest = request.path.dropFirst("/v1/buckets/b/collections/".count)
                return String(rest.prefix { $0 != "/" })
            }
    }

    @Test func `WS-02: is the first one gains nothing`() async throws {
        try await with { world, device, _ async throws in
            #expect(listedWhole(world) == Self.lists && world.requests.count == 4)
            // And the next one has nothing to say.
            let position = try device.position()
            #expect(try await device.sync().isSynced)
            #expect(try device.kinds(after: position) == ["sync.finished"])
        }
    }

    @Test func `WS-01: gains a workspace lists everything anew, once`() async throws {
        try await with(lost: ["2"]) { world, device, lost async throws in
            #expect(try ids(device, "entries") == ["1"])
            world.server.clearRequestLog()
            lost.value = []

            #expect(try await device.sync().isSynced)

            #expect(listedWhole(world) == ["workspaces"] + Self.lists)
            #expect(world.requests.count == 5)
            #expect(try ids(device, "entries") == ["1", "2"])
            #expect(try device.decisions() == ["workspaces/2 gained"])
            #expect(try await device.sync().counts.hasNews == false)
        }
    }

    @Test func `WS-01: gains a workspace and breaks off has everything listed by the next one`()
        async throws
    {
        try await with(lost: ["2"]) { world, device, lost async throws in
            lost.value = []
            device.wire.tap { _, number, pass in
                number == 2 ? .failure(TransportError(.offline)) : await pass()
            }
            #expect(try await device.sync().failure?.name == "offline")
            #expect(try ids(device, "workspaces") == ["1", "2"])
            device.wire.tap(nil)

            #expect(try await device.sync().isSynced)
            #expect(try ids(device, "projects") == ["1", "2"])
        }
    }

    @Test
    func `WS-03, PU-27: loses a workspace hides it with all that is in it, and pushes none of it`()
        async throws
    {
        try await with { world, device, lost async throws in
            try device.patch("entries/2", #"{"description":"mine"}"#)
            lost.value = ["2"]

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.held.isEmpty && outcome.pending == 1)
            #expect(world.writes == [])
            #expect(try ids(device, "workspaces") == ["1"])
            #expect(try ids(device, "entries") == ["1"])
            #expect(try device.status("entries/2") == .updated)

            // What could not be pushed is there when it is in reach again, and is pushed.
            lost.value = []
            #expect(try await device.sync().isSynced)
            #expect(try ids(device, "entries") == ["1", "2"])
            #expect(world.writes == ["PUT entries/2 = 200"])
            #expect(try device.decisions().contains("workspaces/2 gained"))
        }
    }

    @Test func `finds a lost workspace in a list that only names it sees it again, and pushes it`()
        async throws
    {
        try await with(onlyNames: true) { world, device, lost async throws in
            try device.patch("workspaces/2", #"{"name":"mine"}"#)
            lost.value = ["2"]
            #expect(try await device.sync().pending == 1)
            #expect(try ids(device, "workspaces") == ["1"])
            #expect(world.writes == [])

            lost.value = []
            #expect(try await device.sync().isSynced)

            #expect(try ids(device, "workspaces") == ["1", "2"])
            #expect(try ids(device, "entries") == ["1", "2"])
            #expect(world.writes == ["PUT workspaces/2 = 200"])
        }
    }

    @Test func `loses a workspace prunes what is in sync there, and takes it anew when it is back`()
        async throws
    {
        try await with { world, device, lost async throws in
            world.entry("3", in: "2", duration: "null")
            try await device.sync()
            lost.value = ["2"]
            #expect(try await device.sync().isSynced)
            #expect(try device.status("entries/3") == nil)
            let events = try device.events().filter { $0.event.kind == .timerFired }
            #expect(events.count == 1)

            lost.value = []
            #expect(try await device.sync().isSynced)
            #expect(try ids(device, "entries") == ["1", "2", "3"])
            #expect(try ids(device, "projects") == ["1", "2"])
        }
    }

    @Test func `finds no workspace ends there, is no reason to wait, and loses nothing`()
        async throws
    {
        try await with { world, device, lost async throws in
            try device.patch("entries/1", #"{"description":"mine"}"#)
            lost.value = ["1", "2"]
            world.server.clearRequestLog()

            let outcome = try await device.sync()

            #expect(outcome.failure == .missing("noWorkspace"))
            #expect(outcome.failure?.isTransient == false)
            #expect(world.requests.count == 1 && listedWhole(world) == ["workspaces"])
            let gates = try device.gates()
            #expect(gates.backoff == nil && gates.frozen == nil)
            #expect(try device.outcomes().last == "missing")

            lost.value = []
            #expect(try await device.sync().isSynced)
            #expect(try ids(device, "entries") == ["1", "2"])
            #expect(world.writes == ["PUT entries/1 = 200"])
        }
    }

    @Test(arguments: [0, 3])
    func `WS-14: finds a choice that nobody made ends when all is stored, and pushes nothing`(
        _ projects: Int
    ) async throws {
        let world = SyncWorld.reach {
            $0.collections[2].choices = [
                ChoiceRule("default_project_id", of: "projects", missing: "noDefaultProject")
            ]
        }
        try await with(world) { world, device, _ async throws in
            for id in ["1", "2"] { world.rivalDeletes("projects/\(id)") }
            for id in 0..<projects { world.rivalPuts("projects/p\(id)", "{}") }
            world.rivalPuts("user/me", #"{"default_project_id":null}"#)
            world.entry("9", in: "1")
            try device.patch("entries/1", #"{"description":"mine"}"#)

            let outcome = try await device.sync()

            #expect(outcome.failure == .missing("noDefaultProject"))
            #expect(try ids(device, "entries") == ["1", "2", "9"])
            #expect(world.writes == [])

            world.rivalPuts("user/me", #"{"default_project_id":"p0"}"#)
            #expect(try await device.sync().isSynced)
            #expect(world.writes == ["PUT entries/1 = 200"])
        }
    }

    @Test func `CU-01: ends its pull prunes what is old, and does not take it again`() async throws
    {
        try await with { world, device, _ async throws in
            world.entry("old", in: "1", daysAgo: 57)
            world.entry("running", in: "1", daysAgo: 57, duration: "null")
            try await device.sync()
            #expect(try ids(device, "entries") == ["1", "2", "running"])
            #expect(try device.decisions() == ["entries/old pruned"])

            let position = try device.position()
            #expect(try await device.engine.sync(full: true).isSynced)
            let kinds = try device.kinds(after: position)
            #expect(!kinds.contains("server.upserted") && !kinds.contains("timer.fired"))

            // Whoever changes it has it again.
            world.entry("old", in: "1", daysAgo: 2)
            try await device.sync()
            #expect(try ids(device, "entries") == ["1", "2", "old", "running"])
        }
    }

    @Test func `prunes only when it is asked to leaves what is old where it is`() async throws {
        let world = SyncWorld.reach { $0.settings.cleanUp = .apart }
        try await with(world) { world, device, _ async throws in
            world.entry("old", in: "1", daysAgo: 57)
            #expect(try await device.sync().isSynced)
            #expect(try ids(device, "entries") == ["1", "2", "old"])
        }
    }

    @Test func `lists everything concludes nothing from what is not named, where absence keeps`()
        async throws
    {
        try await with { world, device, _ async throws in
            for id in ["1", "2"] { world.rivalDeletes("projects/\(id)") }
            world.server.withModel { $0.purgeTombstones() }

            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.isSynced && outcome.held.isEmpty)
            #expect(try ids(device, "projects") == ["1", "2"])
        }
    }

    @Test func `DA-01: is told of ten deletions takes the five that are about what is here`()
        async throws
    {
        try await with { world, device, _ async throws in
            for id in [1, 3, 5, 7, 9] { world.rivalPuts("projects/p\(id)", "{}") }
            try await device.sync()
            for id in [0, 2, 4, 6, 8] { world.rivalPuts("projects/p\(id)", "{}") }
            for id in 0...9 { world.rivalDeletes("projects/p\(id)") }

            #expect(try await device.sync().counts.pulled == 5)
            #expect(try ids(device, "projects") == ["1", "2"])
        }
    }
}
