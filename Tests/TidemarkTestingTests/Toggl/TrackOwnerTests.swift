// TrackOwnerTests.swift — what tests do to a server like Toggl beside its API: rows that are put,
// archived and forgotten, access that is lost, faults.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `rows put on a server like Toggl` {
    private let world = TrackWorld()

    @Test func `have the usual values of what is not given, and keep what nobody knows`() {
        world.put("time_entries/1", #"{"start":"2026-11-18T10:00:00.5Z","mark":"m"}"#)

        #expect(
            world.server.record("time_entries/1")
                == #"{"workspace_id":1,"project_id":null,"task_id":null,"billable":false,"#
                + #""start":"2026-11-18T10:00:00+00:00","stop":"2026-11-18T10:00:00+00:00","#
                + #""duration":0,"description":null,"tags":[],"tag_ids":[],"duronly":true,"#
                + #""server_deleted_at":null,"user_id":9,"uid":9,"wid":1,"mark":"m"}"#)
        #expect(world.server.records(in: "time_entries").keys.sorted() == ["1"])
    }

    @Test func `take the form of what is returned`() throws {
        _ = try world.made(
            #""start":"2026-11-18T10:00:00Z","duration":60,"project_id":5,"tag_ids":[6]"#)
        let record = try #require(world.server.record("time_entries/3000000001"))

        world.put("time_entries/3000000001", record)

        #expect(world.server.record("time_entries/3000000001") == record)
    }

    @Test func `may be several entries that run`() throws {
        for id in 1...2 { world.put("time_entries/\(id)", #"{"duration":-1}"#) }

        #expect(
            try world.value(.get, "/me/time_entries").array?.map { $0["duration"] } == [-1, -1])
    }

    @Test func `are of one user, whatever the id`() throws {
        world.put("user/3", #"{"fullname":"Eve","at":"2026-01-01T00:00:00Z"}"#)

        #expect(world.server.records(in: "user").keys.sorted() == ["3"])
        #expect(try world.value(.get, "/me")["updated_at"] == "2026-01-01T00:00:00Z")
    }

    @Test func `leave no trace when they are forgotten`() throws {
        world.server.forget("projects/5")

        #expect(try world.ids("/me/projects?since=\(TrackWorld.start)") == [])
        #expect(world.server.record("projects/5") == nil)
    }

    @Test func `are out of reach with their workspace, and come back as old as they were`() throws {
        let id = try world.made(#""start":"2026-11-18T10:00:00Z","duration":60"#)
        world.wait(10)
        world.server.forget("workspaces/1")

        #expect(try world.ids("/me/workspaces") == [] && world.ids("/me/projects") == [])
        #expect(world.answer(.get, "/me/time_entries/\(id)").status == 404)
        #expect(world.change(id, "{}") == #"403 "User cannot access workspace""#)

        world.put("workspaces/1", #"{"name":"Again"}"#)

        #expect(try world.ids("/me/projects") == [5])
        #expect(try world.ids("/me/projects?since=\(TrackWorld.start + 10)") == [])
    }

    @Test func `keep unknown members of requests only where the test wants that`() throws {
        let path = "/workspaces/1/tags"
        let before = world.send(.post, path, #"{"name":"a","mark":1}"#)
        world.model.keepsUnknownMembers = true
        let after = world.send(.post, path, #"{"name":"b","mark":1}"#)

        #expect(!before.contains("mark") && after.contains(#""mark":1"#))
    }
}

@Suite struct `faults of a server like Toggl` {
    @Test func `answer in its words, and nothing is done`() async throws {
        let world = TrackWorld(faults: [
            FaultRule(.answer(status: 402), method: .delete, nth: 1),
            FaultRule(.tooManyRequests(retryAfterSeconds: 7), method: .delete, nth: 2),
            FaultRule(.answer(status: 400, body: Array("no".utf8)), method: .put) { $0 == "6" },
        ])
        let path = "/api/v9/workspaces/1/tags/6"

        let refused = try await send(world.server, .delete, path)
        let busy = try await send(world.server, .delete, path)
        let bad = try await send(world.server, .put, path, "{}")

        #expect(refused.status == 402 && refused.text == #""Payment Required""#)
        #expect(busy.field("Retry-After") == "7")
        #expect(busy.field("Date") == "Wed, 18 Nov 2026 11:06:40 GMT")
        #expect(bad.status == 400 && bad.text == "no")
        #expect(world.server.requestLog.map(\.status) == [402, 429, 400])
        #expect(world.server.requestLog.map(\.isApplied) == [false, false, false])
        #expect(world.model.requestsByQuota == [:])
    }

    @Test func `that drop an answer leave what was done`() async throws {
        let world = TrackWorld(faults: [FaultRule(.dropAfterHandling, nth: 1)])

        await #expect(throws: TransportError.self) {
            try await send(
                world.server, .post, "/api/v9/workspaces/1/tags", #"{"name":"x"}"#)
        }

        #expect(world.server.record("tags/1000")?.contains(#""name":"x""#) == true)
        #expect(world.server.requestLog.map(\.status) == [nil])
    }

    @Test func `are the same over a socket`() async throws {
        let world = TrackWorld(faults: [FaultRule(.dropAfterHandling, method: .put)])
        let loopback = try await LoopbackServer.start(world.server)
        func send(
            _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
        ) async throws -> TransportResponse {
            var request = HTTPRequest(
                method: method, scheme: "http",
                authority: String(loopback.origin.dropFirst("http://".count)),
                path: "/api/v9" + path)
            request.headerFields[.authorization] = "Basic dG9rZW46YXBpX3Rva2Vu"
            return try await ServerCurl.send(request, body.map { Array($0.utf8) })
        }
        do {
            let made = try await send(.post, "/workspaces/1/tags", #"{"name":"x"}"#)
            let error = await #expect(throws: ServerCurl.Failure.self) {
                try await send(.put, "/workspaces/1/tags/1000", #"{"name":"y"}"#)
            }

            #expect(
                made.text
                    == #"{"id":1000,"workspace_id":1,"name":"x","at":"2026-11-18T11:06:40Z","#
                    + #""creator_id":9}"#)
            #expect(error?.code == 18)
            #expect(world.server.record("tags/1000")?.contains(#""name":"y""#) == true)
        } catch {
            await loopback.stop()
            throw error
        }
        await loopback.stop()
    }

    @discardableResult
    private func send(
        _ server: TogglServer, _ method: HTTPRequest.Method, _ path: String, _ body: String? = nil
    ) async throws -> TransportResponse {
        var request = HTTPRequest(
            method: method, scheme: "https", authority: "api.track.toggl.com", path: path)
        request.headerFields[.authorization] = "Basic dG9rZW46YXBpX3Rva2Vu"
        return try await server.send(
            request, body: body.map { Array($0.utf8) }, limits: TransportLimits())
    }
}
