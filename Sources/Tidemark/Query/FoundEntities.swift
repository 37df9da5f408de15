// FoundEntities.swift — carries out a query plan: entities in the query's order, no more than
// needed.

package import TidemarkEvents
import TidemarkRules
import TidemarkStore
package import TidemarkViews

/// An entity in the result of a query.
package struct FoundEntity: Sendable {
    package let key: EntityKey
    package let row: EntityRow
    /// The document as today's model reads it.
    package let document: [UInt8]

    /// The same entity, with other ids in its references.
    func named(by names: ReferenceNames?) throws -> FoundEntity {
        guard let names else { return self }
        return FoundEntity(key: key, row: row, document: try names.named(checked: document))
    }

    /// The entity as one of the app's type.
    func entity<T>(_ reader: EntityReader<T>) throws -> T {
        try reader.entity(key, document, at: row.seenPosition)
    }

    /// The same entity; where a query leaves out what can't be read as its type, only if it can.
    ///
    /// - Parameter decoded: gets what was read for that, so that it is not read once more.
    func checked<T>(
        for query: EntityQuery<T>, _ reader: EntityReader<T>, _ decoded: inout [EntityKey: T]
    ) throws -> FoundEntity {
        if query.terms.isDecodable { decoded[key] = try entity(reader) }
        return self
    }
}

/// Filters the entities that were found, and passes on in the query's order what is read of them.
struct FoundEntities<Value> {
    private struct Ranked {
        let sortKey: [UInt8]
        let entity: FoundEntity
    }

    private let query: DocumentQuery
    /// Whether the entities are found in the query's order.
    private let isInOrder: Bool
    /// What counts in an entity, itself included.
    private let tree: (EntityKey, EntityRow) throws -> RollUpClasses
    /// The key that an entity keeps, of any id of it.
    private let key: (EntityKey) throws -> EntityKey
    private let read: (FoundEntity) throws -> Value
    private let body: (Value) throws -> Bool
    private var toSkip: Int
    private var left: Int
    /// Entities that still have to be sorted.
    private var waiting: [Ranked] = []
    /// What is passed on at the end, the last of it first.
    private var turned: [Value] = []
    /// The truncated index components that all waiting entities share.
    private var cut: [UInt8]?

    init(
        _ query: DocumentQuery, isInOrder: Bool,
        tree: @escaping (EntityKey, EntityRow) throws -> RollUpClasses,
        key: @escaping (EntityKey) throws -> EntityKey,
        reading read: @escaping (FoundEntity) throws -> Value,
        _ body: @escaping (Value) throws -> Bool
    ) {
        self.query = query
        self.isInOrder = isInOrder
        self.tree = tree
        self.key = key
        self.read = read
        self.body = body
        toSkip = query.offset
        left = query.limit ?? .max
    }

    /// Whether nothing more is needed.
    var isFull: Bool { left == 0 }

    /// Takes the next entity.
    ///
    /// - Parameter cutComponents: the components of the index entry, if its values were truncated;
    ///   the order among entities with the same truncated components is then decided by their
    ///   documents.
    /// - Returns: whether to continue.
    mutating func take(
        _ key: EntityKey, _ row: EntityRow, cutComponents: [UInt8]? = nil
    ) throws -> Bool {
        if isInOrder, cutComponents != cut, try !end() { return false }
        cut = isInOrder ? cutComponents : nil
        let isNext = isInOrder && cutComponents == nil
        guard let document = try row.document(in: query.collection),
            let sortKey = try query.match(
                document, id: key.id, tree: query.asksForTrees ? tree(key, row) : [],
                isRanked: !isNext, key: self.key)
        else { return true }
        let entity = FoundEntity(key: key, row: row, document: document)
        if isNext { return try hand(on: entity) }
        waiting.append(Ranked(sortKey: sortKey, entity: entity))
        if !isInOrder, let needed = query.needed, waiting.count / 2 >= max(needed, 64) {
            sort()
            waiting.removeLast(waiting.count - needed)
        }
        return true
    }

    /// Passes on what is left when all entities were taken.
    mutating func finish() throws {
        _ = try end()
        for value in turned.reversed() where try !body(value) { return }
    }

    /// Sorts the waiting entities and passes them on; returns whether more are needed.
    private mutating func end() throws -> Bool {
        defer { waiting = [] }
        sort()
        for ranked in waiting where try !hand(on: ranked.entity) { return false }
        return !isFull
    }

    private mutating func hand(on entity: FoundEntity) throws -> Bool {
        guard !isFull else { return false }
        // What is skipped has to be read only where it may be left out.
        guard toSkip == 0 || query.isDecodable else {
            toSkip -= 1
            return true
        }
        guard let value = try value(of: entity) else { return true }
        guard toSkip == 0 else {
            toSkip -= 1
            return true
        }
        left -= 1
        if query.isTurned {
            turned.append(value)
            return !isFull
        }
        guard try body(value) else {
            left = 0
            return false
        }
        return !isFull
    }

    /// What is read of an entity; nil for one that the query leaves out.
    private func value(of entity: FoundEntity) throws -> Value? {
        do { return try read(entity) } catch let error as TidemarkError
            where query.isDecodable && error.code == .undecodable
        { return nil }
    }

    private mutating func sort() {
        waiting.sort { ByteOrder.precedes($0.sortKey, $1.sortKey) }
    }
}

