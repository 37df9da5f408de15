// RulesOfACollection.swift — what the article of that name shows of the rules; they are built here.

package import Tidemark

package enum RulesOfACollection {
    static func firstRules() -> CollectionModel {
        CollectionModel(
            "entries", lastChangeField: "at", ids: .serverNumber,
            since: .init(ageMax: .months(2), serverDate: true))
    }

    /// Teams, projects and entries with all rules of the article.
    package static func all() -> [CollectionModel] {
        var teams = CollectionModel("teams")
        var projects = CollectionModel("projects", references: [Reference("team", to: "teams")])
        var entries = firstRules()
        entries.ids = .serverNumber
        entries.match = ["start", "title"]
        entries.pushes = [.create, .update]

        entries.since = .init(ageMax: .months(2), serverDate: true)
        entries.window = .init(back: .months(2), ahead: .days(2))
        entries.absence = .keeps
        entries.listedAfter = ["tags"]

        teams.access = .init(hidesAbsent: true, missing: "noTeam", relistsOnGain: true)
        entries.references = [Reference("team", to: "teams")]
        entries.access = .init(owner: "team")

        entries.nullable = ["duration"]
        entries.rivals = .init(
            whileNull: "duration", start: "start", end: .secondsSinceStart, stop: .nextStart)

        projects.placeholder = .init(
            fields: ["title": "Out of reach"], copies: ["team"],
            refetch: .init(every: .hours(24), together: "team"))
        entries.references = [Reference("project", to: "projects", placeholder: .always)]

        entries.references = [Reference("tag_ids", to: "tags", removal: .init(names: "tags"))]

        entries.retention = .init(field: "start", ageMax: .months(2))

        entries.actions = [
            .init("archive", waitsForTree: true), .init("unlock", grants: .hours(2)),
        ]
        return [teams, projects, entries]
    }

    static func runs(of engine: SyncEngine) async throws {
        _ = try await engine.sync(.remoteChange, scope: .pull(["entries"]))
        _ = try await engine.sync(.timer, scope: .cleanUp)
    }
}
