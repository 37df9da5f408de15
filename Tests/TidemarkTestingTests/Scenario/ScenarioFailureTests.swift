// ScenarioFailureTests.swift — each kind of expectation is able to fail, and says how.

import Testing
import TidemarkTesting

@Suite struct `what is otherwise than a scenario expects` {
    /// A task is there and was synced; one is made and pushed.
    private static let usual = #"""
        "given":[{"sync":"all"}],
        "steps":[{"create":"tasks/new","document":{"n":1}},{"sync":"all"}],
        """#
    private static let rows = #"{"tasks":[{"id":"old","n":0,"tags":["a","b"],"at":null}]}"#

    private func mismatches(_ expect: String) async throws -> [ScenarioMismatch] {
        let members = Self.usual + "\"expect\":\(expect)"
        return try await runScenario(members, rows: Self.rows).mismatches
    }

    @Test(arguments: [
        #"{"rows":{"tasks/new":{"status":"synced","document":{"n":1}},"tasks/none":null}}"#,
        #"{"rows":{"tasks/old":{"document":{"n":0,"at":null,"x":{"$absent":true}}}}}"#,
        #"{"rows":{"tasks/old":{"document":{"at":{"$present":true},"tags":["a",{"$like":"*"}]}}}}"#,
        #"{"server":{"tasks/new":{"$exactly":{"n":1}},"tasks/none":null}}"#,
        #"{"collections":{"tasks":["old","new"],"lists":[]}}"#,
        #"{"outbox":[],"mutations":[{"entity":"tasks/new","kind":"create","state":"accepted"}]}"#,
        #"{"watermarks":{"tasks":{"$present":true}}}"#,
        #"{"bindings":{"tasks/new":null}}"#,
        #"{"outcome":"synced"}"#,
        #"{"outcome":{"result":"synced","pushed":1,"paused":{}}}"#,
        #"{"requests":{"including":["GET *","PUT */records/new?"],"without":["DELETE *"]}}"#,
        #"{"requests":{"count":4,"including":["PUT *"],"without":["DELETE *"]}}"#,
        #"{"rows":{"tasks/new":{"document":{"n":{"$any":true}}}}}"#,
        #"{"requests":{"unordered":["PUT *","GET */tasks/records","GET */lists/*","GET *"]}}"#,
        #"{"log":{"including":["local.created tasks/new","request.sent *"],"count":13}}"#,
        #"{"decisions":[],"issues":[],"waits":{"count":0}}"#,
        #"{"progress":["pulling","pushing","cleaning","synced"]}"#,
    ])
    func `is nothing where it is as expected`(expect: String) async throws {
        let found = try await mismatches(expect)

        #expect(found == [], "\(found)")
    }

    @Test(arguments: [
        (#"{"rows":{"tasks/new":null}}"#, "rows.tasks/new", "(no such entity)"),
        (#"{"rows":{"tasks/none":{}}}"#, "rows.tasks/none", "{}"),
        (#"{"rows":{"tasks/new":{"status":"created"}}}"#, "rows.tasks/new.status", #""created""#),
        (#"{"rows":{"tasks/new":{"document":{"n":2}}}}"#, "rows.tasks/new.document.n", "2"),
        (#"{"rows":{"tasks/old":{"document":{"x":1}}}}"#, "rows.tasks/old.document.x", "1"),
        (
            #"{"rows":{"tasks/old":{"document":{"tags":["a"]}}}}"#, "rows.tasks/old.document.tags",
            #"["a"]"#
        ),
        (
            #"{"rows":{"tasks/old":{"document":{"n":{"$absent":true}}}}}"#,
            "rows.tasks/old.document.n", "(not there)"
        ),
        (
            #"{"rows":{"tasks/old":{"document":{"x":{"$present":true}}}}}"#,
            "rows.tasks/old.document.x", "(anything)"
        ),
        (
            #"{"rows":{"tasks/old":{"document":{"x":{"$any":true}}}}}"#,
            "rows.tasks/old.document.x", "(anything but null)"
        ),
        (
            #"{"rows":{"tasks/old":{"error":{"$any":true}}}}"#,
            "rows.tasks/old.error", "(anything but null)"
        ),
        (#"{"requests":{"count":3}}"#, "requests.count", "3"),
        (#"{"server":{"tasks/new":null}}"#, "server.tasks/new", "(no such record)"),
        (#"{"server":{"tasks/new":{"n":2}}}"#, "server.tasks/new.n", "2"),
        (
            #"{"server":{"tasks/old":{"$exactly":{"n":0}}}}"#, "server.tasks/old",
            #"exactly {"n":0}"#
        ),
        (#"{"collections":{"tasks":["new"]}}"#, "collections.tasks", "new"),
        (#"{"watermarks":{"tasks":null}}"#, "watermarks.tasks", "(none)"),
        (#"{"watermarks":{"tasks":"x"}}"#, "watermarks.tasks", #""x""#),
        (#"{"bindings":{"tasks/1":"tasks/new"}}"#, "bindings.tasks/1", "tasks/new"),
        (#"{"outcome":"server"}"#, "outcome.result", #""server""#),
        (#"{"outcome":{"pushed":2}}"#, "outcome.pushed", "2"),
        (#"{"outbox":[{"entity":"tasks/new"}]}"#, "outbox", #"{"entity":"tasks/new"}"#),
        (#"{"mutations":[{"state":"merged"}]}"#, "mutations", #"{"state":"merged"}"#),
        (#"{"decisions":{"count":1}}"#, "decisions.count", "1"),
        (#"{"issues":[{"kind":"conflict"}]}"#, "issues", #"{"kind":"conflict"}"#),
        (#"{"requests":["PUT *"]}"#, "requests", "PUT *"),
        (#"{"requests":{"including":["PUT *","GET *"]}}"#, "requests.including", "PUT *\nGET *"),
        (
            #"{"requests":{"including":[{"request":"PUT *","status":200}]}}"#,
            "requests.including", "PUT * 200"
        ),
        (
            #"{"requests":{"including":[{"request":"PUT *","body":{"data":{"n":2}}}]}}"#,
            "requests.including", #"PUT * {"data":{"n":2}}"#
        ),
        (#"{"requests":{"unordered":["PUT *","PUT *"]}}"#, "requests.unordered", "PUT *\nPUT *"),
        (#"{"requests":{"without":["PUT *"]}}"#, "requests.without", "none of:\nPUT *"),
        (#"{"log":["local.created tasks/new"]}"#, "log", "local.created tasks/new"),
        (#"{"waits":[1]}"#, "waits", "1"),
        (#"{"progress":["synced"]}"#, "progress", "synced"),
        (#"{"activity":["started(timer)"]}"#, "activity", "started(timer)"),
        (#"{"activity":{"without":["finished(*)"]}}"#, "activity.without", "none of:\nfinished(*)"),
    ])
    func `is told with its place`(expect: String, path: String, expected: String) async throws {
        let found = try await mismatches(expect)

        #expect(found.map(\.path) == ["expect." + path], "\(found)")
        #expect(found.first?.expected == expected)
        #expect(found.first?.actual.isEmpty == false)
    }

    @Test func `is told where it is seen, and the scenario goes on`() async throws {
        let result = try await runScenario(
            #"""
            "steps":[{"expect":{"collections":{"tasks":["t1"]}}},
                     {"create":"tasks/t1","refused":"alreadyExists"},
                     {"expect":{"collections":{"tasks":["t1"]}}}]
            """#)

        #expect(
            result.mismatches.map(\.path) == ["steps[0].expect.collections.tasks", "steps[1]"])
        #expect(result.mismatches.map(\.actual) == ["(none)", "done"])
    }

    @Test func `is a step that can't be done, which ends the scenario`() async throws {
        let result = try await runScenario(
            #""steps":[{"delete":"tasks/t1"},{"create":"tasks/t1"}],"expect":{"waits":[1]}"#
        )

        #expect(result.mismatches.map(\.path) == ["steps[0]"])
        #expect(result.mismatches.first?.actual.hasPrefix("notFound: ") == true)
    }

    @Test func `is a request during which something was to happen, and that never came`()
        async throws
    {
        let result = try await runScenario(
            #""steps":[{"during":{"request":"PUT *"},"do":[{"advance":1}]},{"sync":"all"}]"#)

        #expect(result.mismatches.map(\.path) == ["steps[0].during"])
        #expect(result.mismatches.map(\.actual) == ["(no such request)"])
    }

    @Test func `is a fault that no request has met`() async throws {
        let result = try await runScenario(
            #"""
            "steps":[{"fault":{"request":"PUT *","status":503}},
                     {"fault":{"request":"GET *","status":503,"skip":9}},
                     {"fault":{"request":"GET *","offline":true,"times":1}},
                     {"sync":"all"}]
            """#)

        #expect(result.mismatches.map(\.path) == ["steps[0].fault", "steps[1].fault"])
        #expect(result.mismatches.map(\.expected) == ["PUT *, after 0", "GET *, after 9"])
        #expect(Set(result.mismatches.map(\.actual)) == ["(no such request)"])
    }

    @Test func `is a run that is refused, or is not, while another one goes on`() async throws {
        let result = try await runScenario(
            #"""
            "steps":[{"during":{"request":"GET */tasks/records"},
                      "do":[{"sync":"push","refused":"engineRunning"},{"restart":true},
                            {"sync":"all"}]},
                     {"during":{"request":"GET */lists/records","nth":2},
                      "do":[{"sync":"push","refused":"closed"}]},
                     {"sync":"all"}]
            """#)

        // What the process before was asked for ended with it.
        #expect(result.mismatches.map(\.path) == ["steps[1].do[0]"])
        #expect(result.mismatches.map(\.actual) == ["done"])
    }

    @Test(arguments: [
        (#"{"delete":"files/typo.txt"}"#, "there is no files/typo.txt"),
        (#"{"move":"files/typo.txt","to":"b.txt"}"#, "there is no files/typo.txt"),
        (#"{"move":"files/d","to":"d/e"}"#, "d can't be moved to d/e"),
        (#"{"move":"files/d","to":"a.txt/d"}"#, "a.txt is a file"),
        (#"{"put":"files/a.txt/b","document":{"kind":"folder"}}"#, "a.txt is a file"),
        (#"{"put":"files/a.txt","document":{"kind":"folder"}}"#, "a.txt is a file"),
        (#"{"put":"files/d","document":{"kind":"file","text":"tea"}}"#, "d is a folder"),
        (#"{"put":"files/l","document":{"kind":"file","link":"typo"}}"#, "there is no typo"),
        (#"{"put":"files/l","document":{"kind":"file","link":"d"}}"#, "d is a folder"),
    ])
    func `is an edit of the server's files that can't be made`(
        edit: String, actual: String
    ) async throws {
        let rows = #"[{"id":"d","kind":"folder"},{"id":"a.txt","kind":"file","text":"tea"}]"#
        let text = fileScenarioText(rows: rows, #""steps":[{"server":\#(edit)},{"sweep":true}]"#)
        let scenario = try #require(try scenarios(text).first)

        let result = try await scenario.run()

        #expect(result.mismatches.map(\.path) == ["steps[0].server"])
        #expect(result.mismatches.map(\.actual) == [actual])
    }

    @Test func `is an edit of what the server does not have, or a row that it does not take`()
        async throws
    {
        let deleted = try await runScenario(#""steps":[{"server":{"delete":"tasks/typo"}}]"#)
        let put = try await runScenario(
            #""steps":[{"server":{"put":"tasks/t 1","document":{}}}]"#)
        let row = try await runScenario(#""steps":[]"#, rows: #"{"tasks":[{"id":5}]}"#)

        #expect(deleted.mismatches.map(\.path) == ["steps[0].server"])
        #expect(deleted.mismatches.map(\.actual) == ["there is no tasks/typo"])
        #expect(put.mismatches.map(\.path) == ["steps[0].server"])
        #expect(put.mismatches.first?.actual.hasPrefix("PUT tasks/t 1: 400 ") == true)
        #expect(row.mismatches.map(\.path) == ["server.rows"])
        #expect(row.mismatches.first?.actual.hasPrefix("PUT tasks/5: 400 ") == true)
    }

    @Test func `fits 80 columns, both sides beside each other`() async throws {
        let long = String(repeating: "long ", count: 40)
        let result = try await runScenario(
            #"""
            "steps":[{"create":"tasks/t1","document":{"text":"\#(long)"}}],
            "expect":{"rows":{"tasks/t1":{"document":{"text":"short"},"status":"synced"}}}
            """#)

        func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }
        #expect(result.lines.allSatisfy { $0.count <= 80 })
        #expect(
            result.lines.prefix(4) == [
                "FAILED  s  a scenario",
                "  expect.rows.tasks/t1.document.text",
                "    expected                             | actual",
                "    \"short\"" + spaces(30) + "| \"long long long long long long long l",
            ])
        #expect(
            result.lines.suffix(1) == [
                #"    "synced"                             | "created""#
            ])
        #expect(!result.isPassed)
    }
}
