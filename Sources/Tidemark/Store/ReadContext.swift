// ReadContext.swift — the context of a read closure.

public import TidemarkEvents
package import TidemarkViews

/// The store at one point in time.
///
/// Valid only inside the closure that it was given to.
public struct ReadContext {
    package let views: ViewReader

    init(_ views: ViewReader) { self.views = views }

    /// The last position of the log.
    public var position: Position {
        views.noteEverything()
        return views.last
    }

    /// The document of an entity; nil when there is none.
    public func document(_ key: EntityKey) throws -> [UInt8]? { try views.document(key) }

    /// The sync status of an entity together with all that counts in it by `rollUp` of the model's
    /// references; nil when there is no such entity, not even one to be deleted.
    ///
    /// The first of these that one of them has: `placeholder`, `stub`, `error`, `warning`;
    /// `updated` where anything waits for the server, made, changed, deleted or on its way;
    /// `relayed`, `confirmed`, `synced`. It costs a look at two rows, however many are below.
    public func rolledUpStatus(of key: EntityKey) throws -> EntityStatus? {
        try views.rolledUpStatus(of: key)
    }

    /// The sync status of an entity; nil when there is none, not even one to be deleted.
    public func status(of key: EntityKey) throws -> EntityStatus? {
        guard let row = try views.entity(key) else { return nil }
        return row.document == nil && row.pending.isEmpty ? nil : row.status
    }

    /// Calls `body` with the documents, sorted by collection and id; `body` returns whether to
    /// continue.
    ///
    /// Entities whose deletion is pending are left out.
    ///
    /// - Throws: what `body` throws; ``TidemarkError``: `damaged`, and other errors of the storage.
    public func forEachDocument(
        in collection: CollectionName? = nil,
        _ body: (EntityKey, [UInt8], EntityStatus) throws -> Bool
    ) throws {
        let model = try views.model()
        try views.forEachEntity(in: collection) { key, row in
            guard let document = try row.document(in: model[key.collection]) else { return true }
            return try body(key, document, row.status)
        }
    }

    /// How many mutations the server has not acknowledged, refused ones included: those of
    /// ``outbox()``.
    ///
    /// - Throws: ``TidemarkError``: `damaged`, and other errors of the storage.
    public func outboxCount() throws -> Int {
        let counts = try OutboxCounts(views)
        return counts.pending + counts.refused
    }
}
