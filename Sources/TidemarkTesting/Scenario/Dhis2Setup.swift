// Dhis2Setup.swift — what a scenario says of a server that speaks DHIS2's protocol beside its rows.

import TidemarkEvents

/// What kind of DHIS2 a scenario's server is.
struct Dhis2Setup: Sendable {
    static let members = ["version", "rules", "readOnly", "jobs", "user"]

    var version = Dhis2Version.v41
    /// Rules of programs about values.
    var rules: [Dhis2ValueRule] = []
    /// How many requests for it find a job that is not done.
    var polls = 0
    /// After how many seconds a job is done.
    var jobSeconds: Int64 = 0

    /// Who signs in: someone who may do everything, unless units are given.
    var user = Dhis2User(isSuperuser: true)

    /// - Throws: for members that another kind of server does not have.
    init(_ server: ScenarioMembers, _ kind: ScenarioServerKind) throws(ScenarioError) {
        if kind != .dhis2, let name = Self.members.first(where: { server[$0] != nil }) {
            throw ScenarioError(server.path(name), "such a server has no \(name)")
        }
        if let text = try server.text("version") {
            guard let known = Dhis2Version.allCases.first(where: { $0.word == text }) else {
                let words = Dhis2Version.allCases.map(\.word).joined(separator: ", ")
                throw ScenarioError(server.path("version"), "one of \(words) is needed")
            }
            version = known
        }
        for (path, value) in try server.list("rules") {
            let rule = try ScenarioMembers(
                value, at: path, ["id", "element", "value", "message", "isWarning"])
            rules.append(
                Dhis2ValueRule(
                    id: try rule.text("id") ?? "R\(rules.count + 1)",
                    element: try rule.neededText("element"), value: try rule.text("value"),
                    severity: try rule.flag("isWarning") ?? false ? .warning : .error,
                    message: try rule.neededText("message")))
        }
        for (path, value) in try server.list("readOnly") {
            guard let id = value.stringValue, !id.isEmpty else {
                throw ScenarioError(path, "the id of a program, a stage or a type is needed")
            }
            user.readOnly.insert(id)
        }
        if let value = server["user"] {
            let units = try ScenarioMembers(value, at: server.path("user"), ["capture", "search"])
            user.isSuperuser = false
            user.captureUnits = try Self.units("capture", units) ?? []
            user.searchUnits = try Self.units("search", units)
        }
        guard let value = server["jobs"] else { return }
        let jobs = try ScenarioMembers(value, at: server.path("jobs"), ["polls", "seconds"])
        polls = try jobs.integer("polls", in: 0...10_000) ?? 0
        jobSeconds = Int64(try jobs.integer("seconds", in: 0...1_000_000) ?? 0)
    }
}

extension Dhis2Setup {
    private static func units(
        _ name: String, _ members: ScenarioMembers
    ) throws(ScenarioError) -> [String]? {
        guard members[name] != nil else { return nil }
        var units: [String] = []
        for (path, item) in try members.list(name) {
            guard let id = item.stringValue else { throw ScenarioError(path, "an id is needed") }
            units.append(id)
        }
        return units
    }
}

extension Dhis2Version {
    /// `2.41`.
    fileprivate var word: String { "2.\(rawValue)" }
}
