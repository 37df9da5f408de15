// TreeReading.swift — where the entities of a tree lie, now and before some of what is pending,
// and their paths.

package import TidemarkEvents
import TidemarkRules

/// In which entity of a tree one lies, and under which name.
package struct TreeSpot: Sendable, Hashable {
    /// The id that it keeps for life; nil at the root.
    package var parent: String?
    package var name: String

    package init(parent: String?, name: String) {
        self.parent = parent
        self.name = name
    }

    /// Names that look the same, composed otherwise, are two.
    package static func == (left: Self, right: Self) -> Bool {
        ExactString(left.name) == ExactString(right.name)
            && left.parent.map { ExactString($0) } == right.parent.map { ExactString($0) }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(name))
        hasher.combine(parent.map { ExactString($0) })
    }
}

extension RowReading {
    /// Where a document says that its entity lies.
    package func treeSpot(
        _ document: JSONDocument, in collection: CollectionName, _ tree: TreeRule
    ) throws -> TreeSpot {
        let parent = try document.ids(in: tree.parent).first.map {
            try resolve(EntityKey(collection, $0)).id
        }
        return TreeSpot(parent: parent, name: document.value(tree.name)?.stringValue ?? "")
    }
}

/// Where one entity of a tree lies, through what is pending on it.
struct TreeSteps: Sendable {
    /// Where it is on the server; nil where it is not there.
    var base: TreeSpot?
    /// Where it is, or was when it was there last.
    var last: TreeSpot?
    /// Where it was on the server when that had it last; nil where it is there, or never was.
    var gone: TreeSpot?
    /// Where each pending mutation leaves it, in order; nil where that deletes it.
    var changes: [(position: Position, spot: TreeSpot?)] = []
    /// Whether it lies in what is deleted.
    var isOrphan = false
    /// By a mutation that makes it of another one, the id of that.
    var sources: [Position: String] = [:]

    /// Where it is on the server; where it is not there, where it is here.
    var serverSpot: TreeSpot? { base ?? changes.last?.spot ?? last }

    /// Where it is after all mutations up to a position.
    func spot(through position: Position) -> TreeSpot? {
        changes.last { $0.position <= position }.map(\.spot) ?? base
    }

    /// Where it is before a mutation.
    func spot(before position: Position) -> TreeSpot? {
        changes.last { $0.position < position }.map(\.spot) ?? base
    }
}

