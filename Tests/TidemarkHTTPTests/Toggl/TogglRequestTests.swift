// TogglRequestTests.swift — what a call becomes on the wire: method, path, body.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `requests to Toggl` {
    private let toggl = TogglCase()

    @Test(arguments: [
        ("workspaces", "/me/workspaces"), ("user", "/me"), ("workspace_features", "/me/features"),
        ("preferences", "/me/preferences"), ("tags", "/me/tags"), ("clients", "/me/clients"),
        ("projects", "/me/projects?include_archived=true"),
        ("tasks", "/me/tasks?include_not_active=true"),
        ("time_entries", "/me/time_entries"),
    ])
    func `each collection is listed at an address of its own`(name: String, path: String) throws {
        let list = toggl.list(CollectionName(name))

        #expect(
            try toggl.adapter.request(for: list)
                == ServerRequest(
                    method: .get, path: "/api/v9" + path, headers: [.userAgent: "tidemark"]))
    }

    @Test func `every collection of the model has one`() throws {
        for collection in SyncModel.toggl.collections {
            #expect(throws: Never.self) { try toggl.line(toggl.list(collection.name)) }
        }
    }

    @Test(arguments: [
        ("2026-11-18T11:06:40Z", 1_795_000_000), ("2026-11-18T11:06:40.999999Z", 1_795_000_000),
        ("2026-11-18T12:06:41.5+01:00", 1_795_000_001), ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.5Z", -1),
    ])
    func `what changed since a time is asked for in seconds, rounded down`(
        time: String, seconds: Int
    ) throws {
        let line = try toggl.line(toggl.list("tags", after: time))

        #expect(line == "GET /api/v9/me/tags?since=\(seconds)")
    }

    @Test(arguments: ["", "yesterday", "1795000000", "2026-11-18", "2026-13-18T11:06:40Z"])
    func `a list since what is no time is never asked for`(_ text: String) {
        #expect(throws: SyncFailure.self) { try toggl.line(toggl.list("tags", after: text)) }
    }

    @Test func `a window of time entries has a beginning and an end`() throws {
        let call = ServerCall.listWindow(
            toggl.collection("time_entries"), from: Timestamp(milliseconds: 1_789_729_600_000),
            to: Timestamp(milliseconds: 1_795_172_800_500), page: nil)

        #expect(
            try toggl.line(call)
                == "GET /api/v9/me/time_entries?start_date=2026-09-18T11%3A06%3A40Z"
                + "&end_date=2026-11-20T11%3A06%3A40.500Z")
    }

    @Test func `what can be read by itself is read`() throws {
        let reads = [
            ("time_entries", "7", "/me/time_entries/7"), ("workspaces", "1", "/workspaces/1"),
            ("user", "9", "/me"), ("preferences", "preferences", "/me/preferences"),
        ]
        for (name, id, path) in reads {
            let call = ServerCall.read(toggl.collection(CollectionName(name)), id: id)
            #expect(try toggl.line(call) == "GET /api/v9" + path)
        }
    }

    @Test func `projects are looked for among all, archived ones too`() throws {
        let call = ServerCall.refetch(
            toggl.collection("projects"), ids: ["5", "66"], together: nil)

        #expect(try toggl.line(call) == "GET /api/v9/me/projects?include_archived=true")
    }

    @Test(arguments: ["time_entries", "projects", "tags", "clients"])
    func `what is in a workspace is written there`(_ name: String) throws {
        let name = CollectionName(name)
        let body = #"{ "workspace_id" :2,"wid":2,"name":"caf\u00e9" }"#

        let paths = try [
            toggl.create(name, body), toggl.update(name, "7", body),
            toggl.delete(name, "7", revision: "2026-11-18T11:06:40+00:00@2"),
        ].map { call in
            let request = try toggl.adapter.request(for: call)
            return "\(request.method) \(request.path)"
        }

        #expect(
            paths == [
                "POST /api/v9/workspaces/2/\(name)", "PUT /api/v9/workspaces/2/\(name)/7",
                "DELETE /api/v9/workspaces/2/\(name)/7",
            ])
    }

    @Test func `what is in none is written at its own address`() throws {
        let lines = [
            try toggl.line(
                toggl.update(
                    "user", "9", #"{"id":9,"fullname":"A","default_workspace_id":1}"#,
                    changes: #"{"default_workspace_id":1}"#)),
            try toggl.line(
                toggl.update(
                    "preferences", "preferences",
                    #"{"id":"preferences","f":"H:mm","alpha_features":[]}"#,
                    changes: #"{"f":"H:mm"}"#)),
        ]

        #expect(
            lines == [
                #"PUT /api/v9/me {"default_workspace_id":1}"#,
                #"POST /api/v9/me/preferences {"f":"H:mm"}"#,
            ])
    }

    @Test func `what has a body says that it is JSON, and nothing has a precondition`() throws {
        for call in toggl.writes + toggl.reads {
            let request = try toggl.adapter.request(for: call)
            var headers: HTTPFields = [.userAgent: "tidemark"]
            if request.body != nil { headers[.contentType] = "application/json" }
            #expect(request.headers == headers)
        }
    }

    @Test func `the version that a deletion is made for is the one that was read`() throws {
        let row = #"{"id":7,"workspace_id":3,"at":"2026-11-18T11:06:40+00:00"}"#
        let page = try #require(toggl.page("time_entries", "[\(row)]"))
        let revision = try #require(page.records.first?.revision)

        let line = try toggl.line(
            .delete(toggl.collection("time_entries"), id: "7", revision: revision))

        #expect(line == "DELETE /api/v9/workspaces/3/time_entries/7")
    }

    @Test func `an id is one segment of the path, whatever is in it`() throws {
        let call = toggl.update("tags", "../a?b", #"{"workspace_id":"1/2"}"#)

        #expect(
            try toggl.adapter.request(for: call).path
                == "/api/v9/workspaces/1%2F2/tags/..%2Fa%3Fb")
    }

    @Test func `a write without a workspace is refused without asking`() throws {
        for body in ["{}", #"{"workspace_id":null}"#, #"{"workspace_id":1.5}"#, "nonsense"] {
            for call in [toggl.create("tags", body), toggl.update("tags", "5", body)] {
                let refusal = try #require(toggl.adapter.refusalBeforeSending(of: call))
                #expect(refusal.status == 0 && refusal.message.contains("workspace_id"))
            }
        }
        for revision in ["-", "2026-11-18T11:06:40Z", ""] {
            let call = toggl.delete("tags", "5", revision: revision)
            #expect(toggl.adapter.refusalBeforeSending(of: call)?.status == 0)
        }
    }

    @Test func `a write that Toggl has no call for is refused without asking`() {
        let body = #"{"workspace_id":1}"#
        let calls = [
            toggl.create("tasks", body), toggl.create("user", body),
            toggl.create("workspaces", body),
            toggl.create("workspace_features", body), toggl.update("workspaces", "1", body),
            toggl.delete("preferences", "preferences", revision: "-@1"),
            toggl.create("unheard_of", body),
        ]
        for call in calls { #expect(toggl.adapter.refusalBeforeSending(of: call)?.status == 0) }
    }

    @Test func `what can be written is not refused, and neither is a read`() {
        for call in toggl.writes + toggl.reads + [toggl.list("unheard_of")] {
            #expect(toggl.adapter.refusalBeforeSending(of: call) == nil)
        }
    }

    @Test func `what Toggl can't be asked for is a failure of the call`() {
        let tags = toggl.collection("tags")
        let calls: [ServerCall] = [
            toggl.list("unheard_of"), .list(tags, after: nil, page: "2"), .read(tags, id: "5"),
            .listWindow(tags, from: Timestamp(rawValue: 0), to: Timestamp(rawValue: 1), page: nil),
            .refetch(tags, ids: ["5"], together: nil), .fetch(tags, ids: ["5"]), .describe([tags]),
            .batch(toggl.writes),
        ]
        for call in calls {
            #expect(throws: SyncFailure.self) { try toggl.adapter.request(for: call) }
        }
    }

    @Test func `a remote names the adapter, and may name the app`() throws {
        let remote = Remote.toggl(origin: "https://api.track.toggl.com")

        #expect(try remote.makeAdapter() is TogglAdapter)
        #expect(remote.parameters == [:])
        #expect(throws: ModelError.self) {
            try Remote(origin: "https://x.test", adapter: "tuggl").makeAdapter()
        }
        let named = try Remote.toggl(origin: "https://x.test", createdWith: "clock").makeAdapter()
        let request = try named.request(for: toggl.create("time_entries", #"{"workspace_id":1}"#))
        #expect(request.headers[.userAgent] == "clock")
        #expect(request.body.map { JSON.value("created_with", of: $0) } == "clock")
    }

    @Test func `a remote with an empty name of the app is refused, and says where`() {
        var remote = Remote.toggl(origin: "https://x.test")
        remote.parameters["createdWith"] = ""

        let error = #expect(throws: ModelError.self) { try remote.makeAdapter() }

        #expect(error?.description.contains("remote.createdWith") == true)
    }
}
