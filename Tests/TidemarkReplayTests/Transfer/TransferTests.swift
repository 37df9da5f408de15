// TransferTests.swift — files that are fetched: in parts, as a whole, again, and what is refused.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension TransferWorld {
    /// Nothing is wrong with the store, and today's rules decide all of it as it was.
    func expectSound(acts: Int = 1) async throws {
        let report = try await redecided()
        if let found = report.divergence { Issue.record("\(found.text)") }
        #expect(report.acts >= acts)
        #expect(try problems() == [])
    }
}

@Suite struct `a file that is fetched` {
    @Test("comes in parts, each with the version of the first, and shows once it is whole")
    func parts() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        let seen = SeenCounts()
        let watched = world.replica
        let came = SeenCounts()
        world.files.fault = { request, answer in
            let named = try? watched.read { try $0.files(of: EntityKey("tasks", "1")) }
            seen.note(named?.count { $0.stored != nil })
            if let progress = named?.first?.progress, progress.isUnderWay {
                came.note(progress.bytes + 100 * (progress.total ?? 0))
            }
            return answer
        }

        let outcome = try await world.engine.transfer()

        #expect(outcome.stored == 1 && outcome.bytes == 10 && outcome.nextAt == nil)
        #expect(world.asked == ["bytes=0-3", "bytes=4-7 \"a\"", "bytes=8-9 \"a\""])
        #expect(seen.counts == [0, 0, 0])
        // Nothing of an unknown length, then four and eight bytes of ten.
        #expect(came.counts == [0, 1_004, 1_008])
        #expect(try world.files(of: "1").map(\.progress) == [nil])
        #expect(try world.text() == "0123456789")
        #expect(try world.events == ["part", "part", "whole", "stored"])
        #expect(try await world.engine.transfer().stored == 0)
        world.files.fault = nil
        try await world.expectSound(acts: 7)
    }

    @Test("comes as a whole where the server gives no parts, or it is empty")
    func whole() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", hasParts: false)
        world.serve("/files/2", "")
        try world.name("/files/1")
        try world.name("/files/2", by: "2")

        #expect(try await world.engine.transfer().stored == 2)

        #expect(try world.text() == "0123456789")
        #expect(try world.text("2") == "")
        #expect(world.asked.sorted() == ["bytes=0-3", "bytes=0-3", "whole"])
        try await world.expectSound(acts: 8)
    }

    @Test("is logged without what its answer tells of the credentials")
    func echoes() async throws {
        let world = try TransferWorld()
        // What the engine signs in with: me:secret.
        let secret = "bWU6c2VjcmV0"
        world.serve("/files/1", "tea", tag: "\"\(secret)\"")
        try world.name("/files/1")

        #expect(try await world.engine.transfer().stored == 1)

        #expect(world.files.requests.allSatisfy { $0.headerFields[.authorization] != nil })
        #expect(try world.text() == "tea")
        var logged = ""
        _ = try world.replica.journal.dump(EventFilter()) { _, event in
            logged += String(decoding: event.payload, as: UTF8.self)
        }
        #expect(!logged.contains(secret))
        try await world.expectSound()
    }

    @Test("is one that somebody wants, unless all are fetched")
    func wanted() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        #expect(try await world.engine.transfer() == TransferOutcome())

        try await world.replica.write { tx in try tx.wantFiles(of: EntityKey("tasks", "1")) }
        #expect(try await world.engine.transfer().stored == 1)

        #expect(try world.text() == "tea")
        try await world.expectSound()
    }

    @Test("begins anew where it is another one by the second part")
    func changes() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        let other = InMemoryFiles.File(Array("abcdefghijkl".utf8), tag: "\"b\"")
        let files = world.files
        files.fault = { request, answer in
            if request.headerFields[.range] == "bytes=0-3" {
                files[TransferWorld.origin + "/files/1"] = other
            }
            return answer
        }

        #expect(try await world.engine.transfer().stored == 1)

        #expect(try world.text() == "abcdefghijkl")
        #expect(try world.events.prefix(3) == ["part", "anew", "part"])
        files.fault = nil
        try await world.expectSound(acts: 11)
    }

    @Test("is asked for as a whole where its version is a weak one")
    func weak() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "01234567", tag: "W/\"a\"")
        try world.name("/files/1")

        #expect(try await world.engine.transfer().stored == 1)
        #expect(world.asked == ["bytes=0-3", "whole"])
        try await world.expectSound()
    }

    @Test("is asked for as a whole where one byte comes for each range")
    func shortParts() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "01234567", tag: "\"a\"")
        try world.name("/files/1")
        world.files.fault = { request, answer in
            guard let range = request.headerFields[.range],
                let first = range.dropFirst("bytes=".count).split(separator: "-").first
            else { return answer }
            var short = answer
            short.response.headerFields[.contentRange] = "bytes \(first)-\(first)/8"
            short.response.headerFields[.contentLength] = "1"
            short.body = Array(answer.body.prefix(1))
            return short
        }

        #expect(try await world.engine.transfer().stored == 1)
        #expect(world.asked == ["bytes=0-3", "whole"])
        #expect(try world.text() == "01234567")
        #expect(try world.events == ["partless", "whole", "stored"])
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("is fetched after a change of the model, whatever else is named no more")
    func modelChange() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        world.serve("/files/1", "tea")
        world.serve("/files/2", "milk")
        try world.name("/files/1")
        try world.name("/files/2", by: "2")
        try await world.replica.write { tx in try tx.wantFiles(of: EntityKey("tasks", "2")) }

        try world.reopen([ContentRule("photo", when: .all), ContentRule("sketch")])
        #expect(try await world.engine.transfer().stored == 2)

        try await world.expectSound()
    }

    @Test("is fetched though a clock that was wrong put it off for years")
    func wrongClock() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        world.world.clock.advance(by: .seconds(2000 * 86_400))
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .serviceUnavailable), body: [])
        }
        #expect(try await world.engine.transfer().failed == 1)

        world.files.fault = nil
        world.world.clock.advance(by: .seconds(-2000 * 86_400))
        #expect(try await world.engine.transfer().stored == 1)
        try await world.expectSound()
    }

    @Test("is fetched though a clock hours ahead put it off; one that waits rightly waits on")
    func clockOfHours() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/2", by: "2")
        #expect(try await world.engine.transfer().stored == 0)
        world.world.clock.adjust(by: .seconds(7200))
        try world.name("/files/1")
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .serviceUnavailable), body: [])
        }
        #expect(try await world.engine.transfer().failed == 1)
        #expect(try await world.engine.transfer().failed == 0)

        world.files.fault = nil
        world.world.clock.adjust(by: .seconds(-7200))
        let outcome = try await world.engine.transfer()
        #expect(outcome.stored == 1)
        #expect(outcome.nextAt == world.world.clock.now.adding(.days(1)))
        #expect(world.files.requests.map(\.path) == ["/files/2", "/files/1", "/files/1"])
        try await world.expectSound()
    }

    @Test("has the hash that any entity tells, after the one is gone that named it last")
    func hashOfAnother() async throws {
        let world = try TransferWorld(ContentRule("photo", when: .all, sha256: "hash"))
        world.serve("/files/1", "tea")
        try world.name("/files/1", ["hash": "0"])
        try world.name("/files/1", by: "2")
        try await world.replica.write { tx in _ = try tx.delete(EntityKey("tasks", "2")) }

        let outcome = try await world.engine.transfer()
        #expect(outcome.stored == 0 && outcome.refused == 1)
        try await world.expectSound()
    }

    /// A file whose second part is answered with another whole file.
    private func wholeForRest(_ text: String, _ fields: HTTPFields = [:]) throws -> TransferWorld {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        world.files.fault = { request, answer in
            guard request.headerFields[.range]?.hasPrefix("bytes=4") == true else { return answer }
            return TransportResponse(
                response: HTTPResponse(status: .ok, headerFields: fields), body: Array(text.utf8))
        }
        return world
    }

    @Test("is asked for as a whole where a range is answered with 200 in its middle")
    func wholeInTheMiddle() async throws {
        let world = try wholeForRest("all of it.", [.contentLength: "10"])

        #expect(try await world.engine.transfer().stored == 1)
        #expect(world.asked == ["bytes=0-3", "bytes=4-7 \"a\"", "whole"])
        #expect(try world.text() == "0123456789")
        #expect(try world.events == ["part", "partless", "whole", "stored"])
        world.files.fault = nil
        try await world.expectSound()
    }

    @Test("is never of two versions, though a whole one of another breaks off in its middle")
    func wholeCutInTheMiddle() async throws {
        let world = try wholeForRest("abcdefgh", [.contentLength: "10", .eTag: "\"b\""])
        _ = try await world.engine.transfer()
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(60))
        _ = try await world.engine.transfer()

        #expect(try world.text() == "0123456789")
        try await world.expectSound()
    }

    @Test("is fetched several at once, and no more than the budget says")
    func budget() async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), .init(downloads: 2, partBytes: 100))
        for number in 1...5 {
            world.serve("/files/\(number)", "file \(number)")
            try world.name("/files/\(number)", by: "\(number)")
        }
        let gate = TransferGate(world)
        #expect(try await gate.transfer(holding: 2, in: world).stored == 5)

        #expect(gate.most == 2)
        try await world.expectSound(acts: 15)
    }

    @Test("gets the credentials from the remote alone")
    func credentials() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "own")
        world.serve("http://other.test/2", "else")
        try world.name("/files/1")
        try world.name("http://other.test/2", by: "2")

        #expect(try await world.engine.transfer().stored == 2)

        let proofs = world.files.requests.map { request in
            "\(request.authority ?? "") \(request.headerFields[.authorization] != nil)"
        }
        #expect(proofs.sorted() == ["kinto.test true", "other.test false"])
        try await world.expectSound()
    }

    @Test("is stored once where several records name it")
    func shared() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        for id in ["1", "2", "3"] { try world.name("/files/1", by: id) }

        #expect(try await world.engine.transfer().stored == 1)
        #expect(try ["1", "2", "3"].map { try world.text($0) } == ["tea", "tea", "tea"])
        #expect(world.asked.count == 1)
    }

    @Test("is fetched by itself once the engine was started, and once it is wanted")
    func automatically() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        await world.engine.start(SyncTriggers())
        let replica = world.replica
        try await replica.write { tx in try tx.wantFiles(of: EntityKey("tasks", "1")) }

        while try world.text() == nil { await Task.yield() }
        await world.engine.stop()
        #expect(try world.text() == "tea")
        try await world.expectSound()
    }
}

