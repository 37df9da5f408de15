// RulesOfACollection.swift — what the article of that name shows of the rules; they are built here.

package import Tidemark

package enum RulesOfACollection {
    static func firstRules() -> CollectionModel {
        var entries = CollectionModel("entries", lastChangeField: "at")
        entries.ids = .serverNumber
        entries.since = SinceRule(months: 2, serverDate: true)
        return entries
    }

    /// Teams, projects and entries with all rules of the article.
    package static func all() -> [CollectionModel] {
        var teams = CollectionModel("teams")
        var projects = CollectionModel("projects", references: [Reference("team", to: "teams")])
        var entries = firstRules()
        entries.ids = .serverNumber
        entries.match = ["start", "title"]
        entries.pushes = [.create, .update]

        entries.since = SinceRule(months: 2, serverDate: true)
        entries.window = PullWindow(months: 2, daysAhead: 2)
        entries.after = ["tags"]

        teams.absence = .hides
        teams.required = "noTeam"
        teams.restartsOnGain = true
        entries.references = [Reference("team", to: "teams")]
        entries.owner = "team"

        entries.nullable = ["duration"]
        entries.rivals = RivalRule(whileNull: "duration", start: "start", stop: .nextStart)

        projects.placeholder = PlaceholderRule(
            fields: ["title": "Out of reach"], copies: ["team"], refetchHours: 24, together: "team")
        entries.references = [Reference("project", to: "projects", placeholder: .always)]

        entries.retention = RetentionRule(field: "start", months: 2)
        return [teams, projects, entries]
    }
}
