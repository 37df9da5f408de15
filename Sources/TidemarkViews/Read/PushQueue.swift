// PushQueue.swift — the outbox in the order of its push, found piece by piece. A value: who wants
// more hands it a reader of the views of that time.
//
//   creations and updates of the model's first collection … of its last one
//   → deletions of the last … of the first → what was sent in vain too often → what fails
//
// Where deletions come first, so do those that fail, until one of them failed too often: what needs
// their place waits for them.
//
// Those of a tree come together, in the place of its creations: TreeQueue.swift.
//
// The rows of open mutations lie in the order of their positions. One look over them, which takes
// nothing apart, tells where those of each collection begin and end, and which entities are
// deleted; so each stage reads its own rows in order, and no further than it has to.

package import TidemarkEvents
import TidemarkRules

/// An entity with something to push.
package struct PushCandidate: Sendable, Hashable {
    package var key: EntityKey
    package var first: Position
    package var isDeletion: Bool
    /// How often its first mutation was sent in vain.
    package var attempts: UInt64
    /// When the last call about it failed for a reason of its own; nil where none does.
    package var failed: Position?
    /// The last mutation that is sent with the first one, where others wait for one of another
    /// entity; nil for all.
    package var through: Position?
    /// Whether it is to be made in a tree and waits only for others that wait for it.
    package var waitsForItself = false
    /// Whether it is a deletion that failed, and others wait for it.
    package var isAwaited = false
}

