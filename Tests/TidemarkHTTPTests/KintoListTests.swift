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

    @Test func `tombstones are records that are gone`() throws {
        let tombstone = #"{"id":"a","last_modified":3,"deleted":true}"#
        let page = try #require(
            listed(#"{"data":[\#(tombstone)]}"#))

        #expect(
            page.records == [
                ServerRecord(
                    id: "a", revision: Revision("3"), serverTime: Timestamp(milliseconds: 3),
                    document: Array(tombstone.utf8), isDeleted: true)
            ])
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

    @Test func `a success of another kind is no page`() {
        for status in [201, 202, 204, 206] {
            #expect(kinto.failure(to: kinto.list, status, #"{"data":[]}"#) != nil)
        }
    }
}
