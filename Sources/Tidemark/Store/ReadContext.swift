// ReadContext.swift — what a read closure can ask.

public import TidemarkEvents
package import TidemarkViews

/// The store at one point in time.
///
/// Valid only inside the closure that it was given to.
public struct ReadContext {
    package let views: ViewReader

    init(_ views: ViewReader) { self.views = views }

    /// The last position of the log.
    public var position: Position { views.last }

    /// The document of an entity; nil when there is none.
    public func document(_ key: EntityKey) throws -> [UInt8]? { try views.document(key) }

    /// How an entity stands with the server; nil when there is none, also none to be deleted.
    public func status(of key: EntityKey) throws -> EntityStatus? {
        guard let row = try views.entity(key) else { return nil }
        return row.document == nil && row.pending.isEmpty ? nil : row.status
    }

    /// Walks over documents by collection and id; `body` says whether to go on.
    ///
    /// An entity that is to be deleted is not among them.
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

    /// How many mutations the server has not acknowledged, the refused ones among them.
    public func pendingCount() throws -> Int {
        let counts = try OutboxCounts(views)
        return counts.pending + counts.refused
    }
}
