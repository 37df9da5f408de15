// DavEntriesTests.swift — the server as tests change it, as a transport, and over real sockets.

import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `entries of a WebDAV server in memory` {
    @Test func `are made, moved, replaced and deleted by their paths`() {
        let world = DavWorld()
        world.server.put("a/b/f", "1")
        world.server.makeFolder("e/d")
        let id = world.server.entry("a/b/f")?.fileID

        world.server.move("a/b", to: "e/b")
        world.server.put("e/b/f", "22")
        world.server.put("e/g", "3")
        world.server.move("e/g", to: "e/d")
        world.server.delete("a")

        #expect(world.paths == ["e/", "e/b/", "e/b/f", "e/d"])
        #expect(world.server.entry("e/b/f")?.text == "22")
        #expect(world.server.entry("e/b/f")?.fileID == id)
        #expect(world.server.entry("none") == nil)
        #expect(world.server.entry("")?.isFolder == true)
        #expect(world.server.requestLog.isEmpty)
    }

    @Test func `have the time of the server's clock`() async throws {
        let world = DavWorld()
        world.server.put("f", "1")
        world.clock.advance(by: .seconds(90))
        try await world.send("PUT", "g", [], "2")

        let (f, g) = (world.server.entry("f")?.modified, world.server.entry("g")?.modified)
        #expect(g.map { $0.milliseconds - (f?.milliseconds ?? 0) } == 90_000)
        let told = try await world.found("g", "d:getlastmodified", "d:creationdate")
        #expect(told.contains(" GMT</d:getlastmodified>"))
    }

    @Test func `are requested with faults and a log as those of other servers`() async throws {
        let world = DavWorld()
        world.server.faults = FaultPlan([
            FaultRule(.answer(status: 503), method: .get, nth: 1),
            FaultRule(.dropAfterHandling, method: .put, nth: 1),
        ])
        world.server.put("f", "1")

        #expect(try await world.status("GET", "f") == 503)
        await #expect(throws: TransportError.self) { try await world.send("PUT", "f", [], "2") }
        #expect(try await world.send("GET", "f").text == "2")

        #expect(world.server.requestLog.map(\.status) == [503, nil, 200])
        #expect(world.server.requestLog.map(\.isApplied) == [false, true, true])
    }

    @Test func `are the same over a socket`() async throws {
        let world = DavWorld()
        let loopback = try await LoopbackServer.start(world.server)
        let authority = String(loopback.origin.dropFirst("http://".count))
        func send(_ method: String, _ path: String, _ body: String? = nil) async throws -> PlainHTTP
        {
            try await PlainHTTP.sending(
                method, authority: authority, path: "/dav/\(path)",
                fields: [
                    method == "PROPFIND"
                        ? ("Depth", "1") : ("Destination", "\(loopback.origin)/dav/e")
                ],
                body: body.map { Array($0.utf8) })
        }

        #expect(try await send("MKCOL", "d").status == 201)
        #expect(try await send("PUT", "d/%C3%A9", "text").status == 201)
        #expect(try await send("MOVE", "d").status == 201)
        let list = try await send("PROPFIND", "e/")
        #expect(list.status == 207)
        #expect(String(decoding: list.body, as: UTF8.self).contains("/dav/e/%C3%A9</d:href>"))
        #expect(try await send("HEAD", "e/%C3%A9").status == 200)
        #expect(try await send("DELETE", "e/%C3%A9").status == 204)
        await loopback.stop()
        #expect(world.paths == ["e/"])
    }
}
