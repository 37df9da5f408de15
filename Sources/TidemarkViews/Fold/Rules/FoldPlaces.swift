// FoldPlaces.swift — notes where entities of trees were before an event that moves them
// (PlaceRows.swift).

import TidemarkEvents
import TidemarkRules

/// Which entities the current event is noted of already: what was first before it counts.
///
/// And which rows no anchor needs any more.
final class NotedPlaces: FoldMemory {
    private var position = Position.start
    private var keys: Set<EntityKey> = []
    /// Up to which event no row is needed; nil for none, or before it was read.
    var dropped: Position?
    var isRead = false
    /// Rows up to there that were read, the last one first, and where the others begin.
    var due: [RowKey] = []
    var rest = Ledger.places

    func isFirst(_ key: EntityKey, at position: Position) -> Bool {
        if self.position != position { (self.position, keys) = (position, []) }
        return keys.insert(key).inserted
    }
}

extension Fold {
    /// Notes where the entities that the current event wrote were before it, of those that are
    /// somewhere else by it, and of others than its own that changed by it.
    func notePlaces(_ event: Event, _ position: Position) throws {
        if let (place, before) = unpendedPlace, let key = EntityKey(bytes: place.bytes),
            try before != self.place(of: entity(at: place), at: place)
        {
            try note(before, of: key, position)
        }
        let own = try event.key.map { try resolve($0) }
        for (place, before, after) in rowsWritten where place != unpendedPlace?.key {
            guard let key = EntityKey(bytes: place.bytes),
                let collection = try known(key.collection)?.model, collection.tree != nil,
                try !isWipedNow(key.collection, position)
            else { continue }
            let isAlike =
                before.isHidden == after.isHidden && before.isOrphan == after.isOrphan
                && before.content == after.content
            guard !isAlike || (key != own && before.status != after.status) else { continue }
            let was = try self.place(of: before, in: collection)
            let isNow = isAlike ? was : try self.place(of: after, in: collection)
            if was != isNow || (key != own && was.isSeen) { try note(was, of: key, position) }
        }
    }

    /// Where an entity of a tree was by its row; nil for one of no tree.
    func place(of row: EntityRow, at place: RowKey) throws -> PlaceRow? {
        guard let key = EntityKey(bytes: place.bytes),
            let collection = try known(key.collection)?.model, collection.tree != nil
        else { return nil }
        return try self.place(of: row, in: collection)
    }

    private func isWipedNow(_ collection: CollectionName, _ position: Position) throws -> Bool {
        try isWiped(collection, after: Position(position.rawValue - 1))
    }

    private func note(_ place: PlaceRow, of key: EntityKey, _ position: Position) throws {
        guard memory(NotedPlaces.self).isFirst(key, at: position) else { return }
        put(.place(before: position, of: key), place.encoded)
        try dropPlaces(atMost: Self.droppedWithOne)
    }

    /// Notes that what lies in an entity lies in the one that this is found to be from now on.
    func noteChildren(of key: EntityKey, _ position: Position) throws {
        guard let collection = try known(key.collection)?.model, collection.tree != nil else {
            return
        }
        for child in try children(of: key, in: collection) {
            try note(self.place(of: entity(child), in: collection), of: child, position)
        }
    }

    /// Notes that the file of a source came or went: those who name it are where they were.
    ///
    /// - Parameter isNamed: whether the event is of one of them.
    func noteNaming(
        _ source: ContentSource, _ position: Position, isNamed: Bool = false
    ) throws {
        guard let collection = try known(source.collection)?.model, collection.tree != nil,
            let entry = try contentName(source)
        else { return }
        let count = entry.holds.reduce(0) { $0 + $1.references }
        guard count > (isNamed ? 1 : 0) else { return }
        if count == 1, !entry.entity.isEmpty {
            return try noteStaying(EntityKey(source.collection, entry.entity), position)
        }
        guard entry.namers.isEmpty else {
            for id in entry.namers { try noteStaying(EntityKey(source.collection, id), position) }
            return
        }
        try noteNaming(in: collection.name, position) { $0.isSource(source) }
    }

    /// The same of a file that is named by its digest.
    func noteNaming(_ digest: String, _ holds: [ContentHold], _ position: Position) throws {
        guard !holds.isEmpty else { return }
        for name in Set(holds.map(\.field.collection)).sorted() {
            guard try known(name)?.model.tree != nil else { continue }
            try noteNaming(in: name, position) { $0.isFile && $0.text == digest }
        }
    }

    private func noteNaming(
        in collection: CollectionName, _ position: Position,
        _ isNamed: (EntityContentsRow.Named) -> Bool
    ) throws {
        let rows = try ledgerRows(Ledger.contentsOfEntities + EntityKey.prefix(of: collection))
        for (place, value) in rows {
            guard let key = place.entityOfContents,
                try EntityContentsRow(parsing: value).names.contains(where: isNamed)
            else { continue }
            try noteStaying(key, position)
        }
    }

    private func noteStaying(_ key: EntityKey, _ position: Position) throws {
        guard let place = try self.place(of: entity(key), at: .entity(key)), place.isSeen else {
            return
        }
        try note(place, of: key, position)
    }

    /// Tells of a collection's tree from this event on only.
    func tellOfPlaces(of collection: CollectionName, since position: Position) throws {
        put(.placesSince(collection), position.bigEndianBytes)
    }

    /// The same, and forgets where entities were.
    func forgetPlaces(
        of collections: (CollectionName) -> Bool, _ position: Position
    ) throws {
        for (place, _) in try ledgerRows(Ledger.places) {
            if let key = place.entityOfPlace, collections(key.collection) { put(place, nil) }
        }
        for collection in try model().collections
        where collection.tree != nil && collections(collection.name) {
            try tellOfPlaces(of: collection.name, since: position)
        }
    }

    /// Where a tree is another one by a new model, nothing is told of what was before.
    func adoptPlaces(_ before: SyncModel, _ position: Position) throws {
        // Nothing can have been there before the first model.
        guard !before.collections.isEmpty else { return }
        for collection in try model().collections where collection.tree != nil {
            let old = before[collection.name]
            guard old?.tree != collection.tree || old?.migrations != collection.migrations
            else { continue }
            try tellOfPlaces(of: collection.name, since: position)
        }
    }
}
