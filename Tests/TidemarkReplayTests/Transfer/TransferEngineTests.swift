// TransferEngineTests.swift — an engine that fetches files: time, pauses, credentials, and its end.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

extension TransferWorld {
    /// Another engine of the store.
    func engine(
        over transport: (any Transport)? = nil, remote: Remote = SyncWorld.remote,
        _ credentials: @escaping @Sendable () async throws -> Credentials = { .none }
    ) throws -> SyncEngine {
        SyncEngine(
            replica, remote: remote, adapter: try remote.makeAdapter(),
            transport: transport ?? files, credentials: credentials)
    }

    /// Puts files on the server, and has records name them.
    func serve(_ count: Int) throws {
        for number in 1...count {
            serve("/files/\(number)", "tea")
            try name("/files/\(number)", by: "\(number)")
        }
    }

    /// Has every request for a file fail.
    func fail(_ code: TransportError.Code) {
        files.fault = { _, _ throws(TransportError) in throw TransportError(code) }
    }
}

/// Notes the deadlines of the requests.
private final class Deadlines: Transport, Sendable {
    private let files: InMemoryFiles
    private let noted = Lock<[Duration]>([])
    var all: [Duration] { noted.withLock { $0 } }

    init(_ files: InMemoryFiles) { self.files = files }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        noted.withLock { $0.append(limits.deadline) }
        return try await files.send(request, body: body, limits: limits)
    }
}

/// Answers nothing until its task is cancelled.
private final class Silence: Transport, Sendable {
    private let begun = AsyncStream.makeStream(of: Void.self)
    private let never = AsyncStream.makeStream(of: Void.self)

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        begun.continuation.yield()
        for await _ in never.stream {}
        throw TransportError(.cancelled)
    }

    /// Waits until a request has come.
    func reached() async { for await _ in begun.stream { return } }
}

/// Holds the first request until one for a file has come, even where its run is cancelled; that one
/// is not answered until its task is cancelled.
private final class HeldRun: Transport, Sendable {
    private struct State: Sendable {
        var asked = 0
        var isCancelled = false
        var hasFile = false
    }
    private let state = Lock(State())
    var isAsked: Bool { state.withLock { $0.asked > 0 } }
    var isCancelled: Bool { state.withLock { $0.isCancelled } }
    var hasFile: Bool { state.withLock { $0.hasFile } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let isFile = request.path?.hasPrefix("/files/") == true
        state.withLock { state in
            state.asked += 1
            state.hasFile = state.hasFile || isFile
        }
        while !Task.isCancelled { await Task.yield() }
        state.withLock { $0.isCancelled = true }
        while !hasFile { await Task.yield() }
        throw TransportError(.cancelled)
    }
}

/// Gives another token each time.
final class Tokens: Sendable {
    private let given = Lock(0)
    var count: Int { given.withLock { $0 } }

    func next() -> Credentials {
        .bearer(
            "token-\(given.withLock { count in count += 1; return count })")
    }
}

extension SyncEngine {
    /// Asks for files while others are being fetched, and is stopped meanwhile.
    fileprivate func transferAndStop() async throws -> TransferOutcome {
        // It begins when this waits: until then nothing else has its turn.
        let stop = Task { await self.stop() }
        let outcome = try await transfer()
        await stop.value
        return outcome
    }
}

@Suite struct `an engine that fetches files` {
    // MARK: Time

