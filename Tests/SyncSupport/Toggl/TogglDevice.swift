// TogglDevice.swift — a replica of a server shaped like Toggl, which can be restarted.

import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// A device: a replica with its engine, on the world's clock.
final class TogglDevice: Sendable {
    private struct Process {
        var replica: Replica
        var engine: SyncEngine
    }
    static let remote = Remote.toggl(origin: "http://toggl.test")
    let name: String
    let wire: TogglWire
    private let process: Mutex<Process>
    private let model: SyncModel
    private let dependencies: Dependencies
    /// What became of mutations, as it was seen last: it never changes again.
    let outcomes = Mutex<[String: String]>([:])
    /// The last event whose mutations were counted.
    let counted = Mutex<Position>(.start)

    var replica: Replica { process.withLock(\.replica) }
    var engine: SyncEngine { process.withLock(\.engine) }

    init(
        _ name: String, _ model: SyncModel, _ wire: TogglWire, _ clock: ManualClock, seed: UInt64
    ) throws {
        self.name = name
        self.model = model
        self.wire = wire
        dependencies = .seeded(seed, clock: clock)
        let replica = try Replica.temporary(
            model: model, remote: Self.remote, dependencies: dependencies)
        process = Mutex(Process(replica: replica, engine: Self.engine(replica, wire)))
        let objection: @Sendable (String, String?) -> String? = { [weak self] in
            try? self?.objection($0, $1)
        }
        wire.objection.withLock { $0 = objection }
    }

    deinit { try? replica.deleteTemporary() }

    private static func engine(_ replica: Replica, _ wire: TogglWire) -> SyncEngine {
        SyncEngine(replica, remote: remote, adapter: TogglAdapter(), transport: wire) {
            .basic(user: "me", password: "secret")
        }
    }

    /// Ends the process and begins another one.
    func restart() throws {
        let directory = replica.directory
        try replica.close()
        let replica = try Replica.open(
            at: directory, model: model, remote: Self.remote, dependencies: dependencies)
        let engine = Self.engine(replica, wire)
        process.withLock { $0 = Process(replica: replica, engine: engine) }
    }

    // MARK: Edits

    func put(_ key: EntityKey, _ json: String) throws {
        try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }
    }

    func patch(_ key: EntityKey, _ json: String) throws {
        let patch = Patch(settingAllOf: try JSONDocument(parsing: Array(json.utf8)))
        try replica.write { tx in _ = try tx.patch(key, patch) }
    }

    func delete(_ key: EntityKey) throws {
        try replica.write { tx in _ = try tx.delete(key) }
    }

    // MARK: What it holds

    /// An entity that is seen.
    struct Seen: Sendable {
        var key: EntityKey
        var serverID: String
        var row: EntityRow
        var document: JSONDocument
    }

    /// The entities that are seen in a collection.
    func seen(_ collection: CollectionName) throws -> [Seen] {
        var found: [Seen] = []
        try replica.journal.read { views in
            var rows: [(EntityKey, EntityRow)] = []
            try views.forEachEntity(in: collection) { key, row in
                rows.append((key, row))
                return true
            }
            for (key, row) in rows {
                guard let bytes = row.document else { continue }
                found.append(
                    Seen(
                        key: key, serverID: try views.serverID(of: key), row: row,
                        document: try JSONDocument(parsing: bytes)))
            }
        }
        return found
    }

    /// Every row of a collection, seen or not.
    func rows(_ collection: CollectionName) throws -> [(EntityKey, EntityRow)] {
        var rows: [(EntityKey, EntityRow)] = []
        try replica.journal.read { views in
            try views.forEachEntity(in: collection) { key, row in
                rows.append((key, row))
                return true
            }
        }
        return rows
    }

    /// Why a row may not be written to the server.
    private func objection(_ workspace: String, _ row: String?) throws -> String? {
        try replica.journal.read { views in
            if try views.entity(EntityKey("workspaces", workspace))?.isHidden == true {
                return "a write in a workspace out of reach"
            }
            guard let row, let key = EntityKey(row), let found = try views.entity(key) else {
                return nil
            }
            if found.isHidden { return "a hidden row is sent" }
            return found.isPlaceholder ? "a placeholder is sent" : nil
        }
    }
}
