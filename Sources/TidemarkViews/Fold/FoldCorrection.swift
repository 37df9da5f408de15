// FoldCorrection.swift — takes back decisions that were made by a wrong time.
//
//   marks        are forgotten: the next lists are whole
//   prunings     are void: the next list brings the entities again
//   edits        that wait were made as much earlier or later as the time was wrong when they were
//                stamped, and none later than the answer
//   rivals       that were stopped at that time are judged again
//   placeholders that were asked for in vain are asked for again
//
// What was sent, and the outcomes of mutations, stay.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// The names of decisions that void earlier ones made by a wrong time, or that refuse to decide
    /// by one.
    private static let timeRule = "serverTime"
    private static let version: UInt64 = 1

    /// Takes back the decisions by the time that an answer proves wrong.
    func takeBack(
        _ correction: ServerClock.Correction, _ clock: ServerClock, _ position: Position
    ) throws {
        if correction.wasBelieved { try forgetMarks(since: correction.since, position) }
        for rule in FoldRules.all { try rule.takeBack(correction, position, self) }
        try moveEdits(correction)
    }

    private func forgetMarks(since: Position, _ position: Position) throws {
        var marks: [(name: CollectionName, mark: Position)] = []
        for (place, value) in try ledgerRows(Ledger.watermarks) {
            let row = try WatermarkRow(parsing: value)
            guard row.position >= since else { continue }
            put(place, nil)
            guard let key = EntityKey(bytes: place.bytes.dropFirst(Ledger.watermarks.count)) else {
                continue
            }
            marks.append((key.collection, row.position))
        }
        for collection in try model().collections { try endList(PullTarget(collection.name)) }
        try void(marks.map { (EntityKey($0.name, ""), [$0.mark, position]) }, position)
    }

    private func moveEdits(_ correction: ServerClock.Correction) throws {
        for key in try openKeys().sorted() {
            let before = try entity(key)
            var row = before
            for index in row.pending.indices {
                let edit = row.pending[index]
                row.pending[index].editedAt = edit.editedAt.map {
                    correction.time($0, of: edit.position)
                }
            }
            if row != before { try put(row, key) }
        }
    }

    /// Records for each entity that a clean-up by a never believed time would have pruned that it
    /// stays.
    func keepUnpruned(at now: Timestamp, _ position: Position) throws {
        let kept = try pruneDecision(at: now).items.filter { $0.rule == .retention }
        let decisions = try kept.map { item in
            (item.key, [try entity(item.key).basePosition, position].compactMap(\.self))
        }
        try decide("kept", decisions, position)
    }

    /// Records that decisions by a wrong time are void.
    ///
    /// - Parameter decisions: the entity of each, and the events that it was decided by.
    func void(
        _ decisions: [(key: EntityKey, inputs: [Position])], _ position: Position
    ) throws { try decide("voided", decisions, position) }

    private func decide(
        _ result: String, _ decisions: [(key: EntityKey, inputs: [Position])],
        _ position: Position
    ) throws {
        for decision in decisions {
            let row = DecisionRow(
                key: decision.key, rule: Self.timeRule, ruleVersion: Self.version, result: result,
                inputs: decision.inputs, fields: [])
            try note(row, position)
        }
    }
}