    @Test("gives a request the time that its bytes take, and more when that was too short")
    func deadline() async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all, bytesMax: 1 << 24), .init(partBytes: 1 << 20))
        world.serve("/files/1", "")
        try world.name("/files/1")
        let spy = Deadlines(world.files)
        let engine = try world.engine(over: spy)
        world.fail(.timeout)
        #expect(try await engine.transfer().failure == .timeout(""))
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(5))

        // The server has no part of an empty file, and so is asked for all of it.
        #expect(try await engine.transfer().stored == 0)
        world.world.clock.advance(by: .seconds(5))
        #expect(try await engine.transfer().stored == 1)

        #expect(spy.all == [.seconds(30 + 64), .seconds(30 + 128), .seconds(30 + 1024)])
    }

    @Test("gives a file that is sent twice the time for its bytes with each failure")
    func sendDeadline() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        try world.attach(String(repeating: "a", count: 1 << 20))
        let spy = Deadlines(world.files)
        let engine = try world.engine(over: spy)
        world.fail(.timeout)
        for _ in 1...3 {
            #expect(try await engine.transfer().failed == 1)
            world.world.clock.advance(by: .seconds(3600))
        }
        world.files.fault = nil
        #expect(try await engine.transfer().sent == 1)

        #expect(
            spy.all == [
                .seconds(30 + 64), .seconds(30 + 128), .seconds(30 + 256), .seconds(30 + 512),
            ])
    }

    // MARK: Pauses

    @Test("asks for one of many files where there is no network", arguments: [true, false])
    func offline(_ isOffline: Bool) async throws {
        let world = try TransferWorld()
        try world.serve(20)
        world.fail(isOffline ? .offline : .timeout)

        let outcome = try await world.engine.transfer()

        #expect(outcome.failed == 1 && outcome.failure == (isOffline ? .offline("") : .timeout("")))
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 5))
        #expect(try world.events.count == 1 && world.asked.count == 1)
        world.files.fault = nil
        // Without a network nothing failed of the one either.
        #expect(try await world.engine.transfer().stored == (isOffline ? 20 : 19))
        try await world.expectSound()
    }

    @Test("sends one of many files where there is no network, and all of them once it is back")
    func offlineSending() async throws {
        let world = try TransferWorld(TransferWorld.rule)
        world.takeFiles()
        for number in 1...20 { try world.attach("\(number)", to: "\(number)") }
        world.fail(.offline)
        for count in 1...5 {
            #expect(try await world.engine.transfer().failed == 1)
            #expect(world.asked.count == count)
        }
        world.files.fault = nil
        #expect(try await world.engine.transfer().sent == 20)
        try await world.expectSound()
    }

    @Test("asks for no other file when the server asks for a pause", arguments: [429, 503])
    func busy(_ status: Int) async throws {
        let world = try TransferWorld()
        try world.serve(20)
        world.files.fault = { _, _ in
            var fields = HTTPFields()
            fields[.retryAfter] = "40"
            return TransportResponse(
                response: HTTPResponse(status: .init(code: status), headerFields: fields),
                body: [])
        }

        let outcome = try await world.engine.transfer()

        #expect(outcome.failure?.isTransient == true)
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 40))
        #expect(world.asked.count == 1)
    }

    @Test("asks by itself after longer and longer pauses, and at once after a run that succeeds")
    func pauses() async throws {
        let world = try TransferWorld()
        try world.serve(20)
        world.fail(.offline)
        await world.engine.start(.none)
        for (number, seconds) in [5, 10, 20].enumerated() {
            #expect(await world.world.clock.firstSleep() == .seconds(seconds))
            #expect(world.asked.count == number + 1)
            if seconds < 20 { world.world.clock.advance(by: .seconds(seconds)) }
        }

        world.files.fault = nil
        #expect(try await world.engine.sync().failure == nil)

        while try world.text("20") == nil { await Task.yield() }
        await world.engine.stop()
    }

    @Test("tries again after the longest backoff when the storage failed, and says so")
    func broken() async throws {
        let world = try TransferWorld()
        #expect(try await world.engine.sync().failure == nil)
        #expect(try await world.engine.transfer() == TransferOutcome())
        try world.serve(1)
        let engine = try world.engine(
            remote: .kinto(origin: "http://else.test", bucket: "b"))
        await engine.start(.none)

        #expect(await world.world.clock.firstSleep() == .seconds(3600))
        var told = engine.statuses.makeAsyncIterator()
        let last = await told.next()?.lastTransfer
        #expect(throws: TidemarkError.self) { try last?.get() }
        let sleeps = world.world.clock.sleepsMade
        world.world.clock.advance(by: .seconds(3600))
        #expect(await world.world.clock.firstSleep() == .seconds(3600))
        #expect(world.world.clock.sleepsMade > sleeps && world.asked == [])
        await engine.stop()
    }

    // MARK: Credentials

    @Test("asks for nothing of the remote's where there are no credentials, and says so")
    func noCredentials() async throws {
        let world = try TransferWorld()
        world.serve("http://other.test/2", "else")
        world.serve("/photos/1", "own")
        try world.name("http://other.test/2", by: "2")
        try world.name("photos/1", by: "1")
        let engine = try world.engine { throw SyncFailure.offline("no token") }

        let outcome = try await engine.transfer()

        #expect(outcome.stored == 1 && outcome.failure == .offline("no token"))
        #expect(world.files.requests.map(\.authority) == ["other.test"])
        #expect(try await world.engine.transfer().stored == 1)
        try await world.expectSound()
    }

    @Test("asks for other credentials after a 401, and for the file once more")
    func renewed() async throws {
        let world = try TransferWorld()
        try world.serve(3)
        world.files.fault = { request, answer in
            guard request.headerFields[.authorization] == "Bearer token-1" else { return answer }
            return TransportResponse(response: HTTPResponse(status: .unauthorized), body: [])
        }
        let tokens = Tokens()

        let outcome = try await world.engine { tokens.next() }.transfer()

        #expect(outcome.stored == 3 && outcome.failed == 0 && outcome.failure == nil)
        #expect(tokens.count == 2 && world.asked.count == 4)
        #expect(try world.events.first == "cancelled")
        try await world.expectSound()
    }

    @Test("asks for other credentials each time that they expire")
    func renewedAgain() async throws {
        let world = try TransferWorld(
            ContentRule("photo", when: .all), .init(downloads: 1, partBytes: 4))
        try world.serve(5)
        let requests = Lock<[String: Int]>([:])
        world.files.fault = { request, answer in
            let token = request.headerFields[.authorization] ?? ""
            let count = requests.withLock { known in
                known[token, default: 0] += 1
                return known[token] ?? 0
            }
            guard count > 2 else { return answer }
            return TransportResponse(response: HTTPResponse(status: .unauthorized), body: [])
        }
        let tokens = Tokens()

        let outcome = try await world.engine { tokens.next() }.transfer()

        #expect(outcome.stored == 5 && outcome.failed == 0 && outcome.failure == nil)
        #expect(tokens.count == 3 && world.asked.count == 7)
        try await world.expectSound()
    }

    @Test("ends after a second 401 in a row, and refuses no file for a day")
    func unauthorized() async throws {
        let world = try TransferWorld()
        try world.serve(5)
        world.files.fault = { _, _ in
            TransportResponse(response: HTTPResponse(status: .unauthorized), body: [])
        }
        let tokens = Tokens()

        let outcome = try await world.engine { tokens.next() }.transfer()

        #expect(outcome.failure == .unauthorized && outcome.refused == 0)
        #expect(tokens.count == 2 && world.asked.count == 2)
        #expect(try world.events == ["cancelled", "failed"])
        // By itself after the longest backoff; others may ask before.
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 3600))
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(5))
        #expect(try await world.engine.transfer().stored == 5)
    }

    // MARK: Its end

    @Test("stops fetching by itself when it is paused")
    func pause() async throws {
        let world = try TransferWorld()
        try world.serve(1)
        let silence = Silence()
        let engine = try world.engine(over: silence)
        await engine.start(.none)
        await silence.reached()

        await engine.pause()

        while try world.events.isEmpty { await Task.yield() }
        #expect(try world.events == ["cancelled"])
        await engine.stop()
    }

    @Test("gives up what waits for its turn when it is stopped")
    func stop() async throws {
        let world = try TransferWorld()
        try world.serve(1)
        let silence = Silence()
        let engine = try world.engine(over: silence)
        let first = Task { try await engine.transfer() }
        await silence.reached()

        #expect(try await engine.transferAndStop() == TransferOutcome(.cancelled))

        #expect(try await first.value.failure == .cancelled)
        #expect(try world.events == ["cancelled"])
    }

    @Test("is stopped without a wait for what a later start began to fetch")
    func startedMeanwhile() async throws {
        let world = try TransferWorld()
        try world.serve(1)
        let held = HeldRun()
        let engine = try world.engine(over: held)
        let run = Task { try await engine.sync() }
        while !held.isAsked { await Task.yield() }
        let stopping = Task { await engine.stop() }
        while !held.isCancelled { await Task.yield() }
        await engine.start(.none)
        while !held.hasFile { await Task.yield() }

        #expect(try await run.value.failure == .cancelled)
        await stopping.value

        let before = try world.events
        await engine.stop()
        #expect(try world.events == before + ["cancelled"])
    }

    @Test("takes a request for failed that others have cancelled")
    func strayCancellation() async throws {
        let world = try TransferWorld()
        try world.serve(1)
        let seen = SeenCounts()
        world.files.fault = { _, answer throws(TransportError) in
            seen.note(1)
            guard seen.counts.count < 4 else { return answer }
            throw TransportError(.cancelled)
        }

        let outcome = try await world.engine.transfer()

        #expect(outcome.failed == 1 && outcome.stored == 0)
        #expect(try world.events == ["connectionLost"])
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 5))
    }
}
