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
    let server: InMemoryServer
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

    init(model: SyncModel = usualModel, _ faults: [FaultRule] = []) {
        let clock = ManualClock()
        self.clock = clock
        self.model = model
        server = InMemoryServer(
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

/// One replica with its engine.
final class SyncDevice: Sendable {
    let world: SyncWorld
    let wire: SyncWire
    let replica: Replica
    let engine: SyncEngine

    private init(_ world: SyncWorld, _ wire: SyncWire, _ replica: Replica, _ engine: SyncEngine) {
        self.world = world
        self.wire = wire
        self.replica = replica
        self.engine = engine
    }

    /// A new device; whoever makes it deletes its replica.
    static func make(
        _ world: SyncWorld, seed: UInt64 = 1, adapter: (any ServerAdapter)? = nil,
        rules: [ConflictRule] = [], movesClock: Bool = true
    ) throws -> SyncDevice {
        let wire = SyncWire(world.server)
        let replica = try Replica.temporary(
            model: world.model, remote: SyncWorld.remote, rules: rules,
            dependencies: .seeded(seed, clock: world.clock, movesClock: movesClock))
        let adapter = try adapter ?? SyncWorld.remote.makeAdapter()
        return SyncDevice(world, wire, replica, engine(replica, wire, adapter: adapter))
    }

    /// A new device for the time of a test.
    static func with<R>(
        _ world: SyncWorld, seed: UInt64 = 1, adapter: (any ServerAdapter)? = nil,
        rules: [ConflictRule] = [], _ body: (SyncDevice) async throws -> R
    ) async throws -> R {
        let device = try make(world, seed: seed, adapter: adapter, rules: rules)
        let result: R
        do { result = try await body(device) } catch {
            try device.replica.deleteTemporary()
            throw error
        }
        try device.replica.deleteTemporary()
        return result
    }

    static func engine(
        _ replica: Replica, _ wire: any Transport, remote: Remote = SyncWorld.remote,
        adapter: any ServerAdapter
    ) -> SyncEngine {
        SyncEngine(replica, remote: remote, adapter: adapter, transport: wire) {
            .basic(user: "me", password: "secret")
        }
    }

    @discardableResult
    func sync() async throws -> SyncOutcome { try await engine.sync() }

    // MARK: Edits

    func put(_ key: String, _ json: String) throws {
        try replica.write { tx in _ = try tx.put(try self.key(key), Array(json.utf8)) }
    }

    func patch(_ key: String, _ json: String) throws {
        let patch = Patch(settingAllOf: try JSONDocument(parsing: Array(json.utf8)))
        try replica.write { tx in _ = try tx.patch(try self.key(key), patch) }
    }

    func delete(_ key: String) throws {
        try replica.write { tx in _ = try tx.delete(try self.key(key)) }
    }

    func discard(_ key: String) throws {
        try replica.write { tx in try tx.discard(try self.key(key)) }
    }

    func retry(_ key: String) throws {
        try replica.write { tx in try tx.retry(try self.key(key)) }
    }

    func key(_ text: String) throws -> EntityKey { try #require(EntityKey(text)) }

    // MARK: What it holds

    /// A document without id and version, or nil.
    func document(_ key: String) throws -> String? {
        try replica.read { try $0.document(try self.key(key)) }.map { bytes in
            let document = try JSONDocument(parsing: bytes)
            return String(
                decoding: document.applying(set: [], unset: ["id", "last_modified"]),
                as: UTF8.self)
        }
    }

    func status(_ key: String) throws -> EntityStatus? {
        try replica.read { try $0.status(of: try self.key(key)) }
    }

    /// The mutations of an entity in order, each by its outcome or how it stands.
    func mutations(_ key: String) throws -> [String] {
        let key = try self.key(key)
        return try replica.journal.read { views in
            try views.outbox(all: true).filter { $0.mutation.key == key }.map(\.word)
        }
    }

    /// The open mutations: `tasks/t1 pending`, with what they wait for.
    func outbox() throws -> [String] {
        try replica.journal.read { views in
            try views.outbox(all: false).map { entry in
                let blockers = entry.blockers.map { " \($0)" }.joined()
                return "\(entry.mutation.key) \(entry.word)\(blockers)"
            }
        }
    }

    /// The decisions in order: `tasks/t1 localWins title`.
    func decisions() throws -> [String] {
        var lines: [String] = []
        try replica.journal.read { views in
            try views.forEachDecision { _, decision in
                lines.append(
                    ([decision.key.description, decision.result] + decision.fields)
                        .joined(separator: " "))
                return true
            }
        }
        return lines
    }

    func cursor(_ collection: CollectionName) throws -> String? {
        try replica.journal.read { try $0.watermark(collection)?.cursor?.description }
    }
}
