// ChangesSince.swift — what came, changed and went since a position of the log, from the events
// since then, the rows of now, and what is noted of consequences (PlaceRows.swift).

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// Of which entities it is to be told what became of them.
package enum ChangeScope: Sendable, Hashable {
    /// Those of all collections.
    case all
    case collection(CollectionName)
    /// Those at the root of a collection's tree.
    case root(CollectionName)
    /// Those that lie in an entity, not those further down.
    case folder(EntityKey)

    /// The one collection that it is about; nil for all.
    package var collection: CollectionName? {
        switch self {
        case .all: nil
        case .collection(let name), .root(let name): name
        case .folder(let key): key.collection
        }
    }

    /// Whether it is about a place in a tree.
    fileprivate var isOfTree: Bool {
        switch self {
        case .all, .collection: false
        case .root, .folder: true
        }
    }
}

/// What became of entities since a position.
package struct ChangesSince: Sendable, Hashable {
    /// Each in the order of the keys; of trees only.
    package var appeared: [EntityKey] = []
    /// What is there; of others than trees it may have appeared.
    package var changed: [EntityKey] = []
    /// What is not there; of others than trees it may not have been there then.
    package var went: [EntityKey] = []
    /// The position that they were read at: the next time it is told from there on.
    package var last: Position

    var isEmpty: Bool { appeared.isEmpty && changed.isEmpty && went.isEmpty }
}

/// Why it can't be told what changed since a position.
package struct ChangesSinceError: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// It can be told since this position at the earliest.
        case expired(Position)
        /// The log ends here.
        case ahead(Position)
        /// The model does not have the collection.
        case noCollection(CollectionName)
        /// The collection is no tree.
        case noTree(CollectionName)
        /// There never was such an entity.
        case unknown(EntityKey)
    }
    package var reason: Reason
    package var position: Position
}

extension Journal {
    /// What came, changed and went since a position.
    ///
    /// Costs what was logged since then, and a row for each entity of that; where an id turned out
    /// to be another entity's, also a look at what refers to it.
    ///
    /// - Throws: ``ChangesSinceError``, and what reading the log throws.
    package func changes(
        since position: Position, in scope: ChangeScope
    ) throws -> ChangesSince {
        try environment.read { transaction in
            try ViewReader.with(self, transaction) { views in
                try views.checkAnchor(
                    position, scope, first: log.firstPosition(transaction) ?? Position(1))
                var reading = try ChangesReading(views, scope, since: position)
                try views.forEachPlace(after: position) { try reading.note($0, was: $1) }
                var writes: Set<Position> = []
                var answers: [(key: EntityKey, calls: [Position])] = []
                try log.forEachHeader(from: position.next, transaction) { place, event in
                    guard let key = event.key else { return true }
                    if event.kind == .requestSent, event.mutation != nil { writes.insert(place) }
                    if event.kind.family == .answer {
                        // It is one to its call, and settles another one.
                        answers.append((key, [event.call, event.cause].compactMap(\.self)))
                    } else if event.tellsOfEntity {
                        try reading.note(key)
                    }
                    return true
                }
                for (key, calls) in answers {
                    let isOfWrite = try calls.contains { call in
                        try call > position
                            ? writes.contains(call) : log.mayBeWrite(call, transaction)
                    }
                    if isOfWrite { try reading.note(key) }
                }
                return try reading.changes()
            }
        }
    }
}

extension EventLog {
    /// Walks over events without their payloads.
    fileprivate func forEachHeader(
        from first: Position, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (Position, Event) throws -> Bool
    ) throws {
        try forEachFrame(from: first, transaction) { position, frame in
            let event: Event
            do {
                event = try Event(header: try frame.get().header, payload: [])
            } catch {
                throw LogError(damage: error, at: position)
            }
            return try body(position, event)
        }
    }

    /// Whether a request carries a write: so it may where the log has it no longer.
    fileprivate func mayBeWrite(
        _ call: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Bool {
        var mayBe = true
        try forEachHeader(from: call, transaction) { position, request in
            mayBe = position != call || request.mutation != nil
            return false
        }
        return mayBe
    }
}

extension ViewReader {
    fileprivate func checkAnchor(
        _ position: Position, _ scope: ChangeScope, first: Position
    ) throws {
        func error(_ reason: ChangesSinceError.Reason) -> ChangesSinceError {
            ChangesSinceError(reason: reason, position: position)
        }
        guard position <= last else { throw error(.ahead(last)) }
        // Rows that another version of the library wrote, before its writer made them anew.
        guard isCurrent else { throw error(.expired(last)) }
        let model = try model()
        if let name = scope.collection {
            guard let collection = model[name] else { throw error(.noCollection(name)) }
            guard !scope.isOfTree || collection.tree != nil else { throw error(.noTree(name)) }
        }
        var since = max(Position(first.rawValue - 1), toldSince)
        if scope.collection == nil { since = max(since, try placesSince(nil)) }
        for name in scope.collection.map({ [$0] }) ?? model.collections.map(\.name) {
            since = max(since, try placesSince(name))
        }
        guard since <= position else { throw error(.expired(since)) }
    }

