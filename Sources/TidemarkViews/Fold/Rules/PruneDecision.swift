// PruneDecision.swift — what a clean-up prunes.
//
//   retention      entities whose time lies back too long
//   unreferenced   placeholders that nothing refers to any more, or that no rule makes any more
//   access         hidden entities that no entity which stays refers to, those that refer first
//
// Entities with pending changes stay, and so do those that they refer to. What names a file that
// only this device has stays, too: pruned, it would name it no more, and the file would go. So does
// what is hidden by `missing` while others are hidden because of it: pruned, it could be had, and
// they would be seen. The next clean-up takes it once they are gone.

package import TidemarkEvents
import TidemarkRules

/// What a clean-up prunes, in its order.
package struct PruneDecision: Sendable, Hashable {
    package enum Rule: String, Sendable {
        case retention, unreferenced, access
    }

    package struct Item: Sendable, Hashable {
        package var key: EntityKey
        package var rule: Rule
    }

    package static let version: UInt64 = 5
    /// The most entities that one clean-up prunes; the next one continues.
    package static let itemsMax = 10_000

    package private(set) var items: [Item] = []

    package var isEmpty: Bool { items.isEmpty }

    /// - Parameters:
    ///   - now: the server's time.
    ///   - itemsMax: the most entities that it prunes.
    init(
        _ rows: some RowReading, at now: Timestamp, itemsMax: Int
    ) throws {
        let model = try rows.model()
        for collection in model.collections {
            guard let rule = collection.pruning, items.count < itemsMax else { continue }
            try rows.forEachEntity(in: collection.name) { key, row in
                // What is out of reach goes by what refers to it, below.
                let isOver =
                    row.isInSync && !(row.isHidden && collection.canBeHidden)
                    && collection.isPast(row.base, rule, at: now)
                if isOver, try !rows.holdsFile(key) && !rows.isHiddenAndAwaited(key, row) {
                    items.append(Item(key: key, rule: .retention))
                }
                return items.count < itemsMax
            }
        }
        let needed = try Self.needed(rows, model, of: Set(items.map(\.key)))
        items.removeAll { needed.contains($0.key) }
        add(try rows.unmadePlaceholders(model), .unreferenced, itemsMax)
        let pruned = Set(items.map(\.key))
        var graph = try ReferenceGraph(rows, model, without: pruned)
        guard !graph.isEmpty else { return }
        // In a model, referring collections come after referenced ones; they are pruned first.
        for collection in model.collections.reversed() {
            let free = graph.release(graph.placeholders[collection.name] ?? [])
            add(free, .unreferenced, itemsMax)
        }
        for collection in model.collections.reversed() {
            add(graph.release(graph.hidden[collection.name] ?? []), .access, itemsMax)
        }
    }

    /// Which of some entities others refer to that have pending changes.
    private static func needed(
        _ rows: some RowReading, _ model: SyncModel, of pruned: Set<EntityKey>
    ) throws -> Set<EntityKey> {
        let goals = Set(pruned.map(\.collection))
        var needed: Set<EntityKey> = []
        for collection in model.collections {
            let references = collection.references.filter { goals.contains($0.collection) }
            guard !references.isEmpty else { continue }
            try rows.forEachEntity(in: collection.name) { key, row in
                guard !row.isInSync else { return true }
                for target in try row.targets(of: references, in: collection, rows)
                where pruned.contains(target) {
                    needed.insert(target)
                }
                return true
            }
        }
        return needed
    }

    private mutating func add(_ keys: [EntityKey], _ rule: Rule, _ itemsMax: Int) {
        items += keys.prefix(max(0, itemsMax - items.count)).map { Item(key: $0, rule: rule) }
    }
}

extension CollectionModel {
    /// The rule by which its entities are pruned; nil for a tree, where a folder would go while
    /// something lies in it.
    ///
    /// New models have no such tree. Of a log that has one by paths the rule still holds: what it
    /// pruned came back under other ids, and all of these would be there without it.
    fileprivate var pruning: RetentionRule? { tree == nil || isByPath ? retention : nil }

    /// Whether an entity with that document and without pending changes is past its retention.
    package func isPast(_ document: [UInt8], at now: Timestamp) -> Bool {
        pruning.map { isPast(document, $0, at: now) } ?? false
    }

    fileprivate func isPast(_ bytes: [UInt8], _ rule: RetentionRule, at now: Timestamp) -> Bool {
        guard let bytes = try? read(bytes) else { return false }
        guard let raw = JSON.members([Array(rule.field.utf8)], of: bytes[...])[0],
            let time = dates.timestamp(raw), rule.isOver(time, at: now)
        else { return false }
        // An entity that holds a rivals' state has not ended yet.
        return rivals.map { !$0.isHeld(in: bytes, of: self) } ?? true
    }

