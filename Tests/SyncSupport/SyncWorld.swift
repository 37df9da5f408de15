// SyncWorld.swift — a server, a clock, a wire that can be tampered with, and devices on it.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// A server with the bucket `b`, and a clock for everybody.
struct SyncWorld: Sendable {
    let clock: ManualClock
    let server: KintoServer
    var model: SyncModel
    static let remote = Remote.kinto(origin: "http://kinto.test", bucket: "b")

    /// Lists are serverWins; tasks are localWins and refer to a list, another task, or both.
    static let usualModel = SyncModel(
        name: "todo",
        collections: [
            CollectionModel("lists", lastChangeField: "last_modified", conflict: .serverWins),
            CollectionModel(
                "tasks", lastChangeField: "last_modified", conflict: .localWins,
                references: [
                    Reference("list", to: "lists"), Reference("parent", to: "tasks"),
                ]),
        ], settings: SyncSettings(batchSize: 1))

    /// A tree of files and folders.
    static let treeModel = SyncModel(
        name: "files",
        collections: [
            CollectionModel(
                "files", references: [Reference("parent", to: "files")],
                tree: .init(parent: "parent", name: "name", kind: "kind"))
        ])

    init(model: SyncModel = usualModel, _ faults: [FaultRule] = []) {
        let clock = ManualClock()
        self.clock = clock
        self.model = model
        server = KintoServer(
            bucket: "b", model: model, clock: clock)
        server.faults = FaultPlan(faults)
    }

    /// A world whose clock shows what the machine's does, as that of tools and apps does.
    static func live(_ world: SyncWorld = SyncWorld()) -> SyncWorld {
        world.clock.advance(
            by: .microseconds(Dependencies.live.now().rawValue - world.clock.now.rawValue))
        return world
    }

    /// A world with small pages.
    static func paging(_ pageSize: Int) -> SyncWorld {
        var model = usualModel
        for index in model.collections.indices { model.collections[index].pageSize = pageSize }
        return SyncWorld(model: model)
    }

    /// A world with one collection, `notes`.
    static func notes(_ policy: ConflictPolicy) -> SyncWorld {
        SyncWorld(
            model: SyncModel(
                name: "notes",
                collections: [
                    CollectionModel("notes", lastChangeField: "last_modified", conflict: policy)
                ]))
    }

    /// What another client does: writes a whole record.
    func rivalPuts(_ key: String, _ json: String) { server.put(key, json) }

    /// What another client does: deletes a record.
    func rivalDeletes(_ key: String) { server.delete(key) }

    /// A record on the server without its id and version, or nil.
    func record(_ key: String) -> String? { server.record(key) }

    /// What clients sent, one line each: `GET tasks`, `GET tasks?_since`, `PUT tasks/t1 *`,
    /// `DELETE tasks/t1 =`; with the status, or `lost`.
    var requests: [String] {
        server.requestLog.filter { !$0.path.contains("/collections?") }.map { request in
            let rest = request.path.dropFirst("/v1/buckets/b/collections/".count)
            let target = rest.prefix { $0 != "?" }.replacing("/records", with: "")
            var line = "\(request.method.rawValue) \(target)"
            if rest.contains("_since") { line += "?_since" }
            if request.method != .get {
                if request.fields[.ifNoneMatch] == "*" { line += " *" }
                if request.fields[.ifMatch] != nil { line += " =" }
            }
            return line + " " + (request.status.map(String.init) ?? "lost")
        }
    }

    /// The writes among ``requests``.
    var writes: [String] { requests.filter { !$0.hasPrefix("GET") } }
}

extension SyncWorld: DeviceServer {
    typealias Wire = SyncWire

    var remote: Remote { Self.remote }
}

/// A device of such a world.
typealias SyncDevice = Device<SyncWorld>

extension SyncDevice {
    var world: SyncWorld { server }

    /// A new device; whoever makes it deletes its replica.
    static func make(
        _ world: SyncWorld, seed: UInt64 = 1, adapter: (any ServerAdapter)? = nil,
        rules: [ConflictRule] = [], movesClock: Bool = true
    ) throws -> SyncDevice {
        try SyncDevice(
            of: world, over: SyncWire(world.server), model: world.model, adapter: adapter,
            rules: rules,
            dependencies: .seeded(seed, clock: world.clock, movesClock: movesClock))
    }

    /// A new device for the time of a test.
    static func with<R>(
        _ world: SyncWorld, seed: UInt64 = 1, adapter: (any ServerAdapter)? = nil,
        rules: [ConflictRule] = [], _ body: (SyncDevice) async throws -> R
    ) async throws -> R {
        try await make(world, seed: seed, adapter: adapter, rules: rules).lend(body)
    }

    static func engine(
        _ replica: Replica, _ wire: any Transport, remote: Remote = SyncWorld.remote,
        adapter: any ServerAdapter
    ) -> SyncEngine {
        SyncEngine(replica, remote: remote, adapter: adapter, transport: wire) {
            .basic(user: "me", password: "secret")
        }
    }
}
