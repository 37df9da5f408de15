// AdapterCheckTests.swift — the adapters of the library, checked as an adapter of one's own is.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@Suite struct `the check of adapters` {
    private static func json(
        _ body: String, _ status: Int = 200, _ fields: HTTPFields = [:]
    ) -> TransportResponse { TransportResponse(status: status, fields: fields, body: body) }

    @Test func `finds nothing in that of Kinto`() {
        @Sendable func task(_ id: String, _ version: Int = 7) -> String {
            #"{"id":"\#(id)","last_modified":\#(version),"title":"Tea"}"#
        }
        let check = AdapterCheck(
            KintoAdapter(origin: "https://kinto.test", bucket: "todo"),
            model: SyncModel(
                name: "todo",
                collections: [CollectionModel("tasks", lastChangeField: "last_modified")]),
            samples: [
                EntityKey("tasks", "t1"): #"{"id":"t1","title":"Tea"}"#,
                EntityKey("tasks", "t3"): #"{"id":"t3","title":"Tea"}"#,
            ],
            deleted: [EntityKey("tasks", "t2")],
            errors: [
                400: #"{"errno":107,"message":"the title is missing"}"#,
                404: #"{"errno":110,"message":"no such record"}"#,
                409: #"{"errno":122,"message":"the title is taken"}"#, 410: #"{"errno":202}"#,
                412: #"{"errno":114}"#, 422: #"{"errno":107,"message":"the title is too long"}"#,
            ]
        ) { call, _ in
            switch call {
            case .describe: Self.json(#"{"data":[{"id":"tasks","last_modified":5}]}"#)
            case .list:
                Self.json(
                    #"{"data":[\#(task("t1")),\#(task("t3")),"#
                        + #"{"id":"t2","last_modified":8,"deleted":true}]}"#,
                    200, [.eTag: "\"8\""])
            case .fetch: Self.json(#"{"data":[\#(task("t1")),\#(task("t3"))]}"#)
            case .read(_, let id): Self.json(#"{"data":\#(task(id))}"#)
            case .create(_, let id, _): Self.json(#"{"data":\#(task(id, 9))}"#, 201)
            case .update(_, let id, _, _, _): Self.json(#"{"data":\#(task(id, 9))}"#)
            case .delete(_, let id, _):
                Self.json(#"{"data":{"id":"\#(id)","last_modified":9,"deleted":true}}"#)
            case .batch(let calls):
                Self.json(
                    #"{"responses":["#
                        + calls.map { _ in #"{"status":200,"body":{"data":\#(task("t1", 9))}}"# }
                        .joined(separator: ",") + "]}")
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    @Test func `finds nothing in that of Toggl`() {
        let entry =
            #"{"id":7,"workspace_id":1,"start":"2026-11-18T09:00:00Z","duration":60,"#
            + #""description":"Tea""#
        let time = #""at":"2026-11-18T10:00:00+00:00""#
        let check = AdapterCheck(
            TogglAdapter(), model: .toggl,
            samples: [
                EntityKey("time_entries", "7"): entry + "}",
                EntityKey("tags", "3"): #"{"id":3,"workspace_id":1,"name":"home"}"#,
            ]
        ) { call, _ in
            switch (call, call.collection?.name.rawValue) {
            case (.list, "tags"):
                Self.json(#"[{"id":3,"workspace_id":1,"name":"home",\#(time)}]"#)
            case (.create, "tags"):
                Self.json(#"[{"id":4,"workspace_id":1,"name":"home",\#(time)}]"#)
            case (.list, "time_entries"), (.listWindow, "time_entries"):
                Self.json("[\(entry),\(time)}]")
            case (.read, "time_entries"), (.create, "time_entries"), (.update, "time_entries"):
                Self.json("\(entry),\(time)}")
            case (.delete, "time_entries"): Self.json("")
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    @Test func `finds nothing in that of CalDAV`() {
        let token = "<D:sync-token>t1</D:sync-token>"
        let item = "BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:u1\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
        let list =
            #"<D:multistatus xmlns:D="DAV:"><D:response><D:href>/demo/tasks/u1.ics</D:href>"#
            + #"<D:propstat><D:prop><D:getetag>"e1"</D:getetag></D:prop>"#
            + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
            + "<D:response><D:href>/demo/tasks/u2.ics</D:href>"
            + "<D:status>HTTP/1.1 404 Not Found</D:status></D:response>\(token)</D:multistatus>"
        var errors = AdapterCheck.usualErrors
        // One that names no precondition is about the calendar.
        errors[409] =
            #"<D:error xmlns:D="DAV:"><C:no-uid-conflict xmlns:C="urn:ietf:params:xml:ns:caldav"/>"#
            + "</D:error>"
        let check = AdapterCheck(
            CalDAVAdapter(origin: "https://dav.test", home: "/demo/"),
            model: SyncModel(name: "dav", collections: [CollectionModel("tasks")]),
            samples: [
                EntityKey("tasks", "u1"):
                    #"{"id":"u1","data":"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"}"#
            ],
            deleted: [EntityKey("tasks", "u2")], errors: errors
        ) { call, _ in
            switch call {
            case .list: Self.json(list, 207)
            case .read: Self.json(item, 200, [.eTag: "\"e1\""])
            case .create: Self.json("", 201, [.eTag: "\"e1\""])
            case .update, .delete: Self.json("", 204)
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    @Test func `finds nothing in that of WebDAV`() {
        func entry(_ path: String, _ properties: String) -> String {
            "<D:response><D:href>/base/dav/\(path)</D:href><D:propstat><D:prop>\(properties)"
                + "</D:prop><D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        }
        func all(_ entries: String...) -> String {
            #"<D:multistatus xmlns:D="DAV:">\#(entries.joined())</D:multistatus>"#
        }
        let folder = entry("", "<D:resourcetype><D:collection/></D:resourcetype>")
        let file = entry(
            "n.txt",
            "<D:resourcetype/><D:getcontentlength>3</D:getcontentlength>"
                + #"<D:getetag>"e1"</D:getetag>"#)
        let (root, alone) = (all(folder, file), all(file))
        let check = AdapterCheck(
            WebDAVAdapter(origin: "https://dav.test/base", home: "/dav/"),
            model: SyncModel(
                name: "files",
                collections: [
                    CollectionModel(
                        "files", references: [Reference("parent", to: "files")],
                        tree: .init(
                            parent: "parent", name: "name", kind: "kind", isByPath: true,
                            serverID: "fileId"))
                ]),
            samples: [EntityKey("files", "n.txt"): #"{"kind":"file","size":3}"#]
        ) { call, _ in
            switch call {
            case .list: Self.json(root, 207)
            case .read: Self.json(alone, 207)
            case .create, .update: Self.json("", 201)
            case .delete: Self.json("", 204)
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    @Test func `finds nothing in what that of DHIS2 lists and reads`() throws {
        let unit = #"{"id":"ImspTQPwCqd","name":"A","lastUpdated":"2026-01-01T10:00:00.123"}"#
        let check = AdapterCheck(
            try #require(Dhis2Adapter(version: "2.41")),
            model: SyncModel(
                name: "units", collections: [CollectionModel("organisationUnits", pushes: [])]),
            samples: [EntityKey("organisationUnits", "ImspTQPwCqd"): unit],
            errors: [
                400: "", 404: #"{"httpStatusCode":404,"message":"no such unit"}"#, 409: "",
            ]
        ) { call, _ in
            switch call {
            case .list: Self.json(#"{"pager":{"page":1},"organisationUnits":[\#(unit)]}"#)
            case .read: Self.json(unit)
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    /// What an import refuses stands in its report, by object; any other 4xx is about the request.
    @Test func `finds nothing in what that of DHIS2 writes, but for what reports tell`() throws {
        let check = AdapterCheck(
            try #require(Dhis2Adapter(version: "2.41")),
            model: SyncModel(
                name: "tracker",
                collections: [
                    CollectionModel(
                        "trackedEntities", idField: "trackedEntity",
                        lists: [
                            .init(["program": "P1", "orgUnit": "O1", "orgUnitMode": "DESCENDANTS"])
                        ])
                ]),
            samples: [
                EntityKey("trackedEntities", "TvctPPhpD8u"):
                    #"{"trackedEntity":"TvctPPhpD8u","orgUnit":"O1","trackedEntityType":"T1"}"#
            ],
            errors: [:]
        ) { _, _ in nil }

        #expect(check.problems() == [])
    }
}
