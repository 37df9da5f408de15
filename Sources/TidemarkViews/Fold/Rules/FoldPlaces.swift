// FoldPlaces.swift — notes where entities were before events that changed them and don't tell so by
// themselves (PlaceRows.swift).

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
    /// Notes where the entities that the current event wrote were before it: others than its own,
    /// which the event tells of, and in trees those that are somewhere else by it.
    func notePlaces(_ event: Event, _ position: Position) throws {
        let named = event.tellsOfEntity ? event.key : nil
        let hasTrees = try registered().hasTrees
        // Most events say all that they do.
        if !hasTrees, let named, wroteNothing(but: rowKey(of: named)) { return }
        let own = try named.map { try resolve($0) }
        if !hasTrees, let own, own != named, wroteNothing(but: rowKey(of: own)) { return }
        if let place = written.unpended, let key = EntityKey(bytes: place.bytes),
            let collection = try known(key.collection)?.model
        {
            // Of what lies in no tree it is not known any more whether it was seen.
            let was = written.unpendedPlace ?? PlaceRow(isSeen: true)
            let isNow = try self.place(of: entity(at: place), in: collection)
            try note(was, isNow, of: key, isOwn: key == own, in: collection, position)
        }
        for (place, before, after) in rowsWritten where place != written.unpended {
            guard let key = EntityKey(bytes: place.bytes),
                let collection = try known(key.collection)?.model,
                collection.tree != nil || key != own,
                try !isWipedNow(key.collection, position)
            else { continue }
            let isAlike =
                before.isHidden == after.isHidden && before.isOrphan == after.isOrphan
                && before.content == after.content
            guard !isAlike || (key != own && before.status != after.status) else { continue }
            let was = try self.place(of: before, in: collection)
            let isNow = isAlike ? was : try self.place(of: after, in: collection)
            try note(was, isNow, of: key, isOwn: key == own, in: collection, position)
        }
    }

    /// Whether the current event wrote no entity so far but one.
    private func wroteNothing(but place: RowKey) -> Bool {
        (written.unpended ?? place) == place
            && written.entities.allSatisfy { $0.entry.key == place }
    }

    /// Notes where an entity was that changed, unless the event tells as much.
    private func note(
        _ was: PlaceRow, _ isNow: PlaceRow, of key: EntityKey, isOwn: Bool,
        in collection: CollectionModel, _ position: Position
    ) throws {
        guard collection.tree != nil || !isOwn else { return }
        if was != isNow || (!isOwn && was.isSeen) { try note(was, of: key, position) }
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

    /// Notes that an id, which may have been an entity's own, names another one from the current
    /// event on: what refers to it reads otherwise then, and in a tree what lay in it lies in that.
    func noteRenamed(_ key: EntityKey) throws {
        guard let collection = try known(key.collection)?.model else { return }
        try note(place(of: entity(key), in: collection), of: key, currentPosition)
        guard collection.tree != nil else { return }
        for child in try children(of: key, in: collection) {
            try note(place(of: entity(child), in: collection), of: child, currentPosition)
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

    /// Tells of a collection from this event on only; of nil, of all of them together.
    private func tellOfPlaces(of collection: CollectionName?, since position: Position) {
        put(.placesSince(collection), position.bigEndianBytes)
    }

    /// The same of some collections, and forgets where their entities were; not from where on an id
    /// names another one, as what refers to it may stay.
    func forgetPlaces(
        of collections: (CollectionName) -> Bool, _ position: Position
    ) throws {
        for (place, _) in try ledgerRows(Ledger.places) {
            if let key = place.entityOfPlace, collections(key.collection), try resolve(key) == key {
                put(place, nil)
            }
        }
        for collection in try model().collections where collections(collection.name) {
            tellOfPlaces(of: collection.name, since: position)
        }
    }

    /// Where documents read otherwise by a new model, or lie elsewhere, nothing is told of what was
    /// before; nor where collections are gone, whose entities nothing tells of any more.
    func adoptPlaces(_ before: SyncModel, _ position: Position) throws {
        let model = try model()
        for collection in model.collections {
            let isTold =
                try before[collection.name].map { collection.isRead(as: $0) }
                ?? neverWas(collection.name)
            if !isTold { tellOfPlaces(of: collection.name, since: position) }
        }
        if before.collections.contains(where: { model[$0.name] == nil }) {
            tellOfPlaces(of: nil, since: position)
        }
    }
}

extension Fold {
    /// Whether nothing of a collection can have been here before the model had it.
    private func neverWas(_ collection: CollectionName) throws -> Bool {
        guard try get(.placesSince(nil)) == nil else { return false }
        var isAny = false
        try walk(.rows, EntityKey.prefix(of: collection)) { _, _ in
            isAny = true
            return false
        }
        return !isAny
    }
}

extension CollectionModel {
    /// Whether its documents read, and lie, as by another model.
    fileprivate func isRead(as old: CollectionModel) -> Bool {
        func targets(_ collection: CollectionModel) -> [[ExactString]] {
            collection.references.map {
                [ExactString($0.field), ExactString($0.collection.rawValue)]
            }
        }
        return tree == old.tree && migrations == old.migrations && forms == old.forms
            && dates == old.dates && targets(self) == targets(old)
    }
}
