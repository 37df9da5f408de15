// KintoRequestTests.swift — what a call becomes on the wire: method, path, preconditions, body.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `requests to a Kinto server` {
    private let kinto = KintoCase()

    @Test func `the first list asks for everything, deletions too, and names no version`() throws {
        let request = try kinto.request(kinto.list)

        #expect(request == ServerRequest(method: .get, path: KintoCase.records + "?_since=0"))
    }

    @Test func `a later list goes on at the cursor and sends it as it came`() throws {
        let cursor = Revision("\"1795000000123\"")
        let request = try kinto.request(.list(kinto.tasks, after: cursor, page: nil))

        #expect(request.path == KintoCase.records + "?_since=%221795000000123%22")
        #expect(request.headers == [.ifNoneMatch: "\"1795000000123\""])
    }

    @Test func `a cursor that came as a weak version is sent as the strong one`() throws {
        let request = try kinto.request(
            .list(kinto.tasks, after: Revision("W/\"17\""), page: nil))

        #expect(request.path == KintoCase.records + "?_since=%2217%22")
        #expect(request.headers == [.ifNoneMatch: "\"17\""])
    }

    @Test func `records are asked for by their ids, and very many by what they look like`() throws {
        let few = try kinto.request(.fetch(kinto.tasks, ids: ["a", "7"]))
        let many = (1...100).map { "00000000-0000-4000-8000-000000000\($0 + 100)" }

        #expect(few.path == KintoCase.records + "?in_id=%22a%22,%227%22")
        // As many as are asked for at once when more of them did not go.
        let portion = try kinto.request(.fetch(kinto.tasks, ids: Array(many.prefix(50)))).path
        #expect(portion.hasPrefix(KintoCase.records + "?in_id="))
        let path = KintoCase.records + "?deleted=true"
        #expect(try kinto.request(.fetch(kinto.tasks, ids: many)).path == path)
        // What is no id of the usual form may hold a comma.
        #expect(try kinto.request(.fetch(kinto.tasks, ids: ["a,b"])).path == path)
        #expect(kinto.adapter.traits.entitiesPerFetchMax >= 10_000)
    }

    @Test func `the user's own bucket has pages by another name`() throws {
        let adapter = KintoAdapter(origin: "https://k.test/base", bucket: "default")
        let origin = "https://k.test/base/v1/buckets"
        func path(_ page: String) throws -> String {
            try adapter.request(for: .list(kinto.tasks, after: nil, page: page)).path
        }

        let own = "/v1/buckets/default/collections/tasks/records?_since=0&_token=x"
        for id in ["default", "eed32492-45e6-05ab-06c8-e56ec265c054"] {
            let page = "\(origin)/\(id)/collections/tasks/records?_since=0&_token=x"
            #expect(try path(page) == own)
        }
        for inside in [
            "x/collections/lists/records?_token=1", "x/y/collections/tasks/records?_token=1",
            "../collections/tasks/records?_token=1", "/collections/tasks/records?_token=1",
            "x/collections/tasks/records", "x/collections/tasks/records/1?_token=1",
            "x/collections/tasks/recordsx?_token=1", "x?_token=1",
        ] {
            #expect(throws: SyncFailure.self) { try path("\(origin)/\(inside)") }
        }
        #expect(throws: SyncFailure.self) {
            try path("https://k.test/v1/buckets/x/collections/tasks/records?_token=1")
        }
    }

    @Test func `a page size is asked for, beside the cursor`() throws {
        var tasks = kinto.tasks
        tasks.pageSize = 50

        let first = try kinto.request(.list(tasks, after: nil, page: nil))
        let later = try kinto.request(.list(tasks, after: Revision("\"5\""), page: nil))

        #expect(first.path == KintoCase.records + "?_since=0&_limit=50")
        #expect(later.path == KintoCase.records + "?_since=%225%22&_limit=50")
    }

    @Test func `the next page is followed verbatim, without the version of the first`() throws {
        let path = KintoCase.records + "?_limit=2&_since=%225%22&_token=abc%3D%3D"
        let request = try kinto.request(
            .list(
                kinto.tasks, after: Revision("\"5\""), page: "https://kinto.test:8443" + path))

        #expect(request == ServerRequest(method: .get, path: path))
    }

    @Test(arguments: ["https://kinto.test:8443", "http://inner.test:8888", "https://evil.test"])
    func `the next page is asked for at our own origin, whatever the server calls itself`(
        _ origin: String
    ) throws {
        let path = KintoCase.records + "?_since=0&_token=a/"

        #expect(
            try kinto.request(.list(kinto.tasks, after: nil, page: origin + path)).path == path)
    }

    @Test(arguments: [
        "https://kinto.test:8443/v1/buckets/other/collections/tasks/records", "",
        "https://kinto.test:8443", "/v1/buckets/todo/collections/tasks/records",
        "https://kinto.test:8443/v1/__flush__", "https://evil.test/",
        "https://kinto.test:8443//v1/buckets/todo/collections/tasks/records",
        "https://kinto.test:8443/v1/buckets/todo/collections/lists/records?_token=1",
        "https://kinto.test:8443/v1/buckets/default/collections/tasks/records?_token=1",
    ])
    func `a next page that is none of the collection's is never asked for`(_ address: String) {
        #expect(throws: SyncFailure.self) {
            try kinto.request(.list(kinto.tasks, after: nil, page: address))
        }
    }

    @Test func `the next page of the collections is asked for at our own origin`() throws {
        let path = "/v1/buckets/todo/collections?_fields=last_modified&_token=5"
        let call = ServerCall.describe([kinto.tasks], page: "http://inner.test:8888" + path)

        #expect(try kinto.request(call) == ServerRequest(method: .get, path: path))
    }

    @Test(arguments: [
        "https://kinto.test:8443/v1/buckets/other/collections?_token=5", "",
        "https://kinto.test:8443/v1/buckets/todo/collections",
        "https://kinto.test:8443/v1/buckets/todo/collections/tasks/records?_token=5",
        "https://kinto.test:8443/v1/buckets?_token=5",
    ])
    func `a next page that is none of the bucket's collections is never asked for`(
        _ address: String
    ) {
        #expect(throws: SyncFailure.self) {
            try kinto.request(.describe([kinto.tasks], page: address))
        }
    }

    @Test func `a record is read by its id`() throws {
        #expect(
            try kinto.request(kinto.read)
                == ServerRequest(method: .get, path: KintoCase.records + "/t1"))
    }

    @Test func `a creation must find nothing there`() throws {
        let body = #"{"id":"t1","title":"tea"}"#
        let request = try kinto.request(
            .create(kinto.tasks, id: "t1", body: Array(body.utf8)))

        #expect(request.method == .put)
        #expect(request.path == KintoCase.records + "/t1")
        #expect(request.headers == [.ifNoneMatch: "*", .contentType: "application/json"])
        #expect(request.body.map { String(decoding: $0, as: UTF8.self) } == #"{"data":\#(body)}"#)
    }

    @Test func `a replacement must find the version it was made for`() throws {
        let body = "{ \"title\" :\t\"d\\u00e9j\\u00e0\", \"n\": 1.0 }"
        let request = try kinto.request(
            .update(
                kinto.tasks, id: "t1", body: Array(body.utf8), revision: Revision("1795000000123")))

        #expect(request.method == .put)
        #expect(request.headers[.ifMatch] == "\"1795000000123\"")
        #expect(request.headers[.ifNoneMatch] == nil)
        #expect(request.body == Array(("{\"data\":" + body + "}").utf8))
    }

    @Test func `a deletion must find the version it was made for, and has no body`() throws {
        #expect(
            try kinto.request(kinto.delete)
                == ServerRequest(
                    method: .delete, path: KintoCase.records + "/t1", headers: [.ifMatch: "\"7\""]))
    }

    @Test func `nothing that writes goes without a precondition`() throws {
        for call in kinto.writes {
            let request = try kinto.request(call)

            #expect(request.headers[.ifMatch] != nil || request.headers[.ifNoneMatch] == "*")
        }
    }

    @Test(arguments: [
        ("a/b c%é", "a%2Fb%20c%25%C3%A9"), ("..", ".."), ("a?b#c", "a%3Fb%23c"),
        ("A-z_0.9~", "A-z_0.9~"), ("日本", "%E6%97%A5%E6%9C%AC"), ("a\"b+c&d=e", "a%22b%2Bc%26d%3De"),
    ])
    func `an id is one segment of the path, whatever is in it`(_ id: String, _ segment: String)
        throws
    {
        let calls: [ServerCall] = [
            .read(kinto.tasks, id: id), .create(kinto.tasks, id: id, body: []),
            .update(kinto.tasks, id: id, body: [], revision: Revision("1")),
            .delete(kinto.tasks, id: id, revision: Revision("1")),
        ]
        for call in calls {
            #expect(try kinto.request(call).path == KintoCase.records + "/" + segment)
        }
    }

    @Test func `bucket and collection are escaped too`() throws {
        let adapter = KintoAdapter(origin: "https://kinto.test", bucket: "my bucket/x")
        let call = ServerCall.list(CollectionModel("ta sks?"), after: nil, page: nil)

        #expect(
            try adapter.request(for: call).path
                == "/v1/buckets/my%20bucket%2Fx/collections/ta%20sks%3F/records?_since=0")
    }

    @Test(arguments: [
        ("https://k.test", "/v1/buckets/b"), ("https://k.test/", "/v1/buckets/b"),
        ("https://k.test/v1", "/buckets/b"), ("https://k.test/v1/", "/buckets/b"),
        ("https://k.test/base", "/v1/buckets/b"), ("https://k.test/base/v1", "/buckets/b"),
    ])
    func `the version of the API is in the address once`(_ origin: String, _ start: String) throws {
        // The driver puts the origin's own path before this one.
        let adapter = KintoAdapter(origin: origin, bucket: "b")
        let call = ServerCall.list(CollectionModel("c"), after: nil, page: nil)

        #expect(try adapter.request(for: call).path == start + "/collections/c/records?_since=0")
    }

    @Test(arguments: ["https://k.test/base", "https://k.test/base/v1"])
    func `the next page keeps to the base path, which is not doubled`(_ origin: String) throws {
        let adapter = KintoAdapter(origin: origin, bucket: "b")
        let next = "https://k.test/base/v1/buckets/b/collections/c/records?_token=1"
        let call = ServerCall.list(CollectionModel("c"), after: nil, page: next)

        #expect(
            "https://k.test/base" + (origin.hasSuffix("/v1") ? "/v1" : "")
                + (try adapter.request(for: call).path) == next)
    }

    @Test func `a next page outside of the base path is never asked for`() {
        let adapter = KintoAdapter(origin: "https://k.test/base", bucket: "b")

        for base in ["", "/other", "/basement", "/base/base"] {
            let page = "https://k.test\(base)/v1/buckets/b/collections/c/records"
            #expect(throws: SyncFailure.self) {
                try adapter.request(for: .list(CollectionModel("c"), after: nil, page: page))
            }
        }
    }

    @Test func `what has no id that a Kinto may give is refused without asking`() throws {
        for id in ["a/b c%é", "..", "a/", "-a", "_a", "a.b", "é", "a b"] {
            let create = ServerCall.create(kinto.tasks, id: id, body: [])
            #expect(try #require(kinto.adapter.refusal(of: create)).status == 0, "\(id)")
            // What the server has already is its own affair.
            #expect(kinto.adapter.refusal(of: .read(kinto.tasks, id: id)) == nil)
            let delete = ServerCall.delete(kinto.tasks, id: id, revision: Revision("1"))
            #expect(kinto.adapter.refusal(of: delete) == nil)
        }
        for id in ["a", "0", "A-z_9", "00000000-0000-4000-8000-000000000001"] {
            #expect(kinto.adapter.refusal(of: .create(kinto.tasks, id: id, body: [])) == nil)
        }
    }
}