    /// The entities of a collection that name any of some ids by a reference.
    fileprivate func keys(
        naming ids: Set<ExactString>, by reference: Reference, in collection: CollectionModel
    ) throws -> [EntityKey] {
        var found: [EntityKey] = []
        func look(_ key: EntityKey, _ row: EntityRow) {
            guard let bytes = try? row.document(in: collection),
                let document = try? JSONDocument(parsing: bytes)
            else { return }
            let isNamed = document.ids(in: reference.field).contains {
                ids.contains(ExactString($0))
            }
            if isNamed { found.append(key) }
        }
        let index = IndexModel([IndexField(reference.field)])
        guard try hasIndex(index, in: collection.name) else {
            try forEachEntity(in: collection.name) { key, row in
                look(key, row)
                return true
            }
            return found
        }
        // Of lists the index tells only that they are some.
        let values =
            ids.flatMap { OrderKey.values(ofID: $0.text, dates: collection.dates) }
            + [[OrderKey.nested]]
        for key in Set(try indexed(values, by: index, in: collection.name)) {
            look(key, try entity(at: .entity(key)))
        }
        return found
    }
}

/// Puts together what became of entities.
private struct ChangesReading {
    private let views: ViewReader
    private let model: SyncModel
    /// With an entity to lie in by the id that it keeps.
    private let scope: ChangeScope
    private let position: Position
    /// Where they were then; nil where they are still, or in no tree.
    private var places: [EntityKey: PlaceRow?] = [:]
    /// Those that events name: of others than trees it is not known what was then.
    private var named: Set<EntityKey> = []
    /// The entities that turned out to be what other ids named.
    private var renamed: Set<EntityKey> = []
    private var isFolderNamed = false

    init(_ views: ViewReader, _ scope: ChangeScope, since position: Position) throws {
        self.views = views
        self.position = position
        model = try views.model()
        if case .folder(let key) = scope {
            self.scope = .folder(try views.resolve(key))
        } else {
            self.scope = scope
        }
    }

    mutating func note(_ key: EntityKey, was place: PlaceRow) throws {
        let lasting = try views.resolve(key)
        if lasting != key { renamed.insert(lasting) }
        guard isAsked(key.collection) else { return }
        if case .folder(let folder) = scope, key == folder || place.parent == folder.id {
            isFolderNamed = true
        }
        if places[key].flatMap(\.self) == nil { places[key] = .some(place) }
    }

    mutating func note(_ key: EntityKey) throws {
        guard isAsked(key.collection) else { return }
        let key = try views.resolve(key)
        named.insert(key)
        if places[key] == nil { places[key] = .some(nil) }
    }

    private func isAsked(_ collection: CollectionName) -> Bool {
        scope.collection.map { $0 == collection } ?? (model[collection] != nil)
    }

    /// Notes what refers to entities by ids that named others then.
    private mutating func noteReferrers() throws {
        guard !renamed.isEmpty else { return }
        var ids: [CollectionName: Set<ExactString>] = [:]
        for key in renamed {
            let others = try views.keys(of: key).dropFirst().map { ExactString($0.id) }
            ids[key.collection, default: []].formUnion(others)
        }
        for collection in model.collections where isAsked(collection.name) {
            for reference in collection.references {
                guard let ids = ids[reference.collection] else { continue }
                for key in try views.keys(naming: ids, by: reference, in: collection) {
                    try note(key)
                }
            }
        }
    }

    private func holds(_ place: PlaceRow) -> Bool {
        guard place.isSeen else { return false }
        return switch scope {
        case .all, .collection: true
        case .root: place.parent == nil
        case .folder(let key): place.parent == key.id
        }
    }

    mutating func changes() throws -> ChangesSince {
        try noteReferrers()
        var changes = ChangesSince(last: views.last)
        for (key, was) in places.sorted(by: { $0.key < $1.key }) {
            guard let collection = model[key.collection] else { continue }
            let row = try views.entity(at: .entity(key))
            let isNow = try views.place(of: row, in: collection)
            guard collection.tree != nil else {
                if isNow.isSeen {
                    changes.changed.append(key)
                } else if named.contains(key) || was?.isSeen == true {
                    changes.went.append(key)
                }
                continue
            }
            switch (holds(was ?? isNow), holds(isNow)) {
            case (false, true): changes.appeared.append(key)
            case (true, true): changes.changed.append(key)
            case (true, false): changes.went.append(key)
            case (false, false): break
            }
        }
        if case .folder(let key) = scope, !isFolderNamed, changes.isEmpty,
            try views.entity(at: .entity(key)).isEmpty
        {
            throw ChangesSinceError(reason: .unknown(key), position: position)
        }
        return changes
    }
}

extension Event {
    /// Whether it says something of the entity that it names, which an app shows: not that it was
    /// asked for.
    ///
    /// Whether an answer does, its request tells.
    var tellsOfEntity: Bool {
        switch kind.family {
        case .local, .word, .push: true
        // A write is on its way.
        case .request: mutation != nil
        case .asset: kind != .assetUsed
        case .app: kind == .issueAnswered
        case .store, .model, .runStart, .runEnd, .answer, .notice, .list, .unknown: false
        }
    }
}
