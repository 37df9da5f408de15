// TogglServerFaultTests.swift — limits, credentials and faults of a server shaped like Toggl, in
// this process and over a socket.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `a server shaped like Toggl, in trouble` {
    @Test func `requests over the limit are told when there is room again`() async throws {
        let world = TogglWorld(
            TogglServerModel(limit: RequestLimit(requests: 2, within: .seconds(60))))
        func ask() async throws -> TransportResponse { try await world.answer(.get, "/me") }
        func seconds(_ answer: TransportResponse) -> String? {
            answer.response.status.code == 429 ? answer.response.headerFields[.retryAfter] : nil
        }

        #expect(seconds(try await ask()) == nil)
        world.clock.advance(by: .milliseconds(10_500))
        #expect(seconds(try await ask()) == nil)
        #expect(seconds(try await ask()) == "50")
        world.clock.advance(by: .milliseconds(49_499))
        #expect(seconds(try await ask()) == "1")
        world.clock.advance(by: .milliseconds(1))
        #expect(seconds(try await ask()) == nil)
        #expect(seconds(try await ask()) == "11")
    }

    @Test func `another client and the tests are not counted`() async throws {
        let world = TogglWorld(
            TogglServerModel(limit: RequestLimit(requests: 1, within: .seconds(60))))
        world.server.put("tags/8", "{}")

        #expect(try await world.ids("/me/tags") == ["6", "8"])
        #expect(world.server.requestLog.map(\.path) == ["/api/v9/me/tags"])
    }

    @Test func `only the accepted credentials are let in`() async throws {
        let world = TogglWorld()
        world.server.withModel { $0.acceptedCredentials = ["Basic dTpw"] }

        #expect(
            try await world.send(.get, "/me") == "401 \"Incorrect username and/or password\"")
    }

    @Test func `a fault answers in the server's words, and nothing is done`() async throws {
        let world = TogglWorld(faults: [
            FaultRule(.answer(status: 402), method: .delete, nth: 1),
            FaultRule(.tooManyRequests(retryAfterSeconds: 7), method: .delete, nth: 2),
            FaultRule(.answer(status: 400, body: Array("no".utf8)), method: .put) { $0 == "7" },
        ])
        let path = "/workspaces/1/time_entries/7"

        #expect(try await world.send(.delete, path).hasPrefix("402 \""))
        let busy = try await world.answer(.delete, path)
        #expect(busy.response.headerFields[.retryAfter] == "7")
        #expect(busy.response.headerFields[.date] == "Wed, 18 Nov 2026 11:06:40 GMT")
        #expect(try await world.send(.put, path, "{}") == "400 no")
        #expect(try await world.send(.put, "/workspaces/1/tags/6", "{}").hasPrefix("200"))
        #expect(world.server.requestLog.map(\.status) == [402, 429, 400, 200])
        #expect(world.server.requestLog.map(\.isApplied) == [false, false, false, true])
    }

    @Test func `what is dropped after it was handled is done`() async throws {
        let world = TogglWorld(
            TogglServerModel(nextID: 13), faults: [FaultRule(.dropAfterHandling, nth: 1)])

        await #expect(throws: TransportError.self) {
            try await world.send(.post, "/workspaces/1/tags", #"{"name":"x"}"#)
        }

        #expect(world.server.record("tags/13") == #"{"name":"x","workspace_id":1}"#)
        #expect(world.server.requestLog.map(\.status) == [nil])
    }

    @Test func `over a socket it answers the same`() async throws {
        let world = TogglWorld(
            TogglServerModel(nextID: 13), faults: [FaultRule(.dropAfterHandling, method: .put)])
        let loopback = try await LoopbackServer.start(world.server)
        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
        ) async throws -> TransportResponse {
            let request = HTTPRequest(
                method: method, scheme: "http",
                authority: String(loopback.origin.dropFirst("http://".count)),
                path: "/api/v9" + path)
            return try await ServerCurl.send(request, body.map { Array($0.utf8) })
        }
        do {
            let made = try await send(.post, "/workspaces/1/tags", #"{"name":"x"}"#)
            let list = try await send(.get, "/me/tags")
            let error = await #expect(throws: ServerCurl.Failure.self) {
                try await send(.put, "/workspaces/1/tags/13", #"{"name":"y"}"#)
            }

            #expect(
                String(decoding: made.body, as: UTF8.self)
                    == #"{"name":"x","workspace_id":1,"id":13,"at":"2026-11-18T11:06:40Z"}"#)
            #expect(try JSONValue(parsing: list.body).array?.count == 2)
            #expect(error?.code == 18)
            #expect(world.server.record("tags/13") == #"{"name":"y","workspace_id":1}"#)
        } catch {
            await loopback.stop()
            throw error
        }
        await loopback.stop()
    }
}
