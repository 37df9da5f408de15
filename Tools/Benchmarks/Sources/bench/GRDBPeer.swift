// GRDBPeer.swift — the alternative that a Swift developer would build: SQLite in WAL mode,
// synchronous FULL, an entity table with one index, an outbox and a change log, written in one
// transaction.

import Foundation
import GRDB

extension TimeEntry: FetchableRecord, PersistableRecord {
    static let databaseTableName = "time_entries"
}

struct OutboxItem: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "outbox"
    var id: Int64?
    var entity: String
    var operation: String
    var payload: String
    var recorded_at: Int64
}

struct Change: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "changes"
    var id: Int64?
    var entity: String
    var operation: String
    var payload: String
    var recorded_at: Int64
}

final class GRDBPeer: Sendable {
    private let pool: DatabasePool

    init(_ directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        pool = try DatabasePool(path: directory + "/peer.sqlite")
        // A pool sets NORMAL, which may lose the last commits; the comparison needs durable
        // commits.
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
            let level = try Int.fetchOne(db, sql: "PRAGMA synchronous")
            precondition(level == 2, "SQLite does not flush every commit")
        }
        try pool.write { db in
            try db.create(table: "time_entries") { table in
                table.primaryKey("id", .text)
                table.column("workspace_id", .integer).notNull()
                table.column("project_id", .integer)
                table.column("task_id", .integer)
                table.column("user_id", .integer).notNull()
                table.column("description", .text).notNull()
                table.column("start", .text).notNull()
                table.column("stop", .text)
                table.column("duration", .integer).notNull()
                table.column("billable", .boolean).notNull()
                table.column("tags", .text).notNull()
                table.column("created_with", .text).notNull()
                table.column("at", .text).notNull()
                table.column("server_deleted_at", .text)
            }
            try db.create(indexOn: "time_entries", columns: ["project_id"])
            try db.create(table: "cursors") { table in
                table.primaryKey("name", .text)
                table.column("value", .text).notNull()
            }
            for name in ["outbox", "changes"] {
                try db.create(table: name) { table in
                    table.autoIncrementedPrimaryKey("id")
                    table.column("entity", .text).notNull()
                    table.column("operation", .text).notNull()
                    table.column("payload", .text).notNull()
                    table.column("recorded_at", .integer).notNull()
                }
            }
        }
    }

    func close() throws { try pool.close() }

    func insert(_ items: ArraySlice<Item>) throws {
        try pool.write { db in
            for item in items { try Self.insert(item.entry, db) }
        }
    }

    func insertOne(_ item: Item) async throws {
        try await pool.write { db in try Self.insert(item.entry, db) }
    }

    private static func insert(_ entry: TimeEntry, _ db: Database) throws {
        try entry.insert(db)
        try note(entry, "create", db)
    }

    /// Reads each entry, changes its description, and writes it back.
    func update(_ ids: [String], version: Int) throws {
        try pool.write { db in
            for id in ids {
                guard var entry = try TimeEntry.fetchOne(db, key: id) else { continue }
                entry.description = "Changed to \(version)"
                try entry.update(db, columns: ["description"])
                let payload = #"{"set":{"description":"Changed to \#(version)"},"unset":[]}"#
                try OutboxItem(
                    id: nil, entity: entry.id, operation: "update", payload: payload, recorded_at: 1
                ).insert(db)
                try Change(
                    id: nil, entity: entry.id, operation: "update", payload: payload, recorded_at: 1
                ).insert(db)
            }
        }
    }

    /// Takes over a block of a feed: its entries, and where the feed goes on, in one transaction.
    func apply(_ entries: [TimeEntry], cursor: String) throws {
        try pool.write { db in
            for entry in entries { try entry.upsert(db) }
            try db.execute(
                sql: "INSERT OR REPLACE INTO cursors (name, value) VALUES ('back', ?)",
                arguments: [cursor])
        }
    }

    /// The entry with an id.
    func get(_ id: String) throws -> TimeEntry? {
        try pool.read { db in try TimeEntry.fetchOne(db, key: id) }
    }

    /// All entries, sorted by id.
    func all() throws -> [TimeEntry] {
        try pool.read { db in try TimeEntry.order(Column("id")).fetchAll(db) }
    }

    private static func note(_ entry: TimeEntry, _ operation: String, _ db: Database) throws {
        let payload = String(decoding: try JSONEncoder().encode(entry), as: UTF8.self)
        try OutboxItem(
            id: nil, entity: entry.id, operation: operation, payload: payload, recorded_at: 1
        ).insert(db)
        try Change(
            id: nil, entity: entry.id, operation: operation, payload: payload, recorded_at: 1
        ).insert(db)
    }

    /// Puts server documents into the change log alone, as the input of ``refill()``.
    func fillChanges(_ items: [Item]) throws {
        try pool.write { db in
            for item in items {
                try Change(
                    id: nil, entity: item.id, operation: "upsert",
                    payload: String(decoding: item.document, as: UTF8.self), recorded_at: 1
                ).insert(db)
            }
        }
    }

    /// Empties the entity table and fills it again from the change log, in one transaction.
    func refill() throws -> Int {
        try pool.write { db in
            try db.execute(sql: "DELETE FROM time_entries")
            let decoder = JSONDecoder()
            var count = 0
            let changes = try Change.order(Column("id")).fetchCursor(db)
            while let change = try changes.next() {
                let entry = try decoder.decode(TimeEntry.self, from: Data(change.payload.utf8))
                try entry.upsert(db)
                count += 1
            }
            return count
        }
    }
}
