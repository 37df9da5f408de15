// ScenarioSupport.swift — scenarios out of texts, with a model and a server of their own.

import Testing
import TidemarkTesting

/// A scenario's text around some of its members.
func scenarioText(_ members: String, rows: String = "{}") -> String {
    let more = members.isEmpty ? "" : ",\(members)"
    return #"""
        {"id":"s","title":"a scenario",
         "model":{"collections":[
            {"name":"lists"},
            {"name":"tasks","conflict":"localWins","references":{"list":"lists"}}],
            "sync":{"batchSize":1}},
         "server":{"kind":"kinto","rows":\#(rows)}\#(more)}
        """#
}

/// The same of a server of files, with the rows of the collection `files`.
func fileScenarioText(rows: String, _ members: String) -> String {
    #"""
    {"id":"s","title":"a scenario",
     "model":{"collections":[
        {"name":"files","references":{"parent":"files"},"conflict":"serverWins",
         "pushes":["create","update","delete"],
         "tree":{"parent":"parent","name":"name","kind":"kind","isByPath":true}}]},
     "server":{"kind":"webdav","rows":{"files":\#(rows)}},\#(members)}
    """#
}

/// Reads a file.
func scenarios(_ text: String) throws -> [Scenario] {
    try ScenarioFile(parsing: Array(text.utf8), name: "file.json").scenarios
}

/// Runs a scenario with those members.
func runScenario(_ members: String, rows: String = "{}") async throws -> ScenarioResult {
    let scenario = try #require(try scenarios(scenarioText(members, rows: rows)).first)
    return try await scenario.run()
}
