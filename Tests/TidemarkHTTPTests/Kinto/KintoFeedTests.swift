// KintoFeedTests.swift — what a block of a feed is on the wire, and what its answer means.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `feeds of a Kinto server` {
    private let kinto = KintoCase()
    private let day = FeedKey("2026-01-02T00:00:00+01:00")

    private func query(
        _ bound: FeedBlock.Bound, by field: String = "released", limit: Int = 50
    ) throws -> String {
        let call = ServerCall.feed(kinto.tasks, FeedBlock(field, bound, limit: limit))
        let request = try kinto.request(call)
        #expect(request.method == .get)
        #expect(request.headers.isEmpty)
        #expect(request.body == nil)
        return String(try #require(request.path.split(separator: "?").last))
    }

    private func page(
        _ body: String, _ bound: FeedBlock.Bound, by field: String = "released",
        _ fields: HTTPFields = [:]
    ) throws -> ListPage {
        let call = ServerCall.feed(kinto.tasks, FeedBlock(field, bound, limit: 2))
        guard case .page(let page) = kinto.answer(to: call, 200, body, fields) else {
            throw SyncFailure.malformed("no page")
        }
        return page
    }

    @Test func `the server lists by fields`() {
        #expect(kinto.adapter.traits.hasFeeds)
    }

    @Test func `a block back or forward is those on one side of a key, sorted from it on`() throws {
        let key = "%222026-01-02T00%3A00%3A00%2B01%3A00%22"

        let back = "\(key)&not_released=null&_sort=-released&_limit=50"
        #expect(try query(.upTo(day)) == "max_released=\(back)")
        #expect(try query(.before(day)) == "lt_released=\(back)")
        let forward = "\(key)&lt_released=false&_sort=released&_limit=50"
        #expect(try query(.from(day)) == "min_released=\(forward)")
        #expect(try query(.after(day)) == "gt_released=\(forward)")
    }

    @Test func `those of one key are paged by their ids, and so are all ids`() throws {
        let key = "%222026-01-02T00%3A00%3A00%2B01%3A00%22"

        #expect(try query(.equal(day, after: nil)) == "eq_released=\(key)&_sort=id&_limit=50")
        // An id of digits alone, or like 1e5, would be read as a number.
        #expect(
            try query(.equal(day, after: "1e5"))
                == "eq_released=\(key)&gt_id=%221e5%22&_sort=id&_limit=50")
        #expect(
            try query(.ids(after: nil), by: "id", limit: 1000) == "_fields=id&_sort=id&_limit=1000")
        #expect(
            try query(.ids(after: "7"), by: "id", limit: 1000)
                == "_fields=id&gt_id=%227%22&_sort=id&_limit=1000")
    }

    @Test(arguments: ["not_before", "_released", "has_been", "in_stock", "contains_any_at"])
    func `a field whose name alone would be another filter is one as any`(
        _ field: String
    ) throws {
        #expect(try query(.equal(day, after: nil), by: field).hasPrefix("eq_\(field)=%22"))
        #expect(try query(.upTo(day), by: field).hasPrefix("max_\(field)=%22"))
    }

    @Test func `a key goes back as it came: a text in quotes, a number as its digits`() throws {
        func sent(_ json: String) throws -> String {
            let key = try #require(FeedKey(JSONValue(parsing: Array(json.utf8))))
            let query = try query(.equal(key, after: nil))
            return try #require(query.split(separator: "&").first).dropFirst(12).description
        }

        #expect(try sent("1795536128763") == "1795536128763")
        #expect(try sent("1.50e+3") == "1.50e%2B3")
        #expect(try sent(#""20260101""#) == "%2220260101%22")
        #expect(try sent(#""a&b=\"c\\d""#) == "%22a%26b%3D%5C%22c%5C%5Cd%22")
        #expect(try sent(#""é #%""#) == "%22%C3%A9%20%23%25%22")
    }

    @Test func `versions are neither null nor missing, and are asked for as numbers`() throws {
        let key = try #require(FeedKey(.number(JSONNumber(17))))

        #expect(
            try query(.from(key), by: "last_modified")
                == "min_last_modified=17&_sort=last_modified&_limit=50")
        #expect(
            try query(.upTo(key), by: "last_modified")
                == "max_last_modified=17&_sort=-last_modified&_limit=50")
    }

    @Test(arguments: ["a.b", "a-b", "größe", "a b", "", "a,b", "a=b&_since"])
    func `a field that the server would take for another one, or ignore, is refused`(
        _ field: String
    ) throws {
        for bound in [FeedBlock.Bound.upTo(day), .from(day), .equal(day, after: nil)] {
            let error = #expect(throws: SyncFailure.self) { try query(bound, by: field) }
            let words = error.map { "\($0)" } ?? ""
            #expect(words.contains("can't list by the field \"\(field)\""))
        }
        #expect(try query(.upTo(day), by: "_min_x9").hasPrefix("max__min_x9="))
    }

    @Test func `records keep their order and every byte, and more is said by the next page`() throws
    {
        let first = #"{"released":"b","n":1.0,"id":"b", "last_modified":2}"#
        let second = #"{"id":"a","last_modified":1,"released":"a","deleted":true}"#
        let body = #"{"data":[\#(first), \#(second)]}"#
        let whole = try page(body, .upTo(day))

        #expect(whole.records.map(\.text) == [first, second])
        #expect(whole.records.map(\.revision) == [Revision("2"), Revision("1")])
        #expect(whole.records.map(\.isDeleted) == [false, false])
        #expect(whole.references.isEmpty && whole.unreadable.isEmpty)
        #expect(whole.next == nil)
        #expect(whole.cursor == nil)
        let more = try page(body, .upTo(day), .nextPage("https://k.test/x?_token=1"))
        #expect(more.next != nil)
    }

    @Test func `a list by the version has tombstones, with their place in it`() throws {
        let tombstone = #"{"id":"a","last_modified":1795536128853,"deleted":true}"#
        let body = #"{"data":[\#(tombstone)]}"#
        let key = try #require(FeedKey(.number(JSONNumber(5))))

        let deleted = try #require(page(body, .from(key), by: "last_modified").records.first)
        #expect(deleted.isDeleted)
        #expect(deleted.feedKey == FeedKey(.number(JSONNumber(1_795_536_128_853))))
        #expect(deleted.revision == Revision("1795536128853"))
        // By another field it is a record that looks like one.
        let record = try #require(page(body, .from(day)).records.first)
        #expect(!record.isDeleted)
        #expect(record.feedKey == nil)
    }

    @Test func `ids are named without a version`() throws {
        let body = #"{"data":[{"id":"a","last_modified":3},{"id":"b","last_modified":1},{"n":1}]}"#
        let page = try page(body, .ids(after: nil), by: "id")

        #expect(
            page.references == [
                ServerReference(id: "a", revision: nil), ServerReference(id: "b", revision: nil),
            ])
        #expect(page.records.isEmpty)
        #expect(page.unreadable.map(\.bytes) == [Array(#"{"n":1}"#.utf8)])
    }

    @Test func `ids are asked for with a field, and told with what it holds`() throws {
        func call(_ field: String) -> ServerCall {
            .feed(kinto.tasks, FeedBlock("id", .ids(after: "7"), limit: 9, keyField: field))
        }
        let path = try kinto.request(call("released")).path
        #expect(path.hasSuffix("?_fields=id,released&gt_id=%227%22&_sort=id&_limit=9"))
        #expect(throws: SyncFailure.self) { try kinto.request(call("a.b")) }

        let body =
            #"{"data":[{"id":"8","last_modified":3,"released":"2026-01-02"},"#
            + #"{"id":"9","last_modified":1}]}"#
        guard case .page(let page) = kinto.answer(to: call("released"), 200, body) else {
            return #expect(Bool(false))
        }
        #expect(page.references.map(\.id) == ["8", "9"])
        #expect(page.references.map(\.feedKey) == [FeedKey("2026-01-02"), nil])
    }

    @Test func `a record that is none is put aside, and the others stay`() throws {
        let body = #"{"data":[{"id":"a"},{"id":"b","last_modified":1},7]}"#
        let page = try page(body, .upTo(day))

        #expect(page.records.map(\.id) == ["b"])
        #expect(page.unreadable.map(\.id) == ["a", nil])
    }

    @Test func `what the server refuses of a block is a failure with its words`() {
        let call = ServerCall.feed(kinto.tasks, FeedBlock("x", .upTo(day), limit: 2))
        let body = #"{"code":400,"errno":107,"message":"Unknown filter field 'x'"}"#

        #expect(
            kinto.answer(to: call, 400, body)
                == .failure(.client(status: 400, "Unknown filter field 'x'")))
        #expect(kinto.answer(to: call, 200, #"{"data":{}}"#).isMalformed)
        #expect(kinto.answer(to: call, 200, "{}").isMalformed)
    }
}
