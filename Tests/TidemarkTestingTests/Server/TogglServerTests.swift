// TogglServerTests.swift — what a server shaped like Toggl lists, makes, changes and refuses.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `a server shaped like Toggl, asked for lists` {
    private let world = TogglWorld()
    /// 2026-11-18 11:06:40, the beginning of the test's time.
    private let start: Int64 = 1_795_000_000

    @Test func `it has a user and preferences from the start, and lists what was put`() async throws
    {
        #expect(
            try await world.send(.get, "/me")
                == #"200 {"id":1,"fullname":"User","default_workspace_id":null,"#
                + #""at":"2017-01-01T00:00:00Z"}"#)
        #expect(try await world.send(.get, "/me/preferences").hasPrefix("200 {\"timeofday"))
        #expect(
            try await world.send(.get, "/me/projects")
                == #"200 [{"name":"p","workspace_id":1,"active":true,"id":5,"#
                + #""at":"2026-11-18T11:06:40Z"}]"#)
        #expect(try await world.send(.get, "/me/clients") == "200 []")
    }

    @Test func `there is one user, whatever the id`() async throws {
        world.server.put("user/9", #"{"default_workspace_id":1,"at":"2026-01-01T00:00:00Z"}"#)

        #expect(
            try await world.send(.get, "/me")
                == #"200 {"default_workspace_id":1,"at":"2026-01-01T00:00:00Z","id":9}"#)
        #expect(world.server.records(in: "user").keys.sorted() == ["9"])
    }

    @Test func `features go by their workspace and have no time`() async throws {
        world.server.put("workspace_features/1", #"{"features":[]}"#)

        #expect(
            try await world.send(.get, "/me/features") == #"200 [{"features":[],"workspace_id":1}]"#
        )
    }

    @Test func `what changed since a time is listed, that moment and tombstones included`()
        async throws
    {
        world.clock.advance(by: .seconds(10))
        world.server.put("tags/8", #"{"name":"later"}"#)
        world.server.delete("tags/6")

        #expect(try await world.ids("/me/tags") == ["8"])
        #expect(try await world.ids("/me/tags?since=\(start + 10)") == ["[6]", "8"])
        #expect(try await world.ids("/me/tags?since=\(start + 11)") == [])
    }

    @Test func `a date older than three months is refused`() async throws {
        let oldest = Timestamp(milliseconds: start * 1000).adding(months: -3).milliseconds / 1000

        #expect(try await world.send(.get, "/me/tags?since=\(oldest)").hasPrefix("200"))
        #expect(
            try await world.send(.get, "/me/tags?since=\(oldest - 1)")
                == "400 \"since must be within the last 3 months\"")
    }

    @Test func `time entries are listed by when they began`() async throws {
        for (id, day) in [(8, "2026-11-17"), (9, "2026-11-19"), (10, "2026-11-20")] {
            world.server.put("time_entries/\(id)", #"{"start":"\#(day)T00:00:00Z"}"#)
        }
        world.server.put("time_entries/11", #"{"start":"2026-11-18T00:00:00Z"}"#)
        world.server.delete("time_entries/11")

        let window = "start_date=2026-11-17T00%3A00%3A00Z&end_date=2026-11-19T00%3A00%3A00Z"

        #expect(try await world.ids("/me/time_entries?" + window) == ["7", "8", "9"])
        #expect(try await world.ids("/me/time_entries") == ["7", "8", "9", "10"])
    }

    @Test(arguments: [
        "/me/tags?since=", "/me/tags?since=x", "/me/tags?page=2", "/me/features?since=0", "/me?x=1",
        "/me/tags?start_date=2026-11-18T00:00:00Z&end_date=2026-11-19T00:00:00Z",
        "/me/time_entries?start_date=2026-11-18T00:00:00Z",
        "/me/time_entries?start_date=2026-11-19T00:00:00Z&end_date=2026-11-18T00:00:00Z",
        "/me/time_entries?start_date=today&end_date=tomorrow",
    ])
    func `parameters outside the model are refused, not ignored`(_ path: String) async throws {
        #expect(try await world.send(.get, path).hasPrefix("400"))
    }

    @Test func `an archived project is in no list, and the search finds it`() async throws {
        world.clock.advance(by: .seconds(10))
        world.server.archive("projects/5")
        let search = "//reports/api/v3/workspace/1/search/projects"

        #expect(try await world.ids("/me/projects") == [])
        #expect(try await world.ids("/me/projects?since=0") == [])
        #expect(
            try await world.send(.post, search, #"{"ids":[5,99]}"#)
                == #"200 [{"name":"p","workspace_id":1,"active":false,"id":5,"#
                + #""at":"2026-11-18T11:06:50Z"}]"#)
        #expect(try await world.send(.post, search, "{}").hasPrefix("400"))
    }

    @Test func `what is forgotten leaves no trace`() async throws {
        world.server.forget("projects/5")

        #expect(try await world.ids("/me/projects?since=\(start)") == [])
        #expect(world.server.record("projects/5") == nil)
        #expect(
            try await world.send(
                .post, "//reports/api/v3/workspace/1/search/projects", #"{"ids":[5]}"#) == "200 []")
    }

    @Test func `with a workspace goes what belongs to it, and comes back as old as it was`()
        async throws
    {
        world.clock.advance(by: .seconds(10))
        world.server.forget("workspaces/1")

        #expect(try await world.ids("/me/workspaces") == [])
        #expect(try await world.ids("/me/projects") == [])
        #expect(try await world.send(.get, "/me/time_entries/7").hasPrefix("403"))
        #expect(
            try await world.send(.put, "/workspaces/1/time_entries/7", "{}").hasPrefix("403"))

        world.server.put("workspaces/1", #"{"name":"again"}"#)

        #expect(try await world.ids("/me/projects") == ["5"])
        #expect(try await world.ids("/me/projects?since=\(start + 10)") == [])
    }

    @Test(arguments: [
        "/nothing", "/me/nothing", "/me/user", "/me/workspace_features", "/workspaces/1/tasks",
        "/workspaces/2", "/me/time_entries/99", "/me/tags/6", "//api/v8/me", "//", "/me/",
    ])
    func `what is not there is not found`(_ path: String) async throws {
        #expect(try await world.send(.get, path).hasPrefix("404"))
    }

    @Test func `every answer says the server's time`() async throws {
        world.clock.advance(by: .seconds(1))
        let answer = try await world.answer(.get, "/nothing")

        #expect(answer.response.headerFields[.date] == "Wed, 18 Nov 2026 11:06:41 GMT")
    }
}

@Suite struct `a server shaped like Toggl, told to write` {
    private let world = TogglWorld(TogglServerModel(nextID: 13))

    @Test func `it numbers what is made, and keeps the rest as it came`() async throws {
        let body = #"{ "id":-5,"at":"x", "name":"caf\u00e9" ,"n":1.50,"workspace_id":1}"#

        #expect(
            try await world.send(.post, "/workspaces/1/tags", body)
                == #"200 {"name":"caf\u00e9","n":1.50,"workspace_id":1,"id":13,"#
                + #""at":"2026-11-18T11:06:40Z"}"#)
        #expect(
            try await world.send(.post, "/workspaces/1/clients", #"{"name":"c"}"#)
                == #"200 {"name":"c","workspace_id":1,"id":14,"at":"2026-11-18T11:06:40Z"}"#)
        #expect(
            try await world.send(.post, "/workspaces", #"{"name":"new"}"#)
                == #"200 {"name":"new","id":15,"at":"2026-11-18T11:06:40Z"}"#)
        #expect(world.server.records(in: "tags").keys.sorted() == ["13", "6"])
    }

    @Test func `a change replaces what is given, and moves the time`() async throws {
        world.clock.advance(by: .milliseconds(1500))
        let path = "/workspaces/1/time_entries/7"

        let answer = try await world.send(.put, path, #"{"id":99,"stop":null,"description":"b"}"#)

        #expect(
            answer
                == #"200 {"description":"b","workspace_id":1,"start":"2026-11-18T10:00:00Z","#
                + #""id":7,"at":"2026-11-18T11:06:41.500Z","stop":null}"#)
        #expect(try await world.send(.get, "/me/time_entries/7") == answer)
        #expect(
            world.server.record("time_entries/7")
                == #"{"description":"b","workspace_id":1,"start":"2026-11-18T10:00:00Z","#
                + #""stop":null}"#)
    }

    @Test func `user and preferences are changed where they are`() async throws {
        let user = try await world.send(.put, "/me", #"{"default_workspace_id":1}"#)
        let preferences = try await world.send(
            .post, "/me/preferences", #"{"date_format":"DD.MM."}"#)

        #expect(user.contains(#""default_workspace_id":1,"at":"2026-11-18T11:06:40Z""#))
        #expect(preferences == #"200 {"timeofday_format":"H:mm","date_format":"DD.MM."}"#)
        #expect(
            try await world.send(.put, "/me", #"{"default_workspace_id":2}"#).hasPrefix("400"))
    }

    @Test func `what is deleted is gone, once`() async throws {
        let path = "/workspaces/1/time_entries/7"

        let statuses = [
            try await world.send(.delete, path), try await world.send(.delete, path),
            try await world.send(.put, path, "{}"),
            try await world.send(.get, "/me/time_entries/7"),
        ].map { $0.prefix(3) }

        #expect(statuses == ["200", "404", "404", "404"])
        #expect(world.server.record("time_entries/7") == nil)
        #expect(try await world.ids("/me/time_entries?since=1795000000") == ["[7]"])
    }

    @Test(arguments: [
        #"{"project_id":99}"#, #"{"task_id":99}"#, #"{"tag_ids":[6,99]}"#, #"{"client_id":99}"#,
        #"{"project_id":"here-1"}"#, #"{"workspace_id":2}"#, "[]", "{", "",
    ])
    func `what names nothing that is there is refused`(_ body: String) async throws {
        let made = try await world.send(.post, "/workspaces/1/time_entries", body)
        let changed = try await world.send(.put, "/workspaces/1/time_entries/7", body)

        #expect(made.hasPrefix("400 \"") && changed.hasPrefix("400 \""))
        #expect(world.server.records(in: "time_entries").count == 1)
    }

    @Test func `what is there may be named, and may be gone later`() async throws {
        let body = #"{"workspace_id":1,"project_id":5,"task_id":null,"tag_ids":[6]}"#
        #expect(
            try await world.send(.post, "/workspaces/1/time_entries", body).hasPrefix("200"))
        world.server.archive("projects/5")
        #expect(
            try await world.send(.post, "/workspaces/1/time_entries", body).hasPrefix("200"))

        world.server.forget("projects/5")
        world.server.delete("tags/6")

        #expect(
            try await world.send(.put, "/workspaces/1/time_entries/13", body).hasPrefix("200"))
        #expect(
            try await world.send(.post, "/workspaces/1/time_entries", body).hasPrefix("400"))
    }

    @Test func `a workspace that is not there is refused`() async throws {
        #expect(try await world.send(.post, "/workspaces/2/tags", "{}").hasPrefix("400"))
        #expect(try await world.send(.delete, "/workspaces/2/tags/6").hasPrefix("404"))
    }

    @Test func `what has no such method says so`() async throws {
        let calls: [(HTTPRequest.Method, String)] = [
            (.post, "/me"), (.put, "/me/preferences"), (.delete, "/workspaces/1"),
            (.get, "/workspaces/1/tags"), (.get, "/workspaces/1/tags/6"), (.put, "/me/tags"),
            (.delete, "/me/time_entries/7"),
        ]
        for (method, path) in calls {
            #expect(try await world.send(method, path, "{}").hasPrefix("405"), "\(method) \(path)")
        }
    }
}
