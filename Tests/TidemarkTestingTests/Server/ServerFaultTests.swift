// ServerFaultTests.swift — what goes wrong when it is told to, and what the log says of it.

import HTTPTypes
import Testing
import TidemarkSync
import TidemarkTesting

@Suite struct `the server's faults` {
    @Test func `the nth request of a kind is refused and the next is not`() async throws {
        let world = ServerWorld.withCollection(
            rules: [FaultRule(.tooManyRequests(retryAfterSeconds: 7), method: .put, nth: 2)])

        let statuses = [
            try await world.send(.put, "a"), try await world.send(.get, "a"),
            try await world.send(.put, "b"), try await world.send(.put, "b"),
        ].map(\.response.status.code)

        #expect(statuses == [201, 200, 429, 201])
    }

    @Test func `a refusal looks like one of the server's and is not applied`() async throws {
        let world = ServerWorld.withCollection(rules: [
            FaultRule(.unavailable(retryAfterSeconds: 30))
        ])

        let answer = try await world.send(.put, "a")

        #expect(answer.response.status.code == 503)
        #expect(answer.response.headerFields[.retryAfter] == "30")
        #expect(answer.response.headerFields[.date] == "Wed, 18 Nov 2026 11:06:40 GMT")
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"{"code":503,"errno":201,"error":"Service Unavailable"}"#)
        #expect(try record("a", in: world) == 404)
    }

    @Test(arguments: [400, 401, 403, 500]) func `any status can be asked for`(
        status: Int
    ) async throws {
        let world = ServerWorld.withCollection(
            rules: [FaultRule(.answer(status: status, fields: [.age: "3"], body: [0x7B]))])

        let answer = try await world.send(.get)

        #expect(answer.response.status.code == status)
        #expect(answer.response.headerFields[.age] == "3")
        #expect(answer.body == [0x7B])
    }

    @Test func `one record is refused and the others are not`() async throws {
        let world = ServerWorld.withCollection(
            rules: [FaultRule(.answer(status: 400), method: .put) { $0.hasPrefix("bad") }])

        let statuses = [
            try await world.send(.put, "bad-1"), try await world.send(.put, "good"),
            try await world.send(.get, "bad-1"), try await world.send(.get),
        ].map(\.response.status.code)

        #expect(statuses == [400, 201, 404, 200])
    }

    @Test func `a connection lost before handling changes nothing`() async throws {
        let world = ServerWorld.withCollection(rules: [FaultRule(.dropBeforeHandling, nth: 1)])

        let error = await #expect(throws: TransportError.self) { try await world.send(.put, "a") }

        #expect(error?.code == .connectionLost)
        #expect(try record("a", in: world) == 404)
    }

    @Test func `without a network nothing is sent, and the client knows`() async throws {
        let world = ServerWorld.withCollection()
        world.server.faults = .offline

        let error = await #expect(throws: TransportError.self) { try await world.send(.put, "a") }

        #expect(error?.code == .offline && error?.mayHaveArrived == false)
        #expect(world.server.requestLog.isEmpty)
        world.server.faults = FaultPlan([FaultRule(.offline, method: .put, nth: 1)])
        #expect(try await world.send(.get, "a").response.status.code == 404)
        await #expect(throws: TransportError.self) { try await world.send(.put, "a") }
        #expect(try await world.send(.put, "a").response.status.code == 201)
    }

    @Test func `an answer lost after handling leaves the change behind`() async throws {
        let world = ServerWorld.withCollection(
            rules: [FaultRule(.dropAfterHandling, pathContains: "/records/", nth: 1)])

        let error = await #expect(throws: TransportError.self) { try await world.send(.put, "a") }
        let again = try await world.send(.put, "a", fields: [.ifNoneMatch: "*"])

        #expect(error?.code == .connectionLost)
        #expect(again.response.status.code == 412)
    }

    @Test func `the first rule that holds acts and all rules count`() async throws {
        let world = ServerWorld.withCollection(
            rules: [
                FaultRule(.answer(status: 500), occurrences: 2...3),
                FaultRule(.answer(status: 503), occurrences: 3...4),
            ])

        var statuses: [Int] = []
        for _ in 1...5 { statuses.append(try await world.send(.get).response.status.code) }

        #expect(statuses == [200, 500, 500, 503, 200])
    }

    @Test func `new rules start to count anew`() async throws {
        let world = ServerWorld.withCollection(rules: [FaultRule(.answer(status: 500), nth: 1)])
        #expect(try await world.send(.get).response.status.code == 500)

        world.server.faults.rules.append(FaultRule(.answer(status: 503), nth: 2))

        #expect(try await world.send(.get).response.status.code == 500)
        #expect(try await world.send(.get).response.status.code == 503)
        #expect(try await world.send(.get).response.status.code == 200)
    }

    @Test func `the log tells what was asked, answered and applied`() async throws {
        let world = ServerWorld.withCollection(
            rules: [
                FaultRule(.dropAfterHandling, method: .put, nth: 1),
                FaultRule(.answer(status: 503), method: .put, nth: 2),
                FaultRule(.dropBeforeHandling, method: .put, nth: 3),
            ])
        for _ in 1...3 { _ = try? await world.send(.put, "a", fields: [.ifMatch: "*"], body: "{}") }
        _ = try await world.send(.get, query: "?_since=0")
        world.server.request(.put, "/v1/buckets/other")

        let log = world.server.requestLog

        #expect(log.map(\.method) == [.put, .put, .put, .get])
        #expect(log.map(\.status) == [nil, 503, nil, 200])
        #expect(log.map(\.isApplied) == [true, false, false, true])
        #expect(log[0].path == "\(ServerWorld.records)/a")
        #expect(log[0].fields == [.ifMatch: "*"])
        #expect(log[0].body == Array("{}".utf8))
        #expect(log[3].path == "\(ServerWorld.records)?_since=0")
        world.server.clearRequestLog()
        #expect(world.server.requestLog.isEmpty)
    }

    @Test func `another client meets no faults and is always let in`() async throws {
        let world = ServerWorld.withCollection(
            KintoServerModel(acceptedCredentials: [ServerWorld.credentials]),
            rules: [FaultRule(.dropBeforeHandling)])

        let answer = world.server.request(
            .put, "\(ServerWorld.records)/a", fields: [.ifNoneMatch: "*"],
            body: #"{"data":{"x":1}}"#)

        #expect(answer.response.status.code == 201)
        #expect(world.server.requestLog.isEmpty)
    }

    @Test func `an answer over the client's limit is too large`() async throws {
        let world = ServerWorld.withCollection()
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "kinto.test", path: "/v1/")

        let error = await #expect(throws: TransportError.self) {
            try await world.server.send(
                request, body: nil, limits: TransportLimits(responseBytesMax: 20))
        }

        #expect(error?.code == .tooLarge)
    }

    private func record(_ id: String, in world: ServerWorld) throws -> Int {
        world.server.request(.get, "\(ServerWorld.records)/\(id)").response.status.code
    }
}
