// EntityFold.swift — the timeline of one entity: its events are folded again, and its row is
// compared after each of them.
//
// Events of other entities are left out, except those that it belongs or refers to, or lies in. If
// a rule compared it with others, or its row in the views differs from the folded one, other
// entities had an effect on it, and all events are folded.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// An event that touched an entity, and the entity before and after it.
package struct EntityStep: Sendable {
    package var position: Position
    package var event: Event
    /// The key that the entity had then; it differs from the permanent one before both were bound.
    package var key: EntityKey
    /// Whether the event names the entity, or promises the answer to a write of it; otherwise it is
    /// about another one, or about none.
    package var isOwn: Bool
    package var before: EntityRow
    package var after: EntityRow
    /// The keys that were found to be the same entity in this event, and had a row of their own.
    package var joined: Set<EntityKey> = []
    /// Whether it is a word of the server's that waits for all of its set.
    package var waits = false
    /// Where it is such a word that counts now: the event that brought the last of its set.
    package var takenAt: Position?

    /// Whether something of this position came about in the step.
    func isAt(_ place: Position?) -> Bool {
        guard let place else { return false }
        return place == position || place == takenAt
    }
}

/// Everything that affected an entity.
package struct EntityTimeline: Sendable {
    /// The keys by which events name it; the permanent one comes first.
    package var keys: [EntityKey]
    package var steps: [EntityStep] = []
    /// Where the log begins after its first event: the row before.
    package var base: (position: Position, row: EntityRow)?
    /// The decisions about it.
    package var decisions: [PlacedDecision] = []
    /// Whether all events had to be folded.
    package var isWhole = false
}

extension EntityTimeline {
    /// Folds the events; without steps where the log has nothing on the entity.
    init(
        _ named: EntityKey, _ journal: Journal, _ views: ViewReader,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let keys = try views.keys(of: named)
        self.init(keys: keys)
        decisions = try views.decisions(about: keys)
        var wanted = Set(keys)
        var fold = EntityFold(keys)
        // A rule may for a while have given another result, as long as it saw only this entity.
        isWhole = decisions.contains { Self.comparing.contains($0.row.rule) }
        if !isWhole {
            try fold.run(journal, transaction, to: views.last, only: Set(wanted.map(\.bytes)))
            var more = try Self.targets(fold.steps, keys[0], views).union(fold.allAbove(views))
            var passes = 1
            // Where what it lies in was moved, only the events of that tell what it lay in.
            while !more.isSubset(of: wanted), passes < Self.passesMax {
                passes += 1
                wanted.formUnion(more)
                fold = EntityFold(keys)
                try fold.run(journal, transaction, to: views.last, only: Set(wanted.map(\.bytes)))
                more = try fold.allAbove(views)
            }
            isWhole =
                try !more.isSubset(of: wanted) || !fold.agrees(with: views, decisions)
                || !fold.prunes(Self.owners(fold.steps, views), as: views)
        }
        if isWhole {
            fold = EntityFold(keys)
            try fold.run(journal, transaction, to: views.last, only: nil)
        }
        steps = fold.steps
        base = fold.base
    }

    /// How often the log is read for some of its events, before all are folded.
    private static let passesMax = 4

    /// The owners that the entity ever had, with which it may be hidden, and the entities that it
    /// referred to and that have another id on the server: requests and their answers use that id.
    private static func targets(
        _ steps: [EntityStep], _ key: EntityKey, _ views: ViewReader
    ) throws -> Set<EntityKey> {
        let collection = try views.model()[key.collection]
        var named: Set<EntityKey> = []
        for reference in collection?.references ?? [] {
            for step in steps {
                for row in [step.before, step.after] {
                    let ids = row.readable(in: collection)?.ids(in: reference.field) ?? []
                    named.formUnion(ids.map { EntityKey(reference.collection, $0) })
                }
            }
        }
        var targets: Set<EntityKey> = []
        for target in named {
            let keys = try views.keys(of: target)
            if keys.count > 1 { targets.formUnion(keys) }
        }
        return targets.union(try owners(steps, views))
    }

    /// The owners that the entity ever had, by all of their keys.
    private static func owners(
        _ steps: [EntityStep], _ views: ViewReader
    ) throws -> Set<EntityKey> {
        var owners: Set<EntityKey> = []
        for step in steps {
            for row in [step.before, step.after] where !row.isEmpty {
                try owners.formUnion(views.owners(of: step.key, row))
            }
        }
        return owners
    }

    /// Rules that decide about an entity by comparing it with others.
    private static let comparing: Set<String> = [
        RivalRule.name, ChoiceRule.name, RemovalRule.ruleName, "placeholder",
        PruneDecision.Rule.unreferenced.rawValue,
    ]
}

/// A fold that watches one entity.
private struct EntityFold {
    /// How many rows are folded before they are sorted; each takes about 700 bytes.
    private static let rowsMax = 150_000