extension IndexReading {
    /// Calls `body` with the entities of a query, in its order; `body` returns whether to continue.
    ///
    /// - Parameter plan: that with the indexes that now exist, unless given.
    package func forEachFound(
        _ query: DocumentQuery, _ plan: QueryPlan? = nil, _ body: (FoundEntity) throws -> Bool
    ) throws {
        try forEachFound(query, plan, reading: { $0 }, body)
    }

    /// The plan for a query with the indexes that now exist.
    package func plan(_ query: DocumentQuery) throws -> QueryPlan {
        QueryPlan(query, indexes: try indexes(of: query.collection))
    }

    /// The indexes of a collection that now exist.
    package func indexes(of collection: CollectionModel) throws -> [IndexModel] {
        try collection.allIndexes.filter { try hasIndex($0, in: collection.name) }
    }

    /// The same with what is read of the entities; those for which this throws `undecodable` are
    /// left out where the query says so.
    package func forEachFound<Value>(
        _ query: DocumentQuery, _ plan: QueryPlan? = nil,
        reading read: (FoundEntity) throws -> Value, _ body: (Value) throws -> Bool
    ) throws {
        guard query.limit != 0 else { return }
        let plan = try plan ?? self.plan(query)
        try withoutActuallyEscaping(read) { read in
            try withoutActuallyEscaping(body) { body in
                var found = FoundEntities(
                    query, isInOrder: plan.isInOrder, tree: { try self.tree(of: $0, $1) },
                    key: { try self.resolve($0) }, reading: read, body)
                try forEachEntity(of: query, plan) {
                    try found.take($0, $1, cutComponents: $2)
                }
                try found.finish()
            }
        }
    }

    /// Calls `body` with the entities that a plan searches among, and with the components of the
    /// index entry where these were truncated; `body` returns whether to continue.
    private func forEachEntity(
        of query: DocumentQuery, _ plan: QueryPlan,
        _ body: (EntityKey, EntityRow, _ cutComponents: [UInt8]?) throws -> Bool
    ) throws {
        let collection = query.collection.name
        func take(_ key: EntityKey, _ cutComponents: [UInt8]? = nil) throws -> Bool {
            guard let row = try self.row(at: .entity(key)) else { return true }
            return try body(key, row, cutComponents)
        }
        switch plan.access {
        case .nothing: break
        case .ids(let ids):
            for id in plan.isReversed ? ids.reversed() : ids {
                guard try take(EntityKey(collection, id)) else { return }
            }
        case .trees(let wanted):
            try forEachTree(of: collection, with: wanted, reversed: plan.isReversed) {
                try take($0)
            }
        case .scan:
            let start = plan.skipsToStart ? query.start?.id : nil
            try forEachEntity(in: collection, from: start, reversed: plan.isReversed) {
                try body($0, $1, nil)
            }
        case .index:
            try forEachEntry(plan, in: collection) { components, isCut, id in
                try take(EntityKey(collection, id), isCut ? components : nil)
            }
        }
    }

    /// The number of entities that meet a query; read from an index alone where that is enough.
    package func count(_ query: DocumentQuery) throws -> Int {
        let plan = try plan(query)
        var count = 0
        let unordered = query.unordered
        guard case .index = plan.access, plan.isExact else {
            var plan = try self.plan(unordered)
            // For a cursor the order matters, but nothing has to be sorted or merged.
            plan.isInOrder = true
            plan.pinnedFields = 0
            try forEachFound(unordered, plan, reading: { $0.key }) { _ in
                count += 1
                return true
            }
            return count
        }
        let needed = query.needed ?? .max
        var unmerged = plan
        unmerged.pinnedFields = 0
        try forEachEntry(unmerged, in: query.collection.name) { _, isCut, id in
            let key = EntityKey(query.collection.name, id)
            if isCut {
                guard let row = try self.row(at: .entity(key)),
                    let document = try row.document(in: query.collection),
                    query.matches(document, id: id)
                else { return true }
            }
            count += 1
            return count < needed
        }
        return max(0, min(count, needed) - query.offset)
    }

    /// Calls `body` with the index entries of a plan, one range after the other, or merged where
    /// the order needs it, each entry once: of long values that begin alike the ranges are the
    /// same.
    func forEachEntry(
        _ plan: QueryPlan, in collection: CollectionName,
        _ body: (_ components: [UInt8], _ isCut: Bool, _ id: String) throws -> Bool
    ) throws {
        guard case .index(let index, let ranges) = plan.access else { return }
        var goesOn = true
        var seen: Set<ExactString> = []
        func take(_ components: [UInt8], _ isCut: Bool, _ id: String) throws -> Bool {
            let isNew = !isCut || ranges.count == 1 || seen.insert(ExactString(id)).inserted
            if isNew { goesOn = try body(components, isCut, id) }
            return goesOn
        }
        let groups = plan.groups
        guard groups.count < 2 else {
            return try forEachMerged(
                index, in: collection, groups, behind: plan.pinnedFields, reversed: plan.isReversed
            ) { try take($0, $1, $2) }
        }
        for range in plan.isReversed ? ranges.reversed() : ranges where goesOn {
            try forEachIndexed(
                index, in: collection, from: IndexBound(range.lower, isInclusive: true),
                to: IndexBound(range.upper, isInclusive: false), reversed: plan.isReversed
            ) { try take($0, $1, $2) }
        }
    }
}
