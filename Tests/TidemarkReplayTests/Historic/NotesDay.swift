// NotesDay.swift — a device whose notes are synced with a server in this process: logs that are the
// same each time they are made.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting

@testable import CapsuleSupport

/// A day of a device with notes, and of others who change them on the server.
final class NotesDay: Sendable {
    static let remote = Remote.kinto(origin: "http://notes.test", bucket: "b")
    static let model = SyncModel(
        name: "notes", collections: [CollectionModel("notes"), CollectionModel("tags")])

    let clock = ManualClock()
    let server: KintoServer
    let wire: HookedWire
    let replica: Replica
    let engine: SyncEngine

    init() throws {
        server = KintoServer(bucket: "b", model: Self.model, clock: clock)
        wire = HookedWire(server)
        replica = try Replica.temporary(
            model: Self.model, remote: Self.remote, dependencies: .seeded(7, clock: clock))
        engine = SyncEngine(
            replica, remote: Self.remote, adapter: try Self.remote.makeAdapter(), transport: wire
        ) { .basic(user: "me", password: "secret") }
    }

    /// A day's log, after the store it was made in is gone.
    static func log(_ body: (NotesDay) async throws -> Void) async throws -> Capsule {
        let day = try NotesDay()
        do {
            try await day.work("morning", 6)
            try await body(day)
            try await day.work("evening", 4)
        } catch {
            try day.replica.deleteTemporary()
            throw error
        }
        let log = try day.capsule()
        try day.replica.deleteTemporary()
        return log
    }

    func put(_ key: String, _ json: String) throws {
        let key = try #require(EntityKey(key))
        try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }
    }

    @discardableResult
    func sync(full: Bool = false) async throws -> SyncOutcome {
        clock.advance(by: .seconds(60))
        return try await engine.sync(full: full)
    }

    /// What happens every day and has nothing to do with any bug.
    func work(_ name: String, _ count: Int) async throws {
        for number in 1...count {
            clock.advance(by: .seconds(5))
            try put("notes/\(name)-\(number)", #"{"title":"\#(name) \#(number)"}"#)
            if number % 3 == 0 {
                server.put("tags/\(name)-\(number)", #"{"name":"from elsewhere"}"#)
                try await sync()
            }
        }
        try put("notes/\(name)-1", #"{"title":"\#(name), again"}"#)
        try await sync()
        try await sync()
    }

    func capsule() throws -> Capsule {
        try Capsule(of: replica.journal, build: "test", scratch: replica.directory + "-past")
    }
}

/// The way to a server, on which something may happen while an answer is under way.
final class HookedWire: Transport, Sendable {
    typealias Hook = @Sendable (HTTPRequest) throws -> Void
    private let server: any Transport
    private let hook = Mutex<Hook?>(nil)

    init(_ server: any Transport) { self.server = server }

    /// What is done when the server has handled a request, and before anybody here knows.
    func whileAnswering(_ body: Hook?) { hook.withLock { $0 = body } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let answer = try await server.send(request, body: body, limits: limits)
        do { try hook.withLock(\.self)?(request) } catch {
            Issue.record("what was to happen meanwhile failed: \(error)")
        }
        return answer
    }
}