@Suite struct `a file that can't be had` {
    /// What came of fetching, and when it is tried again, in seconds.
    private func refused(
        _ world: TransferWorld, _ source: String = "/files/1", _ more: JSONObject = [:]
    ) async throws -> (events: [String], wait: Int64?) {
        try world.name(source, by: "1", more)
        let now = world.world.clock.now
        let outcome = try await world.engine.transfer()
        #expect(try world.text() == nil && outcome.stored == 0)
        let wait = outcome.nextAt.map { ($0.rawValue - now.rawValue) / 1_000_000 }
        let events = try world.events
        world.files.fault = nil
        try await world.expectSound()
        return (events, wait)
    }

    @Test("is longer than its length says")
    func longer() async throws {
        let world = try TransferWorld()
        world.files.fault = { _, _ in
            var fields = HTTPFields()
            fields[.contentLength] = "3"
            return TransportResponse(
                response: HTTPResponse(status: .ok, headerFields: fields),
                body: Array("four".utf8))
        }
        let found = try await refused(world)
        #expect(found.events == ["failed"] && found.wait == 5)
    }

    @Test("redirects to a file of ours")
    func redirects() async throws {
        let world = try TransferWorld()
        let target = "file://" + world.path + "/data.mdb"
        world.files.fault = { _, _ in
            var fields = HTTPFields()
            fields[.location] = target
            return TransportResponse(
                response: HTTPResponse(status: .found, headerFields: fields), body: [])
        }
        let found = try await refused(world)
        #expect(found.events == ["refused"] && found.wait == 86_400)
        #expect(world.files.requests.count == 1)
    }

