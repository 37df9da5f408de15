// TreeQueue.swift — which pending changes of a tree may be sent, by Lanes.swift. A value: it takes
// the open mutations in their order, some at a time.
//
// What it finds may be sent in any order, also together. Of an entity the changes go together up
// to one that overlaps what has no outcome; it and all that come after it wait for a later look.

import TidemarkEvents
import TidemarkRules

/// What of a tree may be sent.
struct TreeQueue: Sendable {
    /// What was decided of an entity.
    private enum Course: Sendable {
        /// It is sent; others may still join it, at that place among those found.
        case sent(Int)
        /// Nothing more of it is sent.
        case closed
    }

    private var reader: TreeReader
    private var lanes = Lanes()
    private var courses: [String: Course] = [:]
    /// What is to be made later than what needs it.
    private var awaited: Set<String> = []
    /// What waits for what, once that is asked.
    private var circles: TreeCircles?

    /// Nil for a collection that is no tree.
    init?(_ collection: CollectionModel) {
        guard let reader = TreeReader(collection) else { return nil }
        self.reader = reader
    }

    /// Takes the mutations that come next, each as a candidate of its own.
    ///
    /// - Returns: those of their entities that may be sent, by their first mutations; then those
    ///   that wait only for what waits for them.
    mutating func take(
        _ mutations: [PushCandidate], _ rows: some RowReading
    ) throws -> [PushCandidate] {
        var found: [PushCandidate] = []
        var circular: [PushCandidate] = []
        for mutation in mutations {
            let id = mutation.key.id
            guard try reader.ending(of: id, rows) == nil else { continue }
            let tags = try reader.tags(of: id, mutation.first, rows)
            let waits = lanes.hold(tags)
            lanes.add(tags)
            for need in try reader.needs(of: id, mutation.first, rows) where courses[need] == nil {
                awaited.insert(need)
            }
            switch courses[id] {
            case nil where waits:
                courses[id] = .closed
                if awaited.contains(id), try waitsForItself(mutation.key, rows) {
                    var first = mutation
                    (first.through, first.waitsForItself) = (mutation.first, true)
                    circular.append(first)
                }
            case nil:
                courses[id] = .sent(found.count)
                found.append(mutation)
                found[found.count - 1].through = mutation.first
            case .sent(let place) where !waits: found[place].through = mutation.first
            case .sent: courses[id] = .closed
            case .closed: break
            }
        }
        // What is found later goes by itself.
        for candidate in found { courses[candidate.key.id] = .closed }
        return try found.filter { candidate in
            let last = candidate.through ?? candidate.first
            return try reader.missing(for: candidate.key.id, through: last, rows) == nil
                || reader.isNowhere(candidate.key, through: last, rows)
        } + circular
    }

    /// Whether an entity that was not refused waits only for what waits for it.
    private mutating func waitsForItself(_ key: EntityKey, _ rows: some RowReading) throws -> Bool {
        let row = try rows.entity(at: .entity(key))
        guard row.refusal == nil, row.baseState != .live else { return false }
        let circles = try circles ?? TreeCircles(reader, rows)
        self.circles = circles
        return circles.hold(key.id)
    }
}
