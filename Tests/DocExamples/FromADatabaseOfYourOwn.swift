// FromADatabaseOfYourOwn.swift — the code of the article of that name.

package import Tidemark
import TidemarkSync

/// What an app had before.
package protocol OldDatabase: Sendable {
    /// So many rows of a table at most, in the order of their ids, behind one of these.
    func rows(of table: String, after id: String?, limit: Int) throws -> [OldRow]
    /// The edits that were not sent, oldest first.
    func outbox() throws -> [OldEdit]
    /// Keeps a text beside an edit.
    func keep(importKey: String, of edit: OldEdit) throws
    /// Keeps an edit for a write after the first sync.
    func keepForLater(_ edit: OldEdit) throws
    /// Whether everything was handed over.
    func isHandedOver() throws -> Bool
    func noteHandedOver() throws
}

/// A row as the server sent it last, or what of that there are columns for.
package struct OldRow: Sendable {
    package var id: String
    package var etag: String?
    package var changedAt: Timestamp?
    package var json: [UInt8]
    /// Whether there are columns for all that the server sends.
    package var isWhole = true

    package init(id: String, etag: String?, changedAt: Timestamp?, json: [UInt8]) {
        self.id = id
        self.etag = etag
        self.changedAt = changedAt
        self.json = json
    }
}

/// An edit that was not sent.
package struct OldEdit: Sendable {
    package enum Kind: Sendable { case insert, update, delete }
    package var kind: Kind
    package var table: String
    package var id: String
    /// The new object, or the fields that changed.
    package var json: [UInt8]
    package var importKey: String?

    package init(_ kind: Kind, _ table: String, _ id: String, json: [UInt8] = []) {
        self.kind = kind
        self.table = table
        self.id = id
        self.json = json
    }
}

package enum FromADatabaseOfYourOwn {
    package static func handOver(_ old: any OldDatabase, to replica: Replica) async throws {
        if try !old.isHandedOver() {
            try await takeRows(of: old, into: replica)
            try await takeEdits(of: old, into: replica)
            try old.noteHandedOver()
        }
    }

    static func takeRows(of old: any OldDatabase, into replica: Replica) async throws {
        for table in ["lists", "tasks"] {
            var page = try old.rows(of: table, after: nil, limit: 1000)
            while let last = page.last {
                let records = page.map { row in
                    ServerRecord(
                        id: row.id, revision: row.isWhole ? row.etag.map { Revision($0) } : nil,
                        serverTime: row.changedAt, document: row.json)
                }
                try await replica.takeOver(records, of: CollectionName(table))
                page = try old.rows(of: table, after: last.id, limit: 1000)
            }
        }
    }

    static func takeEdits(of old: any OldDatabase, into replica: Replica) async throws {
        for edit in try old.outbox() {
            let once = edit.importKey.flatMap { IdempotencyKey($0) } ?? replica.makeIdempotencyKey()
            try old.keep(importKey: once.description, of: edit)
            do {
                try await replica.write(once: once) { tx in
                    let key = EntityKey(CollectionName(edit.table), edit.id)
                    switch edit.kind {
                    case .insert: try tx.create(key, edit.json)
                    case .update:
                        let fields = try JSONDocument(parsing: edit.json)
                        try tx.patch(key, Patch(settingAllOf: fields))
                    case .delete: try tx.delete(key)
                    }
                }
            } catch let error as TidemarkError where error.code == .notFound {
                try old.keepForLater(edit)
            }
        }
    }

    static func createUnlessThere(_ unsure: [Todo], in replica: Replica) async throws {
        try await replica.write { tx in
            for todo in unsure
            where try tx.first(Todo.where(\.title == todo.title)) == nil {
                try tx.create(todo)
            }
        }
    }
}
