// Dhis2DataValueTests.swift — aggregate data values: what is asked, sent and said of them.

import Foundation
import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `data values of DHIS2` {
    private static let values = CollectionModel(
        "dataValues",
        lists: [
            .init(["dataSet": "S1,S2", "orgUnit": "O1", "period": "202601"]),
            .init(["dataSet": "S2", "orgUnit": "O2", "period": "202601"]),
        ])
    private static let unsent = Revision(rawValue: [])

    private func adapter(_ version: String = "2.41") throws -> Dhis2Adapter {
        try #require(Dhis2Adapter(version: version))
    }

    private func id(_ element: String, _ period: String = "202601") -> String {
        Dhis2Adapter.id(
            dataElement: element, period: period, orgUnit: "O1", categoryOptionCombo: "C1",
            attributeOptionCombo: "A1")
    }

    private func create(_ element: String, _ members: String = #""value":"1""#) -> ServerCall {
        .create(
            Self.values, id: id(element),
            body: Array(#"{"id":"\#(id(element))",\#(members)}"#.utf8))
    }

    private func path(_ call: ServerCall, _ version: String = "2.41") throws -> String {
        try adapter(version).request(for: call).path
    }

    // MARK: What is asked

    @Test func `a list goes on a day before the last change`() throws {
        let list = { (after: String?) in
            ServerCall.listPart(
                Self.values, ["dataSet": "S1", "orgUnit": "O1", "period": "202601,202602"],
                after: after.map { Revision($0) }, page: nil)
        }
        let place =
            "/api/dataValueSets?dataSet=S1&orgUnit=O1&period=202601%2C202602&includeDeleted=true"
        #expect(try path(list(nil)) == place)
        for (after, since) in [
            ("2026-03-01T10:00:00.123+0000", "2026-02-28T10%3A00%3A00.123%2B0000"),
            ("2026-03-01T10:00:00.123+0530", "2026-02-28T04%3A30%3A00.123%2B0000"),
            ("2026-03-01T10:00:00.123-0200", "2026-02-28T12%3A00%3A00.123%2B0000"),
            ("2026-03-01T10:00:00.123", "2026-02-28T10%3A00%3A00.123%2B0000"),
            ("soon", "soon"),
        ] {
            #expect(try path(list(after)) == place + "&lastUpdated=" + since)
        }
    }

    @Test(
        arguments: [
            [:], ["dataSet": "S1", "orgUnit": "O1"], ["dataSet": "S1", "period": "2026"],
            ["orgUnit": "O1", "period": "2026"],
            ["dataSet": "S1", "orgUnit": "O1", "startDate": "2026-01-01"],
        ] as [[String: String]])
    func `a list without set, unit or time is refused with what to do`(
        _ parameters: [String: String]
    ) throws {
        let failure = #expect(throws: SyncFailure.self) {
            try path(
                .listPart(Self.values, ListParameters(parameters), after: nil, page: nil))
        }
        #expect(failure?.detail.contains("name them in lists") == true)
    }

    @Test func `a value is read by its element, and before 2.40 by the sets of lists`() throws {
        let read = ServerCall.read(Self.values, id: id("D1"))
        let rest = "dataElement=D1&orgUnit=O1&period=202601&includeDeleted=true"
        #expect(try path(read) == "/api/dataValueSets?" + rest)
        #expect(try path(read, "2.39") == "/api/dataValueSets?dataSet=S1&dataSet=S2&" + rest)
        let fetch = ServerCall.fetch(
            CollectionModel("dataValues"), ids: [id("D1"), id("D2", "2027")])
        for version in ["2.37", "2.41"] {
            #expect(
                try path(fetch, version)
                    == "/api/dataValueSets?dataElement=D1&dataElement=D2&orgUnit=O1&period=202601"
                    + "&period=2027&includeDeleted=true")
        }
        #expect(throws: SyncFailure.self) { try path(.read(Self.values, id: "D1-202601")) }
    }

    // MARK: What is answered

    private func answer(
        _ call: ServerCall, _ body: String, status: Int = 200, version: String = "2.41"
    ) throws -> ServerAnswer {
        try adapter(version).answer(
            to: call, HTTPResponse(status: .init(code: status)), body: Array(body.utf8))
    }

    private func value(_ element: String, _ members: String) -> String {
        """
        {"dataElement":"\(element)","period":"202601","orgUnit":"O1","categoryOptionCombo":"C1",\
        "attributeOptionCombo":"A1",\(members)}
        """
    }

    @Test func `a set is one page, and its last change in time is the cursor`() throws {
        let body =
            #"{"dataSet":"S1","dataValues":["#
            + [
                value("D1", #""value":"1","lastUpdated":"2026-01-02T01:00:00.000+0200""#),
                value("D2", #""value":"2","lastUpdated":"2026-01-02T00:30:00.000+0000""#),
                value("D3", #""deleted":true,"lastUpdated":"2026-01-01T00:00:00.000+0000""#),
                #"{"dataElement":"D4","value":"4"}"#,
            ].joined(separator: ",") + "]}"
        let call = ServerCall.list(Self.values, after: nil, page: nil)
        guard case .page(let page) = try answer(call, body) else { return #expect(Bool(false)) }
        #expect(page.records.map(\.id) == [id("D1"), id("D2"), id("D3")])
        #expect(page.records.map(\.isDeleted) == [false, false, true])
        #expect(
            page.records[0].document.map { String(decoding: $0, as: UTF8.self) }
                == value("D1", #""value":"1","lastUpdated":"2026-01-02T01:00:00.000+0200""#)
                .dropLast() + #","id":"\#(id("D1"))"}"#)
        #expect(page.unreadable.count == 1 && page.next == nil)
        #expect(page.cursor == Revision("2026-01-02T00:30:00.000+0000"))
    }

    @Test func `a value whose change is at no time is one all the same`() throws {
        // More than nineteen bytes, and fewer characters.
        let time = String(repeating: "\u{E9}", count: 12)
        let body =
            #"{"dataValues":["# + value("D1", #""value":"1","lastUpdated":"\#(time)""#) + "]}"
        let call = ServerCall.list(Self.values, after: Revision("x"), page: nil)
        guard case .page(let page) = try answer(call, body) else { return #expect(Bool(false)) }
        #expect(page.records.map(\.id) == [id("D1")] && page.unreadable.isEmpty)
        #expect(page.cursor == Revision("x"))
    }

    @Test func `a list goes on at no value that lies ahead of the answer`() throws {
        func listed(after: String?, all: Bool = true) throws -> ServerAnswer {
            let values = [
                value("D1", #""value":"1","lastUpdated":"2026-01-01T10:02:00.000+0000""#),
                value("D2", #""value":"2","lastUpdated":"2026-01-01T12:01:00.000+0200""#),
            ]
            let some = all ? values : [values[0]]
            let body = #"{"dataValues":["# + some.joined(separator: ",") + "]}"
            return try adapter().answer(
                to: .list(Self.values, after: after.map { Revision($0) }, page: nil),
                HTTPResponse(
                    status: .ok, headerFields: [.date: "Thu, 01 Jan 2026 10:00:00 GMT"]),
                body: Array(body.utf8))
        }
        guard case .page(let page) = try listed(after: nil) else { return #expect(Bool(false)) }
        #expect(page.records.count == 2)
        #expect(page.cursor == Revision("2026-01-01T12:01:00.000+0200"))
        #expect(try listed(after: "2026-01-01T10:02:00.000+0000") == .cursorExpired)
        // Where all lie ahead it goes on at the time of the answer, or a minute before.
        guard case .page(let ahead) = try listed(after: nil, all: false) else {
            return #expect(Bool(false))
        }
        #expect(ahead.cursor == Revision("2026-01-01T09:59:00.000+0000"))
    }

    @Test func `a set without values keeps the cursor`() throws {
        let call = ServerCall.list(Self.values, after: Revision("x"), page: nil)
        for body in [#"{"dataValues":[]}"#, #"{"dataSet":"S1","period":"202601"}"#] {
            guard case .page(let page) = try answer(call, body) else {
                return #expect(Bool(false))
            }
            #expect(page.records.isEmpty && page.cursor == Revision("x"))
        }
        guard case .failure(.malformed) = try answer(call, "[]") else {
            return #expect(Bool(false))
        }
    }

    @Test func `of a set that was read only the value counts that was asked for`() throws {
        let body = #"{"dataValues":[\#(value("D1", #""value":"1""#))]}"#
        guard case .record(let record) = try answer(.read(Self.values, id: id("D1")), body) else {
            return #expect(Bool(false))
        }
        #expect(record.id == id("D1"))
        #expect(try answer(.read(Self.values, id: id("D2")), body) == .absent)
        guard
            case .records(let records) = try answer(
                .fetch(Self.values, ids: [id("D2"), id("D1")]), body)
        else { return #expect(Bool(false)) }
        #expect(records.map(\.id) == [id("D1")])
    }

    @Test func `what the sets of some lists lack may be in what another list is of`() throws {
        let group: ListParameters = [
            "dataElementGroup": "G1", "orgUnit": "O1", "period": "202601",
        ]
        var others = Self.values
        others.lists?.append(.init(group))
        let body = #"{"dataValues":[]}"#
        for version in ["2.37", "2.39"] {
            let own = try answer(.read(Self.values, id: id("D1")), body, version: version)
            #expect(own == .absent)
            let found = try answer(.read(others, id: id("D1")), body, version: version)
            guard case .failure(.client) = found else { return #expect(Bool(false)) }
        }
        #expect(try answer(.read(others, id: id("D1")), body) == .absent)
    }

    // MARK: What is sent

    private func sent(_ calls: [ServerCall], _ version: String) throws -> String? {
        try adapter(version).request(for: .batch(calls)).body.map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    @Test func `from 2.39 on a set is named; nothing goes that only the server sets`() throws {
        let members = #""dataElement":"D1","value":"1","dataSet":"S1""#
        let calls = [
            create("D1", members + #","lastUpdated":"x","created":"x","storedBy":"me""#),
            create("D2", #""value":"2","dataSet":"S1""#),
        ]
        let rest =
            #""period":"202601","orgUnit":"O1","categoryOptionCombo":"C1","#
            + #""attributeOptionCombo":"A1"}"#
        let values =
            #""dataValues":[{"dataElement":"D1","value":"1",\#(rest),"#
            + #"{"value":"2","dataElement":"D2",\#(rest)]}"#
        #expect(try sent(calls, "2.39") == #"{"dataSet":"S1","# + values)
        #expect(try sent(calls, "2.38") == "{" + values)
        #expect(try adapter("2.39").request(for: calls[0]).path == "/api/dataValueSets")
        #expect(try adapter("2.39").traits.partitionFields == ["dataValues": "dataSet"])
        #expect(try adapter("2.38").traits.partitionFields.isEmpty)
    }

    @Test func `a limit of all lists is refused, unless the store has it already`() throws {
        let list = #"{"parameters":{"dataSet":"S1","orgUnit":"O1","period":"202601"}}"#
        let text = #"{"collections":[{"name":"dataValues","lists":[\#(list)],"listLimit":5}]}"#
        let registration = try ModelRegistration(parsing: Array(text.utf8))
        let dhis2 = try adapter()

        let error = #expect(throws: ModelError.self) { try dhis2.check(registration) }
        #expect(error?.path == "collections[0].listLimit")
        #expect(error?.problem.contains("numbers no pages of dataValues") == true)
        #expect(throws: Never.self) { try dhis2.check(registration, isBound: true) }
    }

    @Test func `a deletion names what the value is told by`() throws {
        let call = ServerCall.delete(Self.values, id: id("D1"), revision: Self.unsent)
        #expect(
            try adapter().request(for: call).body.map { String(decoding: $0, as: UTF8.self) }
                == #"{"dataValues":[\#(value("D1", #""deleted":true"#))]}"#)
    }

    @Test func `a value whose fields say another id is refused with what to do`() throws {
        let later = create("D1", #""period":"202602""#)
        let moved = try #require(try adapter().refusalBeforeSending(of: later))
        #expect(moved.message.contains("period is \"202602\", and the value's id says \"202601\""))
        let other = ServerCall.create(Self.values, id: "v1", body: Array(#"{"value":"1"}"#.utf8))
        let unnamed = try #require(try adapter().refusalBeforeSending(of: other))
        #expect(unnamed.message.contains("make it by Dhis2Adapter.id(dataElement:"))
        #expect(try adapter().refusalBeforeSending(of: create("D1")) == nil)
        #expect(throws: SyncFailure.self) {
            try sent([create("D1", #""dataSet":"S1""#), create("D2", #""dataSet":"S2""#)], "2.41")
        }
    }
}