    let keys: [EntityKey]
    private let names: Set<EntityKey>
    /// The last known row for each of the entity's keys.
    private var known: [EntityRow]
    private var rows = MemoryRows()
    private let models = ModelCache()
    private(set) var steps: [EntityStep] = []
    private(set) var base: (position: Position, row: EntityRow)?
    /// What the entity and others of its tree lay in after their events, where not all are folded.
    private var above: Set<EntityKey> = []
    /// The server's words that wait for all of their set.
    private var waiting: [Position: Event] = [:]

    init(_ keys: [EntityKey]) {
        self.keys = keys
        names = Set(keys)
        known = keys.map { _ in EntityRow() }
    }

    /// Folds events in order.
    ///
    /// - Parameters:
    ///   - last: the last event.
    ///   - wanted: the keys, as bytes, of the entities whose events are folded, besides events of
    ///     no entity; nil for all.
    mutating func run(
        _ journal: Journal, _ transaction: borrowing some TableReading & ~Copyable,
        to last: Position, only wanted: Set<[UInt8]>?
    ) throws {
        var next: Position? = try begin(journal, transaction)
        while let from = next {
            next = nil
            let changes = try rows.withFold(models) { fold in
                try journal.log.forEachFrame(from: from, transaction) { position, frame in
                    guard position <= last else { return false }
                    // Unreadable events are noted, and the rest is still folded.
                    guard let frame = journal.readable(at: position, { try frame.get() }),
                        frame.isOne(of: wanted),
                        let event = journal.readable(
                            at: position,
                            { try journal.log.event(frame, at: position, transaction) })
                    else { return true }
                    try take(event, position, fold, isPart: wanted != nil)
                    if wanted != nil { try noteAbove(event, fold) }
                    guard fold.rowCount < Self.rowsMax else {
                        next = position.next
                        return false
                    }
                    return true
                }
                return fold.sortedChanges
            }
            rows.write(changes)
        }
    }

    /// Takes the rows from before the first event, where the log's first events are gone.
    private mutating func begin(
        _ journal: Journal, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Position {
        guard let first = try journal.log.firstPosition(transaction), first > Position(1) else {
            return Position(1)
        }
        let before = Position(first.rawValue - 1)
        let found = try journal.withNearestSnapshot(to: before, transaction) { manifest in
            var changes: RowChanges = []
            try journal.snapshots.forEachRow(of: manifest, transaction) {
                changes.append(($0, $1))
            }
            return (position: manifest.position, changes: changes)
        }
        guard let found else { return first }
        rows.write(found.changes)
        for (index, key) in keys.enumerated() {
            known[index] =
                try rows[.entity(key)].map { try EntityRow(parsing: $0) } ?? EntityRow()
        }
        if let row = known.first, !row.isEmpty { base = (found.position, row) }
        return first
    }

    private mutating func take(
        _ event: Event, _ position: Position, _ fold: Fold, isPart: Bool
    ) throws {
        try fold.apply(event, at: position)
        let named =
            try event.key.flatMap { names.contains($0) ? $0 : nil } ?? promised(event, fold)
        var changed: [Int] = []
        let before = known
        for index in keys.indices {
            // As the views have it: what its overtaken edits say is no change of it.
            let row = try fold.heldRow(at: .entity(keys[index]))
            guard row != known[index] else { continue }
            // When others were edited counts for the server's time, which these events alone may
            // tell otherwise.
            if !isPart || row.undated != known[index].undated { changed.append(index) }
            known[index] = row
        }
        let ended = changed.filter { index in
            known[index].isEmpty && !before[index].isEmpty && !before[index].isPlaceholder
        }
        let joined = Set(ended.map { keys[$0] })
        // A key that was bound to the entity in this event is no change of its own.
        if changed.count > 1 { changed.removeAll { $0 > 0 && known[$0].isEmpty } }
        var waits = false
        if changed.isEmpty, let named {
            let key = try fold.resolve(named)
            changed = [keys.firstIndex(of: key) ?? 0]
            waits = try fold.isStaged(position, on: named)
            if waits { waiting[position] = event }
        }
        for index in changed {
            var step = EntityStep(
                position: position, event: event, key: keys[index], isOwn: named != nil,
                before: before[index], after: known[index], joined: joined, waits: waits)
            // Once all of the set is there, the word that waited is what changes the entity.
            if named == nil, let place = known[index].basePosition,
                place != before[index].basePosition, let word = waiting[place]
            {
                (step.position, step.event, step.isOwn) = (place, word, true)
                step.takenAt = position
            }
            steps.append(step)
        }
    }

    /// The entity's key where an event about many promises the answer to a write of it.
    private func promised(_ event: Event, _ fold: Fold) throws -> EntityKey? {
        guard event.kind == .pushDeferred, event.key == nil, let call = event.call,
            let ticket = try fold.get(.ticket(call))
        else { return nil }
        let calls = try TicketRow(call, parsing: ticket).calls
        return zip(keys, known).first { _, row in
            row.attempt.map { calls.contains($0.call.rawValue) } ?? false
        }?.0
    }

    private mutating func noteAbove(_ event: Event, _ fold: Fold) throws {
        guard let named = event.key, named.collection == keys[0].collection,
            let collection = try fold.model()[named.collection], collection.tree != nil
        else { return }
        let row = try fold.entity(fold.resolve(named))
        if let place = try fold.place(of: row, in: collection) { above.insert(place) }
    }

    /// What the entity and others of its tree lay in, and what these lie in now, by all keys.
    func allAbove(_ views: ViewReader) throws -> Set<EntityKey> {
        guard let collection = try views.model()[keys[0].collection], collection.tree != nil
        else { return [] }
        var waiting = Array(above)
        if let base, let place = try views.place(of: base.row, in: collection) {
            waiting.append(place)
        }
        var found: Set<EntityKey> = []
        while let next = waiting.popLast() {
            guard found.insert(next).inserted else { continue }
            found.formUnion(try views.keys(of: next))
            guard let row = try views.found(next)?.row,
                let place = try views.place(of: row, in: collection)
            else { continue }
            waiting.append(place)
        }
        return found
    }

    /// Whether the views have the same rows of the entity.
    func agrees(with views: ViewReader, _ decisions: [PlacedDecision]) throws -> Bool {
        for key in keys where try rows[.entity(key)] != views.get(.entity(key)) { return false }
        let own = Set(steps.map(\.position)).sorted()
        for position in own {
            for key in [RowKey.open(position), .settled(position)]
            where try rows[key] != views.get(key) { return false }
        }
        let folded = try rows.read(models, last: views.last, event: { _ in nil }) {
            try $0.decisions(about: keys)
        }
        // With fewer events others may go with what was dropped.
        let dropped = try views.droppedRows()?.last ?? .start
        return folded.filter { $0.position > dropped }
            == decisions.filter { $0.position > dropped }
    }
}

extension EntityFold {
    /// Whether owners went when they did in the views: one that is out of reach stays for whatever
    /// else belongs to it, and hides the entity meanwhile.
    fileprivate func prunes(_ owners: Set<EntityKey>, as views: ViewReader) throws -> Bool {
        guard !owners.isEmpty else { return true }
        let folded = try rows.read(models, last: views.last, event: { _ in nil }) {
            try $0.prunings(of: owners.sorted())
        }
        let dropped = try views.droppedRows()?.last ?? .start
        return try folded.filter { $0 > dropped }
            == views.prunings(of: owners.sorted()).filter { $0 > dropped }
    }
}

extension RowReading {
    /// Whether the server's word on an entity, at a position, waits for all of its set.
    fileprivate func isStaged(_ position: Position, on key: EntityKey) throws -> Bool {
        guard let bytes = try get(.staged(key)) else { return false }
        return try StagedRow(parsing: bytes).position == position
    }

