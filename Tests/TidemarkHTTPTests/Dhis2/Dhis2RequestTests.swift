// Dhis2RequestTests.swift — what is asked of DHIS2, by its version, and what is refused.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `requests to DHIS2` {
    private func adapter(_ version: String) throws -> Dhis2Adapter {
        try #require(Dhis2Adapter(version: version))
    }

    private func entities(_ id: String = "trackedEntity", pageSize: Int? = 50) -> CollectionModel {
        CollectionModel("trackedEntities", idField: id, pageSize: pageSize)
    }

    private let part: ListParameters = [
        "program": "P1", "orgUnit": "O1", "orgUnitMode": "DESCENDANTS",
    ]

    @Test func `a list in the words of each version`() throws {
        let since = Revision("2026-01-01T10:00:00.123")
        func path(_ version: String, _ id: String, _ page: String?) throws -> String {
            try adapter(version).request(
                for: .listPart(entities(id), part, after: since, page: page)
            ).path
        }
        #expect(
            try path("2.37.0", "trackedEntityInstance", nil)
                == "/api/trackedEntityInstances?ou=O1&ouMode=DESCENDANTS&program=P1"
                + "&fields=*,!programOwners&includeDeleted=true&includeAllAttributes=true"
                + "&order=lastUpdated:desc&lastUpdatedStartDate=2026-01-01T08%3A50%3A00.123"
                + "&page=1&pageSize=50")
        #expect(
            try path("2.40.3", "trackedEntity", "2")
                == "/api/tracker/trackedEntities?orgUnit=O1&ouMode=DESCENDANTS&program=P1"
                + "&fields=*,!programOwners&includeDeleted=true&order=updatedAt:desc"
                + "&updatedAfter=2026-01-01T08%3A50%3A00.123&page=2&pageSize=50")
        #expect(
            try path("2.41", "trackedEntity", nil).contains(
                "?orgUnits=O1&orgUnitMode=DESCENDANTS&program=P1&"))
    }

    @Test func `one object, and metadata`() throws {
        let new = try adapter("2.41")
        #expect(
            try new.request(for: .read(entities(), id: "t/1")).path
                == "/api/tracker/trackedEntities/t%2F1?fields=*,!programOwners")
        #expect(
            try new.request(for: .list(CollectionModel("programs"), after: nil, page: nil)).path
                == "/api/programs?fields=:owner&order=lastUpdated:desc&order=id:asc"
                + "&page=1&pageSize=50")
        let later = ServerCall.list(
            CollectionModel("programs"), after: Revision("2026-01-01T10:00:00.123"), page: "2")
        #expect(
            try new.request(for: later).path.contains(
                "&filter=lastUpdated:ge:2026-01-01T08%3A50%3A00.123&page=2&"))
    }

    @Test(
        arguments: [
            ("2.41", "tracker/trackedEntities?trackedEntities=a,b", ",!enrollments,!relationships"),
            (
                "2.37", "trackedEntityInstances?trackedEntityInstance=a;b",
                ",!enrollments,!relationships"
            ),
        ])
    func `stubs are asked for without what they hold`(
        _ version: String, _ place: String, _ fields: String
    ) throws {
        let field = version == "2.37" ? "trackedEntityInstance" : "trackedEntity"
        let entities = CollectionModel("trackedEntities", idField: field)
        let path = try adapter(version).request(
            for: .refetch(entities, ids: ["a", "b"], together: nil)
        ).path
        #expect(
            path == "/api/\(place)&fields=*,!programOwners\(fields)"
                + "&includeDeleted=true&page=1&pageSize=2")
    }

    @Test func `a list shows a relationship where it would show both its ends`() throws {
        let adapter = try adapter("2.41")
        let links = CollectionModel("relationships", idField: "relationship")
        func shows(_ to: String, in list: ListParameters = [:]) throws -> Bool {
            let text = #"{"from":{"trackedEntity":{"trackedEntity":"T"}},"to":\#(to)}"#
            let link = try JSONDocument(parsing: Array(text.utf8))
            return adapter.shows(link, of: links, in: list) { key in
                let text =
                    switch "\(key)" {
                    case "events/V": #"{"program":"P"}"#
                    case "enrollments/E": #"{"program":"Q"}"#
                    case "programs/P": #"{"accessLevel":"OPEN"}"#
                    case "programs/Q": #"{"accessLevel":"PROTECTED"}"#
                    default: "none"
                    }
                return try? JSONDocument(parsing: Array(text.utf8))
            }
        }
        #expect(try shows(#"{"trackedEntity":{"trackedEntity":"U"}}"#))
        #expect(try !shows(#"{"event":{"event":"V"}}"#))
        #expect(try shows(#"{"event":{"event":"V"}}"#, in: ["program": "P"]))
        #expect(try !shows(#"{"event":{"event":"unknown"}}"#))
        #expect(try !shows(#"{"enrollment":{"enrollment":"E"}}"#))
        #expect(try shows(#"{"enrollment":{"enrollment":"E"}}"#, in: ["program": "Q"]))
    }

    @Test func `units that something names are asked for together, as a whole`() throws {
        let units = CollectionModel("organisationUnits")
        #expect(
            try adapter("2.41").request(for: .refetch(units, ids: ["a", "b"], together: nil)).path
                == "/api/organisationUnits?filter=id:in:%5Ba,b%5D&fields=:owner&paging=false")
    }

    @Test(
        arguments: [
            (
                "2.41", "trackedEntityInstance", ["program": "P"],
                "the id of trackedEntities is in \"trackedEntity\""
            ),
            (
                "2.37", "trackedEntity", ["program": "P"],
                "the id of trackedEntities is in \"trackedEntityInstance\""
            ),
            ("2.41", "trackedEntity", ["orgUnit": "O"], "listed by program or trackedEntityType"),
            (
                "2.41", "trackedEntity", ["program": "P", "ward": "7"],
                "\"ward\" is no parameter of its lists"
            ),
        ] as [(String, String, [String: String], String)])
    func `a list that can't be asked for is refused with what to do`(
        _ version: String, _ id: String, _ parameters: [String: String], _ words: String
    ) throws {
        let call = ServerCall.listPart(
            entities(id), ListParameters(parameters), after: nil, page: nil)
        let failure = #expect(throws: SyncFailure.self) {
            _ = try adapter(version).request(for: call)
        }
        #expect(failure?.detail.contains(words) == true, "\(failure?.detail ?? "")")
    }

    @Test(arguments: ["", "3.1", "2", "2.x", "forty", "2.", "2.-41", "2.+41", "master"])
    func `a version that is none is refused`(_ version: String) {
        let remote = Remote.dhis2(origin: "https://play.dhis2.org", version: version)
        let error = #expect(throws: ModelError.self) { _ = try remote.makeAdapter() }
        #expect(
            error?.path == "remote.version"
                && error?.problem.contains("no version of DHIS2") == true)
    }

    @Test func `changes of metadata are refused unsent`() throws {
        let refusal = try adapter("2.41").refusalBeforeSending(
            of: .delete(CollectionModel("programs"), id: "p1", revision: Revision("")))
        #expect(
            refusal?.message
                == "changes of programs are not sent to DHIS2; set pushes to [] in the model")
    }

    @Test(arguments: [
        (#"{"trackedEntities":[{"orgUnit":"O"}]}"#, 0, 1, "an object without an id"),
        (#"{"instances":[{"trackedEntity":"t1","enrollments":[{"orgUnit":"O"}]}]}"#, 1, 0, ""),
    ])
    func `an object without an id is put aside`(
        _ body: String, _ records: Int, _ unreadable: Int, _ words: String
    ) throws {
        let answer = try adapter("2.41").answer(
            to: .listPart(entities(), part, after: nil, page: nil), HTTPResponse(status: .ok),
            body: Array(body.utf8))
        guard case .page(let page) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(page.records.count == records && page.unreadable.count == unreadable)
        #expect(page.unreadable.allSatisfy { $0.problem.contains(words) })
        if records == 1 { #expect(page.records[0].children[0].unreadable.count == 1) }
    }

    @Test(arguments: [
        // What the user may not see was taken out of a page that was cut before.
        (#"{"[L]":[#],"pager":{"page":3,"pageSize":2,"isLastPage":false}}"#, "4"),
        (#"{"[L]":[#],"pager":{"page":3,"pageSize":2,"nextPage":"http://x"}}"#, "4"),
        (#"{"[L]":[#],"pager":{"page":3,"pageSize":2,"isLastPage":true}}"#, nil),
        (#"{"[L]":[#],"pager":{"page":3,"pageSize":2}}"#, nil),
        (#"{"[L]":[#],"pager":7}"#, nil),
        // A full one may have others behind it whatever is said of it.
        (#"{"[L]":[#,#],"pager":{"isLastPage":true}}"#, "4"),
        (#"{"[L]":[],"pager":{"page":3,"isLastPage":false}}"#, nil),
        (#"{"[L]":[],"pager":{"page":3,"nextPage":"http://x"}}"#, "4"),
    ])
    func `a page that is not full has others behind it where the server says so`(
        _ answer: String, _ next: String?
    ) throws {
        let body = answer.replacing("[L]", with: "trackedEntityInstances")
            .replacing("#", with: #"{"trackedEntityInstance":"t1"}"#)
        let list = ServerCall.listPart(
            entities("trackedEntityInstance", pageSize: 2), part, after: nil, page: "3")
        guard
            case .page(let page) = try adapter("2.37.0").answer(
                to: list, HTTPResponse(status: .ok), body: Array(body.utf8))
        else { return #expect(Bool(false)) }
        #expect(page.next == next)
    }

    @Test(arguments: [
        ("2.40", #"{"page":3,"pageSize":2,"instances":[#]}"#, "4"),
        ("2.41", #"{"pager":{"page":3,"pageSize":2},"trackedEntities":[#]}"#, "4"),
        ("2.40", #"{"page":3,"pageSize":2,"instances":[]}"#, "+4"),
        ("2.41", #"{"pager":{"page":3,"pageSize":2},"trackedEntities":[]}"#, "+4"),
        ("2.41", #"{"pager":{"page":3,"nextPage":"http://x"},"trackedEntities":[]}"#, "4"),
        ("2.42", #"{"pager":{"page":3,"pageSize":2},"trackedEntities":[#]}"#, nil),
    ])
    func `of a program's entities the last page is an empty one behind another in 2.40 and 2.41`(
        _ version: String, _ answer: String, _ next: String?
    ) throws {
        let body = answer.replacing("#", with: #"{"trackedEntity":"t1"}"#)
        func found(
            _ collection: CollectionModel, _ parameters: ListParameters, page: String = "3"
        ) throws -> String? {
            let list = ServerCall.listPart(collection, parameters, after: nil, page: page)
            guard
                case .page(let page) = try adapter(version).answer(
                    to: list, HTTPResponse(status: .ok), body: Array(body.utf8))
            else { return "no page" }
            return page.next
        }
        #expect(try found(entities(pageSize: 2), part) == next)
        // Behind an empty one.
        let last = next == "+4" ? nil : next
        #expect(try found(entities(pageSize: 2), part, page: "+3") == last)
        // Of a type nothing is taken out of a page.
        let typed = try found(entities(pageSize: 2), ["orgUnit": "O1", "trackedEntityType": "P"])
        #expect(typed == last)
        // One tracked entity stands on one page.
        #expect(try found(entities(pageSize: 2), ["id": "t1", "program": "P1"]) == nil)
    }

    @Test func `of events the last page is one that is not full, in every version`() throws {
        let events = CollectionModel("events", idField: "event", pageSize: 2)
        let body = #"{"page":3,"pageSize":2,"instances":[{"event":"v1"}]}"#
        let answer = try adapter("2.40").answer(
            to: .listPart(events, part, after: nil, page: "3"), HTTPResponse(status: .ok),
            body: Array(body.utf8))
        guard case .page(let page) = answer else { return #expect(Bool(false)) }
        #expect(page.records.count == 1 && page.next == nil)
    }

    @Test(arguments: ["[]", "{}", #"{"trackedEntities":7}"#, ""])
    func `an answer that is no list is malformed`(_ body: String) throws {
        let answer = try adapter("2.41").answer(
            to: .listPart(entities(), part, after: nil, page: nil), HTTPResponse(status: .ok),
            body: Array(body.utf8))
        guard case .failure(.malformed) = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test(arguments: ["2.37", "2.41"], [200, 201])
    func `a page is no answer of DHIS2's to any call`(_ version: String, _ status: Int) throws {
        let write = ServerCall.create(entities(), id: "t1", body: Array("{}".utf8))
        let calls: [ServerCall] = [
            .list(CollectionModel("programs"), after: nil, page: nil),
            .list(CollectionModel("programs"), after: nil, page: "2"),
            .listPart(entities(), part, after: nil, page: nil), .read(entities(), id: "t1"),
            .fetch(entities(), ids: ["t1", "t2"]),
            .refetch(entities(), ids: ["t1", "t2"], together: nil),
            .reserve(pool: "numbers", key: ["A1"], pattern: nil, count: 1), write,
            .batch([write]), .delete(entities(), id: "t1", revision: Revision("1")),
            .poll("jobs/J1/report", of: [write]),
        ]
        for call in calls {
            let answer = try adapter(version).answer(
                to: call, HTTPResponse(status: .init(code: status)),
                body: Array("\r\n<!doctype html><title>Sign in</title>".utf8))
            #expect(answer == .failure(.foreign("\(status) with a page in it")), "\(call)")
        }
    }

    @Test(
        arguments: [
            ("2.37", "trackedEntityInstance", "ou"), ("2.41", "trackedEntity", "ou"),
            ("2.42", "trackedEntity", "orgUnit"),
        ])
    func `actions in the words of each version`(_ version: String, _ id: String, _ unit: String)
        throws
    {
        let adapter = try adapter(version)
        func request(_ action: String, _ parameters: [String: String]) throws -> ServerRequest {
            try adapter.request(
                for: .perform(entities(id), id: "T1", action: action, parameters: parameters))
        }
        let glass = try request("override", ["program": "P1", "reason": "first & last"])
        #expect(glass.method == .post)
        #expect(
            glass.path == "/api/tracker/ownership/override?\(id)=T1&program=P1"
                + "&reason=first%20%26%20last")
        let transfer = try request("transfer", ["program": "P1", "orgUnit": "O2"])
        #expect(transfer.method == .put)
        #expect(
            transfer.path == "/api/tracker/ownership/transfer?\(id)=T1&program=P1&\(unit)=O2")
        for parameters in [[:], ["program": "P1"], ["program": "P1", "reason": "r", "more": "m"]] {
            let failure = #expect(throws: SyncFailure.self) {
                _ = try request("override", parameters)
            }
            #expect(failure?.detail.contains("needs the parameters program and reason") == true)
        }
        let other = #expect(throws: SyncFailure.self) { _ = try request("merge", [:]) }
        #expect(other?.detail.contains("it has override and transfer") == true)
    }

    @Test func `one tracked entity as a program shows it`() throws {
        let list: ListParameters = ["trackedEntity": "T1", "program": "P1"]
        #expect(
            try adapter("2.41").request(
                for: .listPart(entities(), list, after: nil, page: nil)
            ).path == "/api/tracker/trackedEntities/T1?program=P1&fields=*,!programOwners")
        let failure = #expect(throws: SyncFailure.self) {
            _ = try adapter("2.41").request(
                for: .listPart(entities(), ["trackedEntity": "T1"], after: nil, page: nil))
        }
        #expect(failure?.detail.contains("has a program beside it") == true)
    }

    @Test func `from 2.42 on a tracked entity is read in the program that all lists name`() throws {
        func path(_ version: String, _ programs: [String?]) throws -> String {
            var entities = entities()
            entities.lists = programs.map { program in
                var parameters = ["orgUnit": "O1"]
                parameters["program"] = program
                return CollectionModel.ListRule(ListParameters(parameters))
            }
            return try adapter(version).request(for: .read(entities, id: "T1")).path
        }
        let plain = "/api/tracker/trackedEntities/T1?fields=*,!programOwners"
        let owned = "/api/tracker/trackedEntities/T1?program=P1&fields=*,!programOwners"
        #expect(try path("2.42", ["P1", "P1"]) == owned)
        #expect(try path("2.42", ["P1", "P2"]) == plain)
        #expect(try path("2.42", ["P1", nil]) == plain)
        #expect(try path("2.42", []) == plain)
        #expect(try path("2.41", ["P1"]) == plain)
    }

    @Test func `a list is narrowed to one tracked entity`() throws {
        func paths(
            _ version: String, _ id: String, _ lists: [ListParameters]
        ) throws -> [String] {
            let adapter = try adapter(version)
            return try adapter.narrowed(lists, to: "T1", of: entities(id)).map { narrow in
                try adapter.request(
                    for: .listPart(entities(id), narrow, after: nil, page: nil)
                ).path
            }
        }
        let other: ListParameters = ["program": "P2", "orgUnit": "O1"]
        #expect(
            try paths("2.37.0", "trackedEntityInstance", [part, part]) == [
                "/api/trackedEntityInstances?program=P1&trackedEntityInstance=T1"
                    + "&fields=*,!programOwners&includeDeleted=true&includeAllAttributes=true"
                    + "&order=lastUpdated:desc&page=1&pageSize=50"
            ])
        #expect(try paths("2.37.0", "trackedEntityInstance", [part, other]).count == 1)

        // The attributes of a program only a list of it shows; what is gone the last one tells.
        let rest =
            "trackedEntities=T1&fields=*,!programOwners&includeDeleted=true&order=updatedAt:desc"
            + "&page=1&pageSize=50"
        let all = ["program=P1&", "program=P2&", ""].map { words in
            "/api/tracker/trackedEntities?\(words)\(rest)"
        }
        #expect(try paths("2.41", "trackedEntity", []) == Array(all.suffix(1)))
        #expect(try paths("2.41", "trackedEntity", [part, other, part]) == all)

        let new = try adapter("2.41")
        #expect(new.narrowed([part], to: "T1,T2", of: entities()).isEmpty)
        let events = CollectionModel("events", idField: "event")
        #expect(new.narrowed([part], to: "V1", of: events).isEmpty)
    }

    /// The answer to a list of changes, from a server at a time.
    private func listed(_ times: [String], after: String?, at date: String?) throws -> ServerAnswer
    {
        let items = times.enumerated().map { index, time in
            #"{"trackedEntity":"T\#(index)","updatedAt":"\#(time)"}"#
        }
        let fields: HTTPFields = date.map { [.date: $0] } ?? [:]
        return try adapter("2.41").answer(
            to: .listPart(entities(), part, after: after.map { Revision($0) }, page: nil),
            HTTPResponse(status: .ok, headerFields: fields),
            body: Array(#"{"instances":[\#(items.joined(separator: ","))]}"#.utf8))
    }

    @Test func `a list goes on at no change that lies ahead of the answer`() throws {
        func cursor(
            _ times: [String], after: String? = nil,
            at date: String? = "Thu, 01 Jan 2026 10:00:00 GMT"
        ) throws -> Revision? {
            let answer = try listed(times, after: after, at: date)
            guard case .page(let page) = answer else {
                Issue.record("\(answer)")
                return nil
            }
            #expect(page.records.count == times.count)
            return page.cursor
        }
        let (known, ahead) = ("2026-01-01T09:59:00.000", "2035-01-01T00:00:00.000")
        #expect(try cursor([ahead, known]) == Revision(known))
        // Where all lie ahead it goes on at what the server's clock shows at the earliest.
        let earliest = Revision("2025-12-31T19:00:00.000")
        #expect(try cursor([ahead]) == earliest)
        #expect(try cursor([ahead], after: known) == Revision(known))
        #expect(try cursor([ahead], after: "2025-12-01T00:00:00.000") == earliest)
        #expect(try cursor([ahead], at: nil) == Revision(ahead))
        #expect(try cursor([ahead, known], at: nil) == Revision(ahead))
        // The server's zone may be ahead of UTC.
        #expect(
            try cursor(["2026-01-02T01:00:00.000", known]) == Revision("2026-01-02T01:00:00.000"))
        #expect(try cursor(["2026-01-02T01:00:00.001", known]) == Revision(known))
    }

    @Test func `by a cursor that lies ahead of the answer everything is listed`() throws {
        let ahead = "2035-01-01T00:00:00.000"
        let date = "Thu, 01 Jan 2026 10:00:00 GMT"
        #expect(try listed([], after: ahead, at: date) == .cursorExpired)
        guard case .page(let page) = try listed([], after: ahead, at: nil) else {
            return #expect(Bool(false))
        }
        #expect(page.cursor == Revision(ahead))
    }

    @Test func `a list goes on at no change whose time can't be read, or lies ahead in a zone`()
        throws
    {
        let known = "2026-01-01T09:59:00.000"
        func cursor(_ times: [String], after: String? = nil) throws -> Revision? {
            let answer = try listed(times, after: after, at: "Thu, 01 Jan 2026 10:00:00 GMT")
            guard case .page(let page) = answer else {
                Issue.record("\(answer)")
                return nil
            }
            #expect(page.records.count == times.count)
            return page.cursor
        }
        for odd in ["~", "2026-13-01T00:00:00.000", "9999-12-31T23:59:59.000+0000"] {
            #expect(try cursor([odd, known]) == Revision(known), "\(odd)")
            #expect(try cursor([odd], after: known) == Revision(known), "\(odd)")
        }
        #expect(try cursor(["~"]) == nil)
        let zoned = "2026-01-01T10:59:30.000+0100"
        #expect(try cursor([known, zoned]) == Revision(zoned))
    }

    @Test func `by a cursor that is no time everything is listed`() throws {
        let far = "9999-12-31T23:59:59.000+0000"
        #expect(try listed([], after: "~", at: nil) == .cursorExpired)
        #expect(
            try listed([], after: far, at: "Thu, 01 Jan 2026 10:00:00 GMT") == .cursorExpired)
        let new = try adapter("2.41")
        func path(_ after: String) throws -> String {
            let programs = CollectionModel("programs")
            return try new.request(for: .list(programs, after: Revision(after), page: nil)).path
        }
        #expect(try !path("~").contains("filter="))
        #expect(try path(far).contains("filter=lastUpdated:ge:9999-12-31T23"))
    }
}
