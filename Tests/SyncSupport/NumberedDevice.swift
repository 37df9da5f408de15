// NumberedDevice.swift — a device that is synced with a server that numbers its entities.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

extension NumberedServer: DeviceServer {
    typealias Wire = SyncWire

    static var serverFields: [String] { ["id", "at"] }

    var remote: Remote { Remote(origin: "http://numbers.test", adapter: "numbers") }

    func makeAdapter() throws -> any ServerAdapter { NumberedAdapter() }
}

typealias NumberedDevice = Device<NumberedServer>

extension NumberedDevice {
    var clock: ManualClock { server.clock }

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

    convenience init(
        _ server: NumberedServer = NumberedServer(), model: SyncModel = NumberedDevice.model,
        seed: UInt64 = 1, adapter: NumberedAdapter = NumberedAdapter()
    ) throws {
        try self.init(
            of: server, over: SyncWire(server), model: model, adapter: adapter,
            dependencies: .seeded(seed, clock: server.clock), removesStore: true)
    }

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
}
