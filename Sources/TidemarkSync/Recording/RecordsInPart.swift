// RecordsInPart.swift — records of which an answer shows only a part: what it would not show is not
// gone, so that they are taken with what the server had of it.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension Fold {
    /// The records of an answer, each with what the answer would not show of it.
    ///
    /// - Parameter parameters: the list's; none for a list of all, or an answer about some.
    func completed(
        _ records: [ServerRecord], of collection: CollectionModel,
        in parameters: ListParameters = [:], by adapter: any ServerAdapter
    ) throws -> [ServerRecord] {
        guard adapter.traits.shownInPart.contains(collection.name) else { return records }
        return try records.map { record in
            guard !record.isDeleted, let bytes = record.document,
                let known = try entity(resolve(EntityKey(collection.name, record.id)))
                    .lastKnown(in: collection),
                let told = try? JSONDocument(parsing: bytes),
                let whole = adapter.completed(
                    told, of: collection, by: try JSONDocument(parsing: known), in: parameters,
                    readableDocument)
            else { return record }
            var record = record
            record.document = whole
            return record
        }
    }
}

extension EntityRow {
    /// What the server had of the entity: its last word, or what was sent to make it, as that came
    /// where the server has the entity at all; nil for nothing.
    fileprivate func lastKnown(in collection: CollectionModel) throws -> [UInt8]? {
        if baseState == .live { return base }
        guard let last = try changes.last(where: \.mayHaveArrived) else { return nil }
        let made = try made(through: last.position, in: collection)
        return made.isEmpty ? nil : made
    }
}
