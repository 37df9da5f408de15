// CutRun.swift — sync runs that are cut off: by a process that dies after some commits, or by a
// network that fails after some requests.

import HTTPTypes
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkRules
import TidemarkSync
import TidemarkViews

/// What a run throws whose process died.
struct ProcessDied: Error {}

/// Passes everything on, until so many commits were written.
struct DyingHost: SyncHost {
    let next: any SyncHost
    let commitsMax: Int
    private let commits = SyncCounter()

    init(_ next: any SyncHost, after commitsMax: Int) {
        self.next = next
        self.commitsMax = commitsMax
    }

    var countsAttempts: Bool { next.countsAttempts }
    func interruption() -> SyncFailure? { next.interruption() }
    func sendsMore(_ isTimely: Bool, beside open: [Position]) -> Bool {
        next.sendsMore(isTimely, beside: open)
    }
    func isCut(_ question: SyncQuestion, _ isLate: Bool) -> Bool {
        next.isCut(question, isLate)
    }
    func cut(at place: CutPlace?) -> CutPlace? { next.cut(at: place) }
    var logsStart: Bool { next.logsStart }
    func pause(seconds: Int64) async throws { try await next.pause(seconds: seconds) }
    func credentials() async throws -> Credentials { try await next.credentials() }
    func read<R>(_ journal: Journal, _ body: (ViewReader) throws -> R) throws -> R {
        try next.read(journal, body)
    }
    func ask(
        _ question: SyncQuestion, _ proof: Credentials, _ limits: TransportLimits
    ) throws -> SyncReply { try next.ask(question, proof, limits) }
    func next<Answered: Sendable>(
        of group: inout ThrowingTaskGroup<Answered, any Error>
    ) async throws -> Answered? { try await next.next(of: &group) }

    func commit<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        guard commits.count() < commitsMax else { throw ProcessDied() }
        return try await next.commit(journal, at: now, body)
    }
}

extension Device {
    /// A run whose process dies after so many commits; nil when it did.
    func run(
        dyingAfter commits: Int = .max, isFull: Bool = false,
        adapter: (any ServerAdapter)? = nil
    ) async throws -> SyncOutcome? {
        let dependencies = replica.dependencies
        var driver = SyncDriver(
            journal: replica.journal, model: model, remote: server.remote,
            adapter: try adapter ?? server.makeAdapter(), transport: wire,
            credentials: { .basic(user: "me", password: "secret") }, dependencies: dependencies)
        driver.host = DyingHost(driver.host, after: commits)
        do {
            return try await driver.run(
                triggers: [.userRequested], mode: isFull ? .whole : .changes,
                time: SyncTime(from: dependencies.moment, deadline: nil))
        } catch is ProcessDied { return nil }
    }
}

extension SyncDevice {
    /// Has every request after some fail.
    func fail(after requests: Int, _ failure: @escaping @Sendable () -> SyncWire.Answer) {
        wire.tap { _, number, pass in number > requests ? failure() : await pass() }
    }

    /// What the server said of each entity, and how far each collection was listed; without the
    /// places in the log.
    func knowledge() throws -> [String: String] {
        var known: [String: String] = [:]
        try replica.journal.read { views in
            try views.forEachEntity { key, row in
                let revision = row.revision?.description ?? "-"
                known["\(key)"] =
                    "\(row.baseState) \(revision) \(String(decoding: row.base, as: UTF8.self)) "
                    + "\(row.status.rawValue)"
                return true
            }
            for name in model.collections.map(\.name) {
                let mark = try views.watermark(PullTarget(name))
                known["mark \(name)"] =
                    "\(mark?.cursor?.description ?? "-") \(mark?.epoch?.description ?? "-") "
                    + "\(mark?.since.map { "\($0)" } ?? "-")"
                known["held \(name)"] = "\(try views.held(PullTarget(name))?.ids ?? [])"
                known["listing \(name)"] = "\(try views.listing(PullTarget(name))?.page ?? 0)"
                known["owed \(name)"] = "\(try views.isOwed(PullTarget(name)))"
            }
        }
        return known
    }
}
