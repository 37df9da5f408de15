// DatedServer.swift — a server whose collections are listed by date, in this process: what a test
// knows of its requests, and when it lets them be answered.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// Lists are JSON arrays of entities, each with `id` and `at` in microseconds.
final class DatedServer: Transport, Sendable {
    private struct State {
        /// Entities by collection, each with its JSON text, in the order of their ids.
        var entities: [String: [String: (at: Int64, text: String)]] = [:]
        var requests: [String] = []
        var times: [Int64] = []
        var statuses: [String: Int] = [:]
        var inFlight = 0
        var inFlightMax = 0
    }
    private let state = Mutex(State())
    let clock: ManualClock
    /// Called when a request is here, before it is answered; by what it asks.
    let gate: @Sendable (String) async -> Void
    /// Whether answers say what the clock shows.
    let tellsTime: Bool

    init(
        _ clock: ManualClock, tellsTime: Bool = true,
        gate: @escaping @Sendable (String) async -> Void = { _ in }
    ) {
        self.clock = clock
        self.gate = gate
        self.tellsTime = tellsTime
    }

    /// What was asked: `GET tags`, `GET tags?since=…`, `PUT tags/1`.
    var requests: [String] { state.withLock(\.requests) }

    /// When each request came, in microseconds on the clock.
    var times: [Int64] { state.withLock(\.times) }

    /// The most requests that were waiting for their answers at a time.
    var inFlightMax: Int { state.withLock(\.inFlightMax) }

    func forgetRequests() { state.withLock { $0.requests = [] } }

    /// Answers of requests for a collection have this status from now on; nil for the usual one.
    func answer(_ collection: String, with status: Int?) {
        state.withLock { $0.statuses[collection] = status }
    }

    /// An entity as it is now; changed now unless said otherwise.
    func put(_ key: String, _ members: String = "", at time: Timestamp? = nil) {
        let at = time ?? clock.now
        store(key, at) { id in
            let rest = members.isEmpty ? "" : ",\(members)"
            return #"{"id":\#(id),"at":\#(at.rawValue)\#(rest)}"#
        }
    }

    /// A tombstone.
    func delete(_ key: String, at time: Timestamp? = nil) {
        let at = time ?? clock.now
        store(key, at) { #"{"id":\#($0),"at":\#(at.rawValue),"deleted":true}"# }
    }

    private func store(_ key: String, _ at: Timestamp, _ text: (String) -> String) {
        let parts = key.split(separator: "/").map(String.init)
        let id = Int64(parts[1]) == nil ? "\"\(parts[1])\"" : parts[1]
        state.withLock { $0.entities[parts[0], default: [:]][parts[1]] = (at.rawValue, text(id)) }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = String((request.path ?? "").dropFirst())
        let line = "\(request.method.rawValue) \(path)"
        state.withLock { state in
            state.requests.append(line)
            state.times.append(clock.elapsed)
            state.inFlight += 1
            state.inFlightMax = max(state.inFlightMax, state.inFlight)
        }
        await gate(line)
        state.withLock { $0.inFlight -= 1 }
        if Task.isCancelled { throw TransportError(.cancelled) }
        var fields: HTTPFields = [:]
        if tellsTime { fields[.date] = HTTPDate.text(clock.now) }
        let collection = String(path.prefix { $0 != "?" && $0 != "/" })
        if let status = state.withLock({ $0.statuses[collection] }) {
            return TransportResponse(
                response: HTTPResponse(status: .init(code: status), headerFields: fields), body: [])
        }
        let text: String
        if request.method == .get {
            text = list(collection, path)
        } else {
            let key = String(path.prefix { $0 != "?" })
            text = write(key, String(decoding: body ?? [], as: UTF8.self))
        }
        return TransportResponse(
            response: HTTPResponse(status: .ok, headerFields: fields), body: Array(text.utf8))
    }

    private func list(_ collection: String, _ path: String) -> String {
        let since = path.split(separator: "?since=").last.flatMap { Int64($0) } ?? .min
        let found = state.withLock { $0.entities[collection] ?? [:] }.filter {
            $0.value.at >= since
        }
        let texts = found.sorted { $0.key < $1.key }.map(\.value.text)
        return "[" + texts.joined(separator: ",") + "]"
    }

    private func write(_ key: String, _ body: String) -> String {
        let inner = body.dropFirst().dropLast()
        put(key, #""body":{\#(inner)}"#)
        let parts = key.split(separator: "/").map(String.init)
        return state.withLock { $0.entities[parts[0]]?[parts[1]]?.text ?? "" }
    }
}

/// What such a server speaks.
struct DatedAdapter: ServerAdapter {
    /// Whether records say when they changed, beside what stands in their documents.
    var tellsChanges = true

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, _):
            let since = after.flatMap { Timestamp($0.description)?.rawValue }
            return Self.get("\(collection.name)" + (since.map { "?since=\($0)" } ?? ""))
        case .listWindow(let collection, let from, let to, _):
            return Self.get("\(collection.name)?from=\(from)&to=\(to)")
        case .create(let collection, let id, let body),
            .update(let collection, let id, let body, _, _):
            return ServerRequest(method: .put, path: "/\(collection.name)/\(id)", body: body)
        case .delete(let collection, let id, _):
            return ServerRequest(method: .delete, path: "/\(collection.name)/\(id)")
        default: throw .malformed("not spoken here")
        }
    }

    private static func get(_ path: String) -> ServerRequest {
        ServerRequest(method: .get, path: "/\(path)")
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        switch response.status.code {
        case 200: break
        case 410: return .failure(.apiDeprecated)
        case let status:
            return .failure(SyncFailure(status: status, headerFields: response.headerFields))
        }
        guard let value = try? JSONValue(parsing: body) else { return .failure(.malformed("")) }
        guard case .array(let items) = value else { return .record(record(value)) }
        return .page(ListPage(records: items.map(record), next: nil, cursor: nil))
    }

    private func record(_ value: JSONValue) -> ServerRecord {
        guard case .object(let members) = value else {
            return ServerRecord(id: "", revision: nil, document: nil)
        }
        let at = members["at"]?.int64Value ?? 0
        return ServerRecord(
            id: members["id"]?.idText ?? "", revision: Revision("\(at)"),
            serverTime: tellsChanges ? Timestamp(rawValue: at) : nil, document: value.encoded(),
            isDeleted: members["deleted"] == .bool(true))
    }
}

extension DatedServer: DeviceServer {
    typealias Wire = DatedServer

    var remote: Remote { Remote(origin: "http://dated.test", adapter: "dated") }

    func makeAdapter() throws -> any ServerAdapter { DatedAdapter() }
}

typealias DatedDevice = Device<DatedServer>

extension DatedDevice {
    /// A device for the time of a test; what it made is proved at the end.
    static func with(
        _ model: SyncModel, _ server: DatedServer, adapter: DatedAdapter = DatedAdapter(),
        movesClock: Bool = true,
        credentials: @escaping @Sendable (Int) -> Credentials = { _ in .none },
        onSleep: @escaping @Sendable () -> Void = {},
        _ body: (DatedDevice) async throws -> Void
    ) async throws {
        var dependencies = Dependencies.seeded(1, clock: server.clock, movesClock: movesClock)
        let sleep = dependencies.sleep
        dependencies.sleep = { duration in
            onSleep()
            try await sleep(duration)
        }
        let asked = SyncCounter()
        let device = try DatedDevice(
            of: server, over: server, model: model, adapter: adapter, dependencies: dependencies
        ) { credentials(asked.count()) }
        try await device.lendAndVerify(body)
    }
}
