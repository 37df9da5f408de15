// NumberedDevice.swift — a replica that is synced with a server that numbers its entities.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// A replica with its engine, which can be restarted.
final class NumberedDevice: Sendable {
    private struct Process {
        var replica: Replica
        var engine: SyncEngine
    }
    static let remote = Remote(origin: "http://numbers.test", adapter: "numbers")
    let server: NumberedServer
    let wire: SyncWire
    let clock = ManualClock()
    let adapter: NumberedAdapter
    private let process: Mutex<Process>
    var replica: Replica { process.withLock(\.replica) }
    private var engine: SyncEngine { process.withLock(\.engine) }
    private let model: SyncModel
    private let dependencies: Dependencies

    /// Workspaces, tags, projects and entries, each after what it refers to; preferences are one
    /// entity with an id of the app's.
    static var model: SyncModel {
        func numbered(
            _ name: CollectionName, _ pushes: [PushOperation], match: [String],
            _ references: [Reference] = []
        ) -> CollectionModel {
            var collection = CollectionModel(
                name, lastChangeField: "at", conflict: .localWins, references: references)
            collection.ids = .serverNumber
            collection.pushes = pushes
            collection.match = match
            collection.absence = .keeps
            return collection
        }
        let workspace = Reference("workspace", to: "workspaces")
        var preferences = CollectionModel("preferences", conflict: .overwriteUnlessDirty)
        preferences.pushes = [.update]
        return SyncModel(
            name: "numbers",
            collections: [
                numbered("workspaces", [.create], match: ["name"]), preferences,
                numbered("tags", [.create], match: ["workspace", "name"], [workspace]),
                numbered("projects", [.create], match: ["workspace", "name"], [workspace]),
                numbered(
                    "entries", PushOperation.allCases, match: ["workspace", "start", "what"],
                    [
                        workspace, Reference("project", to: "projects"),
                        Reference("tags", to: "tags"),
                    ]
                ),
            ], settings: SyncSettings(fullPullEvery: .zero, batchSize: 1))
    }

    init(
        _ server: NumberedServer = NumberedServer(), model: SyncModel = NumberedDevice.model,
        seed: UInt64 = 1, adapter: NumberedAdapter = NumberedAdapter()
    ) throws {
        self.server = server
        self.model = model
        self.adapter = adapter
        wire = SyncWire(server)
        dependencies = .seeded(seed, clock: clock)
        let replica = try Replica.temporary(
            model: model, remote: Self.remote, dependencies: dependencies)
        let engine = SyncDevice.engine(replica, wire, remote: Self.remote, adapter: adapter)
        process = Mutex(Process(replica: replica, engine: engine))
    }

    deinit { try? replica.deleteTemporary() }

    /// Ends the process and begins another one.
    func restart() throws {
        let directory = replica.directory
        try replica.close()
        let replica = try Replica.open(
            at: directory, model: model, remote: Self.remote, dependencies: dependencies)
        let engine = SyncDevice.engine(replica, wire, remote: Self.remote, adapter: adapter)
        process.withLock { $0 = Process(replica: replica, engine: engine) }
    }

    @discardableResult
    func sync() async throws -> SyncOutcome { try await engine.sync() }

    /// Syncs while the first requests whose lines begin so are answered by a status, or not at all
    /// (0), whether they reach the server or not; 200 is the server's own answer.
    ///
    /// - Parameter body: runs when they are on their way.
    @discardableResult
    func sync(
        failing line: String, status: Int = 0, reaches: Bool = false, times: Int = .max,
        _ body: @escaping @Sendable () throws -> Void = {}
    ) async throws -> SyncOutcome {
        let server = server
        let count = SyncCounter()
        wire.tap { request, _, pass in
            let name = "\(request.method.rawValue) \((request.path ?? "").dropFirst())"
            guard name.hasPrefix(line), count.count() < times else { return await pass() }
            try body()
            if status == 200 { return await pass() }
            if reaches { _ = await pass() } else { server.noteLost(name) }
            guard status > 0 else { return .failure(TransportError(.timeout)) }
            return .success(
                TransportResponse(
                    response: HTTPResponse(status: HTTPResponse.Status(code: status)), body: []))
        }
        defer { wire.tap(nil) }
        let outcome = try await engine.sync()
        #expect(wire.problem == nil)
        return outcome
    }

    // MARK: Edits

    func put(_ key: String, _ json: String) throws {
        try replica.write { tx in _ = try tx.put(try Self.key(key), Array(json.utf8)) }
    }

    func patch(_ key: String, _ json: String) throws {
        let patch = Patch(settingAllOf: try JSONDocument(parsing: Array(json.utf8)))
        try replica.write { tx in _ = try tx.patch(try Self.key(key), patch) }
    }

    func delete(_ key: String) throws {
        try replica.write { tx in _ = try tx.delete(try Self.key(key)) }
    }

    func retry(_ key: String) throws {
        try replica.write { tx in try tx.retry(try Self.key(key)) }
    }

    func discard(_ key: String) throws {
        try replica.write { tx in try tx.discard(try Self.key(key)) }
    }

    static func key(_ text: String) throws -> EntityKey { try #require(EntityKey(text)) }

    // MARK: What it holds

    /// A document without `id` and `at`.
    static func plain(_ bytes: [UInt8]) -> String {
        let document = try? JSONDocument(parsing: bytes)
        return String(
            decoding: document?.applying(set: [], unset: ["id", "at"]) ?? bytes, as: UTF8.self)
    }

    func document(_ key: String) throws -> String? {
        try replica.read { try $0.document(try Self.key(key)) }.map(Self.plain)
    }

    /// The keys of the entities that are seen in a collection.
    func keys(_ collection: CollectionName) throws -> [String] {
        var keys: [String] = []
        try replica.journal.read { views in
            try views.forEachEntity(in: collection) { key, row in
                if row.document != nil { keys.append(key.id) }
                return true
            }
        }
        return keys
    }

    func status(_ key: String) throws -> EntityStatus? {
        try replica.read { try $0.status(of: try Self.key(key)) }
    }

    func serverID(_ key: String) throws -> String {
        let key = try Self.key(key)
        return try replica.journal.read { try $0.serverID(of: key) }
    }

    func ids(_ key: String) throws -> [String] {
        let key = try Self.key(key)
        return try replica.journal.read { try $0.ids(of: key) }
    }

    func outbox() throws -> [String] {
        try replica.journal.read { views in
            try views.outbox(all: false).map { entry in
                let blockers = entry.blockers.map { " \($0)" }.joined()
                return "\(entry.mutation.key) \(entry.word)\(blockers)"
            }
        }
    }

    func mutations(_ key: String) throws -> [String] {
        let key = try Self.key(key)
        return try replica.journal.read { views in
            try views.outbox(all: true).filter { $0.mutation.key == key }.map(\.word)
        }
    }

    /// The words of what was refused.
    func problems() throws -> [String] {
        try replica.journal.read { views in
            try views.issues().map { "\($0.collection)/\($0.entity ?? "") \($0.message)" }
        }
    }

    func verify(_ comment: Comment? = nil) throws {
        let result = try replica.journal.verify(.deep)
        #expect(result.findings == [], comment)
    }
}
