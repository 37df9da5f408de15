// TrackEntryWriteTests.swift — F20 to F25, F29: time entries made, changed, stopped, deleted.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `time entries made on a server like Toggl` {
    private let world = TrackWorld()
    private let path = "/workspaces/1/time_entries"

    @Test func `F20: need a name of their maker, a workspace and a start`() {
        let start = #""start":"2026-11-18T10:00:00Z""#
        let maker = #""created_with":"tests""#

        for body in ["{\(start),\"workspace_id\":1}", "{\(start),\"wid\":1,\"created_with\":\"\"}"]
        {
            #expect(
                world.send(.post, path, body)
                    == #"400 "created_with needs to be provided an a valid string""#)
        }
        #expect(
            world.send(.post, path, "{\(start),\(maker)}")
                == #"400 "wid is required for time entry creation""#)
        #expect(world.send(.post, path, "{\(maker),\"workspace_id\":1}").hasPrefix("400 \""))
        #expect(world.send(.post, path, "{\(start),\(maker),\"wid\":1}").hasPrefix("200 "))
        #expect(world.send(.post, path, "[]").hasPrefix("400 \""))
        #expect(world.send(.post, path, "{").hasPrefix("400 \""))
    }

    @Test func `F20: are not told who made them, and begin in whole seconds`() throws {
        let answer = world.make(#""start":"2026-11-18T03:18:20.957412+01:00","duration":3600"#)

        #expect(answer.contains(#""start":"2026-11-18T02:18:20Z","stop":"2026-11-18T03:18:20Z""#))
        #expect(!answer.contains("created_with"))
        #expect(
            world.make(#""start":"2026-11-18T02:59:59.593648Z","stop":"2026-11-18T03:00:00.9Z""#)
                .contains(#""stop":"2026-11-18T03:00:00Z","duration":1"#))
    }

    @Test func `F20: without duration and stop have ended when they began`() throws {
        let answer = world.make(#""start":"2026-11-18T10:00:00Z","description":"Hello""#)

        #expect(answer.contains(#""stop":null,"duration":0"#))
        let row = try #require(try world.value(.get, "/me/time_entries").array?.first)
        #expect(row["stop"] == "2026-11-18T10:00:00+00:00" && row["duration"] == 0)
        #expect(try world.value(.get, "/me/time_entries/current") == .null)
    }

    @Test func `F20: with a null duration are like those without one`() {
        #expect(
            world.make(#""start":"2026-11-18T10:00:00Z","duration":null,"stop":null"#)
                .contains(#""stop":null,"duration":0"#))
    }

    @Test func `F20: have a duration and a stop that agree`() {
        let times = #""start":"2026-11-18T10:00:00Z","stop":"2026-11-18T10:01:00Z""#

        #expect(world.make(times + #","duration":60"#).hasPrefix("200"))
        #expect(world.make(times + #","duration":61"#).hasPrefix("400 \""))
        #expect(world.make(times + #","duration":-1"#).hasPrefix("400 \""))
    }

    @Test func `F21: run while the duration is negative, which is returned as it was sent`() throws
    {
        let one = try world.made(#""start":"2026-11-18T11:00:00Z","duration":-1"#)
        #expect(try world.row("/me/time_entries", one)?["duration"] == -1)
        #expect(try world.row("/me/time_entries", one)?["stop"] == JSONValue.null)

        let two = world.make(#""start":"2026-11-18T11:00:00Z","duration":-1794999600"#)
        #expect(two.contains(#""stop":null,"duration":-1794999600"#))
    }

    @Test func `F22: stop the one that runs, when they are made and not when they begin`() throws {
        let first = try world.made(#""start":"2026-11-18T10:32:29Z","duration":-1"#)
        let made = world.now
        world.wait(0.037)
        _ = try world.made(#""start":"2026-11-18T10:56:39Z","duration":-1"#)

        let row = try #require(try world.row("/me/time_entries", first))
        #expect(row["stop"] == "2026-11-18T11:06:40+00:00" && row["duration"] == 2051)
        #expect(row["at"] == "2026-11-18T11:06:40.037Z" && made < world.now)
        #expect(try world.value(.get, "/me/time_entries").array?.count == 2)
    }

    @Test func `F22: leave the one that runs alone when they don't run`() throws {
        let first = try world.made(#""start":"2026-11-18T11:00:00Z","duration":-1"#)
        _ = try world.made(#""start":"2026-11-18T10:00:00Z","duration":60"#)

        #expect(try world.value(.get, "/me/time_entries/current")["id"]?.int64Value == first)
    }

    @Test func `F23: are not too long, too early, too late or upside down`() {
        let start = #""start":"2026-11-18T10:00:00Z","#

        #expect(world.make(start + #""duration":3596400"#).hasPrefix("200"))
        #expect(
            world.make(start + #""duration":3596401"#)
                == #"400 "Max allowed duration per 1 time entry is 999 hours""#)
        #expect(
            world.make(start + #""stop":"2026-11-18T09:59:59Z""#)
                == #"400 "Stop time must be after start time""#)
        for year in ["2005", "2031"] {
            #expect(
                world.make(#""start":"\#(year)-06-01T00:00:00Z","duration":1"#)
                    == #"400 "Start time year must be between 2006 and 2030""#)
        }
    }

    @Test func `F23: have a description of at most three thousand characters`() {
        let start = #""start":"2026-11-18T10:00:00Z","duration":1,"description":"#
        func text(_ count: Int) -> String { "\"\(String(repeating: "é", count: count))\"" }

        #expect(world.make(start + text(3000)).hasPrefix("200"))
        #expect(
            world.make(start + text(3001))
                == #"400 "Maximum length for description (3000 chars) exceeded""#)
    }

    @Test func `F23: may not be in a locked period`() throws {
        let id = try world.made(#""start":"2026-11-01T00:00:00Z","duration":1"#)
        world.put("workspaces/1", #"{"name":"Home","report_locked_at":"2026-11-10T00:00:00Z"}"#)
        let words = #"400 "Entries can't be added or edited in this period""#

        #expect(world.make(#""start":"2026-11-09T23:59:59Z","duration":1"#) == words)
        #expect(world.change(id, #"{"description":"x"}"#) == words)
        #expect(world.change(id, #"{"start":"2026-11-10T00:00:00Z","duration":1}"#) == words)
        #expect(world.make(#""start":"2026-11-10T00:00:00Z","duration":1"#).hasPrefix("200"))
    }

    @Test func `are moved by a request to the other workspace that names it`() throws {
        world.put("workspaces/2", #"{"name":"Other"}"#)
        let id = try world.made(#""start":"2026-11-18T10:00:00Z","duration":1"#)
        let other = "/workspaces/2/time_entries/\(id)"

        let missing = #"404 "Time entry not found""#
        #expect(world.send(.put, other, #"{"description":"x"}"#) == missing)
        #expect(world.send(.put, other, #"{"workspace_id":1}"#) == missing)
        #expect(world.send(.put, other, #"{"workspace_id":2}"#).contains(#""workspace_id":2"#))
        #expect(world.change(id, #"{"description":"x"}"#) == missing)
        #expect(world.send(.put, other, #"{"description":"x"}"#).hasPrefix("200"))
        #expect(
            world.send(.put, "/workspaces/3/time_entries/\(id)", #"{"workspace_id":3}"#)
                == #"403 "User cannot access workspace""#)
    }

    @Test func `F23: name projects and tasks that the user can access`() {
        world.put("workspaces/2", #"{"name":"Other"}"#)
        world.put("projects/7", #"{"workspace_id":2,"name":"Elsewhere"}"#)
        world.put("tasks/3", #"{"workspace_id":1,"project_id":8,"name":"t"}"#)
        let start = #""start":"2026-11-18T10:00:00Z","duration":1,"#

        for project in [7, 99] {
            #expect(
                world.make(start + #""project_id":\#(project)"#)
                    == #"403 "User cannot access the selected project""#)
        }
        #expect(
            world.make(start + #""project_id":5,"task_id":3"#)
                == #"403 "User cannot access selected task""#)
        #expect(world.make(start + #""project_id":"5""#).hasPrefix("400 \""))
        #expect(world.make(start + #""project_id":5"#).contains(#""wid":1,"pid":5}"#))
    }

    @Test func `F4: are billable only in a workspace that is paid for`() {
        let members = #""start":"2026-11-18T10:00:00Z","duration":1,"billable":true"#
        #expect(world.make(members) == #"402 "Billable is a premium feature""#)

        world.put("workspaces/1", #"{"name":"Home","premium":true}"#)
        #expect(world.make(members).contains(#""billable":true"#))
    }

    @Test func `F24: make the tags that they name, and refuse numbers of tags that there are not`()
        throws
    {
        let start = #""start":"2026-11-18T10:00:00Z","duration":1,"#

        let answer = world.make(start + #""tags":["deep","new"]"#)
        #expect(answer.contains(#""tags":["deep","new"],"tag_ids":[6,1000]"#))
        #expect(try world.ids("/me/tags") == [6, 1000])
        #expect(world.make(start + #""tag_ids":[6,99]"#) == #"400 "Invalid tag_ids""#)
        #expect(world.make(start + #""tag_ids":[6]"#).contains(#""tags":["deep"]"#))
    }

    @Test func `old names count where new ones are missing`() {
        world.put("projects/7", #"{"workspace_id":1,"name":"Next"}"#)
        let start = #""start":"2026-11-18T10:00:00Z","duration":1,"#

        #expect(world.make(start + #""pid":5"#).contains(#""project_id":5"#))
        #expect(world.make(start + #""pid":5,"project_id":7"#).contains(#""project_id":7"#))
        #expect(world.make(start + #""pid":5,"project_id":null"#).contains(#""project_id":null"#))
    }
}

@Suite struct `time entries changed on a server like Toggl` {
    private let world: TrackWorld
    private let id: Int64
    private var path: String { "/workspaces/1/time_entries/\(id)" }

    init() throws {
        world = TrackWorld()
        id = try world.made(
            #""start":"2026-11-18T10:00:00Z","duration":60,"description":"d","project_id":5,"#
                + #""tag_ids":[6]"#)
        world.wait(1.5)
    }

    @Test func `F25: keep what a change does not give`() throws {
        let answer = world.change(id, #"{"description":"e"}"#)

        #expect(answer.contains(#""project_id":5"#) && answer.contains(#""tags":["deep"]"#))
        #expect(answer.contains(#""description":"e""#) && answer.contains(#""duration":60"#))
        #expect(answer.contains(#""at":"2026-11-18T11:06:41.5Z""#))
        #expect(world.change(id, #"{"project_id":null}"#).contains(#""project_id":null"#))
    }

    @Test func `F25: need times that agree`() {
        #expect(
            world.change(id, #"{"duration":1800}"#)
                .contains(#""stop":"2026-11-18T10:30:00Z","duration":1800"#))
        #expect(
            world.change(id, #"{"stop":"2026-11-18T10:00:30Z"}"#).contains(#""duration":30"#))
        #expect(
            world.change(
                id,
                #"{"start":"2026-11-18T10:00:00Z","stop":"2026-11-18T10:01:00Z","duration":1800}"#
            ).hasPrefix("400 \""))
        #expect(world.change(id, #"{"duration":null}"#).contains(#""duration":30"#))
        #expect(world.change(id, #"{"duration":-1}"#).contains(#""stop":null,"duration":-1"#))
    }

    @Test func `F24: have tags added, taken away or replaced`() {
        #expect(
            world.change(id, #"{"tags":["x"],"tag_action":"add"}"#)
                .contains(#""tags":["deep","x"],"tag_ids":[6,1000]"#))
        #expect(
            world.change(id, #"{"tag_ids":[6],"tag_action":"delete"}"#)
                .contains(#""tags":["x"],"tag_ids":[1000]"#))
        #expect(world.change(id, #"{"tags":["deep"]}"#).contains(#""tag_ids":[6]"#))
        #expect(world.change(id, #"{"tags":[]}"#).contains(#""tags":null,"tag_ids":null"#))
        #expect(world.change(id, #"{"tag_ids":[99]}"#) == #"400 "Invalid tag_ids""#)
    }

    @Test func `F25: are stopped once`() throws {
        let running = try world.made(#""start":"2026-11-18T10:50:06Z","duration":-1"#)
        let path = "/workspaces/1/time_entries/\(running)/stop"

        let answer = world.send(.patch, path)

        #expect(answer.contains(#""stop":"2026-11-18T11:06:41Z","duration":995"#))
        #expect(answer.contains(#""tags":[],"tag_ids":[]"#))
        #expect(world.send(.patch, path).hasPrefix("409 \""))
        #expect(world.answer(.patch, "/workspaces/1/time_entries/1/stop").status == 404)
    }

    @Test func `F25: are changed together, each for itself`() throws {
        let other = try world.made(#""start":"2026-11-18T10:50:06Z","duration":1"#)
        world.wait(1)

        let answer = world.send(
            .patch, "/workspaces/1/time_entries/\(id),99,\(other)",
            #"[{"op":"replace","path":"/description","value":"both"},"#
                + #"{"op":"add","path":"/tags","value":["x"]}]"#)

        #expect(
            answer
                == #"200 {"success":[\#(id),\#(other)],"failure":"#
                + #"[{"id":99,"message":"Time entry not found"}]}"#)
        let row = try #require(try world.row("/me/time_entries", id))
        #expect(row["description"] == "both" && row["tags"] == ["deep", "x"])
        #expect(row["at"] == "2026-11-18T11:06:42.5Z")
        let many = (1...101).map { "\($0)" }.joined(separator: ",")
        #expect(world.send(.patch, "/workspaces/1/time_entries/\(many)", "[]").hasPrefix("400 \""))
    }

    @Test func `F25: are deleted with an empty answer, and told in lists of changes`() throws {
        #expect(world.send(.delete, path) == "200")
        #expect(world.answer(.delete, path).status == 404)
        #expect(world.change(id, "{}").hasPrefix("404 \""))
        #expect(world.answer(.get, "/me/time_entries/\(id)").status == 404)
        #expect(try world.ids("/me/time_entries") == [])

        let row = try world.row("/me/time_entries?since=\(TrackWorld.start)", id)
        #expect(row?["server_deleted_at"] == "2026-11-18T11:06:41+00:00")
        #expect(row?["at"] == "2026-11-18T11:06:41.5Z")
    }

    @Test func `F29: lose a deleted tag without a new time, and a deleted project with one`() throws
    {
        world.send(.delete, "/workspaces/1/tags/6")
        var row = try #require(try world.row("/me/time_entries", id))
        #expect(row["tags"] == [] && row["tag_ids"] == [])
        #expect(row["at"] == "2026-11-18T11:06:40Z")

        world.send(.delete, "/workspaces/1/projects/5")
        row = try #require(try world.row("/me/time_entries", id))
        #expect(row["project_id"] == JSONValue.null && row["pid"] == nil as JSONValue?)
        #expect(row["at"] == "2026-11-18T11:06:41.5Z")
    }

    @Test func `F29: keep an archived project`() throws {
        world.send(.put, "/workspaces/1/projects/5", #"{"active":false}"#)

        let row = try #require(try world.row("/me/time_entries", id))
        #expect(row["project_id"] == 5 && row["at"] == "2026-11-18T11:06:40Z")
    }

    @Test func `F26: go with a deleted project where that is wanted`() throws {
        #expect(world.send(.delete, "/workspaces/1/projects/5?teDeletionMode=delete") == "200 5")
        #expect(try world.ids("/me/time_entries") == [])
    }
}
