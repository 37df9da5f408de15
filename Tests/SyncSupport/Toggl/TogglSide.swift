// TogglSide.swift — a device of a server shaped like Toggl, as the simulation sees it.

import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// What one device has to do with its server, and what was seen of it before.
final class TogglSide: DeviceServer {
    typealias Wire = TogglWire

    static var serverFields: [String] { ["id", "at"] }

    let remote = Remote.toggl(origin: "http://toggl.test")
    /// What became of mutations, as it was seen last: it never changes again.
    let outcomes = Mutex<[String: String]>([:])
    /// The last event whose mutations were counted.
    let counted = Mutex<Position>(.start)
}

typealias TogglDevice = Device<TogglSide>

/// An entity that is seen.
struct TogglSeen: Sendable {
    var key: EntityKey
    var serverID: String
    var row: EntityRow
    var document: JSONDocument
}

extension TogglDevice {
    /// A device whose wire asks it whether a row may be written.
    convenience init(
        _ name: String, _ model: SyncModel, _ wire: TogglWire, _ clock: ManualClock, seed: UInt64
    ) throws {
        try self.init(
            name, of: TogglSide(), over: wire, model: model,
            dependencies: .seeded(seed, clock: clock),
            removesStore: true)
        let objection: @Sendable (String, String?) -> String? = { [weak self] in
            try? self?.objection($0, $1)
        }
        wire.objection.withLock { $0 = objection }
    }

    /// The entities that are seen in a collection.
    func seen(_ collection: CollectionName) throws -> [TogglSeen] {
        let rows = try rows(collection)
        return try replica.journal.read { views in
            try rows.compactMap { key, row in
                let model = SyncModel.toggl[collection]
                guard let bytes = try row.document(in: model) else { return nil }
                return TogglSeen(
                    key: key, serverID: try views.serverID(of: key), row: row,
                    document: try JSONDocument(parsing: bytes))
            }
        }
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
