// ReportPeer.swift — what a developer writes by hand for P18: states, an outbox and a change log in
// SQLite, and a report on what was sent.

import Foundation
import GRDB

final class ReportPeer: Sendable {
    private struct Report: Decodable {
        struct Bundle: Decodable { var typeReportMap: [String: Kind] }
        struct Kind: Decodable { var objectReports: [Object] }
        struct Object: Decodable {
            struct Problem: Decodable {
                var errorCode: String
                var message: String
            }
            var uid: String
            var errorReports: [Problem]
        }
        var status: String
        var bundleReport: Bundle
    }

    private let pool: DatabasePool

    init(_ directory: String) throws {
        try FileManager.default.createDirectory(
            atPath: directory, withIntermediateDirectories: true)
        pool = try DatabasePool(path: directory + "/peer.sqlite")
        try pool.writeWithoutTransaction { db in
            try db.execute(sql: "PRAGMA synchronous = FULL")
        }
        try pool.write { db in
            try db.create(table: "entities") { table in
                table.primaryKey("id", .text)
                table.column("document", .text).notNull()
                table.column("state", .text).notNull().indexed()
            }
            try db.create(table: "outbox") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("entity", .text).notNull().indexed()
                table.column("operation", .text).notNull()
            }
            try db.create(table: "changes") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("entity", .text).notNull()
                table.column("operation", .text).notNull()
                table.column("recorded_at", .integer).notNull()
            }
        }
    }

    func close() throws { try pool.close() }

    /// Makes entities that are on their way to the server.
    func insert(_ entities: [(id: String, document: String)]) throws {
        try pool.write { db in
            for entity in entities {
                try db.execute(
                    sql: "INSERT INTO entities VALUES (?, ?, 'uploading')",
                    arguments: [entity.id, entity.document])
                try db.execute(
                    sql: "INSERT INTO outbox (entity, operation) VALUES (?, 'create')",
                    arguments: [entity.id])
            }
        }
    }

    /// Takes over what a report says, in one transaction.
    func settle(_ body: [UInt8]) throws {
        let report = try JSONDecoder().decode(Report.self, from: Data(body))
        try pool.write { db in
            let state = try db.makeStatement(sql: "UPDATE entities SET state = ? WHERE id = ?")
            let sent = try db.makeStatement(sql: "DELETE FROM outbox WHERE entity = ?")
            let change = try db.makeStatement(
                sql: "INSERT INTO changes (entity, operation, recorded_at) VALUES (?, ?, 1)")
            for object in report.bundleReport.typeReportMap.values.flatMap(\.objectReports) {
                let isRefused = !object.errorReports.isEmpty
                try state.execute(arguments: [isRefused ? "error" : "synced", object.uid])
                if !isRefused { try sent.execute(arguments: [object.uid]) }
                try change.execute(arguments: [object.uid, isRefused ? "refused" : "accepted"])
            }
        }
    }
}
