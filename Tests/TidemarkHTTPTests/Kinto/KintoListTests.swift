// KintoListTests.swift — what the pages of a list mean.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `lists of a Kinto server` {
    private let kinto = KintoCase()

    private func listed(_ body: String, _ fields: HTTPFields = [:]) -> ListPage? {
        var fields = fields
        fields[.eTag] = fields[.eTag] ?? "\"9\""
        guard case .page(let page) = kinto.answer(to: kinto.list, 200, body, fields) else {
            return nil
        }
        return page
    }

    @Test func `records keep their order and every byte`() throws {
        let first = #"{"title":"d\u00e9j\u00e0 vu","n":1.0,"id":"b", "last_modified":2}"#
        let second =
            "{\n\t\"id\": \"a\",\"last_modified\" :1e0,\"x\":[{},[ ]],\"y\":12345678901234567890}"
        let page = try #require(listed(#"{"other":1,"data": [ \#(first) ,\#(second)]}"#))

        #expect(page.records.map(\.id) == ["b", "a"])
        #expect(page.records.map(\.text) == [first, second])
        #expect(page.records.map(\.revision) == [Revision("2"), Revision("1")])
    }

    @Test func `tombstones are only named: a record may look just like one`() throws {
        let tombstone = #"{"id":"a","last_modified":3,"deleted":true}"#
        let more = #"{"id":"b","last_modified":4,"deleted":true,"n":1}"#
        let page = try #require(listed(#"{"data":[\#(tombstone),\#(more)]}"#))

        #expect(
            page.references == [
                ServerReference(
                    id: "a", revision: Revision("3"), serverTime: Timestamp(milliseconds: 3))
            ])
        #expect(page.records.map(\.text) == [more])
        #expect(page.records.map(\.isDeleted) == [false])
    }

    @Test func `what was asked for by ids is there or is not`() {
        let call = ServerCall.fetch(kinto.tasks, ids: ["a", "b"])
        let marked = #"{"deleted":true,"id":"a","last_modified":3}"#
        let other = #"{"deleted":true,"id":"c","last_modified":4}"#

        let expected = ServerRecord(
            id: "a", revision: Revision("3"), serverTime: Timestamp(milliseconds: 3),
            document: Array(marked.utf8))
        #expect(
            kinto.answer(to: call, 200, #"{"data":[\#(other),\#(marked)]}"#)
                == .records([expected]))
        #expect(kinto.answer(to: call, 200, #"{"data":[]}"#) == .records([]))
        #expect(kinto.answer(to: call, 200, #"{"data":[{"id":"a"}]}"#).isMalformed)
        #expect(kinto.answer(to: call, 200, #"{"data":[{"n":1}]}"#).isMalformed)
        // In pages it would not be all.
        #expect(kinto.failure(to: call, 200, #"{"data":[]}"#, .nextPage("x"))?.name == "client")
    }

    @Test(arguments: ["false", "\"true\"", "1", "null"])
    func `only a true says that a record is deleted`(_ value: String) throws {
        let record = #"{"id":"a","last_modified":3,"deleted":\#(value)}"#
        let page = try #require(listed(#"{"data":[\#(record)]}"#))

        #expect(page.records.map(\.text) == [record])
        #expect(page.records.map(\.isDeleted) == [false])
    }

    @Test func `the version of the list is the next cursor, kept as it came`() throws {
        let page = try #require(listed(#"{"data":[]}"#, [.eTag: "\"1795000000123\""]))

        #expect(page.cursor == Revision("\"1795000000123\""))
        // Who compresses on the way makes it a weak one.
        let weak = try #require(listed(#"{"data":[]}"#, [.eTag: "W/\"1795000000123\""]))
        #expect(weak.cursor == page.cursor)
        #expect(page.next == nil)
        #expect(page.records.isEmpty)
    }

    @Test func `a list without a version, or with one that is too long, is malformed`() {
        #expect(kinto.answer(to: kinto.list, 200, #"{"data":[]}"#).isMalformed)
        let tooLong = String(repeating: "9", count: 1025)
        #expect(kinto.answer(to: kinto.list, 200, #"{"data":[]}"#, [.eTag: tooLong]).isMalformed)
    }

    @Test func `the address of the next page is kept as it came, whosever it is`() throws {
        // It is refused when it is asked for, before a request is made of it.
        let address = "https://evil.test/v1/records?_token=x%3D"

        #expect(try #require(listed(#"{"data":[]}"#, .nextPage(address))).next == address)
        #expect(try #require(listed(#"{"data":[]}"#, .nextPage(""))).next == nil)
    }

    @Test func `a list that did not change is unchanged`() {
        #expect(kinto.answer(to: kinto.list, 304) == .unchanged)
    }

    @Test(arguments: [
        "", "{", "{}", #"{"data":{}}"#, #"{"data":null}"#,
        #"{"data":[{"id":"a","last_modified":1},]}"#, #"{"data":[{"id":"a","last_modified":1}"#,
        #"{"data":[{"id":"a","last_modified":1}]}garbage"#,
        #"{"data":[],"data":[]}"#,
    ])
    func `a page that is no list is malformed as a whole`(_ body: String) {
        #expect(kinto.answer(to: kinto.list, 200, body, [.eTag: "\"9\""]).isMalformed)
    }

    @Test(arguments: [
        ("1", nil), (#"{"id":"a"}"#, "a"), (#"{"last_modified":1}"#, nil), ("null", nil),
        (#"{"id":"b","last_modified":null}"#, "b"), (#"{"id":7,"last_modified":1}"#, nil),
        (#"{"id":"","last_modified":1}"#, ""),
    ])
    func `a record that can't be read is kept as it came, and the others are taken`(
        _ record: String, _ id: String?
    ) throws {
        let fine = #"{"id":"fine","last_modified":1}"#
        let page = try #require(listed(#"{"data":[ \#(record), \#(fine)]}"#))

        #expect(page.records.map(\.id) == ["fine"])
        let unreadable = try #require(page.unreadable.first)
        #expect(String(decoding: unreadable.bytes, as: UTF8.self) == record)
        #expect(unreadable.id == id && !unreadable.problem.isEmpty)
    }

    @Test func `an id too long for a key is not cut`() throws {
        let id = String(repeating: "x", count: EntityKey.idBytesMax + 1)
        let page = try #require(listed(#"{"data":[{"id":"\#(id)","last_modified":1}]}"#))

        #expect(page.records.isEmpty && page.unreadable.map(\.id) == [id])
    }

    @Test func `a list that is refused says why`() {
        let body = #"{"code":400,"error":"Invalid parameters","message":"_since in querystring"}"#

        #expect(
            kinto.failure(to: kinto.list, 400, body)
                == .client(status: 400, "_since in querystring"))
        #expect(kinto.failure(to: kinto.list, 412) == .client(status: 412, ""))
    }

    /// Details of a 400 as Kinto 26.5 words them, and whether they are about a cursor.
    static let refusals: [(details: String, isAboutCursor: Bool)] = [
        (#"[{"location":"querystring","name":"_since","description":"no number"}]"#, true),
        (#"[{"location":"querystring","name":null,"description":"_token has …"}]"#, true),
        (#"[{"location":"header","name":"If-None-Match","description":"no"}]"#, true),
        ("[]", true), (#"[{"location":"querystring","name":"_limit","description":"no"}]"#, false),
    ]

    @Test(arguments: refusals)
    func `a cursor that the server can't read is expired`(
        _ details: String, _ isAboutCursor: Bool
    ) {
        let body = #"{"code":400,"errno":107,"error":"Invalid","details":\#(details)}"#
        let later: [ServerCall] = [
            .list(kinto.tasks, after: Revision("\"5\""), page: nil),
            .list(kinto.tasks, after: nil, page: "x"),
        ]

        for call in later {
            #expect((kinto.answer(to: call, 400, body) == .cursorExpired) == isAboutCursor)
        }
        #expect(kinto.failure(to: kinto.list, 400, body)?.name == "client")
        #expect(kinto.failure(to: later[0], 400, #"{"code":400,"errno":109}"#)?.name == "client")
    }

    @Test func `a success of another kind is no page`() {
        for status in [201, 202, 204, 206] {
            #expect(kinto.failure(to: kinto.list, status, #"{"data":[]}"#) != nil)
        }
    }
}
