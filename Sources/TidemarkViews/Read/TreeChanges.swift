// TreeChanges.swift — what came, changed and went in trees since a position of the log, from the
// events since then and the rows of now.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// Of which entities of trees it is to be told what became of them.
package enum TreeScope: Sendable, Hashable {
    /// Those of all collections that are trees.
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
}

/// What became of entities of trees since a position.
package struct TreeChanges: Sendable, Hashable {
    /// Each in the order of the keys.
    package var appeared: [EntityKey] = []
    package var changed: [EntityKey] = []
    package var went: [EntityKey] = []
    /// The position that they were read at: the next time it is told from there on.
    package var last: Position

    var isEmpty: Bool { appeared.isEmpty && changed.isEmpty && went.isEmpty }
}

/// Why it can't be told what became of a tree since a position.
package struct TreeChangesError: Error, Sendable, Hashable {
    package enum Reason: Sendable, Hashable {
        /// It can be told since this position at the earliest.
        case expired(Position)
        /// The log ends here.
        case ahead(Position)
        /// The collection is not in the model, or is no tree.
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
    /// Costs what was logged since then, and a row for each entity of that.
    ///
    /// - Throws: ``TreeChangesError``, and what reading the log throws.
    package func treeChanges(
        since position: Position, in scope: TreeScope
    ) throws -> TreeChanges {
        try environment.read { transaction in
            try ViewReader.with(self, transaction) { views in
                try views.checkAnchor(
                    position, scope, first: log.firstPosition(transaction) ?? Position(1))
                var reading = try TreeChangesReading(views, scope, since: position)
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
        _ position: Position, _ scope: TreeScope, first: Position
    ) throws {
        guard position <= last else {
            throw TreeChangesError(reason: .ahead(last), position: position)
        }
        // Rows that another version of the library wrote, before its writer made them anew.
        guard isCurrent else {
            throw TreeChangesError(reason: .expired(last), position: position)
        }
        let model = try model()
        if let name = scope.collection, model[name]?.tree == nil {
            throw TreeChangesError(reason: .noTree(name), position: position)
        }
        var since = Position(first.rawValue - 1)
        for collection in model.collections where collection.tree != nil {
            guard scope.collection.map({ $0 == collection.name }) ?? true else { continue }
            since = max(since, try placesSince(collection.name))
        }
        guard since <= position else {
            throw TreeChangesError(reason: .expired(since), position: position)
        }
    }
}

/// Puts together what became of entities.
private struct TreeChangesReading {
    private let views: ViewReader
    private let model: SyncModel
    /// With an entity to lie in by the id that it keeps.
    private let scope: TreeScope
    private let position: Position
    /// Where they were then; nil where they are still.
    private var places: [EntityKey: PlaceRow?] = [:]
    private var isFolderNamed = false

    init(_ views: ViewReader, _ scope: TreeScope, since position: Position) throws {
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
        guard isAsked(key.collection) else { return }
        if case .folder(let folder) = scope, key == folder || place.parent == folder.id {
            isFolderNamed = true
        }
        if places[key].flatMap(\.self) == nil { places[key] = .some(place) }
    }

    mutating func note(_ key: EntityKey) throws {
        guard isAsked(key.collection) else { return }
        let key = try views.resolve(key)
        if places[key] == nil { places[key] = .some(nil) }
    }

    private func isAsked(_ collection: CollectionName) -> Bool {
        scope.collection.map { $0 == collection } ?? (model[collection]?.tree != nil)
    }

    private func holds(_ place: PlaceRow) -> Bool {
        guard place.isSeen else { return false }
        return switch scope {
        case .all, .collection: true
        case .root: place.parent == nil
        case .folder(let key): place.parent == key.id
        }
    }

    func changes() throws -> TreeChanges {
        var changes = TreeChanges(last: views.last)
        for (key, was) in places.sorted(by: { $0.key < $1.key }) {
            guard let collection = model[key.collection] else { continue }
            let row = try views.entity(at: .entity(key))
            let isNow = try views.place(of: row, in: collection)
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
            throw TreeChangesError(reason: .unknown(key), position: position)
        }
        return changes
    }
}

extension Event {
    /// Whether it says something of an entity that an app shows: not that it was asked for.
    ///
    /// Whether an answer does, its request tells.
    fileprivate var tellsOfEntity: Bool {
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
