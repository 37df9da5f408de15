// KintoDevice.swift — one replica on one device, and what a test does with it.

import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// A replica with its engine.
struct KintoDevice: Sendable {
    let name: String
    let replica: Replica
    let engine: SyncEngine
    let transport = KintoTransport()

    init(
        _ name: String, at directory: String, _ model: SyncModel, _ remote: Remote,
        rules: [ConflictRule] = []
    ) throws {
        self.name = name
        replica = try Replica.open(
            at: directory, model: model, remote: remote, rules: rules,
            dependencies: .counting(name))
        let user = name
        engine = try SyncEngine(replica, remote: remote, transport: transport) {
            .basic(user: user, password: "secret")
        }
    }

    // MARK: Edits

    func put(_ key: String, _ json: String) throws { try edit(key, .put(json)) }
    func patch(_ key: String, _ json: String) throws { try edit(key, .patch(json)) }
    func delete(_ key: String) throws { try edit(key, .delete) }

    func edit(_ key: String, _ edit: KintoEdit) throws {
        let key = try #require(EntityKey(key))
        try replica.write { tx in
            switch edit {
            case .put(let json): try tx.put(key, Array(json.utf8))
            case .patch(let json):
                let fields = try JSONDocument(parsing: Array(json.utf8))
                try tx.patch(key, Patch(settingAllOf: fields))
            case .delete: try tx.delete(key)
            }
        }
    }

    // MARK: Syncing

    @discardableResult
    func sync() async throws -> SyncOutcome { try await engine.sync() }

    // MARK: Looking

    /// The documents of a collection by id, byte for byte.
    func documents(_ collection: CollectionName) throws -> [String: String] {
        try replica.read { store in
            var documents: [String: String] = [:]
            try store.forEachDocument(in: collection) { key, bytes, _ in
                documents[key.id] = String(decoding: bytes, as: UTF8.self)
                return true
            }
            return documents
        }
    }

    func outbox(all: Bool = false) throws -> [OutboxEntry] {
        try replica.read { try $0.views.outbox(all: all) }
    }

    /// The outcome, or the state, of each mutation of an entity.
    func fates(_ key: String, all: Bool = true) throws -> [String] {
        try outbox(all: all).filter { $0.mutation.key.description == key }.map(\.word)
    }

    func has(_ key: String) throws -> Bool {
        let key = try #require(EntityKey(key))
        return try replica.read { try $0.document(key) != nil }
    }

    func status(_ key: String) throws -> EntityStatus? {
        let key = try #require(EntityKey(key))
        return try replica.read { try $0.status(of: key) }
    }

    /// The events about an entity after a position.
    func events(
        _ key: String, after start: Position = .start
    ) throws -> [(position: Position, event: Event)] {
        try replica.read { store in
            var found: [(Position, Event)] = []
            var position = start
            while position < store.position {
                position = position.next
                let event = try store.views.event(at: position)
                if let event, event.key?.description == key { found.append((position, event)) }
            }
            return found
        }
    }
}

/// What a user does to an entity.
enum KintoEdit: Sendable {
    case put(String)
    case patch(String)
    case delete
}

extension Dependencies {
    /// A clock that begins with the server's and moves a millisecond with each look, ids that are
    /// numbers.
    static func counting(_ name: String) -> Dependencies {
        let counter = Counter()
        let begun = Dependencies.live.now()
        return Dependencies(
            now: { Timestamp(microseconds: begun.rawValue + counter.next() * 1000) },
            makeID: { "\(name)-\(counter.next())" },
            random: { UInt64(counter.next()) },
            uptime: { Uptime(bootID: "test", microseconds: counter.next()) },
            sleep: { _ in })
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int64>(0)

        func next() -> Int64 { value.add(1, ordering: .relaxed).newValue }
    }
}
