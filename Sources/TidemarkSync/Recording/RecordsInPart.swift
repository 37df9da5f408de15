// RecordsInPart.swift — records of which an answer shows only a part: what it would not show is not
// gone, so that they are taken with what the server had of it.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension Fold {
    /// The records of an answer, each with what the answer would not show of it.
    ///
    /// - Parameters:
    ///   - parameters: the list's; none for a list of all, or an answer about some.
    ///   - parts: what other lists told just before of the one record.
    func completed(
        _ records: [ServerRecord], of collection: CollectionModel,
        in parameters: ListParameters = [:], after parts: [ToldPart] = [],
        by adapter: any ServerAdapter
    ) throws -> [ServerRecord] {
        guard adapter.traits.shownInPart.contains(collection.name) else { return records }
        return try records.map { record in
            guard !record.isDeleted, let bytes = record.document else { return record }
            var before = try entity(resolve(EntityKey(collection.name, record.id)))
                .lastKnown(in: collection)
            for part in parts {
                let merged = try whole(part, of: collection, by: before, adapter)
                before = merged ?? part.document
            }
            let told = ToldPart(list: parameters, document: bytes)
            guard let merged = try whole(told, of: collection, by: before, adapter) else {
                return record
            }
            var record = record
            record.document = merged
            return record
        }
    }

    /// What a list told of an entity, with what it would not show; nil where nothing is added.
    private func whole(
        _ part: ToldPart, of collection: CollectionModel, by known: [UInt8]?,
        _ adapter: any ServerAdapter
    ) throws -> [UInt8]? {
        guard let known, let told = try? JSONDocument(parsing: part.document) else { return nil }
        return adapter.completed(
            told, of: collection, by: try JSONDocument(parsing: known), in: part.list,
            readableDocument)
    }
}

extension EntityRow {
    /// What the server had of the entity: its last word, or what was sent to make it, as that came
    /// where the server has the entity at all; nil for nothing.
    fileprivate func lastKnown(in collection: CollectionModel) throws -> [UInt8]? {
        if baseState == .live { return base }
        guard let last = try changes.last(where: \.mayHaveArrived) else { return nil }
        let sent = try sent(through: last.position, in: collection)
        return sent.isEmpty ? nil : sent
    }
}
