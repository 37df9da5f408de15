// RedecideRecording.swift — a replica that syncs with a server in memory, so that there
// is something to be decided once more.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

/// Passes requests on; one write may be met by something else first.
final class RecordingWire: Transport, Sendable {
    /// What is done when a request of a method passes, and whether its answer is lost.
    struct Tap: Sendable {
        var method: HTTPRequest.Method
        var losesAnswer = false
        var act: @Sendable () async throws -> Void = {}
    }

    private let next: any Transport
    private let tap = Mutex<Tap?>(nil)

    init(_ next: any Transport) { self.next = next }

    /// Sets what meets the next request of its method.
    func meet(_ value: Tap) { tap.withLock { $0 = value } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let tap = tap.withLock { tap -> Tap? in
            let isMet = tap?.method == request.method
            defer { if isMet { tap = nil } }
            return isMet ? tap : nil
        }
        do { try await tap?.act() } catch {
            throw TransportError(.invalidRequest, detail: "\(error)")
        }
        let answer = try await next.send(request, body: body, limits: limits)
        if tap?.losesAnswer == true { throw TransportError(.connectionLost, detail: "lost") }
        return answer
    }
}

/// One replica, its engine and their server.
final class Recording: Sendable {
    let clock = ManualClock()
    let server: InMemoryServer
    let wire: RecordingWire
    let replica: Replica
    let engine: SyncEngine

    static let remote = Remote.kinto(origin: "http://kinto.test", bucket: "b")

    static let usualModel = SyncModel(
        name: "todo",
        collections: [
            CollectionModel("lists", lastChangeField: "last_modified", conflict: .serverWins),
            CollectionModel(
                "tasks", lastChangeField: "last_modified", conflict: .localWins,
                references: [Reference("list", to: "lists")]),
        ], settings: SyncSettings(batchSize: 1))

    private init(
        _ model: SyncModel, _ rules: [ConflictRule], _ adapter: (any ServerAdapter)?
    ) throws {
        server = InMemoryServer(bucket: "b", model: model, clock: clock)
        wire = RecordingWire(server)
        replica = try Replica.temporary(
            model: model, remote: Self.remote, rules: rules,
            dependencies: .seeded(1, clock: clock))
        let adapter = try adapter ?? Self.remote.makeAdapter()
        engine = SyncEngine(replica, remote: Self.remote, adapter: adapter, transport: wire) {
            .basic(user: "me", password: "secret")
        }
    }

    /// Records what `body` does.
    static func capsule(
        model: SyncModel = usualModel, rules: [ConflictRule] = [],
        adapter: (any ServerAdapter)? = nil,
        _ body: (Recording) async throws -> Void
    ) async throws -> Capsule {
        let recording = try Recording(model, rules, adapter)
        let result: Capsule
        do {
            try await body(recording)
            result = try await TidemarkReplayTests.capsule(of: recording.replica.journal)
        } catch {
            try? recording.replica.deleteTemporary()
            throw error
        }
        await recording.engine.stop()
        try recording.replica.deleteTemporary()
        return result
    }

    /// Syncs, and throws why that failed.
    ///
    /// - Parameter fails: whether it is to.
    func sync(fails: Bool = false) async throws {
        let outcome = try await engine.sync(.userRequested)
        if !fails, let failure = outcome.failure { throw failure }
    }

    func create(_ collection: CollectionName, _ id: String, _ json: String) throws {
        try replica.write { tx in try tx.create(EntityKey(collection, id), Array(json.utf8)) }
    }

    func patch(_ collection: CollectionName, _ id: String, _ json: String) throws {
        let patch = Patch(settingAllOf: try JSONDocument(parsing: Array(json.utf8)))
        try replica.write { tx in _ = try tx.patch(EntityKey(collection, id), patch) }
    }
}

extension Capsule {
    /// The last event of a kind that something holds for.
    func last(_ kind: EventKind, _ isWanted: (Event) -> Bool = { _ in true }) -> Entry? {
        commits.flatMap(\.entries).last { $0.event.kind == kind && isWanted($0.event) }
    }

    /// It with one event changed.
    func changing(_ position: Position, _ change: (inout Event) -> Void) -> Capsule {
        var capsule = self
        for (index, commit) in commits.enumerated() {
            for (place, entry) in commit.entries.enumerated() where entry.position == position {
                change(&capsule.commits[index].entries[place].event)
            }
        }
        return capsule
    }

    /// It without the commits in which something holds for an event.
    func without(_ isUnwanted: (Entry) -> Bool) -> Capsule {
        var capsule = self
        capsule.commits.removeAll { $0.entries.contains(where: isUnwanted) }
        return capsule
    }

    /// It without what is known of its views.
    var withoutDigests: Capsule {
        var capsule = self
        for index in commits.indices { capsule.commits[index].views = [] }
        return capsule
    }
}

extension Event {
    /// Replaces some bytes of the payload.
    mutating func replace(_ old: String, _ new: String) {
        payload = Array(String(decoding: payload, as: UTF8.self).replacing(old, with: new).utf8)
    }
}