/// Reads where entities of one collection lie, each only once.
package struct TreeReader: Sendable {
    let collection: CollectionModel
    private let tree: TreeRule
    private var known: [String: TreeSteps] = [:]
    /// What ends with which folder (TreeEndings.swift), and what others need.
    var endings: [String: String?] = [:]
    var neededIDs: Set<String>?

    /// Nil for a collection that is no tree.
    package init?(_ collection: CollectionModel) {
        guard let tree = collection.tree, collection.treeReference != nil else { return nil }
        (self.collection, self.tree) = (collection, tree)
    }

    /// What a pending mutation of an entity touches.
    mutating func tags(
        of id: String, _ position: Position, _ rows: some RowReading
    ) throws -> LaneTags {
        let steps = try steps(of: id, rows)
        let before = steps.spot(before: position)
        let after = steps.spot(through: position)
        var places: [TreePlace] = []
        for spot in before == after ? [after] : [before, after] {
            guard let spot else { continue }
            let above = try above(spot.parent, through: position, rows)
            places.append(TreePlace(spot.name, above: above))
        }
        var tags = LaneTags(id, moves: before != after, places: places)
        if let source = steps.sources[position] {
            let spot = try self.steps(of: source, rows).spot(through: position)
            tags.source = .init(source, above: try above(spot?.parent, through: position, rows))
        }
        return tags
    }

    /// The names of an entity and of those in which it lies, the outermost first; nil where there
    /// is none, or where it lies in one that is not there.
    package mutating func path(of id: String, _ rows: some RowReading) throws -> [String]? {
        try path(of: id, rows) { $0.spot(through: Self.end) }
    }

    /// The same on the server, before anything that is pending; of one that is not there, where the
    /// mutations up to `last` make it, or all of them.
    mutating func serverPath(
        of id: String, through last: Position?, _ rows: some RowReading
    ) throws -> [String]? {
        guard let spot = try serverSpot(of: id, through: last, rows) else { return nil }
        guard let parent = spot.parent else { return [spot.name] }
        return try path(of: parent, rows, \.serverSpot).map { $0 + [spot.name] }
    }

    private mutating func path(
        of id: String, _ rows: some RowReading, _ spot: (TreeSteps) -> TreeSpot?
    ) throws -> [String]? {
        var names: [String] = []
        var seen: Set<String> = []
        var next: String? = id
        while let current = next {
            guard seen.insert(current).inserted, let spot = spot(try steps(of: current, rows))
            else { return nil }
            names.append(spot.name)
            next = spot.parent
        }
        return names.reversed()
    }

    /// Where an entity lies on the server; of one that is not there, where the mutations up to
    /// `last` make it, or all of them.
    mutating func serverSpot(
        of id: String, through last: Position?, _ rows: some RowReading
    ) throws -> TreeSpot? {
        let steps = try steps(of: id, rows)
        guard steps.base == nil, let last else { return steps.serverSpot }
        return steps.spot(through: last) ?? steps.serverSpot
    }

    /// Whether what is pending up to a mutation moves or renames an entity that the server has.
    mutating func isMoved(
        _ id: String, through position: Position, _ rows: some RowReading
    ) throws -> Bool {
        let steps = try steps(of: id, rows)
        guard let base = steps.base, let spot = steps.spot(through: position) else { return false }
        return spot != base
    }

    /// An entity and those in which it lies, the nearest first; in a circle each comes once.
    package mutating func above(_ parent: String?, _ rows: some RowReading) throws -> [String] {
        try above(parent, through: Self.end, rows)
    }

    private static let end = Position(rawValue: .max)

    /// The folders in which an entity lies on the server, and would lie after all that is pending,
    /// where the server has them; nil for the root.
    package mutating func folders(around id: String, _ rows: some RowReading) throws -> [String?] {
        let steps = try steps(of: id, rows)
        var found: [String?] = []
        for spot in [steps.base, steps.changes.last?.spot ?? steps.last].compactMap(\.self)
        where !found.contains(spot.parent) {
            if let parent = spot.parent, try self.steps(of: parent, rows).base == nil { continue }
            found.append(spot.parent)
        }
        return found
    }

    /// Of an entity that would lie in itself on the server after the mutations up to a position,
    /// what of those in between lies in it there; nil where it would not.
    package mutating func circle(
        of id: String, through position: Position, _ rows: some RowReading
    ) throws -> String? {
        let own = try steps(of: id, rows)
        guard let base = own.base, let parent = own.spot(through: position)?.parent,
            parent != base.parent
        else { return nil }
        var (next, last): (String?, String?) = (parent, nil)
        var seen: Set<String> = []
        while let current = next, seen.insert(current).inserted {
            if current == id { return last }
            (next, last) = (try steps(of: current, rows).serverSpot?.parent, current)
        }
        return nil
    }

    /// Whether an entity would lie after the mutations up to a position where the server has a
    /// folder in which the entity lies there, near or far.
    package mutating func isHeldByPlace(
        of id: String, through position: Position, _ rows: some RowReading
    ) throws -> Bool {
        let own = try steps(of: id, rows)
        guard let base = own.base, let spot = own.spot(through: position), spot != base else {
            return false
        }
        var next = base.parent
        var seen: Set<String> = []
        while let current = next, seen.insert(current).inserted {
            let there = try steps(of: current, rows).base
            if there == spot { return true }
            next = there?.parent
        }
        return false
    }

    /// Where an entity would lie after the mutations up to a position, where these make, move or
    /// rename it.
    package mutating func newSpot(
        of id: String, through position: Position, _ rows: some RowReading
    ) throws -> TreeSpot? {
        let steps = try steps(of: id, rows)
        let spot = steps.spot(through: position)
        return spot == steps.base ? nil : spot
    }

    /// Where the server has an entity; nil where it does not have it.
    package mutating func base(of id: String, _ rows: some RowReading) throws -> TreeSpot? {
        try steps(of: id, rows).base
    }

    /// What is not there of what an entity would lie in where a mutation leaves it: neither on the
    /// server nor about to be; nil where nothing is missing.
    mutating func missing(
        for id: String, through position: Position, _ rows: some RowReading
    ) throws -> String? {
        let own = try steps(of: id, rows)
        // Where the server has it it may stay, also in what is not listed.
        guard let parent = own.spot(through: position)?.parent, parent != own.base?.parent
        else { return nil }
        let steps = try steps(of: parent, rows)
        return steps.base == nil && steps.changes.isEmpty ? parent : nil
    }

    /// Whether what an entity would lie in where a mutation leaves it was deleted on the server, or
    /// was made here and given up: a person has to say what becomes of it.
    package mutating func isNowhere(
        _ key: EntityKey, through position: Position, _ rows: some RowReading
    ) throws -> Bool {
        guard let above = try missing(for: key.id, through: position, rows) else { return false }
        // A server that knows paths can't bring what was made here and given up.
        return try collection.isByPath
            || rows.entity(at: .entity(EntityKey(collection.name, above))).baseState == .deleted
    }

    private mutating func above(
        _ parent: String?, through position: Position, _ rows: some RowReading
    ) throws -> [String] {
        var above: [String] = []
        var seen: Set<String> = []
        var next = parent
        while let current = next, seen.insert(current).inserted {
            above.append(current)
            let steps = try steps(of: current, rows)
            // Of one that is deleted it counts where it was.
            next = (steps.spot(through: position) ?? steps.last)?.parent
        }
        return above
    }

    mutating func steps(of id: String, _ rows: some RowReading) throws -> TreeSteps {
        if let steps = known[id] { return steps }
        let row = try rows.entity(at: .entity(EntityKey(collection.name, id)))
        let steps = try steps(of: row, rows)
        known[id] = steps
        return steps
    }

    private func steps(of row: EntityRow, _ rows: some RowReading) throws -> TreeSteps {
        func spot(_ document: JSONDocument) throws -> TreeSpot {
            try rows.treeSpot(document, in: collection.name, tree)
        }
        var steps = TreeSteps()
        steps.isOrphan = row.isOrphan
        let base = try row.baseValue(in: collection)
        steps.last = try base.lastDocument.map(spot)
        steps.base = base.isLive ? steps.last : nil
        steps.gone = base.isLive ? nil : steps.last
        var current = steps.base
        for change in try row.changes(in: collection) {
            switch change.change {
            case .create(let document): current = try spot(document)
            case .update(let patch):
                // What the server deleted is made anew as it was.
                current = current ?? steps.gone
                if patch.removes(tree.parent) { current?.parent = nil }
                guard let fields = patch.setDocument else { break }
                let new = try spot(fields)
                if fields.rawValue(tree.parent) != nil { current?.parent = new.parent }
                if fields.rawValue(tree.name) != nil { current?.name = new.name }
            case .delete: current = nil
            case .carried: continue
            }
            steps.changes.append((change.position, current))
            steps.last = current ?? steps.last
        }
        for item in row.pending where !item.request.isEmpty {
            guard let requested = item.requested,
                let field = collection.rule(of: requested.action)?.source,
                let source = requested.texts[field]
            else { continue }
            steps.sources[item.position] =
                try rows.resolve(EntityKey(collection.name, source)).id
        }
        return steps
    }
}

