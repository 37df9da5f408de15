// DavServerTests.swift — what any WebDAV server does.

import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `a WebDAV server in memory` {
    @Test func `answers the script with the statuses that RFC 4918 has for it`() async throws {
        let world = DavWorld()
        try await world.send("MKCOL", "all")

        for step in WebDAVStep.all {
            let fields = step.fields(below: "http://files.test/dav/all")
            let status = try await world.status(
                step.method, "all/" + step.path, fields, step.body)
            #expect(status == step.status, "\(step)")
        }

        #expect(
            world.paths == [
                "all/", "all/d/", "all/d/Q", "all/d/a b%\u{E9}/", "all/d/a b%\u{E9}/#?&+",
                "all/d/n", "all/d/q", "all/d/\u{E9}", "all/d/🌊", "all/d3/", "all/d3/f",
                "all/d3/g", "all/d3/h", "all/d3/n",
            ])
    }

    @Test func `keeps names byte for byte`() async throws {
        let world = DavWorld()
        world.server.put("\u{E9}", "composed")
        world.server.put("e\u{301}", "decomposed")

        #expect(world.server.entry("\u{E9}")?.text == "composed")
        #expect(world.server.entry("e\u{301}")?.text == "decomposed")
        let list = try await world.found("", depth: "1", "d:resourcetype")
        #expect(list.contains("<d:href>/dav/%C3%A9</d:href>"))
        #expect(list.contains("<d:href>/dav/e%CC%81</d:href>"))
    }

    @Test func `refuses names that no entry can have`() async throws {
        let world = DavWorld()

        for name in ["%2E%2E", ".", "a%2Fb", "a%00b", "%FF", String(repeating: "n", count: 256)] {
            #expect(try await world.status("PUT", name, [], "x") == 400, "\(name)")
        }
        let longest = String(repeating: "n", count: 255)
        #expect(try await world.status("PUT", longest, [], "x") == 201)
        #expect(world.paths == [longest])
    }

    @Test func `gives parts of a file as they were asked for`() async throws {
        let world = DavWorld()
        world.server.put("f", "0123456789")
        for (range, part, place) in [
            ("bytes=0-0", "0", "0-0"), ("bytes=7-", "789", "7-9"), ("bytes=-2", "89", "8-9"),
            ("bytes=8-99", "89", "8-9"),
        ] {
            let answer = try await world.send("GET", "f", [("Range", range)])

            #expect(answer.text == part)
            #expect(answer.response.headerFields[.contentRange] == "bytes \(place)/10")
        }
        let late = try await world.send("GET", "f", [("Range", "bytes=10-")])
        #expect(late.response.headerFields[.contentRange] == "bytes */10")

        let tag = try await world.tag("f") ?? ""
        let same = try await world.send("GET", "f", [("Range", "bytes=1-1"), ("If-Range", tag)])
        #expect(same.text == "1")
        let other = try await world.send(
            "GET", "f", [("Range", "bytes=1-1"), ("If-Range", "\"o\"")])
        #expect(other.text == "0123456789")
    }

    @Test func `keeps what clients say of an entry, through moves and copies`() async throws {
        let world = DavWorld()
        world.server.put("f", "1")
        try await world.send(
            "PROPPATCH", "f", [],
            #"<propertyupdate xmlns="DAV:"><set><prop><z:a xmlns:z="urn:z">1 &lt; 2<z:b/></z:a>"#
                + "</prop></set></propertyupdate>")
        let tag = try await world.tag("f")

        try await world.send("COPY", "f", [("Destination", "/dav/g")])
        try await world.send("MOVE", "f", [("Destination", "http://files.test/dav/h")])

        for name in ["g", "h"] {
            let all = try await world.send("PROPFIND", name, [("Depth", "0")]).text
            #expect(
                all.contains(#"<x:a xmlns:x="urn:z">1 &lt; 2<x:b xmlns:x="urn:z"></x:b></x:a>"#))
        }
        #expect(try await world.tag("h") == tag)
        #expect(try await world.tag("g") != tag)
    }

    @Test func `says of each part of a folder that could not be deleted why`() async throws {
        let world = DavWorld()
        world.server.withModel { $0.options.refusals = ["d/e/locked": 423] }
        for path in ["d/a", "d/e/b", "d/e/locked", "d/z/c"] { world.server.put(path, "x") }

        let answer = try await world.send("DELETE", "d")

        #expect(answer.status == 207)
        #expect(
            answer.text.contains(
                "<d:response><d:href>/dav/d/e/locked</d:href>"
                    + "<d:status>HTTP/1.1 423 Locked</d:status></d:response>"))
        #expect(world.paths == ["d/", "d/e/", "d/e/locked"])
        #expect(try await world.status("PUT", "d/e/locked", [], "y") == 423)
    }

    @Test func `moves nothing into itself, and nothing over what it lies in`() async throws {
        let world = DavWorld()
        world.server.put("a/b/c", "x")

        for (from, to) in [("a", "a/b/d"), ("a/b/c", "a"), ("a/b", "a"), ("", "b"), ("a", "a")] {
            let status = try await world.status("MOVE", from, [("Destination", "/dav/\(to)")])
            #expect(status == 403, "\(from) to \(to)")
        }
        #expect(try await world.status("MOVE", "a/b/c", [("Destination", "/dav/a/b/c/d")]) == 409)
        #expect(try await world.status("DELETE", "") == 403)
        #expect(world.paths == ["a/", "a/b/", "a/b/c"])
    }

    @Test func `asks for credentials where it has some`() async throws {
        let world = DavWorld()
        world.server.withModel { $0.acceptedCredentials = ["Basic dTpw"] }

        #expect(try await world.status("PROPFIND", "") == 401)
        #expect(try await world.status("PROPFIND", "", [("Authorization", "Basic dTpw")]) == 207)
    }

    @Test func `refuses what it has no model of`() async throws {
        let world = DavWorld()
        world.server.put("f", "x")

        #expect(try await world.status("GET", "f", [("If", "([\"x\"])")]) == 400)
        #expect(try await world.status("LOCK", "f") == 405)
        let outside = HTTPRequest(method: .get, scheme: "http", authority: "f", path: "/other/f")
        let answer = try await world.server.send(outside, body: nil, limits: TransportLimits())
        #expect(answer.status == 404)
    }
}
