// Dhis2ServerModel.swift — a server that behaves like DHIS2, as a value.
//
// It is made from the published documentation of DHIS2's web API, from its list of validation
// codes, and from recorded answers. Where nothing is known, the file that decides says so with
// "not known". Not modelled: text messages, analytics, sharing by user groups, programs'
// rules other than those that are given, and imports of metadata.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server that behaves like DHIS2: give it a request and the time, and it returns the answer.
///
/// It begins with one user and nothing else. Every request needs an `Authorization`. What refers
/// to metadata is checked: a program, a unit or a data element must have been put before.
public struct Dhis2ServerModel: Sendable {
    /// The version that it is.
    public var version: Dhis2Version
    /// Who may sign in; the first whose `authorization` fits is the one who asks.
    public var users: [Dhis2User]
    /// How many hours the server's wall clock is ahead of UTC: times are told without a zone.
    public var hoursAheadOfUTC: Int
    /// Rules that complain about values.
    public var valueRules: [Dhis2ValueRule] = []
    /// The status of a refused access to a tracked entity: 401, 403, 404 or 409.
    ///
    /// Usually 401 up to 2.40, 403 in 2.41 and 404 in 2.42, which tells nothing of the reason.
    public var denialStatus: Int
    /// How many requests for it find a job that is not done.
    public var jobPolls = 0
    /// After how many seconds a job is done; it is imported then and not before.
    public var jobSeconds: Int64 = 0
    /// Whether ids other than 11 letters and digits are accepted, so that tests may use short ones.
    public var acceptsAnyID = false
    /// Whether what `order` leaves equal comes in another order on each page, as PostgreSQL may
    /// have it; else what was put last comes first, or keeps its place.
    public var mixesTies = false
    /// For how many seconds temporary access lasts; the server's usual time is 3 hours.
    public var temporaryAccessSeconds: Int64 = 3 * 3600

    var metadata: [String: [Dhis2Metadatum]] = [:]
    var rows: [Dhis2Kind: [String: Dhis2Record]] = [:]
    var sequence: Int64 = 0
    /// The unit that owns a tracked entity in a program.
    var owners: [Dhis2Ownership: String] = [:]
    /// Pairs to which access is refused, whatever their units are.
    var denied: Set<Dhis2Ownership> = []
    /// Until when a user has access that he would not have.
    var temporary: [Dhis2Access: Timestamp] = [:]
    var jobs: [Dhis2Job] = []
    var reservations = Dhis2Reservations()
    var dataValues: [Dhis2DataValue.Key: Dhis2DataValue] = [:]
    var files: [String: Dhis2File] = [:]
    var registrations: [Dhis2Registration.Key: Dhis2Registration] = [:]

    /// A server with users.
    ///
    /// - Parameters:
    ///   - version: which one it is.
    ///   - users: who may sign in.
    ///   - hoursAheadOfUTC: its time zone.
    public init(
        _ version: Dhis2Version = .v40, users: [Dhis2User] = [Dhis2User()],
        hoursAheadOfUTC: Int = 0
    ) {
        self.version = version
        self.users = users
        self.hoursAheadOfUTC = hoursAheadOfUTC
        denialStatus =
            switch version {
            case .v37, .v40: 401
            case .v41: 403
            case .v42: 404
            }
    }

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
        runDueJobs(now)
        var answer: TransportResponse
        do throws(Dhis2Rejection) {
            let user = try user(of: request)
            let halves = (request.path ?? "/")
                .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            answer = try route(
                Dhis2Call(
                    method: request.method, path: Dhis2Path(halves[0]),
                    query: Dhis2Query(halves.count > 1 ? halves[1] : ""), body: body ?? [],
                    now: now, user: user, contentType: request.headerFields[.contentType]))
        } catch {
            answer = error.answer
        }
        answer.response.headerFields[.date] = HTTPDate.text(now)
        answer.response.headerFields[.cacheControl] = "no-cache, private"
        return answer
    }

    private func user(of request: HTTPRequest) throws(Dhis2Rejection) -> Dhis2User {
        let sent = request.headerFields[.authorization]
        let user = users.first { $0.authorization == nil || $0.authorization == sent }
        guard sent != nil, let user else { throw Dhis2Rejection(401, "Unauthorized") }
        return user
    }

    // MARK: Access

    /// Refuses everybody access to a tracked entity in a program, as when a unit beyond their reach
    /// owns it and the program is protected.
    public mutating func deny(_ trackedEntity: String, program: String) {
        denied.insert(Dhis2Ownership(trackedEntity: trackedEntity, program: program))
    }

    /// Takes back ``deny(_:program:)``.
    public mutating func grant(_ trackedEntity: String, program: String) {
        denied.remove(Dhis2Ownership(trackedEntity: trackedEntity, program: program))
    }

    /// Ends all temporary access, as time does.
    public mutating func endTemporaryAccess() { temporary = [:] }

    // MARK: Jobs

    /// The ids of the jobs that are not done, in the order in which they came.
    public var pendingJobs: [String] { jobs.filter { $0.report == nil }.map(\.id) }

    /// Carries out the jobs that wait.
    public mutating func finishJobs(at now: Timestamp) {
        let now = now.toTheMillisecond
        for index in jobs.indices where jobs[index].report == nil { run(index, now) }
    }

    /// Forgets all jobs as a restart does; what waited is never imported.
    public mutating func loseJobs() { jobs = [] }

    // MARK: Records

    var time: Dhis2Time { Dhis2Time(hoursAheadOfUTC: hoursAheadOfUTC) }

    /// An object that was not deleted.
    func live(_ kind: Dhis2Kind, _ id: String) -> Dhis2Record? {
        rows[kind]?[id].flatMap { $0.isDeleted ? nil : $0 }
    }

    /// All objects of a kind, in the order of their creation.
    func all(_ kind: Dhis2Kind) -> [Dhis2Record] {
        (rows[kind] ?? [:]).values.sorted { $0.sequence < $1.sequence }
    }

    mutating func keep(_ record: Dhis2Record) {
        rows[record.kind, default: [:]][record.id] = record
    }

    mutating func nextNumber() -> Int64 {
        sequence += 1
        return sequence
    }

    /// An id that nobody has.
    mutating func newID() -> String { Dhis2ID.made(nextNumber()) }
}

extension Dhis2ServerModel: ServerModel {
    static func error(_ status: Int) -> TransportResponse {
        Dhis2Rejection(status, KintoAnswer.reason(status)).answer
    }
}
