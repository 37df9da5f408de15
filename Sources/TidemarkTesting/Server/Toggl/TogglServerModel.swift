// TogglServerModel.swift — a server that behaves like Toggl Track 9, as a value.
//
// It is made from Toggl's published reference, from recorded answers of the real server and from
// what tested clients do. Where nothing is known, the file that decides says so with "not known".
// Not modelled: other users, organizations, groups, writes of workspaces and tasks, passwords, and
// reports other than the search for projects.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server that behaves like Toggl: give it a request and the time, and it returns the answer.
///
/// It begins with a user (1) without a default workspace, with preferences, and with nothing else.
/// Every request needs an `Authorization`. Addresses that are not modelled are refused with 404,
/// methods with 405; parameters of a query that nobody knows are passed over, as Toggl does.
public struct TogglServerModel: Sendable {
    /// Accepted values of `Authorization`; nil accepts any value.
    public var acceptedCredentials: Set<String>?
    /// The id that the next new row gets.
    public var nextID: Int64
    /// The id that the next new time entry gets; nil where it is ``nextID``, too.
    public var nextEntryID: Int64?
    /// How many requests an hour allows; nil counts them and refuses none.
    public var quotas: TogglQuotaLimits?
    /// The bucket of requests that may come at once, and the time in which it drains: beyond it the
    /// answer is 429; nil for no limit.
    public var limit: SyncSettings.RequestLimit?
    /// How many calendar months back `since` and `start_date` may lie.
    public var sinceMonthsMax = 3
    /// The most time entries in a list; of more, the newest are listed.
    public var entriesMax = 1000
    /// How many projects a page of the reports' search has unless the request says.
    public var searchPageRows = 201
    /// Whether empty lists of tags, clients and tasks are `null` and not `[]`.
    public var emptyListsAreNull = true
    /// For how many seconds a new project is seen by nobody but by the answer to its creation.
    public var settlingSeconds: Int64 = 0
    /// Whether members that Toggl does not know are kept and returned, so that tests may mark rows.
    public var keepsUnknownMembers = false

    var rows: [TogglKind: [TogglItem]] = [:]
    /// Workspaces to which the user has lost access.
    var lostWorkspaces: Set<Int64> = []
    private var counts = TogglCounts()
    private var requestsSeen: Int64 = 0

    /// A server with a user and preferences.
    ///
    /// - Parameters:
    ///   - nextID: the first id that it gives.
    ///   - nextEntryID: the first id of a time entry, which Toggl's are above 2³¹; nil for one
    ///     count of all rows.
    ///   - quotas: how many requests an hour allows.
    ///   - limit: how many requests may come at once.
    public init(
        nextID: Int64 = 1000, nextEntryID: Int64? = 3_000_000_001, quotas: TogglQuotaLimits? = nil,
        limit: SyncSettings.RequestLimit? = nil
    ) {
        self.nextID = nextID
        self.nextEntryID = nextEntryID
        self.quotas = quotas
        self.limit = limit
        let start = Timestamp(milliseconds: 1_483_228_800_000)
        put(.user, 1, [:], now: start)
        put(.preferences, 0, [:], now: start)
    }

    /// The requests so far by the quota for which they count, those that were refused included.
    public var requestsByQuota: [TogglQuota: Int] { counts.total }

    /// Handles one request and returns the answer; the state changes at once.
    ///
    /// - Parameters:
    ///   - request: its method, path and `Authorization` are used.
    ///   - body: the bytes that came with it.
    ///   - now: the server's clock.
    public mutating func handle(
        _ request: HTTPRequest, body: [UInt8]?, at now: Timestamp
    ) -> TransportResponse {
        let now = now.toTheMillisecond
        let path = request.path ?? "/"
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let call = TogglCall(
            method: request.method, path: TogglPath(halves[0]),
            query: KintoQuery(halves.count > 1 ? halves[1] : ""), body: body ?? [], now: now)
        var answer: TransportResponse
        do throws(TogglRejection) {
            try authenticate(request)
            try count(call)
            answer = try route(call)
        } catch {
            answer = error.answer
        }
        describe(&answer, call)
        return answer
    }

    // MARK: Before a request is looked at

    private func authenticate(_ request: HTTPRequest) throws(TogglRejection) {
        guard let sent = request.headerFields[.authorization] else {
            throw TogglRejection(401, body: .none, fields: [.authorizationMissing: "true"])
        }
        if let acceptedCredentials, !acceptedCredentials.contains(sent) {
            throw TogglRejection(403, "Incorrect username and/or password")
        }
    }

    private mutating func count(_ call: TogglCall) throws(TogglRejection) {
        if let limit, !counts.pour(limit, call.now) {
            throw TogglRejection(429, body: .plain("Too Many Requests"))
        }
        guard let quota = quota(call.path), !counts.take(quota, quotas, call.now) else { return }
        throw TogglRejection(
            402, "You have hit your hourly limit for API calls. Try again when it is reset.")
    }

    /// The quota for which a request counts; nil for an address that there is not.
    private func quota(_ path: TogglPath) -> TogglQuota? {
        switch path {
        case .gone, .unknown: nil
        default: path.workspace.map { .organization(organization($0)) } ?? .user
        }
    }

    /// The organization of a workspace; without one it is alone in one with its own id.
    func organization(_ workspace: Int64) -> Int64 {
        row(.workspaces, workspace)?.fields["organization_id"]?.int64Value ?? workspace
    }

    /// Sets the header fields that every answer has.
    private mutating func describe(_ answer: inout TransportResponse, _ call: TogglCall) {
        requestsSeen += 1
        let digits = String(requestsSeen, radix: 16)
        let id = String(repeating: "0", count: 12 - digits.count) + digits
        var fields = answer.response.headerFields
        fields[.date] = HTTPDate.text(call.now)
        fields[.cacheControl] =
            "no-cache, private, no-store, must-revalidate, max-stale=0, post-check=0, pre-check=0"
        fields[.togglRequestID] = "00000000-0000-4000-8000-\(id)"
        fields[.requestID] = String(repeating: "0", count: 20) + id
        if let quotas {
            let left = counts.left(quota(call.path) ?? .user, quotas, call.now)
            fields[.togglQuotaRemaining] = "\(left.remaining)"
            fields[.togglQuotaResetsIn] = "\(left.resetsIn)"
        }
        answer.response.headerFields = fields
    }

    /// `GET /me/quota`: what is left to the user and to each organization.
    func quotaList(_ now: Timestamp) -> TransportResponse {
        let limits = quotas ?? .free
        var organizations: [Int64] = []
        for row in reachable(.workspaces, now) where !row.isDeleted {
            let id = organization(row.id)
            if !organizations.contains(id) { organizations.append(id) }
        }
        let list = [nil] + organizations.map { Optional($0) }
        return TogglReply.json(
            200,
            .array(
                list.map { id in
                    let quota = id.map { TogglQuota.organization($0) } ?? .user
                    let left = counts.left(quota, limits, now)
                    return [
                        "organization_id": .integer(id),
                        "remaining": .integer(Int64(left.remaining)),
                        "resets_in_secs": .integer(left.resetsIn),
                        "total": .integer(Int64(limits.allowed(quota))),
                    ]
                }))
    }
}

/// A request, read so far.
struct TogglCall: Sendable {
    var method: HTTPRequest.Method
    var path: TogglPath
    var query: KintoQuery
    var body: [UInt8]
    var now: Timestamp
}

extension TogglServerModel: ServerModel {
    static func error(_ status: Int) -> TransportResponse {
        TogglRejection(status, TogglReply.reason(status)).answer
    }
}
