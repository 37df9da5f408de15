// ChaosHistory.swift — every version that a record ever had on a server.

import TidemarkEvents

@testable import SyncSupport

/// One write that took effect.
struct ChaosVersion: Sendable {
    var key: EntityKey
    var user: String
    var revision: String
    var isDeletion: Bool
    var document: JSONDocument
    /// The record's version before; nil when there was none, or it was deleted.
    var before: String?

    /// Fields that only the server sets.
    static let serverFields: Set<String> = ["id", "last_modified", "deleted", "schema"]

    /// Whether the record has these fields, and no others.
    func isMade(of sent: JSONDocument) -> Bool {
        let difference = Patch(from: sent, to: document, except: Self.serverFields)
        return difference.isEmpty
    }
}

/// All that took effect on one server, in order.
struct ChaosHistory: Sendable {
    private(set) var versions: [EntityKey: [ChaosVersion]] = [:]
    /// Collections that were dropped: with them went all records, and what was known of them.
    private var droppedOnce: Set<CollectionName> = []
    /// The records that were not made anew since.
    private var dropped: Set<EntityKey> = []

    /// Takes note of the next version.
    ///
    /// - Returns: the version with the one before.
    mutating func note(_ version: ChaosVersion) -> ChaosVersion {
        var version = version
        version.before = present(version.key)?.revision
        dropped.remove(version.key)
        versions[version.key, default: []].append(version)
        return version
    }

    mutating func noteDrop(_ collection: CollectionName) {
        droppedOnce.insert(collection)
        for key in versions.keys where key.collection == collection { dropped.insert(key) }
    }

    /// What a record is now; nil when there is none.
    func present(_ key: EntityKey) -> ChaosVersion? {
        guard let last = versions[key]?.last, !last.isDeletion, !dropped.contains(key) else {
            return nil
        }
        return last
    }

    /// A version; where several are equal, the last one of a user's if there is any.
    func version(
        _ key: EntityKey, _ revision: Revision, by user: String
    ) -> ChaosVersion? {
        let equal = versions[key]?.filter { $0.revision == revision.description }
        return equal?.last { $0.user == user } ?? equal?.last
    }

    /// Whether the server ever deleted it, or dropped its collection.
    func wasDeleted(_ key: EntityKey) -> Bool {
        droppedOnce.contains(key.collection)
            || versions[key]?.contains(where: \.isDeletion) ?? false
    }
}
