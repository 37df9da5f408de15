// TogglBodyTests.swift — what is sent of a document when it is created or changed.

import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `bodies for Toggl` {
    private let toggl = TogglCase(adapter: TogglAdapter(createdWith: "clock"))

    private func body(_ call: ServerCall) throws -> JSONValue {
        try JSONValue(parsing: toggl.adapter.request(for: call).body ?? [])
    }

    private func created(_ name: CollectionName, _ document: String) throws -> JSONValue {
        try body(toggl.create(name, document))
    }

    private func changed(_ document: String, _ changes: String) throws -> JSONValue {
        try body(toggl.update("time_entries", "7", document, changes: changes))
    }

    // MARK: Creations

    @Test func `a new time entry names the app, unless it names one itself`() throws {
        let plain = #"{"workspace_id":1,"start":"2026-11-18T10:00:00Z","duration":60}"#
        let named = #"{"workspace_id":1,"duration":60,"created_with":"other"}"#

        #expect(try created("time_entries", plain)["created_with"] == "clock")
        #expect(try created("time_entries", named)["created_with"] == "other")
        #expect(try created("tags", #"{"workspace_id":1}"#)["created_with"] == nil)
    }

    @Test func `an entry that runs is sent with a negative duration and no stop`() throws {
        for end in ["", #","duration":null,"stop":null"#, #","duration":-1,"stop":null"#] {
            let sent = try created(
                "time_entries", #"{"workspace_id":1,"start":"2026-11-18T10:00:00Z"\#(end)}"#)

            #expect(sent["duration"] == -1)
            #expect(sent["stop"] == nil)
        }
    }

    @Test func `an entry with a stop and no duration lasts until then`() throws {
        let sent = try created(
            "time_entries",
            #"{"workspace_id":1,"start":"2026-11-18T10:00:00Z","stop":"2026-11-18T11:01:00+00:00"}"#
        )

        #expect(sent["duration"] == 3660)
        #expect(sent["stop"] == nil)
    }

    @Test func `a new project is active unless it says otherwise`() throws {
        #expect(try created("projects", #"{"workspace_id":1}"#)["active"] == true)
        #expect(try created("projects", #"{"workspace_id":1,"active":null}"#)["active"] == true)
        #expect(try created("projects", #"{"workspace_id":1,"active":false}"#)["active"] == false)
    }

    @Test func `a new client is made in the workspace that it names`() throws {
        let call = toggl.create("clients", #"{"wid":3,"name":"c"}"#)

        #expect(
            try toggl.line(call) == #"POST /api/v9/workspaces/3/clients {"wid":3,"name":"c"}"#)
        let unnamed = toggl.adapter.refusalBeforeSending(
            of: toggl.create("clients", #"{"name":"c"}"#))
        #expect(unnamed?.message.contains("wid") == true)
    }

    @Test func `tags are named once: by their ids, else by their names`() throws {
        let both = #"{"workspace_id":1,"tags":["a"],"tag_ids":[5]}"#
        let names = #"{"workspace_id":1,"tags":["a"],"tag_ids":[]}"#

        #expect(try created("time_entries", both)["tag_ids"] == [5])
        #expect(try created("time_entries", both)["tags"] == nil)
        #expect(try created("time_entries", names)["tags"] == ["a"])
        #expect(try created("time_entries", names)["tag_ids"] == nil)
    }

    // MARK: Changes

    private let entry = """
        {"id":7,"workspace_id":1,"wid":1,"project_id":5,"pid":5,"description":"a",\
        "start":"2026-11-18T10:00:00+00:00","stop":"2026-11-18T10:30:00+00:00","duration":1800,\
        "tags":["x"],"tag_ids":[6],"uid":9,"user_id":9}
        """

    @Test func `only what changed is sent, and the workspace`() throws {
        #expect(
            try changed(entry, #"{"description":"b"}"#)
                == ["description": "b", "workspace_id": 1])
        #expect(
            try changed(entry, #"{"project_id":null}"#)
                == ["project_id": .null, "workspace_id": 1])
        #expect(try changed(entry, "{}") == ["workspace_id": 1])
    }

    @Test func `a changed duration goes with its start and without a stop`() throws {
        let document = entry.replacing(":1800", with: ":60")

        #expect(
            try changed(document, #"{"duration":60}"#)
                == [
                    "duration": 60, "start": "2026-11-18T10:00:00+00:00", "workspace_id": 1,
                ])
    }

    @Test func `a changed start takes the duration along`() throws {
        let document = entry.replacing("T10:00", with: "T09:00")

        #expect(
            try changed(document, #"{"start":"2026-11-18T09:00:00+00:00"}"#)
                == [
                    "start": "2026-11-18T09:00:00+00:00", "duration": 1800, "workspace_id": 1,
                ])
    }

    @Test func `a changed stop says how long it lasts`() throws {
        let document = entry.replacing("T10:30", with: "T11:00")

        #expect(
            try changed(document, #"{"stop":"2026-11-18T11:00:00+00:00"}"#)
                == [
                    "duration": 3600, "start": "2026-11-18T10:00:00+00:00", "workspace_id": 1,
                ])
    }

    @Test func `a stop before the start is sent as it is, so that Toggl can refuse it`() throws {
        let document = entry.replacing("T10:30", with: "T08:00")

        #expect(
            try changed(document, #"{"stop":"2026-11-18T08:00:00+00:00"}"#)
                == ["stop": "2026-11-18T08:00:00+00:00", "workspace_id": 1])
    }

    @Test func `one that goes on has a negative duration and no stop`() throws {
        let document = entry.replacing(":1800", with: ":-1")

        #expect(
            try changed(document, #"{"duration":-1,"stop":null}"#)
                == [
                    "duration": -1, "start": "2026-11-18T10:00:00+00:00", "workspace_id": 1,
                ])
    }

    @Test func `changed tags are named once, and none is an empty list`() throws {
        #expect(
            try changed(entry, #"{"tags":["y"],"tag_ids":[8]}"#)
                == ["tag_ids": [8], "workspace_id": 1])
        #expect(
            try changed(entry, #"{"tags":["y"]}"#) == ["tags": ["y"], "workspace_id": 1])
        #expect(
            try changed(entry, #"{"tag_ids":null}"#) == ["tag_ids": [], "workspace_id": 1])
    }

    @Test(arguments: ["8", "null"])
    func `a change of an older name alone is refused, and says which name counts`(
        _ value: String
    ) {
        let change = toggl.update("time_entries", "7", entry, changes: #"{"pid":\#(value)}"#)

        let refusal = toggl.adapter.refusalBeforeSending(of: change)

        #expect(
            refusal?.message == "pid is an older name of project_id: project_id is to be changed")
    }

    @Test func `an older name beside the new one is left out`() throws {
        #expect(
            try changed(entry, #"{"project_id":8,"pid":8}"#)
                == ["project_id": 8, "workspace_id": 1])
    }

    @Test(arguments: ["", "[]", "{"])
    func `changes that are no object are refused without asking`(_ changes: String) {
        let call = toggl.update("time_entries", "7", entry, changes: changes)

        #expect((toggl.adapter.refusalBeforeSending(of: call) == nil) == changes.isEmpty)
    }
}
