// Device.swift — one replica with its engine, whatever server it is synced with: its life, its
// syncs and what its user does.
//
//   Device+Documents.swift   what it holds
//   Device+Log.swift         what its log and its rows say

import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

/// What devices are synced with: a server, and who speaks to it.
protocol DeviceServer: Sendable {
    /// What lies between a device and the server.
    associatedtype Wire: Transport
    /// Where the server says that it is.
    var remote: Remote { get }
    /// The members of documents that only the server writes.
    static var serverFields: [String] { get }
    /// Who speaks to it, unless a test says otherwise.
    func makeAdapter() throws -> any ServerAdapter
}

extension DeviceServer {
    static var serverFields: [String] { ["id", "last_modified"] }

    func makeAdapter() throws -> any ServerAdapter { try remote.makeAdapter() }
}

/// A replica with its engine, in a process that can be restarted.
final class Device<Server: DeviceServer>: Sendable {
    typealias SignIn = @Sendable () async throws -> Credentials

    private struct Process {
        var replica: Replica
        var engine: SyncEngine
    }
    let name: String
    let server: Server
    let wire: Server.Wire
    let model: SyncModel
    private let setUp: SetUp
    private let process: Mutex<Process>
    private let removesStore: Bool
    private let account: String?

    /// What each process of a device is made with.
    private struct SetUp: Sendable {
        var remote: Remote
        var adapter: any ServerAdapter
        var transport: any Transport
        var rules: [ConflictRule]
        var dependencies: Dependencies
        var signIn: SignIn

        func process(_ replica: Replica) -> Process {
            let engine = SyncEngine(
                replica, remote: remote, adapter: adapter, transport: transport,
                credentials: signIn)
            return Process(replica: replica, engine: engine)
        }
    }

    var replica: Replica { process.withLock(\.replica) }
    var engine: SyncEngine { process.withLock(\.engine) }

    /// A device with a store of its own.
    ///
    /// - Parameters:
    ///   - path: the store's folder; a temporary one unless named.
    ///   - account: whose store it is, where it has a folder.
    ///   - transport: what its engine sends by, where that is more than the wire.
    ///   - removesStore: whether the store goes with the device; else whoever makes it removes it.
    init(
        _ name: String = "device", of server: Server, over wire: Server.Wire, model: SyncModel,
        at path: String? = nil, account: String? = nil, transport: (any Transport)? = nil,
        adapter: (any ServerAdapter)? = nil, rules: [ConflictRule] = [],
        dependencies: Dependencies, removesStore: Bool = false,
        signIn: @escaping SignIn = { .basic(user: "me", password: "secret") }
    ) throws {
        self.name = name
        self.server = server
        self.wire = wire
        self.model = model
        self.removesStore = removesStore
        self.account = account
        setUp = SetUp(
            remote: server.remote, adapter: try adapter ?? server.makeAdapter(),
            transport: transport ?? wire, rules: rules, dependencies: dependencies, signIn: signIn)
        let replica =
            if let path {
                try Replica.open(
                    at: path, account: account, model: model, remote: server.remote,
                    rules: rules, dependencies: dependencies)
            } else {
                try Replica.temporary(
                    model: model, remote: server.remote, rules: rules, dependencies: dependencies)
            }
        process = Mutex(setUp.process(replica))
    }

    deinit {
        if removesStore { try? replica.deleteTemporary() }
    }

    /// Ends the process and begins another one.
    func restart() throws {
        let directory = replica.directory
        try replica.close()
        let replica = try Replica.open(
            at: directory, account: account, model: model, remote: server.remote,
            rules: setUp.rules, dependencies: setUp.dependencies)
        process.withLock { $0 = setUp.process(replica) }
    }

    /// Hands the device over, and removes its temporary store afterwards.
    func lend<R>(_ body: (Device) async throws -> R) async throws -> R {
        let result: R
        do { result = try await body(self) } catch {
            try replica.deleteTemporary()
            throw error
        }
        try replica.deleteTemporary()
        return result
    }

    /// Hands the device over, ends its engine, proves log and rows, and removes its store.
    func lendAndVerify(_ body: (Device) async throws -> Void) async throws {
        try await lend { device in
            do { try await body(device) } catch {
                await device.engine.stop()
                throw error
            }
            await device.engine.stop()
            try device.verify()
        }
    }

    @discardableResult
    func sync(
        _ scope: SyncScope = .all, _ trigger: SyncTrigger = .userRequested
    ) async throws -> SyncOutcome {
        try await engine.sync(trigger, scope: scope)
    }

    // MARK: Edits

    func key(_ text: String) throws -> EntityKey { try #require(EntityKey(text)) }

    func put(_ key: String, _ json: String) throws { try put(try self.key(key), json) }

    func put(_ key: EntityKey, _ json: String) throws {
        try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }
    }

    func create(_ key: String, _ json: String) throws {
        try replica.write { tx in try tx.create(try self.key(key), Array(json.utf8)) }
    }

    func patch(_ key: String, _ json: String) throws { try patch(try self.key(key), json) }

    func patch(_ key: EntityKey, _ json: String) throws {
        let patch = Patch(settingAllOf: try JSONDocument(parsing: Array(json.utf8)))
        try replica.write { tx in _ = try tx.patch(key, patch) }
    }

    func delete(_ key: String) throws { try delete(try self.key(key)) }

    func delete(_ key: EntityKey) throws {
        try replica.write { tx in _ = try tx.delete(key) }
    }

    func discard(_ key: String) throws {
        try replica.write { tx in try tx.discard(try self.key(key)) }
    }

    func retry(_ key: String) throws {
        try replica.write { tx in try tx.retry(try self.key(key)) }
    }
}