extension Patch {
    fileprivate func removes(_ field: String) -> Bool {
        let exact = ExactString(field)
        return unset.contains { ExactString($0) == exact }
    }
}

extension RowReading {
    /// The names of an entity of a tree and of those in which it lies, the outermost first.
    package func path(of key: EntityKey, in collection: CollectionModel) throws -> [String]? {
        guard var reader = TreeReader(collection), let (key, row) = try found(key),
            row.document != nil
        else { return nil }
        return try reader.path(of: key.id, self)
    }

    /// The path of an entity on the server, where it was before anything that is pending on it and
    /// on those in which it lies; of one that is not there, where the mutations up to `last` make
    /// it, or all of them.
    package func serverPath(
        of key: EntityKey, in collection: CollectionModel, through last: Position? = nil
    ) throws -> String? {
        guard var reader = TreeReader(collection) else { return nil }
        return try reader.serverPath(of: key.id, through: last, self)?.joined(separator: "/")
    }

    /// Whether a write without an answer gives an entity, or one in which it lies, another path.
    func isBeingMoved(_ key: EntityKey, in collection: CollectionModel) throws -> Bool {
        guard try hasLedgerRow(Ledger.attempts) else { return false }
        return try isOnItsWay(key, in: collection) || isCarriedAlong(key, in: collection)
    }

    /// Whether a write without an answer gives something in which an entity lies another path.
    package func isCarriedAlong(
        _ key: EntityKey, in collection: CollectionModel
    ) throws -> Bool {
        guard try hasLedgerRow(Ledger.attempts), var reader = TreeReader(collection) else {
            return false
        }
        return try reader.above(key.id, self).dropFirst().contains { id in
            try isOnItsWay(EntityKey(collection.name, id), in: collection)
        }
    }

    /// The path to which the mutations up to one move an entity on the server; nil where they don't
    /// move it, or the server does not have it, or what it would lie in.
    package func movedPath(
        of key: EntityKey, in collection: CollectionModel, through last: Position
    ) throws -> String? {
        guard collection.isByPath, var reader = TreeReader(collection),
            try reader.base(of: key.id, self) != nil,
            let spot = try reader.newSpot(of: key.id, through: last, self)
        else { return nil }
        guard let parent = spot.parent else { return spot.name }
        return try serverPath(of: EntityKey(collection.name, parent), in: collection).map {
            "\($0)/\(spot.name)"
        }
    }

    /// Whether a write without an answer gives an entity another path.
    func isOnItsWay(_ key: EntityKey, in collection: CollectionModel) throws -> Bool {
        guard collection.isByPath, var reader = TreeReader(collection),
            let attempt = try entity(at: .entity(key)).attempt
        else { return false }
        return try reader.isMoved(key.id, through: attempt.covers, self)
    }

    /// What a server that knows a tree by paths says of an entity, with where it lies there.
    package func placed(
        _ document: JSONDocument, of key: EntityKey, _ revision: Revision?,
        in collection: CollectionModel
    ) throws -> JSONDocument {
        guard let tree = collection.tree, tree.isByPath, var reader = TreeReader(collection),
            let spot = try reader.serverSpot(
                of: key.id, through: entity(at: .entity(key)).attempt?.covers, self)
        else { return document }
        return tree.placing(document, of: key.id, revision, in: spot.parent, as: spot.name)
    }
}
