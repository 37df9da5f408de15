// TogglServerModel.swift — a server that behaves like Toggl's API 9, as a value: no sockets and no
// clock.
//
// It holds the data that one user can access. Not modelled: other users, paging, writes of tasks,
// reports other than the search for projects, and the rule that only one time entry runs at a time.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server that behaves like Toggl: give it a request and the time, and it returns the answer.
///
/// It begins with a user (1) without a default workspace, with preferences, and with nothing else.
/// Documents are returned byte for byte; `id`, `at` and `server_deleted_at` are the server's.
/// Requests that are not modelled are refused with 404, 405 or 400, never silently ignored.
public struct TogglServerModel: Sendable {
    /// Accepted values of `Authorization`; nil accepts any value, and none.
    public var acceptedCredentials: Set<String>?
    /// The id that the next new row gets.
    public var nextID: Int64
    /// The most requests within a time, beyond which the answer is 429; nil for no limit.
    public var limit: SyncSettings.RequestLimit?
    /// How many calendar months back the since-date of a list may lie.
    public var sinceMonthsMax = 3

    var rows: [TogglRowType: [TogglRow]] = [:]
    /// Workspaces to which the user has lost access.
    var lostWorkspaces: Set<String> = []
    /// When the requests within the limit's time were accepted, in milliseconds since 1970.
    private var taken: [Int64] = []

    /// A server with a user and preferences.
    public init(nextID: Int64 = 1000, limit: SyncSettings.RequestLimit? = nil) {
        self.nextID = nextID
        self.limit = limit
        let start = Timestamp(milliseconds: 1_483_228_800_000)
        let user = #"{"id":1,"fullname":"User","default_workspace_id":null}"#
        let preferences = #"{"timeofday_format":"H:mm","date_format":"YYYY-MM-DD"}"#
        _ = put(.user, "1", Array(user.utf8), now: start)
        _ = put(.preferences, "preferences", Array(preferences.utf8), now: start)
    }

    /// Handles one request and returns the answer; the state changes at once.
    ///
    /// - Parameters:
    ///   - request: its method, path and `Authorization` are used.
    ///   - body: the bytes that came with it.
    ///   - nowMilliseconds: the server's clock, in milliseconds since 1970.
    public mutating func handle(
        _ request: HTTPRequest, body: [UInt8]?, nowMilliseconds: Int64
    ) -> TransportResponse {
        var answer: TransportResponse
        do throws(TogglRefusal) {
            try authenticate(request)
            try take(nowMilliseconds)
            answer = try route(
                request, body ?? [], now: Timestamp(milliseconds: nowMilliseconds))
        } catch {
            answer = error.answer
        }
        answer.response.headerFields[.date] = HTTPDate.text(
            Timestamp(milliseconds: nowMilliseconds))
        return answer
    }

    private mutating func route(
        _ request: HTTPRequest, _ body: [UInt8], now: Timestamp
    ) throws(TogglRefusal) -> TransportResponse {
        let path = request.path ?? "/"
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let target = TogglTarget(path: halves[0])
        let query = KintoQuery(halves.count > 1 ? halves[1] : "")
        if case .list = target {
        } else if !query.items.isEmpty {
            throw TogglRefusal(400, "Unknown parameters")
        }
        switch (target, request.method) {
        case (.list(let type), .get): return TogglAnswer.list(try list(type, query, now))
        case (.single(let type), .get): return try answer(type, rows[type]?.first)
        case (.entry(let id), .get): return try answer(.timeEntries, reachable(.timeEntries, id))
        case (.workspace(let id), .get): return try answer(.workspaces, live(.workspaces, id))
        case (.single(.user), .put), (.single(.preferences), .post):
            guard case .single(let type) = target, let row = rows[type]?.first else { break }
            return try update(type, row, body, now)
        case (.workspaces, .post): return try create(.workspaces, in: nil, body, now)
        case (.place(let type, let workspace), .post):
            return try create(type, in: workspace, body, now)
        case (.row(let type, let workspace, let id), .put):
            try require(workspace)
            guard let row = try reachable(type, id) else { throw Self.missing(type) }
            return try update(type, row, body, now)
        case (.row(let type, let workspace, let id), .delete):
            guard let row = try reachable(type, id), row.workspace == workspace else {
                throw Self.missing(type)
            }
            delete(type, id, now: now)
            return TogglAnswer.json(200, [])
        case (.search(let workspace), .post): return try search(workspace, body)
        case (.unknown, _): break
        default: throw TogglRefusal(405, "Method not allowed")
        }
        throw TogglRefusal(404, "Not found")
    }

    private func authenticate(_ request: HTTPRequest) throws(TogglRefusal) {
        guard let acceptedCredentials else { return }
        let sent = request.headerFields[.authorization] ?? ""
        guard acceptedCredentials.contains(sent) else {
            throw TogglRefusal(401, "Incorrect username and/or password")
        }
    }

    /// Counts a request; one beyond the limit is refused and not counted.
    private mutating func take(_ now: Int64) throws(TogglRefusal) {
        guard let limit else { return }
        let span = Int64(limit.within.seconds) * 1000
        taken.removeAll { $0 <= now - span }
        if taken.count >= limit.requests, let first = taken.min() {
            throw TogglRefusal(
                429, "Too many requests", retryAfterSeconds: (first + span - now + 999) / 1000)
        }
        taken.append(now)
    }

    private func answer(
        _ type: TogglRowType, _ row: TogglRow?
    ) throws(TogglRefusal) -> TransportResponse {
        guard let row else { throw Self.missing(type) }
        return TogglAnswer.json(200, row.document.bytes)
    }

    static func missing(_ type: TogglRowType) -> TogglRefusal {
        TogglRefusal(404, "Not found in \(type.rawValue)")
    }
}

extension TogglServerModel: ServerModel {
    static func error(_ status: Int) -> TransportResponse {
        TogglRefusal(status, KintoAnswer.reason(status)).answer
    }
}
