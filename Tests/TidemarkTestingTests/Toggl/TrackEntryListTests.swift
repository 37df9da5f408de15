// TrackEntryListTests.swift — F15 to F18: which time entries are listed, and in which form.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `lists of time entries on a server like Toggl` {
    private let world = TrackWorld()

    private func entry(_ id: Int64, start: String, at: String = "2026-11-18T09:00:00Z") {
        world.put(
            "time_entries/\(id)",
            #"{"workspace_id":1,"start":"\#(start)","duration":60,"at":"\#(at)"}"#)
    }

    @Test func `F15: without parameters they go back about ten days, those that began last first`()
        throws
    {
        entry(1, start: "2026-11-07T00:00:00Z")
        entry(2, start: "2026-11-09T00:00:00Z")
        entry(3, start: "2026-11-18T00:00:00Z")
        entry(4, start: "2026-11-10T00:00:00Z")
        world.delete("time_entries/4")

        #expect(try world.ids("/me/time_entries") == [3, 2])
    }

    @Test func `F15: since takes the time of change, that moment included, and deleted ones too`()
        throws
    {
        entry(1, start: "2026-01-01T00:00:00Z", at: "2026-11-18T10:00:00Z")
        entry(2, start: "2026-11-17T00:00:00Z", at: "2026-11-18T09:59:59.999Z")
        entry(3, start: "2026-11-16T00:00:00Z", at: "2026-11-18T10:00:01Z")
        entry(4, start: "2026-11-15T00:00:00Z")
        world.delete("time_entries/4")

        let since = try #require(
            Timestamp(year: 2026, month: 11, day: 18, hour: 10, minute: 0, second: 0))
        let seconds = since.milliseconds / 1000

        #expect(try world.ids("/me/time_entries?since=\(seconds)") == [3, 4, 1])
    }

    @Test func `F15: a span takes the beginning, and deleted ones are not in it`() throws {
        entry(1, start: "2026-11-16T23:59:59Z")
        entry(2, start: "2026-11-17T00:00:00Z")
        entry(3, start: "2026-11-18T00:00:00Z")
        entry(4, start: "2026-11-17T01:00:00Z")
        entry(5, start: "2026-11-18T00:00:01Z")
        world.delete("time_entries/4")

        let days = "start_date=2026-11-17&end_date=2026-11-18"
        let times = "start_date=2026-11-17T01%3A00%3A00%2B01%3A00&end_date=2026-11-18T00:00:00Z"

        #expect(try world.ids("/me/time_entries?" + days) == [3, 2])
        #expect(try world.ids("/me/time_entries?" + times) == [3, 2])
        #expect(
            world.send(.get, "/me/time_entries?start_date=2026-11-17").hasPrefix("400 \""))
        #expect(
            world.send(.get, "/me/time_entries?start_date=2026-11-18&end_date=2026-11-17")
                .hasPrefix("400 \""))
    }

    @Test func `F15: before takes the beginning, and not beside since`() throws {
        entry(1, start: "2026-11-16T00:00:00Z")
        entry(2, start: "2026-11-17T00:00:00Z")

        #expect(try world.ids("/me/time_entries?before=2026-11-17T00:00:00Z") == [1])
        #expect(
            world.send(
                .get,
                "/me/time_entries?before=2024-12-16T03%3A25%3A20%2B01%3A00&since=1734305120")
                == #"400 "'since' and 'before' can not be present simultaneously""#)
    }

    @Test func `F15: more than three months back is refused, with the earliest date`() {
        let path = "/me/time_entries?end_date=2026-11-18&start_date="
        let old = world.now.adding(months: -3).milliseconds / 1000

        #expect(
            world.send(.get, path + "2026-08-18")
                == #"400 "start_date must not be earlier than 2026-08-18""#)
        #expect(world.send(.get, path + "2026-08-19").hasPrefix("200"))
        for list in ["time_entries", "projects"] {
            #expect(world.send(.get, "/me/\(list)?since=\(old)").hasPrefix("200"))
            #expect(
                world.send(.get, "/me/\(list)?since=\(old - 1)")
                    == #"400 "since must not be earlier than 2026-08-18""#)
        }
        #expect(world.send(.get, "/me/time_entries?since=now").hasPrefix("400"))
    }

    @Test func `F15: of more than a thousand the newest are listed`() throws {
        for id in Int64(1)...1001 {
            let start = Timestamp(milliseconds: (TrackWorld.start - 2000 + id) * 1000)
            entry(id, start: start.description)
        }

        let ids = try world.ids("/me/time_entries")

        #expect(ids.count == 1000 && ids.first == 1001 && ids.last == 2)
        #expect(try world.ids("/me/time_entries?since=\(TrackWorld.start - 86_400)").count == 1000)
    }

    @Test func `F15: meta adds the names of project, client and user`() throws {
        _ = try world.made(#""start":"2026-11-18T10:00:00Z","duration":60,"project_id":5"#)

        let row = try #require(try world.value(.get, "/me/time_entries?meta=true").array?.first)

        #expect(row["client_name"] == "Acme" && row["project_name"] == "Site")
        #expect(row["project_active"] == true && row["project_billable"] == false)
        #expect(row["project_color"] == "#0b83d9" && row["user_name"] == "Ada")
        #expect(row["user_avatar_url"]?.stringValue != nil)
    }

    @Test func `F16: a list has offsets, empty arrays, old names and a project's only where it is`()
    {
        world.put("tasks/3", #"{"workspace_id":1,"project_id":5,"name":"t"}"#)
        entry(1, start: "2026-11-18T10:00:00Z", at: "2026-11-18T10:30:00.120300Z")
        world.put(
            "time_entries/2",
            #"{"workspace_id":1,"start":"2026-11-18T09:00:00Z","duration":-1,"project_id":5,"#
                + #""description":"d","tag_ids":[6],"at":"2026-11-18T09:00:00Z"}"#)

        #expect(
            world.send(.get, "/me/time_entries")
                == #"200 [{"id":1,"workspace_id":1,"project_id":null,"task_id":null,"#
                + #""billable":false,"start":"2026-11-18T10:00:00+00:00","#
                + #""stop":"2026-11-18T10:01:00+00:00","duration":60,"description":null,"tags":[],"#
                + #""tag_ids":[],"duronly":true,"at":"2026-11-18T10:30:00.1203Z","#
                + #""server_deleted_at":null,"user_id":9,"uid":9,"wid":1},"#
                + #"{"id":2,"workspace_id":1,"project_id":5,"task_id":null,"billable":false,"#
                + #""start":"2026-11-18T09:00:00+00:00","stop":null,"duration":-1,"#
                + #""description":"d","tags":["deep"],"tag_ids":[6],"duronly":true,"#
                + #""at":"2026-11-18T09:00:00Z","server_deleted_at":null,"user_id":9,"uid":9,"#
                + #""wid":1,"pid":5}]"#)
    }

    @Test func `F17: an answer to a write has another form than the list that follows`() throws {
        let answer = world.make(#""start":"2026-11-18T10:00:00Z","duration":60"#)

        #expect(
            answer
                == #"200 {"id":3000000001,"workspace_id":1,"project_id":null,"task_id":null,"#
                + #""billable":false,"start":"2026-11-18T10:00:00Z","#
                + #""stop":"2026-11-18T10:01:00Z","duration":60,"description":null,"tags":null,"#
                + #""tag_ids":null,"duronly":true,"at":"2026-11-18T11:06:40Z","#
                + #""server_deleted_at":null,"user_id":9,"uid":9,"wid":1}"#)
        let listed = try #require(try world.row("/me/time_entries", 3_000_000_001))
        #expect(listed["start"] == "2026-11-18T10:00:00+00:00" && listed["tags"] == [])
    }

    @Test func `F18: one entry and the one that runs can be asked for`() throws {
        #expect(world.send(.get, "/me/time_entries/current") == "200 null")
        let id = try world.made(#""start":"2026-11-18T11:00:00Z","duration":-1"#)

        #expect(try world.value(.get, "/me/time_entries/current")["id"]?.int64Value == id)
        #expect(try world.value(.get, "/me/time_entries/\(id)")["duration"] == -1)
        #expect(world.send(.get, "/me/time_entries/1") == #"404 "Time entry not found""#)
    }
}