/// The entities with open mutations, in the order in which they are pushed.
///
/// That is: creations and updates in the model's order, what is referred to first, then deletions
/// in the opposite order; within a collection what was sent in vain least often, then what is
/// oldest; at last what was sent in vain too often, and what fails by itself, that which failed
/// last at the end. What the model does not name is not pushed.
///
/// Each entity comes once, by what was there when the queue was made: later mutations do not bring
/// another one in.
package struct PushQueue: Sendable {
    /// One who was sent in vain so often goes after everything else: an entity that the server
    /// chokes on must not keep other collections waiting for ever.
    static let attemptsMax: UInt64 = 2
    /// How many mutations of a tree are looked at before the first that may be sent goes: more are
    /// found while it is on its way.
    private static let firstOfTree = 16

    /// The open mutations of one collection, either those of entities that are deleted or the
    /// others.
    private struct Stage: Sendable {
        var collection: CollectionName
        var isDeletion: Bool
        /// The positions that were not read yet.
        var positions: Range<UInt64>
        /// What was sent in vain once, and deletions that others wait for: they come after the
        /// others of the collection.
        var delayed: [PushCandidate] = []
        /// What of it may be sent, where the collection is a tree.
        var tree: TreeQueue?
    }

    private var stages: ArraySlice<Stage>
    /// What comes after all stages.
    private var last: [PushCandidate] = []
    /// The entities of the current stage that were found.
    private var seen: Set<EntityKey> = []
    /// How many of the mutations were not read yet.
    private var unread: Int
    /// Entities of which a mutation is a deletion: whether the last one is.
    private let deletions: [EntityKey: Bool]
    private let failing: [EntityKey: Position]
    /// The deletions that failed, and that others wait for.
    private let awaited: Set<EntityKey>
    private let places: [CollectionName: Int]
    private let hasDerived: Bool
    /// Whether no mutation was looked at.
    private var isNew = true

    /// The queue of everything that is open now.
    ///
    /// - Parameter deletesFirst: whether deletions come before anything else, instead of after it.
    package init(_ views: ViewReader, _ model: SyncModel, deletesFirst: Bool = false) throws {
        var tally = OutboxTally(model)
        try tally.count(views)
        let calls = try views.failingCalls()
        failing = Dictionary(uniqueKeysWithValues: calls.map { ($0.key, $0.row.gate.position) })
        deletions = tally.deletions.mapValues(\.isLast)
        awaited = deletesFirst ? Self.awaited(calls, tally, model) : []
        hasDerived = tally.hasDerived
        unread = tally.collections.reduce(0) { $0 + $1.count }
        // Mutations of entities that are deleted, by collection.
        var deleted: [CollectionName: Int] = [:]
        for (key, deletion) in tally.deletions where deletion.isLast {
            deleted[key.collection, default: 0] += deletion.count
        }
        var stages: [Stage] = []
        func add(_ found: OutboxTally.Collection, isDeletion: Bool) {
            if let tree = model[found.name].flatMap(TreeQueue.init) {
                guard !isDeletion, let positions = found.positions else { return }
                var stage = Stage(
                    collection: found.name, isDeletion: false, positions: positions)
                stage.tree = tree
                return stages.append(stage)
            }
            let count = deleted[found.name, default: 0]
            guard let positions = found.positions, isDeletion ? count > 0 : count < found.count
            else { return }
            stages.append(
                Stage(collection: found.name, isDeletion: isDeletion, positions: positions))
        }
        for found in tally.collections where !deletesFirst { add(found, isDeletion: false) }
        for found in tally.collections.reversed() { add(found, isDeletion: true) }
        for found in tally.collections where deletesFirst { add(found, isDeletion: false) }
        self.stages = stages[...]
        places = Dictionary(
            uniqueKeysWithValues: tally.collections.enumerated().map { ($1.name, $0) })
    }

    /// The deletions that fail; none where one of them failed so often that it is an issue: one
    /// that never works keeps nobody waiting.
    private static func awaited(
        _ calls: [FailingCall], _ tally: OutboxTally, _ model: SyncModel
    ) -> Set<EntityKey> {
        let failed = calls.filter { call in
            tally.deletions[call.key]?.isLast == true && model[call.key.collection]?.tree == nil
        }
        let isHopeless = failed.contains { $0.row.gate.failures >= FailingRow.failuresTold }
        return isHopeless ? [] : Set(failed.map(\.key))
    }

    /// Whether everything was found.
    package var isOver: Bool { stages.isEmpty && last.isEmpty }

    /// How many entities are left, as far as is known: as many as there are mutations that were not
    /// read.
    package var left: Int {
        stages.reduce(last.count + unread) { $0 + $1.delayed.count }
    }

    /// Finds those that come next: so many, or some more, or all that are left.
    ///
    /// The first time it may be fewer, but none only where none is left.
    package mutating func next(upTo count: Int, _ views: ViewReader) throws -> [PushCandidate] {
        var found: [PushCandidate] = []
        while found.count < count, let stage = stages.first {
            let isFirst = isNew && stage.tree != nil
            let most = max(1, count - found.count)
            found += try read(isFirst ? min(most, Self.firstOfTree) : most, views)
            if isFirst, !found.isEmpty { break }
        }
        isNew = isNew && found.isEmpty
        if stages.isEmpty, found.count < count {
            unread = 0
            found += sortedLast()
            last = []
        }
        return found
    }

    /// Reads some mutations of the current stage.
    private mutating func read(_ count: Int, _ views: ViewReader) throws -> [PushCandidate] {
        var stage = stages.removeFirst()
        let rows = try openMutations(of: &stage, upTo: count, views)
        unread = max(0, unread - rows.count)
        var found: [PushCandidate] = []
        func put(_ candidate: PushCandidate) {
            if candidate.isAwaited {
                stage.delayed.append(candidate)
            } else if candidate.failed != nil || candidate.attempts >= Self.attemptsMax {
                last.append(candidate)
            } else if candidate.attempts > 0 {
                stage.delayed.append(candidate)
            } else {
                found.append(candidate)
            }
        }
        if stage.tree != nil {
            try stage.tree?.take(rows.map(candidate), views).forEach(put)
        } else {
            for row in rows where seen.insert(row.key).inserted { put(candidate(row)) }
        }
        if stage.positions.isEmpty {
            seen = []
            found += stage.delayed
        } else {
            stages.insert(stage, at: stages.startIndex)
        }
        return found
    }

    private func candidate(_ row: OpenMutation) -> PushCandidate {
        PushCandidate(
            key: row.key, first: Position(row.position),
            isDeletion: deletions[row.key, default: false], attempts: row.attempts,
            failed: failing[row.key], isAwaited: awaited.contains(row.key))
    }

    /// The next mutations of a stage in order, at least so many if there are; moves on behind them.
    private func openMutations(
        of stage: inout Stage, upTo count: Int, _ views: ViewReader
    ) throws -> [OpenMutation] {
        var rows: [OpenMutation] = []
        let prefix = EntityKey.prefix(of: stage.collection)
        let (start, end) = (stage.positions.lowerBound, stage.positions.upperBound)
        var next = end
        func take(_ position: UInt64, _ value: [UInt8], isDerived: Bool) throws {
            guard
                let row = try OpenMutation(position, value, isDerived: isDerived, ofThose: prefix),
                stage.tree != nil || deletions[row.key, default: false] == stage.isDeletion
            else { return }
            rows.append(row)
        }
        try views.walk(.ledger, Ledger.open, from: RowKey.open(Position(start)).bytes) {
            key, value in
            guard let position = Position(bigEndianBytes: key.dropFirst())?.rawValue,
                position < end
            else { return false }
            try take(position, value, isDerived: false)
            if rows.count == count { next = position + 1 }
            return rows.count < count
        }
        if hasDerived {
            let from = Ledger.openDerived + Position(start).bigEndianBytes
            try views.walk(.ledger, Ledger.openDerived, from: from) { key, value in
                let position = Position(bigEndianBytes: key.dropFirst().prefix(8))?.rawValue
                guard let position, position < next else { return false }
                try take(position, value, isDerived: true)
                return true
            }
            rows.sort { $0.precedes($1) }
        }
        stage.positions = next..<end
        return rows
    }

    private func sortedLast() -> [PushCandidate] {
        let indexes = last.indices.sorted { one, other in
            let (left, right) = (last[one], last[other])
            if left.failed != right.failed {
                return (left.failed?.rawValue ?? 0) < (right.failed?.rawValue ?? 0)
            }
            if left.isDeletion != right.isDeletion { return right.isDeletion }
            let (a, b) = (places[left.key.collection] ?? 0, places[right.key.collection] ?? 0)
            if a != b { return left.isDeletion ? a > b : a < b }
            if left.attempts != right.attempts { return left.attempts < right.attempts }
            // They were found in the order of their first mutations.
            return one < other
        }
        return indexes.map { last[$0] }
    }
}