    /// What an entity of a tree lies in, or lay in when it was deleted; nil at the root, and where
    /// that is not known.
    func place(of row: EntityRow, in collection: CollectionModel) throws -> EntityKey? {
        guard let tree = collection.tree, collection.treeReference != nil,
            let document = row.treeDocument(in: collection)
                ?? (row.base.isEmpty
                    ? nil : try? collection.read(JSONDocument(parsing: row.base)))
        else { return nil }
        return try treeSpot(document, in: collection.name, tree).parent.map {
            EntityKey(collection.name, $0)
        }
    }
}

extension ViewReader {
    /// When entities were pruned that were out of reach.
    fileprivate func prunings(of keys: [EntityKey]) throws -> [Position] {
        let rule = PruneDecision.Rule.access.rawValue
        return try decisions(about: keys).filter { $0.row.rule == rule }.map(\.position)
    }

    /// The chain of owners of an entity's row, with all of their keys.
    package func owners(of key: EntityKey, _ row: EntityRow) throws -> [EntityKey] {
        let model = try model()
        var owners: [EntityKey] = []
        var next: (key: EntityKey, row: EntityRow)? = (key, row)
        while let (key, row) = next {
            next = nil
            guard let collection = model[key.collection], let field = collection.access.owner,
                let reference = collection.references.first(where: { $0.field == field }),
                let id = row.readable(in: collection)?.ids(in: field).first
            else { continue }
            let owner = EntityKey(reference.collection, id)
            guard !owners.contains(owner) else { continue }
            owners += try keys(of: owner)
            if !owners.contains(owner) { owners.append(owner) }
            next = try found(owner)
        }
        return owners
    }
}

extension EventFrame {
    /// Whether the event is about one of the wanted entities, or about none; any is with nil.
    fileprivate func isOne(of wanted: Set<[UInt8]>?) -> Bool {
        guard let wanted, let key = entityBytes else { return true }
        return wanted.contains(key)
    }

    /// The entity that the event is about, as the bytes of its key; nil where it is about none.
    var entityBytes: [UInt8]? {
        var key: [UInt8] = []
        var reader = ProtoReader(header)
        while let field = try? reader.next(), field.number < 5 {
            guard field.number > 2, let bytes = try? field.slice() else { continue }
            if field.number == 4 {
                key.append(0)
                key += bytes
                return key
            }
            key += bytes
        }
        return nil
    }
}

extension EntityRow {
    /// The row without when its edits were made.
    fileprivate var undated: EntityRow {
        var row = self
        for index in row.pending.indices { row.pending[index].editedAt = nil }
        return row
    }
}
