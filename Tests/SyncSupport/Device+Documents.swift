// Device+Documents.swift — what a device holds: documents, and what waits to be sent.

import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

extension Device {
    /// A document without what only the server writes.
    static func plain(_ bytes: [UInt8]) -> String {
        let document = try? JSONDocument(parsing: bytes)
        return String(
            decoding: document?.applying(set: [], unset: Server.serverFields) ?? bytes,
            as: UTF8.self)
    }

    /// A document without what only the server writes, or nil.
    func document(_ key: String) throws -> String? {
        try replica.read { try $0.document(try self.key(key)) }.map(Self.plain)
    }

    func has(_ key: String) throws -> Bool { try document(key) != nil }

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

    /// The ids of the entities that are seen in a collection.
    func keys(_ collection: CollectionName) throws -> [String] {
        try rows(collection).filter { $0.1.document != nil }.map(\.0.id)
    }

    func status(_ key: String) throws -> EntityStatus? {
        try replica.read { try $0.status(of: try self.key(key)) }
    }

    func serverID(_ key: String) throws -> String {
        let key = try self.key(key)
        return try replica.journal.read { try $0.serverID(of: key) }
    }

    func ids(_ key: String) throws -> [String] {
        let key = try self.key(key)
        return try replica.journal.read { try $0.ids(of: key) }
    }

    // MARK: Mutations

    func entries(all: Bool = false) throws -> [OutboxEntry] {
        try replica.journal.read { try $0.outbox(all: all) }
    }

    /// The mutations of an entity in order, each by its outcome or how it stands.
    func mutations(_ key: String) throws -> [String] {
        let key = try self.key(key)
        return try entries(all: true).filter { $0.mutation.key == key }.map(\.word)
    }

    /// The open mutations: `tasks/t1 pending`, with what they wait for.
    func outbox() throws -> [String] {
        try entries().map { entry in
            let blockers = entry.blockers.map { " \($0)" }.joined()
            return "\(entry.mutation.key) \(entry.word)\(blockers)"
        }
    }

    /// The words of what was refused.
    func problems() throws -> [String] {
        try replica.journal.read { views in
            try views.issues().map { "\($0.collection)/\($0.entity ?? "") \($0.message)" }
        }
    }

    /// The decisions in order: `tasks/t1 localWins title`.
    func decisions() throws -> [String] {
        var lines: [String] = []
        try replica.journal.read { views in
            try views.forEachDecision { _, decision in
                lines.append(
                    ([decision.key.description, decision.result] + decision.fields)
                        .joined(separator: " "))
                return true
            }
        }
        return lines
    }

    func mark(_ collection: CollectionName) throws -> WatermarkRow? {
        try replica.journal.read { try $0.watermark(PullTarget(collection)) }
    }

    func cursor(_ collection: CollectionName) throws -> String? {
        try mark(collection)?.cursor?.description
    }
}
