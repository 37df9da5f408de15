// DhisServerTests.swift — the server as a transport, with faults, and over real sockets.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `a server like DHIS2 as a transport` {
    private func request(_ method: HTTPRequest.Method, _ path: String) -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: "http", authority: "dhis2", path: "/api" + path)
        request.headerFields[.authorization] = "Basic YQ=="
        return request
    }

    private func send(
        _ world: DhisWorld, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> TransportResponse {
        try await world.server.send(
            request(method, path), body: body.map { Array($0.utf8) }, limits: TransportLimits())
    }

    @Test func `logs what it received, without credentials`() async throws {
        let world = DhisWorld()
        _ = try await send(world, .get, "/system/info")
        _ = try await send(world, .post, "/tracker", "{}")

        #expect(world.server.requestLog.map(\.path) == ["/api/system/info", "/api/tracker"])
        #expect(world.server.requestLog.map(\.status) == [200, 200])
        #expect(world.server.requestLog.allSatisfy { $0.fields[.authorization] == nil })
        world.server.clearRequestLog()
        #expect(world.server.requestLog.isEmpty)
    }

    @Test func `has faults, which hit objects by their ids`() async throws {
        let world = DhisWorld(faults: [
            FaultRule(.answer(status: 503), recordID: { $0.hasPrefix("eve") }),
            FaultRule(.dropAfterHandling, method: .post, nth: 1),
        ])
        world.putPerson("Person1x")

        let event = try await send(world, .get, "/tracker/events/evePerson1x")
        let enrollment = try await send(world, .get, "/tracker/enrollments/enrPerson1x")
        let lost = await #expect(throws: TransportError.self) {
            try await send(
                world, .post, "/tracker?async=false&importStrategy=DELETE",
                #"{"events":[{"event":"evePerson1x"}]}"#)
        }

        #expect(event.status == 503)
        #expect(event.text.contains(#""httpStatus":"Service Unavailable""#))
        #expect(enrollment.status == 200)
        #expect(lost?.code == .connectionLost)
        #expect(world.server.record("events/evePerson1x") == nil)
    }

    @Test func `names objects by list and id`() {
        let world = DhisWorld()
        world.putPerson("Person1x")

        #expect(Dhis2Server.isRow("events/a") && Dhis2Server.isRow("programs/a"))
        #expect(!Dhis2Server.isRow("events") && !Dhis2Server.isRow("nothings/a"))
        #expect(world.server.records(in: "enrollments").keys.sorted() == ["enrPerson1x"])
        #expect(world.server.record("programs/progOpen001")?.contains("OPEN") == true)
        world.server.forget("enrollments/enrPerson1x")
        #expect(world.server.record("enrollments/enrPerson1x") == nil)
        world.server.delete("programs/progOpen001")
        #expect(world.server.record("programs/progOpen001") == nil)
    }

    @Test func `comes back when it is put after it was deleted`() {
        let world = DhisWorld()
        world.putPerson("Person1x")
        world.server.delete("trackedEntities/traPerson1x")
        world.putPerson("Person1x")

        #expect(world.answer(.get, "/tracker/events/evePerson1x").status == 200)
    }

    @Test func `answers over a socket what it answers in memory`() async throws {
        let world = DhisWorld()
        world.putPerson("Person1x")
        let loopback = try await LoopbackServer.start(world.server)
        let authority = String(loopback.origin.dropFirst("http://".count))

        for path in ["/system/info", "/tracker/events/evePerson1x", "/programs", "/nothings"] {
            var asked = request(.get, path)
            let inMemory = try await send(world, .get, path)
            asked.authority = authority
            let overSocket = try await ServerCurl.send(asked, nil)

            #expect(overSocket.status == inMemory.status, "\(path)")
            #expect(overSocket.body == inMemory.body, "\(path)")
        }
        await loopback.stop()
    }
}
