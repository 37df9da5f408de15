// DavOptionTests.swift — in what WebDAV servers differ: each switch, and that it is off by default.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `the switches of a WebDAV server in memory` {
    private func world(_ set: (inout WebDAVOptions) -> Void = { _ in }) -> DavWorld {
        var options = WebDAVOptions()
        set(&options)
        let world = DavWorld(options)
        for path in ["a/b/f", "a/g", "c/h"] { world.server.put(path, path) }
        return world
    }

    private func tags(_ world: DavWorld) async throws -> [String?] {
        var tags: [String?] = []
        for path in ["", "a", "a/b", "a/b/f", "c"] { tags.append(try await world.tag(path)) }
        return tags
    }

    @Test func `folders have no ETags by default`() async throws {
        let tags = try await tags(world())
        #expect(tags.map { $0 == nil } == [true, true, true, false, true])
    }

    @Test(arguments: [
        (WebDAVOptions.FolderVersions.ownMembers, [false, false, true, true, false]),
        (.allBelow, [true, true, true, true, false]),
    ])
    func `folders' ETags move with what is changed in them`(
        _ versions: WebDAVOptions.FolderVersions, _ moved: [Bool]
    ) async throws {
        let world = world { $0.folderVersions = versions }
        let before = try await tags(world)

        try await world.send("PUT", "a/b/f", [], "new")

        let after = try await tags(world)
        #expect(zip(before, after).map { $0 != $1 } == moved)
        #expect(!after.contains(nil))
    }

    @Test func `a folder is redirected to its address with a slash, and a question follows`()
        async throws
    {
        let world = world { $0.redirectsFolders = true }
        let deleted = try await world.send("DELETE", "a/b")
        #expect(deleted.response.status.code == 301)
        #expect(deleted.response.headerFields[.location] == "/dav/a/b/")
        let found = try await world.send("PROPFIND", "a/b", [("Depth", "0")])
        #expect(found.response.status.code == 207)
        #expect(try await self.world().send("DELETE", "a/b").response.status.code == 204)
    }

    @Test func `a move changes the versions of both folders and all above, and not its own`()
        async throws
    {
        let world = world { $0.folderVersions = .allBelow }
        let before = try await tags(world)
        let own = try await world.tag("a/b")

        try await world.send("MOVE", "a/b", [("Destination", "/dav/c/b")])

        #expect(try await world.tag("") != before[0])
        #expect(try await world.tag("a") != before[1])
        #expect(try await world.tag("c") != before[4])
        #expect(try await world.tag("c/b") == own)
        #expect(try await world.tag("c/b/f") == before[3])
    }

    @Test func `ids stay when an entry is moved or written, and are new for a copy`() async throws {
        let world = world { $0.hasFileIDs = true }
        let id = try #require(world.server.entry("a/b/f")?.fileID)

        try await world.send("PUT", "a/b/f", [], "new")
        try await world.send("MOVE", "a", [("Destination", "/dav/c/a")])
        try await world.send("COPY", "c/a/b/f", [("Destination", "/dav/copy")])

        #expect(try await world.found("c/a/b/f", "oc:id").contains("<oc:id>\(id)</oc:id>"))
        #expect(try await world.found("copy", "oc:id").contains("<oc:id>\(id)</oc:id>") == false)
        #expect(try await self.world().found("a/b/f", "oc:id").contains("404 Not Found"))
    }

    @Test func `checksums are told, and an upload with another one is refused`() async throws {
        let world = world { $0.hasChecksums = true }
        let right = "SHA1:a9993e364706816aba3e25717850c26c9cd0d89d"

        #expect(try await world.status("PUT", "f", [("OC-Checksum", right)], "abc") == 201)
        #expect(try await world.status("PUT", "f", [("OC-Checksum", right)], "abd") == 400)

        #expect(try await world.found("f", "oc:checksums").contains("<oc:checksum>\(right)<"))
        #expect(world.server.entry("f")?.text == "abc")
        let field = try #require(HTTPField.Name("OC-Checksum"))
        #expect(try await world.send("GET", "f").response.headerFields[field] == right)
        let plain = self.world()
        #expect(try await plain.status("PUT", "f", [("OC-Checksum", right)], "abd") == 201)
    }

    @Test func `the time of the last change can be set where the server takes it`() async throws {
        let patch =
            #"<propertyupdate xmlns="DAV:"><set><prop><lastmodified>1000000000</lastmodified>"#
            + "</prop></set></propertyupdate>"
        for takes in [true, false] {
            let world = world { $0.takesTimes = takes }
            let before = try #require(world.server.entry("a/g")?.modified)
            let expected = takes ? Timestamp(milliseconds: 1_000_000_000_000) : before

            let answer = try await world.send("PROPPATCH", "a/g", [], patch)
            try await world.send("PUT", "new", [("X-OC-MTime", "1000000000")], "x")

            #expect(answer.text.contains(takes ? "200 OK" : "403 Forbidden"))
            #expect(world.server.entry("a/g")?.modified == expected)
            #expect(
                (world.server.entry("new")?.modified == Timestamp(milliseconds: 1_000_000_000_000))
                    == takes)
        }
    }

    @Test func `a weak ETag fulfils no condition but any`() async throws {
        let world = world { $0.hasWeakETags = true }
        let tag = try #require(try await world.tag("a/g"))
        #expect(tag.hasPrefix("W/\""))

        #expect(try await world.status("PUT", "a/g", [("If-Match", tag)], "x") == 412)
        #expect(
            try await world.status("PUT", "a/g", [("If-Match", String(tag.dropFirst(2)))], "x")
                == 412)
        #expect(try await world.status("GET", "a/g", [("If-None-Match", tag)]) == 304)
        #expect(try await world.status("PUT", "a/g", [("If-Match", "*")], "x") == 204)
    }

    @Test func `conditions of writes are ignored by some servers`() async throws {
        for ignores in [true, false] {
            let world = world { $0.ignoresPreconditions = ignores }

            let put = try await world.status("PUT", "a/g", [("If-None-Match", "*")], "mine")
            let delete = try await world.status("DELETE", "c/h", [("If-Match", "\"w\"")])

            #expect([put, delete] == (ignores ? [204, 204] : [412, 412]))
            #expect(try await world.status("GET", "a/b/f", [("If-Match", "\"w\"")]) == 412)
        }
    }

    @Test func `an upload that is cut off leaves a part where it is written in place`()
        async throws
    {
        for inPlace in [true, false] {
            let world = world { $0.uploadsInPlace = inPlace }
            let tag = try await world.tag("a/g")
            world.server.faults = FaultPlan([FaultRule(.cutOff(afterBytes: 3), method: .put)])

            for path in ["a/g", "a/new"] {
                await #expect(throws: TransportError.self) {
                    try await world.send("PUT", path, [], "0123456789")
                }
            }

            #expect(world.server.entry("a/g")?.text == (inPlace ? "012" : "a/g"))
            #expect(world.server.entry("a/new")?.text == (inPlace ? "012" : nil))
            #expect((try await world.tag("a/g") == tag) == !inPlace)
            #expect(
                world.server.requestLog.filter { $0.method == .put }.allSatisfy { !$0.isApplied })
        }
    }

    @Test func `parts and whole trees are given unless switched off`() async throws {
        let world = world {
            $0.hasRanges = false
            $0.listsWholeTrees = false
        }

        let part = try await world.send("GET", "a/g", [("Range", "bytes=0-0")])
        let tree = try await world.send("PROPFIND", "", [("Depth", "infinity")])

        #expect((part.status, part.text) == (200, "a/g"))
        #expect(tree.status == 403)
        #expect(tree.text.contains("<d:propfind-finite-depth/>"))
        #expect(try await world.status("PROPFIND", "") == 403)
        #expect(try await world.status("PROPFIND", "", [("Depth", "1")]) == 207)
    }

    @Test func `a member may stand in lists with an error`() async throws {
        let world = world { $0.failingMembers = ["a/b": 403] }

        let list = try await world.found("a", depth: "1", "d:getetag")
        let tree = try await world.found("", depth: "infinity", "d:resourcetype")

        #expect(
            list.contains(
                "<d:response><d:href>/dav/a/b/</d:href><d:status>HTTP/1.1 403 Forbidden"
                    + "</d:status></d:response>"))
        #expect(!tree.contains("/dav/a/b/f"))
        #expect(tree.contains("/dav/a/g"))
    }

    @Test func `what does not fit is refused`() async throws {
        let world = world { $0.quotaBytes = 20 }

        #expect(try await world.status("PUT", "big", [], "0123456789") == 507)
        #expect(try await world.status("PUT", "a/g", [], "0123456789") == 204)
        #expect(try await world.status("COPY", "a", [("Destination", "/dav/d")]) == 507)
        #expect(try await world.status("DELETE", "a") == 204)
        #expect(try await world.status("PUT", "big", [], "0123456789") == 201)
    }
}
