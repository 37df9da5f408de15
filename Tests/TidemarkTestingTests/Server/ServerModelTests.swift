// ServerModelTests.swift — what the conformance script can't show: bytes, clocks and credentials.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `the server model` {
    @Test func `a record's bytes come back as they were sent`() async throws {
        let world = ServerWorld.withCollection()
        let fields = #""n": 1.50 ,"s":"h\u00e9\/\"}","deep":{"a":[1, {"b":","}],"c":null}"#

        _ = try await world.send(.put, "a", body: #"{ "data" : {\#(fields),"id":"a"} }"#)
        let answer = try await world.send(.get, "a")

        let expected =
            #"{"permissions":{"write":["system.Authenticated"]},"data":{"n":1.50,"#
            + #""s":"h\u00e9\/\"}","deep":{"a":[1, {"b":","}],"c":null},"#
            + #""id":"a","last_modified":1795000000000}}"#
        #expect(String(decoding: answer.body, as: UTF8.self) == expected)
    }

    @Test func `a merge replaces a value in its place and adds the rest behind`() async throws {
        let world = ServerWorld.withCollection()
        _ = try await world.send(.put, "a", body: #"{"data":{"x":1,"y":2}}"#)

        let answer = try await world.send(.patch, "a", body: #"{"data":{"z":3,"x":{"k":4}}}"#)

        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.contains(#""data":{"x":{"k":4},"y":2,"z":3,"id":"a","#))
    }

    @Test func `two writes in one millisecond get two timestamps`() async throws {
        let world = ServerWorld.withCollection()
        _ = try await world.send(.put, "a")
        _ = try await world.send(.put, "b")
        world.advance(milliseconds: -500)
        _ = try await world.send(.put, "c")

        let rows = try ServerWorld.rows(try await world.send(.get))

        #expect(rows == ["c@2", "b@1", "a@0"])
    }

    @Test func `the first look at an empty list fixes its timestamp`() async throws {
        let world = ServerWorld.withCollection()
        let first = try await world.send(.get)
        world.advance(milliseconds: 40)
        let second = try await world.send(.get)

        #expect(first.response.headerFields[.eTag] == "\"1795000000000\"")
        #expect(second.response.headerFields[.eTag] == "\"1795000000000\"")
    }

    @Test func `pages go by the last row, so a write between them skips nothing`() async throws {
        let world = ServerWorld.withCollection()
        for id in ["a", "b", "c", "d"] { _ = try await world.send(.put, id) }

        let first = try await world.send(.get, query: "?_limit=2&_since=%220%22")
        world.server.request(.put, "\(ServerWorld.records)/e")
        let next = try #require(
            HTTPField.Name("Next-Page").flatMap {
                first.response.headerFields[$0]
            })
        let address = "https://kinto.test:8443\(ServerWorld.records)"
        try #require(next.hasPrefix(address))
        let second = try await world.send(.get, query: String(next.dropFirst(address.count)))

        #expect(try ServerWorld.rows(first) == ["d@3", "c@2"])
        #expect(try ServerWorld.rows(second) == ["b@1", "a@0"])
        #expect(first.response.headerFields[.eTag] == "\"1795000000003\"")
        #expect(second.response.headerFields[.eTag] == "\"1795000000004\"")
    }

    @Test func `the server's own page size holds without a limit`() async throws {
        let world = ServerWorld.withCollection(KintoServerModel(pageRowsMax: 3))
        for id in ["a", "b", "c", "d"] { _ = try await world.send(.put, id) }

        #expect(try ServerWorld.rows(try await world.send(.get)).count == 3)
        #expect(try ServerWorld.rows(try await world.send(.get, query: "?_limit=9")).count == 3)
        #expect(try ServerWorld.rows(try await world.send(.get, query: "?_limit=0")).count == 3)
    }

    @Test func `purged tombstones leave no trace`() async throws {
        let world = ServerWorld.withCollection()
        _ = try await world.send(.put, "a")
        _ = try await world.send(.delete, "a")
        #expect(try ServerWorld.rows(try await world.send(.get, query: "?_since=0")) == ["a@1"])

        world.server.withModel { $0.purgeTombstones() }

        #expect(try ServerWorld.rows(try await world.send(.get, query: "?_since=0")) == [])
    }

    @Test func `only the accepted credentials are let in`() async throws {
        let strict = ServerWorld.withCollection(
            KintoServerModel(acceptedCredentials: ["Basic other"]))
        let open = ServerWorld.withCollection(
            KintoServerModel(acceptedCredentials: [ServerWorld.credentials]))

        let refused = try await strict.send(.get)
        let accepted = try await open.send(.get)

        #expect(refused.response.status.code == 401)
        #expect(refused.response.headerFields[.wwwAuthenticate] == #"Basic realm="Realm""#)
        #expect(accepted.response.status.code == 200)
    }

    @Test func `parameters outside the model are refused, not ignored`() async throws {
        let world = ServerWorld.withCollection()

        for query in [
            "?_before=1", "?_foo=1", "?_sort=x.y", "?_fields=x.y", "?x.y=1", "?max_x.y=1",
            "?like_x=1", "?in_x=1", "?contains_x=1", "?_sort=x&_token=1",
        ] {
            #expect(try await world.send(.get, query: query).response.status.code == 400)
        }
    }

    @Test func `what is asked of one record and is not modelled is refused`() async throws {
        let world = ServerWorld.withCollection()
        _ = try await world.send(.put, "a", body: #"{"data":{"x":1}}"#)
        let behavior = try #require(HTTPField.Name("Response-Behavior"))
        var light = HTTPFields()
        light[behavior] = "light"

        let answers = [
            try await world.send(.get, "a", query: "?_fields=x"),
            try await world.send(.delete, "a", query: "?last_modified=1"),
            try await world.send(.post, query: "?x=1"),
            try await world.send(.patch, "a", fields: light, body: #"{"data":{"x":2}}"#),
        ]

        #expect(answers.map(\.response.status.code) == [400, 400, 400, 400])
        let rows = try ServerWorld.rows(try await world.send(.get))
        #expect(rows == ["a@0"])
    }

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        (951_782_400_000, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_709_251_199_999, "Thu, 29 Feb 2024 23:59:59 GMT"),
        (1_795_261_477_782, "Sat, 21 Nov 2026 11:44:37 GMT"),
        (4_107_542_400_000, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `every answer says the server's time`(milliseconds: Int64, text: String) {
        var model = KintoServerModel()
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "kinto.test", path: "/v1/nothing")

        let answer = model.handle(
            request, body: nil, at: Timestamp(milliseconds: milliseconds))

        #expect(answer.response.headerFields[.date] == text)
    }

    @Test(arguments: [
        #"{"data":{"x":1}"#, #"{"data":{"x":01}}"#, #"{"data":{"x":1,}}"#,
        "{\"data\":{\"x\":\"\u{1}",
        "\u{FEFF}{}", #"{"data":{"x":1}} {}"#, "null", #"{"data":null}"#, #"{"data":"x"}"#,
    ])
    func `a malformed body is refused and changes nothing`(body: String) async throws {
        let world = ServerWorld.withCollection()

        let answer = try await world.send(.put, "a", body: body)

        #expect(answer.response.status.code == 400)
        #expect(try await world.send(.get, "a").response.status.code == 404)
    }
}