    @Test(
        "is called by what is no address, and nothing is sent",
        arguments: ["../x", "file:///etc/passwd", "/a/../../x", "a b"])
    func noAddress(_ name: String) async throws {
        let world = try TransferWorld()
        let found = try await refused(world, name)
        #expect(found.events == ["invalidRequest"] && found.wait == 86_400)
        #expect(world.files.requests.isEmpty)
    }

    @Test("is larger than the model allows, whether the server says so or not")
    func tooLarge() async throws {
        for hasParts in [true, false] {
            let world = try TransferWorld(ContentRule("photo", when: .all, bytesMax: 9))
            world.serve("/files/1", "0123456789", hasParts: hasParts)
            let found = try await refused(world)
            #expect(found.events == [hasParts ? "refused" : "tooLarge"] && found.wait == 86_400)
        }
    }

    @Test("has another hash than its record says")
    func otherHash() async throws {
        let world = try TransferWorld(ContentRule("photo", when: .all, sha256: "hash"))
        world.serve("/files/1", "tea")
        let other = String(repeating: "a", count: 64)
        let found = try await refused(world, "/files/1", ["hash": .string(other)])
        #expect(found.events == ["refused"] && found.wait == 86_400)
        #expect(try ContentFiles(of: world.path).digests() == [])
    }

