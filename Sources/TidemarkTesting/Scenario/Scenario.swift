// Scenario.swift — one scenario: a model, a server, steps and expectations.

package import Tidemark
package import TidemarkEvents

/// A sequence of steps between a replica and a server, with expectations; read from JSON and run on
/// virtual time.
///
/// Log, views and engine are the real ones; the server is in memory, and waiting moves the clock.
public struct Scenario: Sendable {
    /// Its id: the words before the title.
    public let id: String
    /// What it demonstrates, in a sentence.
    public let title: String
    /// The document that describes the behaviour; may be empty.
    public let source: String
    package let model: SyncModel
    let server: ScenarioServerKind
    let setup: ScenarioSetup
    let clock: Timestamp
    let seed: UInt64
    let given: [ScenarioStep]
    let steps: [ScenarioStep]
    let expectation: ScenarioExpectation

    private static let members = [
        "$schema", "id", "title", "source", "note", "model", "clock", "seed", "server", "given",
        "steps", "expect",
    ]

    init(_ value: JSONValue, at path: String) throws(ScenarioError) {
        let members = try ScenarioMembers(
            ScenarioText.expanded(value, at: path), at: path, Self.members)
        id = try members.neededText("id")
        title = try members.neededText("title")
        source = try members.text("source") ?? ""
        _ = try members.text("note")
        clock = try members.time("clock") ?? ManualClock().start
        seed = UInt64(try members.integer("seed", in: 0...Int64(UInt32.max)) ?? 1)
        let server = try ScenarioMembers(
            try members.needed("server"), at: members.path("server"), ScenarioSetup.members)
        guard let kind = try server.word("kind", ScenarioServerKind.self) else {
            throw ScenarioError(server.path("kind"), "is needed")
        }
        self.server = kind
        let dhis2 = try Dhis2Setup(server, kind)
        let webdav = try WebDAVSetup(server, kind)
        model = try ScenarioModel.read(
            try members.needed("model"), at: members.path("model"),
            kind.remote(dhis2.version, webdav))
        setup = try ScenarioSetup(server, kind, model, dhis2, webdav)
        let reader = ScenarioReader(server: kind, model: model)
        given = try reader.steps(try members.list("given"))
        steps = try reader.steps(try members.list("steps"))
        expectation = try ScenarioExpectation(
            members["expect"] ?? [:], at: members.path("expect"), model, kind)
    }

    /// The server's address and adapter.
    var remote: Remote { server.remote(setup.dhis2.version, setup.webdav) }

    /// Runs the scenario on a temporary store, which is deleted afterwards.
    ///
    /// At the end, the store is verified, too: the views must equal a new fold of the log.
    ///
    /// - Parameter path: where the store is kept instead, for `tidemark why`, `dump` and `verify`:
    ///   a folder that isn't there yet, in one that is.
    /// - Returns: the mismatches with the expectations; none when it passed.
    /// - Throws: when the temporary store can't be made, deleted or kept.
    public func run(keepingStoreAt path: String? = nil) async throws -> ScenarioResult {
        try await run { replica in
            if let path { try replica.moveTemporary(to: path) }
        }
    }

    /// The same, with a look at the store before it is deleted.
    package func run(
        inspecting inspect: @Sendable (Replica) async throws -> Void
    ) async throws -> ScenarioResult {
        try await ScenarioRun(self).run(inspecting: inspect)
    }
}

/// What the server holds when the scenario begins.
struct ScenarioSetup: Sendable {
    static let members =
        ["kind", "rows", "nextID", "limit", "quotas"] + Dhis2Setup.members
        + WebDAVSetup.members

    var rows: [(key: EntityKey, document: JSONValue)] = []
    /// The first id that the server assigns, to whatever; it counts up from there.
    var nextID: Int?
    /// The limit of requests: how many at once, and the time in which they are forgotten.
    var limit: RequestLimit?
    /// How many requests an hour allows.
    var quotas: TogglQuotaLimits?
    /// Which DHIS2 it is.
    var dhis2: Dhis2Setup
    /// What kind of file server it is.
    var webdav: WebDAVSetup

    init(
        _ server: ScenarioMembers, _ kind: ScenarioServerKind, _ model: SyncModel,
        _ dhis2: Dhis2Setup, _ webdav: WebDAVSetup
    ) throws(ScenarioError) {
        self.dhis2 = dhis2
        self.webdav = webdav
        for (name, path, list) in try server.members("rows") {
            guard let collection = model[CollectionName(name)] else {
                throw ScenarioError(path, "the model has no such collection")
            }
            for (path, row) in try ScenarioMembers.list(list, at: path) {
                guard row.object != nil else { throw ScenarioError(path, "an object is needed") }
                guard let id = row[collection.idField]?.idText ?? kind.id(of: collection.name)
                else {
                    throw ScenarioError(
                        "\(path).\(collection.idField)", "a text or a whole number is needed")
                }
                let key = EntityKey(collection.name, id)
                if let problem = kind.problem(with: key) { throw ScenarioError(path, problem) }
                try kind.check(row, idField: collection.idField, at: path)
                rows.append((key, row))
            }
        }
        nextID = try server.integer("nextID", in: 1...Int64(Int32.max))
        if nextID != nil, !kind.isToggl {
            throw ScenarioError(server.path("nextID"), "such a server does not number entities")
        }
        quotas = try Self.quotas(server, kind)
        guard let value = server["limit"] else { return }
        let members = try ScenarioMembers(
            value, at: server.path("limit"), ["requests", "seconds"])
        guard let requests = try members.integer("requests", in: 1...10_000),
            let seconds = try members.integer("seconds", in: 1...86_400)
        else { throw ScenarioError(members.path, "requests and seconds are needed") }
        guard kind.isToggl else {
            throw ScenarioError(members.path, "such a server limits nothing")
        }
        limit = RequestLimit(requests: requests, within: .seconds(seconds))
    }

    private static func quotas(
        _ server: ScenarioMembers, _ kind: ScenarioServerKind
    ) throws(ScenarioError) -> TogglQuotaLimits? {
        guard let value = server["quotas"] else { return nil }
        let members = try ScenarioMembers(
            value, at: server.path("quotas"), ["user", "organization"])
        guard let user = try members.integer("user", in: 1...10_000),
            let organization = try members.integer("organization", in: 1...10_000)
        else { throw ScenarioError(members.path, "user and organization are needed") }
        guard kind.isToggl else {
            throw ScenarioError(members.path, "such a server has no quotas")
        }
        return TogglQuotaLimits(user: user, organization: organization)
    }
}
