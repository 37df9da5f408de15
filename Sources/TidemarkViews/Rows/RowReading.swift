// RowReading.swift — where a decision reads rows: in a fold, or in the views of a transaction.

import TidemarkEvents

/// Rows with everything that was folded so far.
protocol RowReading {
    /// The registered model.
    func model() throws -> SyncModel

    /// Walks over a collection's rows by id; `body` says whether to go on.
    func forEachRow(
        of collection: CollectionName, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws

    /// The key that an entity has for life, also of an id that is an alias.
    func lasting(_ key: EntityKey) throws -> EntityKey

    /// Whether any entity is hidden for itself, and so perhaps others with it.
    func hidesAny() throws -> Bool
}

extension Fold: RowReading {
    func forEachRow(
        of collection: CollectionName, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws { try forEachEntity(in: collection, body) }

    func lasting(_ key: EntityKey) throws -> EntityKey { try resolve(key) }
}

extension ViewReader: RowReading {
    func forEachRow(
        of collection: CollectionName, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws { try forEachEntity(in: collection, body) }

    func lasting(_ key: EntityKey) throws -> EntityKey { try self.key(key) }

    func hidesAny() throws -> Bool { try row(.hiddenCount) != nil }
}

extension EntityRow {
    /// Whether it is just what the server said: nothing is pending, under way or refused, and
    /// nothing is made up.
    package var isInSync: Bool {
        baseState == .live && pending.isEmpty && attempt == nil && refusal == nil && !isPlaceholder
    }

    /// Whether it is seen, also where it is made up.
    package var isListed: Bool { baseState == .live && !isHidden }

    /// Whether it is one that the server has, and seen.
    package var isInReach: Bool { baseState == .live && !isHidden && !isPlaceholder }

    /// What is known of its fields, seen or not: with what is pending, and without.
    func documents(in collection: CollectionModel) -> [JSONDocument] {
        var known: [[UInt8]] = []
        if let content { known.append(content) }
        if !pending.isEmpty, !base.isEmpty { known.append(base) }
        return known.compactMap { try? collection.migrated(JSONDocument(parsing: $0)) }
    }
}

extension CollectionModel {
    /// The reference to what an entity belongs to.
    var ownerReference: Reference? {
        guard let owner = access.owner else { return nil }
        return references.first { $0.field == owner }
    }
}
