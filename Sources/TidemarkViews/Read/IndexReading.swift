// IndexReading.swift — reading a range of an index.

package import TidemarkEvents
import TidemarkStore

/// One end of a range of an index.
package struct IndexBound: Sendable, Hashable {
    /// What ``OrderKey`` makes of the values of the first fields, of as many as are bounded; the
    /// last may be the beginning of a text, for all texts that begin so.
    ///
    /// Behind those of all fields there may be an id, or its beginning.
    package var components: [UInt8]
    /// Whether what begins with the components is in the range.
    package var isInclusive: Bool

    package init(_ components: [UInt8], isInclusive: Bool) {
        self.components = components
        self.isInclusive = isInclusive
    }
}

/// What queries read, the same of what is committed and of a commit in the making.
package protocol IndexReading: RowReading {
    /// The indexes that the registered model asks for.
    func indexPlan() throws -> IndexPlan

    /// The names of the indexes that are there.
    var indexNames: [[UInt8]] { get }

    /// Walks over the records of an index from a key on, up or down: of a commit in the making over
    /// those that it will leave; `body` says whether to go on.
    ///
    /// - Parameter isPast: whether a key lies behind all that is asked for. A walk that passes
    ///   records over ends there, too: `body` is not told of them.
    func walkIndex(
        _ index: KeptIndex, of collection: CollectionName, from: [UInt8]?, reversed: Bool,
        isPast: (_ key: [UInt8]) -> Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws

    /// Walks over the ledger's rows under a prefix, up or down; `body` says whether to go on.
    func walkLedger(
        _ prefix: [UInt8], reversed: Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws

    /// Walks over the entities of one collection from an id on, or, reversed, back from it.
    func forEachEntity(
        in collection: CollectionName, from id: String?, reversed: Bool,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws

    /// The entity under a key, as walks see it; nil where there is none. It is not kept in memory:
    /// a query may read many.
    func row(at place: RowKey) throws -> EntityRow?
}

extension IndexReading {
    /// Whether an index can be read: the model asks for it and it is made.
    ///
    /// It is not there in a store that was never opened for writing since indexes are kept, in one
    /// that has no room for it, and within the commit whose model asks for it first; then the
    /// collection has to be read whole.
    package func hasIndex(_ index: IndexModel, in collection: CollectionName) throws -> Bool {
        try keptIndex(index, in: collection) != nil
    }

    func keptIndex(
        _ index: IndexModel, in collection: CollectionName
    ) throws -> KeptIndex? {
        let found = try indexPlan()[collection]?.indexes.first { $0.index == index }
        return found.flatMap { indexNames.contains($0.name) ? $0 : nil }
    }

    /// Walks over a range of an index: by components, and by id where those are equal.
    ///
    /// Only entities that are seen are in it.
    ///
    /// - Parameters:
    ///   - index: one that ``hasIndex(_:in:)`` said is there.
    ///   - lower: where the range begins, nil for all.
    ///   - upper: where it ends, nil for all.
    ///   - body: gets what ``OrderKey`` makes of the fields, whether it was cut because it was too
    ///     long, and the id; answers whether to go on. Whether an entity whose components were cut
    ///     is in the range, and how it stands to those with equal ones, all of them neighbours and
    ///     cut, only its document can tell.
    package func forEachIndexed(
        _ index: IndexModel, in collection: CollectionName, from lower: IndexBound? = nil,
        to upper: IndexBound? = nil, reversed: Bool = false,
        _ body: (_ components: [UInt8], _ isCut: Bool, _ id: String) throws -> Bool
    ) throws {
        guard let kept = try keptIndex(index, in: collection) else {
            preconditionFailure("an index was read that is not there; see hasIndex")
        }
        let range = IndexRange(kept, lower, upper)
        var run = IndexRun(reversed: reversed)
        var goesOn = true
        try walkIndex(
            kept, of: collection, from: reversed ? range.last : range.first, reversed: reversed,
            isPast: { range.place(of: $0[kept.name.count...]) == (reversed ? .before : .after) }
        ) { key, value in
            switch range.place(of: key[kept.name.count...]) {
            case .before: return !reversed
            case .after: return reversed
            case .inside: break
            }
            let record = try kept.record(key, value, of: collection)
            let entry = IndexRun.Entry(
                components: Array(record.components), isCut: record.isCut, id: record.id)
            goesOn = try run.add(entry, body)
            return goesOn
        }
        if goesOn { _ = try run.end(body) }
    }
}

extension ViewReader {
    /// The entities that have one of some values in an index, value by value.
    ///
    /// - Parameters:
    ///   - index: one that ``hasIndex(_:in:)`` said is there.
    ///   - values: what ``OrderKey`` makes of its first fields.
    package func indexed(
        _ values: [[UInt8]], by index: IndexModel, in collection: CollectionName
    ) throws -> [EntityKey] {
        var keys: [EntityKey] = []
        for value in values {
            let bound = IndexBound(value, isInclusive: true)
            try forEachIndexed(index, in: collection, from: bound, to: bound) { _, _, id in
                keys.append(EntityKey(collection, id))
                return true
            }
        }
        return keys
    }

    /// The entities that are seen in one of a tree, or at the root; nil where no index tells.
    package func indexedChildren(
        of parent: EntityKey?, in collection: CollectionModel
    ) throws -> [EntityKey]? {
        guard let reference = collection.treeReference else { return nil }
        return try indexedChildren(of: parent, by: [reference.field], then: [], in: collection)
    }

    /// The entities that are seen in one of a tree, or at the root, under a name.
    package func children(
        of parent: EntityKey?, named name: String, in collection: CollectionModel
    ) throws -> [EntityKey] {
        guard let tree = collection.tree else { return [] }
        let spot = TreeSpot(parent: parent?.id, name: name)
        var found: [EntityKey] = []
        func look(_ key: EntityKey, _ row: EntityRow) throws {
            guard row.document != nil, let document = row.treeDocument(in: collection) else {
                return
            }
            let own = try treeSpot(document, in: collection.name, tree)
            if own.parent == spot.parent, ExactString(own.name) == ExactString(name) {
                found.append(key)
            }
        }
        let named = OrderKey.values(ofID: name, dates: collection.dates)
        let known = try indexedChildren(
            of: parent, by: [tree.parent, tree.name], then: named, in: collection)
        if let known {
            for key in known { try look(key, entity(at: .entity(key))) }
        } else {
            try forEachEntity(in: collection.name) { key, row in
                try look(key, row)
                return true
            }
        }
        return found
    }

    private func indexedChildren(
        of parent: EntityKey?, by fields: [String], then rest: [[UInt8]],
        in collection: CollectionModel
    ) throws -> [EntityKey]? {
        let index = IndexModel(fields.map { IndexField($0) })
        guard try !hidesAny(), try hasIndex(index, in: collection.name) else { return nil }
        var values: [[UInt8]] = []
        if let parent {
            for id in try keys(of: parent).map(\.id) {
                values += OrderKey.values(ofID: id, dates: collection.dates)
            }
        } else {
            var null: [UInt8] = []
            OrderKey.append(nil as JSONValue?, kind: .value, dates: collection.dates, to: &null)
            values = [null]
        }
        if !rest.isEmpty { values = values.flatMap { first in rest.map { first + $0 } } }
        return try indexed(values, by: index, in: collection.name)
    }
}

/// A range of an index, in terms of its keys without the name.
private struct IndexRange {
    enum Place { case before, inside, after }

    private let lower: (bytes: [UInt8], isInclusive: Bool)?
    private let upper: (bytes: [UInt8], isInclusive: Bool)?
    private let name: [UInt8]

    init(_ index: KeptIndex, _ lower: IndexBound?, _ upper: IndexBound?) {
        name = index.name
        func bound(_ bound: IndexBound) -> ([UInt8], Bool) {
            let (bytes, isCut) = index.cut(bound.components)
            return (bytes, bound.isInclusive || isCut)
        }
        self.lower = lower.map(bound)
        self.upper = upper.map(bound)
    }

    func place(of rest: ArraySlice<UInt8>) -> Place {
        if let lower {
            let isEqual = rest.starts(with: lower.bytes)
            if isEqual ? !lower.isInclusive : rest.lexicographicallyPrecedes(lower.bytes) {
                return .before
            }
        }
        if let upper {
            let isEqual = rest.starts(with: upper.bytes)
            if isEqual ? !upper.isInclusive : upper.bytes.lexicographicallyPrecedes(rest) {
                return .after
            }
        }
        return .inside
    }

    /// Where a walk upwards begins.
    var first: [UInt8]? {
        guard let lower else { return nil }
        return lower.isInclusive ? name + lower.bytes : Self.behind(name + lower.bytes)
    }

    /// Where a walk downwards begins.
    var last: [UInt8]? {
        guard let upper else { return nil }
        guard upper.isInclusive else { return name + upper.bytes }
        let start = Self.behind(name + upper.bytes)
        return start.starts(with: name) ? start : nil
    }

    /// The least bytes above all that begin with these.
    private static func behind(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        while bytes.last == 0xFF { bytes.removeLast() }
        if let last = bytes.popLast() { bytes.append(last + 1) }
        return bytes
    }
}

extension IndexModel {
    /// How many bytes of one value its keys have at most; of a longer one they have as many.
    package var valueBytesMax: Int { KeptIndex.componentsMax / fields.count }
}

extension KeyRange {
    /// The records of an index with the components of all its fields, and with the id or with ids
    /// that are neighbours of it, as far as keys tell.
    package init(_ components: [UInt8], id: String) {
        self.init(beginning: components + id.utf8.prefix(KeptIndex.idPrefixBytes))
    }
}

/// Puts records with long ids, whose keys hold only the beginning, in the order of the ids.
private struct IndexRun {
    struct Entry {
        var components: [UInt8]
        var isCut: Bool
        var id: String
    }

    let reversed: Bool
    /// Records with equal components whose ids begin alike.
    private var waiting: [Entry] = []

    init(reversed: Bool) { self.reversed = reversed }

    /// Takes the next record; answers whether to go on.
    mutating func add(
        _ entry: Entry, _ body: ([UInt8], Bool, String) throws -> Bool
    ) throws -> Bool {
        let prefix = entry.id.utf8.prefix(KeptIndex.idPrefixBytes)
        if let other = waiting.first,
            other.components != entry.components
                || !other.id.utf8.prefix(KeptIndex.idPrefixBytes).elementsEqual(prefix)
        {
            guard try end(body) else { return false }
        }
        guard prefix.count == KeptIndex.idPrefixBytes else {
            return try body(entry.components, entry.isCut, entry.id)
        }
        waiting.append(entry)
        return true
    }

    /// Hands over what waits; answers whether to go on.
    mutating func end(_ body: ([UInt8], Bool, String) throws -> Bool) throws -> Bool {
        if waiting.count > 1 {
            waiting.sort { left, right in
                reversed
                    ? right.id.utf8.lexicographicallyPrecedes(left.id.utf8)
                    : left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
            }
        }
        defer { waiting = [] }
        for entry in waiting where try !body(entry.components, entry.isCut, entry.id) {
            return false
        }
        return true
    }
}