    @Test("is not there, and is asked for again after a day")
    func missing() async throws {
        let world = try TransferWorld()
        let found = try await refused(world)
        #expect(found.events == ["refused"] && found.wait == 86_400)

        world.serve("/files/1", "tea")
        #expect(try await world.engine.transfer().stored == 0)
        world.world.clock.advance(by: .seconds(86_400))
        #expect(try await world.engine.transfer().stored == 1)
        #expect(try world.text() == "tea")
    }

    @Test("finds the disk full in its middle, and goes on from what was kept")
    func diskFull() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        world.files.fault = { request, answer throws(TransportError) in
            guard request.headerFields[.range]?.hasPrefix("bytes=4") == true else { return answer }
            throw TransportError(.file, detail: "no space left on device")
        }
        #expect(try await world.engine.transfer().failed == 1)
        #expect(try world.text() == nil)
        #expect(try world.events == ["part", "file"])
        let progress = try #require(try world.files(of: "1").first?.progress)
        #expect(progress.bytes == 4 && progress.total == 10 && !progress.isUnderWay)

        world.files.fault = nil
        world.world.clock.advance(by: .seconds(5))
        #expect(try await world.engine.transfer().stored == 1)
        #expect(world.asked.suffix(3) == ["bytes=4-7 \"a\"", "bytes=4-7 \"a\"", "bytes=8-9 \"a\""])
        #expect(try world.text() == "0123456789")
        try await world.expectSound(acts: 7)
    }

    @Test("is told of without its path in what is only read; who only reads fetches nothing")
    func reading() async throws {
        let world = try TransferWorld()
        world.serve("/files/1", "tea")
        try world.name("/files/1")
        #expect(try await world.engine.transfer().stored == 1)
        let position = try world.replica.position
        try world.name("/files/2", by: "2")
        let here = try #require(try world.files(of: "1").first?.stored)
        #expect(here.path != nil)

        let reader = try Replica.open(reading: world.path)
        defer { try? reader.close() }
        let read = try await reader.useFiles(of: EntityKey("tasks", "1"))
        let past = try world.replica.read(asOf: position) { context in
            try context.files(of: EntityKey("tasks", "1"))
        }
        for files in [read, past] {
            let stored = try #require(files.first?.stored)
            #expect(stored.sha256 == here.sha256 && stored.bytes == 3 && stored.path == nil)
        }
        let engine = SyncDevice.engine(
            reader, world.files, adapter: try SyncWorld.remote.makeAdapter())
        let error = await #expect(throws: TidemarkError.self) { try await engine.transfer() }
        #expect(error?.code == .readOnly)
    }

    @Test("has its hash compared, and is taken where that is the same in any letters")
    func sameHash() async throws {
        let world = try TransferWorld(ContentRule("photo", when: .all, sha256: "hash"))
        world.serve("/files/1", "tea")
        // SHA-256 of "tea".
        let digest = "a9f74d1ec36ebdeb2da3f6e5868090cd2a2d20b3dcca7b62f60304b1d3d9ef42".uppercased()
        try world.name("/files/1", by: "1", ["hash": .string(digest)])
        #expect(try await world.engine.transfer().stored == 1)
        try await world.expectSound()
    }
}
