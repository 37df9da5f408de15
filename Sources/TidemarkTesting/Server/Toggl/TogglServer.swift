// TogglServer.swift — a server that behaves like Toggl, used without a socket.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server in this process that behaves like Toggl: a `Transport` that answers itself.
///
/// Requests are handled one after the other, each at once. It may be shared by several clients.
/// Rows are named by collection and id, as in `projects/5`; the user is `user/1` or has another id,
/// the preferences are `preferences/preferences`. Their JSON is that of Toggl's answers.
public final class TogglServer: Transport, Sendable {
    let core: ServerCore<TogglServerModel>

    /// A server with a clock of its own.
    ///
    /// - Parameters:
    ///   - model: what it holds at the start.
    ///   - faults: which requests fail, and how.
    ///   - now: the server's clock.
    public init(
        _ model: TogglServerModel = TogglServerModel(), faults: FaultPlan = FaultPlan(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        core = ServerCore(model, faults: faults, now: now)
    }

    /// A server on a test's clock.
    public convenience init(
        _ model: TogglServerModel = TogglServerModel(), faults: FaultPlan = FaultPlan(),
        clock: ManualClock
    ) {
        self.init(model, faults: faults, now: { clock.now })
    }

    /// The faults that are injected; setting them resets the counts.
    public var faults: FaultPlan {
        get { core.faults }
        set { core.faults = newValue }
    }

    /// The requests of clients so far, in order.
    ///
    /// ``TogglServerModel/requestsByQuota`` has how many counted for which quota.
    public var requestLog: [LoggedRequest] { core.log }

    /// Empties ``requestLog``.
    public func clearRequestLog() { core.clearLog() }

    /// Reads or changes the model directly, for example its quotas.
    public func withModel<R: Sendable>(_ body: (inout TogglServerModel) -> R) -> R {
        core.withModel(body)
    }

    /// Sends a request; faults apply.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try core.send(request, body: body, limits: limits)
    }

    // MARK: Changes by another client, without checks, faults, quotas and log

    /// Writes a whole row.
    ///
    /// Members that are not given have their usual values: a project is active. A time entry with a
    /// negative `duration` runs, and stops no other. A workspace that was forgotten gives access to
    /// its rows again.
    ///
    /// - Parameters:
    ///   - key: collection and id: `projects/5`.
    ///   - json: the row's object, in the form of Toggl's answers; `at` is now unless it is there.
    public func put(_ key: String, _ json: String) {
        let (kind, id) = Self.place(key)
        guard let object = (try? JSONValue(parsing: Array(json.utf8)))?.object else {
            fatalError("\(json) is no JSON object")
        }
        core.withModel { $0.put(kind, id, object, now: now) }
    }

    /// Deletes a row, so that lists of changes name it with `server_deleted_at`, or `deleted_at` if
    /// it is a tag.
    ///
    /// What refers to it loses it, as when a client deletes it.
    public func delete(_ key: String) {
        let (kind, id) = Self.place(key)
        core.withModel { $0.delete(kind, id, now: now) }
    }

    /// Removes a row without a trace, as when the user loses access; for a workspace, access to all
    /// of its rows is lost.
    public func forget(_ key: String) {
        let (kind, id) = Self.place(key)
        core.withModel { $0.forget(kind, id) }
    }

    /// Archives a project: lists have it only when they are asked for archived ones.
    public func archive(_ key: String) {
        let (kind, id) = Self.place(key)
        guard kind == .projects else { fatalError("\(key) is no project") }
        core.withModel { $0.archive(id, now: now) }
    }

    /// A row as lists have it, without `id` and `at`, as JSON text; nil when there is none or it
    /// was deleted.
    public func record(_ key: String) -> String? {
        let (kind, id) = Self.place(key)
        let now = now
        return core.withModel { model in
            model.live(kind, id).map { Self.text(model.wire(kind, $0, .list, now)) }
        }
    }

    /// All rows of a collection that are not deleted, by id, each in the form of ``record(_:)``.
    public func records(in collection: CollectionName) -> [String: String] {
        guard let kind = TogglKind(rawValue: collection.rawValue) else { return [:] }
        let now = now
        return core.withModel { model in
            let rows = (model.rows[kind] ?? []).filter { !$0.isDeleted }
            return Dictionary(
                rows.map { row in
                    let id = kind == .preferences ? kind.rawValue : "\(row.id)"
                    return (id, Self.text(model.wire(kind, row, .list, now)))
                }
            ) { _, last in last }
        }
    }

    /// Whether a row can have this key: `projects/5`.
    package static func isRow(_ key: String) -> Bool { find(key) != nil }

    private var now: Timestamp { core.now() }

    private static func text(_ wire: JSONObject) -> String {
        var wire = wire
        wire["id"] = nil
        wire["at"] = nil
        return JSONValue.object(wire).description
    }

    private static func place(_ key: String) -> (TogglKind, Int64) {
        guard let place = find(key) else {
            fatalError("\(key) is no row: projects/5 would be")
        }
        return place
    }

    private static func find(_ key: String) -> (TogglKind, Int64)? {
        guard let entity = EntityKey(key),
            let kind = TogglKind(rawValue: entity.collection.rawValue)
        else { return nil }
        return (kind == .preferences ? 0 : Int64(entity.id)).map { (kind, $0) }
    }
}
