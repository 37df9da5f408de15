// TogglServer.swift — a server that behaves like Toggl, used without a socket.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server in this process that behaves like Toggl: a `Transport` that answers itself.
///
/// Requests are handled one after the other, each at once. It may be shared by several clients.
/// Rows are named by collection and id, as in `projects/5`; the user is `user/1` or has another id,
/// the preferences are `preferences/preferences`.
public final class TogglServer: Transport, Sendable {
    let core: ServerCore<TogglServerModel>

    /// A server with a clock of its own.
    ///
    /// - Parameters:
    ///   - model: what it holds at the start.
    ///   - faults: which requests fail, and how.
    ///   - now: the server's clock, in milliseconds since 1970.
    public init(
        _ model: TogglServerModel = TogglServerModel(), faults: FaultPlan = FaultPlan(),
        now: @escaping @Sendable () -> Int64
    ) {
        core = ServerCore(model, faults: faults, now: now)
    }

    /// A server on a test's clock.
    public convenience init(
        _ model: TogglServerModel = TogglServerModel(), faults: FaultPlan = FaultPlan(),
        clock: ManualClock
    ) {
        self.init(model, faults: faults, now: { clock.now.milliseconds })
    }

    /// The faults that are injected; setting them resets the counts.
    public var faults: FaultPlan {
        get { core.faults }
        set { core.faults = newValue }
    }

    /// The requests of clients so far, in order.
    public var requestLog: [LoggedRequest] { core.log }

    /// Empties ``requestLog``.
    public func clearRequestLog() { core.clearLog() }

    /// Reads or changes the model directly, for example its limit.
    public func withModel<R: Sendable>(_ body: (inout TogglServerModel) -> R) -> R {
        core.withModel(body)
    }

    /// Sends a request; faults apply.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try core.send(request, body: body, limits: limits)
    }

    // MARK: Changes by another client, without faults, limit and log

    /// Writes a whole row.
    ///
    /// A workspace that was forgotten gives access to its rows again.
    ///
    /// - Parameters:
    ///   - key: collection and id: `projects/5`.
    ///   - json: the row's object; the server sets `id`, and `at` unless it is there.
    public func put(_ key: String, _ json: String) {
        let (type, id) = Self.place(key)
        let isObject = core.withModel { $0.put(type, id, Array(json.utf8), now: now) }
        precondition(isObject, "\(json) is no JSON object")
    }

    /// Deletes a row, so that lists of changes name it with `server_deleted_at`.
    public func delete(_ key: String) {
        let (type, id) = Self.place(key)
        core.withModel { $0.delete(type, id, now: now) }
    }

    /// Removes a row without a trace, as when the user loses access; for a workspace, access to all
    /// of its rows is lost.
    public func forget(_ key: String) {
        let (type, id) = Self.place(key)
        core.withModel { $0.forget(type, id) }
    }

    /// Archives a project: it is in no list, and only the search of the reports API finds it.
    public func archive(_ key: String) {
        let (type, id) = Self.place(key)
        precondition(type == .projects, "\(key) is no project")
        core.withModel { $0.archive(type, id, now: now) }
    }

    /// A row without `id` and `at`, as JSON text; nil when there is none or it was deleted.
    public func record(_ key: String) -> String? {
        let (type, id) = Self.place(key)
        return core.withModel { $0.live(type, id) }.map { Self.text($0) }
    }

    /// All rows of a collection that are not deleted, by id, each in the form of ``record(_:)``.
    public func records(in collection: CollectionName) -> [String: String] {
        guard let type = TogglRowType(rawValue: collection.rawValue) else { return [:] }
        let rows = core.withModel { $0.rows[type] ?? [] }.filter { !$0.isDeleted }
        return Dictionary(rows.map { ($0.id, Self.text($0)) }) { _, last in last }
    }

    private var now: Timestamp { Timestamp(milliseconds: core.nowMilliseconds()) }

    private static func text(_ row: TogglRow) -> String {
        String(decoding: row.document.applying(set: [], unset: ["id", "at"]), as: UTF8.self)
    }

    private static func place(_ key: String) -> (TogglRowType, String) {
        guard let entity = EntityKey(key),
            let type = TogglRowType(rawValue: entity.collection.rawValue),
            type == .preferences || Int64(entity.id) != nil
        else { preconditionFailure("\(key) is no row: projects/5 would be") }
        return (type, entity.id)
    }
}
