// PendingWrite.swift — what is pending on an entity, as the one write that would send it.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// What is pending on an entity, and what stands in its way.
package struct PendingWrite: Sendable, Hashable {
    /// The key that it is pending by.
    package var key: EntityKey
    /// The id that the server uses.
    package var id: String
    /// Whether the server has it.
    package var isLive: Bool
    /// The version that is known of it.
    package var revision: Revision?
    /// The mutations that the write carries, in order.
    package var covers: [Position]
    /// What the server is to be told; nil when that is nothing, or when no version is known of what
    /// has to be of one.
    package var write: PushWrite?
    /// The entities that it refers to and that the server does not have yet; of a write that the
    /// model refuses they are not looked for.
    package var needs: [EntityKey] = []
    /// A field that refers to what was made here and is gone again, and the id that it names.
    package var stranded: Stranded?

    /// A reference that the server can know nothing of.
    package struct Stranded: Sendable, Hashable {
        package var field: String
        package var id: String

        package init(field: String, id: String) {
            self.field = field
            self.id = id
        }
    }

    package init(
        _ key: EntityKey, id: String? = nil, isLive: Bool = false, revision: Revision? = nil,
        covers: [Position] = [], write: PushWrite? = nil
    ) {
        self.key = key
        self.id = id ?? key.id
        self.isLive = isLive
        self.revision = revision
        self.covers = covers
        self.write = write
    }
}

extension ServerTraits {
    /// Whether a write names the version that the entity must still be of.
    func isVersioned(_ collection: CollectionModel) -> Bool {
        hasVersions && collection.ids == .client
    }
}

extension ViewReader {
    /// What is pending on an entity; nil where nothing of it can be sent: it was refused, its last
    /// write has no answer yet, or it is not seen here.
    package func pendingWrite(
        _ key: EntityKey, _ model: SyncModel, _ traits: ServerTraits
    ) throws -> PendingWrite? {
        guard let row = try entity(key), let collection = model[key.collection],
            row.attempt == nil, !row.isPlaceholder, !row.isHidden, row.status != .error
        else { return nil }
        var pending = PendingWrite(
            key, id: try serverID(of: key, row, idField: collection.idField) ?? key.id,
            isLive: row.baseState == .live, revision: row.revision,
            covers: row.pending.map(\.position))
        let isVersioned = traits.isVersioned(collection)
        // Without a version nothing can be written, and nothing is to be made up.
        if pending.isLive, pending.revision == nil, isVersioned { return pending }
        let write = try PushWrite(
            try row.changes(in: collection), on: try row.baseValue(in: collection),
            revision: row.revision, id: pending.id, collection: collection,
            isVersioned: isVersioned)
        guard let write else { return pending }
        pending.write = try write.naming(referenceNames(collection, model))
        guard collection.refusal(of: write.operation) == nil else { return pending }
        if write.operation != .delete {
            pending.stranded = try strandedReference(of: row, in: collection, model).map {
                PendingWrite.Stranded(field: $0.field, id: $0.id)
            }
        }
        pending.needs = try missingReferences(of: key, row, model)
        return pending
    }
}
