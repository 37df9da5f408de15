// QuotaToggl.swift — a server with Toggl's addresses that counts requests by Toggl's quotas, and
// hardly anything else: lists of what a test puts there, and creations of time entries.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

/// A small server of Toggl's addresses.
final class QuotaToggl: Transport {
    /// A request that came.
    struct Request: Sendable, Hashable {
        var line: String
        /// Whose quota it counts for.
        var group: String
        /// When it came.
        var at: Timestamp
    }

    private struct State {
        var lists = [
            "user": #"{"id":1,"default_workspace_id":7,"updated_at":"2026-11-01T00:00:00Z"}"#,
            "workspaces": #"[{"id":7,"name":"Home","at":"2026-11-01T00:00:00+00:00"}]"#,
            "features": #"[{"workspace_id":7,"features":[]}]"#,
            "preferences": #"{"date_format":"YYYY-MM-DD"}"#,
        ]
        var requests: [Request] = []
        /// How many requests an hour a group may make.
        var quotas: [String: Int] = [:]
        /// When the hour of a group began, and how many requests it has had since.
        var hours: [String: (begun: Timestamp, count: Int)] = [:]
        var nextID = 900
    }
    private let state = Mutex(State())
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    /// What a list is from now on; nil for `null`.
    func put(_ name: String, _ list: String?) { state.withLock { $0.lists[name] = list } }

    /// Lets a group make so many requests an hour: `user`, or a workspace's number.
    func limit(_ group: String, to count: Int) { state.withLock { $0.quotas[group] = count } }

    var requests: [Request] { state.withLock(\.requests) }

    /// The requests that came since the last time that this was asked.
    func takeLines() -> [String] {
        state.withLock { state in
            defer { state.requests = [] }
            return state.requests.map(\.line)
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        let parts = path.split { $0 == "/" || $0 == "?" }.map(String.init)
        let group = parts.contains("me") ? "user" : parts.dropFirst(3).first ?? ""
        let name = parts.dropFirst(3).first { !$0.contains("=") } ?? "user"
        let now = clock.now
        return state.withLock { state in
            state.requests.append(
                Request(line: "\(request.method) \(path)", group: group, at: now))
            var fields: HTTPFields = [.date: HTTPDate.text(now)]
            if let quota = state.quotas[group] {
                var hour = state.hours[group] ?? (now, 0)
                if hour.begun.adding(seconds: 3600) <= now { hour = (now, 0) }
                hour.count += 1
                state.hours[group] = hour
                let left = quota - hour.count
                let seconds = (hour.begun.rawValue - now.rawValue) / 1_000_000 + 3600
                for (name, value) in [
                    ("X-Toggl-Quota-Remaining", "\(max(0, left))"),
                    ("X-Toggl-Quota-Resets-In", "\(seconds)"),
                ] {
                    if let name = HTTPField.Name(name) { fields[name] = value }
                }
                if left < 0 { return Self.answer(402, fields, "\"over the quota\"") }
            }
            guard request.method == .get else {
                state.nextID += 1
                let made = String(decoding: body ?? [], as: UTF8.self).dropFirst()
                let row = #"{"id":\#(state.nextID),"at":"2026-11-20T00:00:00Z",\#(made)"#
                return Self.answer(200, fields, row)
            }
            if path.hasSuffix("with_related_data=true") {
                return Self.answer(200, fields, Self.related(state.lists))
            }
            return Self.answer(200, fields, state.lists[name] ?? "null")
        }
    }

    /// The user with the lists that there are.
    private static func related(_ lists: [String: String]) -> String {
        let kinds = ["tags", "clients", "projects", "tasks", "workspaces", "time_entries"]
        let members = kinds.map { #""\#($0)":\#(lists[$0] ?? "null")"# }
        return (lists["user"] ?? "{}").dropLast() + "," + members.joined(separator: ",") + "}"
    }

    private static func answer(
        _ status: Int, _ fields: HTTPFields, _ body: String
    ) -> TransportResponse {
        TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: Array(body.utf8))
    }
}

extension QuotaToggl: DeviceServer {
    typealias Wire = QuotaToggl

    static var serverFields: [String] { ["id", "at"] }

    var remote: Remote { Remote.toggl(origin: "http://toggl.test") }
}

typealias QuotaDevice = Device<QuotaToggl>

extension QuotaDevice {
    /// Starts the engine without a timer, and waits until a run was made and none is to come.
    func becomesIdle() async -> EngineStatus? {
        await engine.start(SyncTriggers(every: .zero))
        for await status in engine.statuses
        where status.activity == .idle && status.lastOutcome != nil { return status }
        return nil
    }

    /// A device of such a server for the time of a test; what it made is proved at the end.
    static func with(
        _ model: SyncModel = .toggl,
        _ body: (QuotaDevice, QuotaToggl, ManualClock) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let server = QuotaToggl(clock)
        let device = try QuotaDevice(
            of: server, over: server, model: model,
            dependencies: .seeded(1, clock: clock, movesClock: true))
        try await device.lendAndVerify { device in try await body(device, server, clock) }
    }

    /// Makes an entry in a workspace that another app made.
    func putEntry(_ id: String, in workspace: Int = 7) throws {
        try put(
            EntityKey("time_entries", id),
            #"{"workspace_id":\#(workspace),"start":"2026-11-18T08:00:00Z","duration":9}"#)
    }
}
