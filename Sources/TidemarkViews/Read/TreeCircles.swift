// TreeCircles.swift — what is to be made in a tree and waits for what waits for it. A change waits
// for earlier ones only (Lanes.swift), but for an entity in which it would lie, or of which it is
// a copy, also where that is made later: anew, after the server lost it. It is made first then,
// where it can be.

package import TidemarkEvents
import TidemarkRules

extension RowReading {
    /// Whether the change that makes an entity of a tree waits only for others that wait for it.
    ///
    /// Costs a look at all that is pending in the tree.
    package func waitsForItself(
        _ key: EntityKey, in collection: CollectionModel
    ) throws -> Bool {
        guard let reader = TreeReader(collection),
            try entity(at: .entity(key)).baseState != .live
        else { return false }
        return try TreeCircles(reader, self).hold(key.id)
    }
}

/// The pending changes of a tree in their order, and what each of them waits for.
struct TreeCircles: Sendable {
    private struct Change: Sendable {
        var id: ExactString
        var tags: LaneTags
        /// The entities of which an earlier change overlaps it.
        var holders: Set<ExactString>
        /// What has to be made before it.
        var needs: [ExactString]
    }

    private var reader: TreeReader
    private var lanes = Lanes()
    private var changes: [Change] = []
    /// The changes of each entity, by their places.
    private var places: [ExactString: [Int]] = [:]
    /// The change that makes an entity.
    private var makers: [ExactString: Int] = [:]

    /// All that is pending in the tree of a reader.
    init(_ reader: TreeReader, _ rows: some RowReading) throws {
        self.reader = reader
        try rows.forEachMutation(openOnly: true) { position, mutation in
            guard !mutation.isDerived, mutation.key.collection == reader.collection.name else {
                return true
            }
            try add(mutation.key.id, position, rows)
            return true
        }
    }

    private mutating func add(_ id: String, _ position: Position, _ rows: some RowReading) throws {
        guard try reader.ending(of: id, rows) == nil else { return }
        let tags = try reader.tags(of: id, position, rows)
        let place = changes.count
        changes.append(
            Change(
                id: tags.entity, tags: tags, holders: lanes.holders(of: tags),
                needs: try reader.needs(of: id, position, rows).map(ExactString.init)))
        lanes.add(tags)
        places[tags.entity, default: []].append(place)
        if makers[tags.entity] == nil, try reader.makes(id, position, rows) {
            makers[tags.entity] = place
        }
    }

    /// Whether all for which the change that makes an entity waits, waits for that change.
    func hold(_ id: String) -> Bool {
        guard let maker = makers[ExactString(id)] else { return false }
        let causes = causes(of: maker)
        return !causes.isEmpty && causes.allSatisfy { wait($0, for: maker) }
    }

    private func wait(_ place: Int, for maker: Int) -> Bool {
        var seen: Set<Int> = []
        var next = [place]
        while let place = next.popLast() {
            if place == maker { return true }
            if seen.insert(place).inserted { next += causes(of: place) }
        }
        return false
    }

    /// The changes for which one waits.
    private func causes(of place: Int) -> [Int] {
        let change = changes[place]
        var found = change.needs.compactMap { makers[$0] }
        if let before = places[change.id]?.last(where: { $0 < place }) { found.append(before) }
        for holder in change.holders {
            found += (places[holder] ?? []).filter { other in
                guard other < place else { return false }
                var lanes = Lanes()
                lanes.add(changes[other].tags)
                return lanes.hold(change.tags)
            }
        }
        return found
    }
}

extension TreeReader {
    /// The entities that have to be on the server before a mutation of one is sent, and are to be
    /// made: what it would lie in, and what it is a copy of.
    mutating func needs(
        of id: String, _ position: Position, _ rows: some RowReading
    ) throws -> [String] {
        let own = try steps(of: id, rows)
        var found: [String] = []
        if let parent = own.spot(through: position)?.parent, parent != own.base?.parent {
            found.append(parent)
        }
        if let source = own.sources[position] { found.append(source) }
        return try found.filter {
            let steps = try steps(of: $0, rows)
            return steps.base == nil && !steps.changes.isEmpty
        }
    }

    /// Whether what an entity would lie in after the mutations up to a position is, or lies in, a
    /// copy that is to be made of it.
    package mutating func liesInItsCopy(
        _ id: String, through position: Position, _ rows: some RowReading
    ) throws -> Bool {
        let own = try steps(of: id, rows)
        guard own.base == nil, let parent = own.spot(through: position)?.parent else {
            return false
        }
        var seen: Set<String> = []
        var next = [parent]
        while let current = next.popLast() {
            if current == id { return true }
            let steps = try steps(of: current, rows)
            guard seen.insert(current).inserted, steps.base == nil else { continue }
            if let above = steps.changes.last?.spot?.parent { next.append(above) }
            next += steps.sources.values
        }
        return false
    }

    /// Whether a mutation makes an entity that the server does not have.
    fileprivate mutating func makes(
        _ id: String, _ position: Position, _ rows: some RowReading
    ) throws -> Bool {
        let steps = try steps(of: id, rows)
        return steps.spot(before: position) == nil && steps.spot(through: position) != nil
    }
}