    /// Whether an entity with that document holds the state that only one may hold.
    func holdsState(_ bytes: [UInt8]) -> Bool {
        guard let rivals, let bytes = try? read(bytes) else { return false }
        return rivals.isHeld(in: bytes, of: self)
    }
}

/// How many references there are to each entity that may be pruned.
private struct ReferenceGraph {
    /// By collection, in the order of ids.
    private(set) var placeholders: [CollectionName: [EntityKey]] = [:]
    private(set) var hidden: [CollectionName: [EntityKey]] = [:]
    private var candidates: Set<EntityKey> = []
    private var counts: [EntityKey: Int] = [:]
    /// What candidates refer to.
    private var targets: [EntityKey: [EntityKey]] = [:]

    var isEmpty: Bool { candidates.isEmpty }

    init(_ rows: some RowReading, _ model: SyncModel, without pruned: Set<EntityKey>) throws {
        let hidesAny = try rows.hidesAny()
        for collection in model.collections {
            let mayHide = hidesAny && collection.canBeHidden
            guard mayHide || collection.placeholder != nil else { continue }
            try rows.forEachEntity(in: collection.name) { key, row in
                if pruned.contains(key) { return true }
                if row.isPlaceholder, row.pending.isEmpty, row.attempt == nil {
                    placeholders[collection.name, default: []].append(key)
                    candidates.insert(key)
                } else if mayHide, row.isHidden, row.mayGo(from: collection),
                    try !rows.holdsFile(key)
                {
                    hidden[collection.name, default: []].append(key)
                    candidates.insert(key)
                }
                return true
            }
        }
        guard !candidates.isEmpty else { return }
        let goals = Set(candidates.map(\.collection))
        for collection in model.collections {
            let references = collection.references.filter { goals.contains($0.collection) }
            guard !references.isEmpty else { continue }
            try rows.forEachEntity(in: collection.name) { key, row in
                if !pruned.contains(key) {
                    try link(key, row, collection, references, rows)
                }
                return true
            }
        }
    }

    private mutating func link(
        _ key: EntityKey, _ row: EntityRow, _ collection: CollectionModel,
        _ references: [Reference], _ rows: some RowReading
    ) throws {
        var named: [EntityKey] = []
        for target in try row.targets(of: references, in: collection, rows)
        where target != key && candidates.contains(target) && !named.contains(target) {
            named.append(target)
        }
        for target in named { counts[target, default: 0] += 1 }
        if candidates.contains(key) { targets[key] = named }
    }

    /// Removes the candidates that nothing refers to, then those that are no longer referred to,
    /// and so on.
    mutating func release(_ keys: [EntityKey]) -> [EntityKey] {
        var released: [EntityKey] = []
        var left = keys
        while true {
            let free = left.filter { counts[$0, default: 0] == 0 }
            guard !free.isEmpty else { return released }
            released += free
            left.removeAll { counts[$0, default: 0] == 0 }
            for key in free {
                for target in targets[key] ?? [] { counts[target]? -= 1 }
            }
        }
    }
}

extension EntityRow {
    /// What it refers to, by what the server says and as it is here.
    func targets(
        of references: [Reference], in collection: CollectionModel, _ rows: some RowReading
    ) throws -> [EntityKey] {
        try documents(in: collection).flatMap { document in
            try references.flatMap { reference in
                try document.ids(in: reference.field).map {
                    try rows.resolve(EntityKey(reference.collection, $0))
                }
            }
        }
    }

    /// Whether it is pruned while it is hidden.
    fileprivate func mayGo(from collection: CollectionModel) -> Bool {
        if isInSync { return true }
        // What hides others and was deleted hides them until they are gone.
        return collection.access.hidesAbsent && baseState == .deleted && pending.isEmpty
            && attempt == nil
    }
}

extension RowReading {
    /// Whether an entity is hidden, and others for want of it.
    fileprivate func isHiddenAndAwaited(_ key: EntityKey, _ row: EntityRow) throws -> Bool {
        try row.isHidden && keys(of: key).contains { try isAwaited($0) }
    }

    /// What a clean-up prunes now; not to be called while an event is folded that wrote something.
    ///
    /// - Parameter itemsMax: the most entities that it prunes.
    package func pruneDecision(
        at now: Timestamp, itemsMax: Int = PruneDecision.itemsMax
    ) throws -> PruneDecision {
        try PruneDecision(self, at: now, itemsMax: itemsMax)
    }
}
