// TransferServersTests.swift — files of several servers, of which some can't be had.

import HTTPTypes
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

extension TransferWorld {
    /// Has some servers' files fail, each by the reason that it is given.
    fileprivate func fail(_ servers: [String: TransportError.Code]) {
        files.fault = { request, answer throws(TransportError) in
            if let code = servers[request.authority ?? ""] { throw TransportError(code) }
            return answer
        }
    }

    /// Puts as many files on a server as there are numbers, and has records name them.
    fileprivate func serve(_ numbers: ClosedRange<Int>, at origin: String) throws {
        for number in numbers {
            serve("\(origin)/\(number)", "tea \(number)", tag: "\"a\"")
            try name("\(origin)/\(number)", by: "\(number)")
        }
    }

    /// The servers that were asked, as often as they were.
    fileprivate var servers: [String: Int] {
        Dictionary(grouping: files.requests) { $0.authority ?? "" }.mapValues(\.count)
    }
}

@Suite struct `files of several servers` {
    // The files are asked for in the order of their names.
    @Test(
        "go on where one of the servers can't be had",
        arguments: [("a.test", "kinto.test"), ("kinto.test", "z.test")])
    func away(_ server: String, _ other: String) async throws {
        let world = try TransferWorld()
        try world.serve(1...5, at: "http://\(server)")
        try world.serve(11...15, at: "http://\(other)")
        world.fail([server: .timeout])

        let outcome = try await world.engine.transfer()

        #expect(outcome.stored == 5 && outcome.failed == 1 && outcome.failure == .timeout(""))
        // Its second file is not asked for before the server is tried again.
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 5))
        #expect(world.servers[server] == 1)
        try await world.expectSound()
    }

    @Test("go on by themselves while a server is asked less and less often, until it is there")
    func pauses() async throws {
        let world = try TransferWorld()
        try world.serve(1...9, at: "http://other.test")
        world.fail(["other.test": .offline])
        let clock = world.world.clock
        await world.engine.start(.none)
        for (number, seconds) in [5, 10, 20].enumerated() {
            #expect(await clock.firstSleep() == .seconds(seconds))
            #expect(world.servers["other.test"] == number + 1)
            // What comes meanwhile does not wait.
            try world.serve(20 + number...20 + number, at: "http://kinto.test")
            while try world.text("\(20 + number)") == nil { await Task.yield() }
            #expect(world.servers["other.test"] == number + 1)
            if seconds == 20 { world.files.fault = nil }
            clock.advance(by: .seconds(seconds))
        }

        try await world.stores(1...9)

        await world.engine.stop()
        try await world.expectSound()
    }

    @Test("are not tried at many servers where none can be had")
    func offline() async throws {
        let world = try TransferWorld()
        for number in 1...9 { try world.serve(number...number, at: "http://host\(number).test") }
        world.files.fault = { _, _ throws(TransportError) in throw TransportError(.offline) }

        let outcome = try await world.engine.transfer()

        #expect(outcome.failed == 3 && outcome.failure == .offline(""))
        #expect(world.files.requests.count == 3)

        // By itself the engine asks no other ones before the pause is over either.
        await world.engine.start(.none)
        #expect(await world.world.clock.firstSleep() == .seconds(5))
        #expect(world.files.requests.count == 6)
        world.world.clock.advance(by: .seconds(5))
        #expect(await world.world.clock.firstSleep() == .seconds(10))
        #expect(world.files.requests.count == 9)
        await world.engine.stop()
        try await world.expectSound()
    }

    @Test("are sent and fetched though another server asks for a long pause")
    func busy() async throws {
        let world = try TransferWorld()
        try world.serve(1...3, at: "http://other.test")
        world.files.fault = { request, answer in
            guard request.authority == "other.test" else { return answer }
            var fields = HTTPFields()
            fields[.retryAfter] = "40000"
            return TransportResponse(
                response: HTTPResponse(status: .serviceUnavailable, headerFields: fields), body: [])
        }
        #expect(try await world.engine.transfer().failed == 1)
        try world.serve(11...12, at: "http://kinto.test")
        await world.engine.start(.none)

        while try world.text("12") == nil { await Task.yield() }

        await world.engine.stop()
        #expect(try world.text("2") == nil)
        try await world.expectSound()
    }

    @Test("are asked for once more in a capsule that names no server, or no user's data")
    func capsules() async throws {
        let world = try TransferWorld()
        try world.serve(1...2, at: TransferWorld.origin)
        try world.serve(11...12, at: "http://z.test")
        #expect(try await world.engine.transfer().stored == 4)

        let whole = try await capsule(of: world.replica.journal)
        for capsule in [whole, whole.withoutRemote(), try whole.redactedByTool()] {
            let report = try await decided(capsule, adapter: try SyncWorld.remote.makeAdapter())
            #expect(report.divergence == nil, "\(report.divergence?.text ?? "")")
            #expect(report.acts > 0)
        }
    }

    @Test("are told of without the user's data after a page came in their place")
    func pages() async throws {
        for isSent in [false, true] {
            let world = try TransferWorld(
                isSent ? TransferWorld.rule : ContentRule("photo", when: .all))
            if isSent {
                world.takeFiles()
                try world.attach("tea")
            } else {
                world.serve("/files/1", "tea")
                try world.name("/files/1")
            }
            world.files.fault = { _, _ in
                let fields: HTTPFields = [.contentType: "text/html"]
                return TransportResponse(
                    response: HTTPResponse(status: isSent ? .forbidden : .ok, headerFields: fields),
                    body: Array("<p>Sign in".utf8))
            }
            #expect(try await world.engine.transfer().failed == 1)

            let redacted = try await capsule(of: world.replica.journal).redactedByTool()
            #expect(redacted.provenance.isRedacted)
        }
    }
}
