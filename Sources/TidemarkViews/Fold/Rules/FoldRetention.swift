// FoldRetention.swift — the rule `retention`: pruning, which leaves a stub by which an entity is
// recognised.

import TidemarkEvents
import TidemarkRules
import TidemarkStore

/// Prunes entities that are older than their retention.
struct FoldRetention: FoldRule {
    let name = PruneDecision.Rule.retention.rawValue

    func isRule(of collection: CollectionModel) -> Bool { collection.retention != nil }

    func takeBack(
        _ correction: ServerClock.Correction, _ position: Position, _ fold: Fold
    ) throws {
        if correction.wasBelieved { try fold.voidPrunings(since: correction.since, position) }
    }
}

extension Fold {
    /// Prunes, unless the server's time is in doubt, or told by the device's clock alone.
    func fired(_ event: Event, _ payload: TimerFired, _ position: Position) throws {
        if payload.timer == .sweep {
            put(.contentSweep, ContentSweepRow(position: position, at: payload.now).encoded)
        }
        guard payload.timer == .cleanUp else { return }
        if event.bootID != nil { try noteGiven(event, nil, position) }
        guard try !isTimeInDoubt(), try believes(payload.now, of: event),
            try isHeard(in: started(event)?.run.bootID)
        else {
            return try keepUnpruned(at: payload.now, position)
        }
        for item in try pruneDecision(at: payload.now).items {
            try prune(item.key, item.rule, position)
        }
    }

    func prune(_ key: EntityKey, _ rule: PruneDecision.Rule, _ position: Position) throws {
        var row = try entity(key)
        let inputs = [row.basePosition, position].compactMap(\.self)
        let decision = DecisionRow(
            key: key, rule: rule.rawValue, ruleVersion: PruneDecision.version, result: "pruned",
            inputs: inputs, fields: [], base: row.basePosition)
        try note(decision, position)
        if row.isPlaceholder, try get(.placeholder(key)) != nil { put(.placeholder(key), nil) }
        forgetIssues(of: &row, key)
        row.prune(at: position)
        try put(row, key)
    }

    /// Voids the prunings since a position: the next list brings those again that are not past
    /// their retention by the right time.
    ///
    /// Their digests stay: by these the others are known, and all of them can still be had.
    fileprivate func voidPrunings(since: Position, _ position: Position) throws {
        var pruned: [(key: EntityKey, row: EntityRow)] = []
        for collection in try model().collections where collection.retention != nil {
            try forEachEntity(in: collection.name) { key, row in
                if !row.prunedDigest.isEmpty, let at = row.prunedAt, at >= since {
                    pruned.append((key, row))
                }
                return true
            }
        }
        // The mark may be older than the time that was wrong.
        for name in Set(pruned.map(\.key.collection)).sorted() {
            for target in try model()[name].map(concludedTargets) ?? [PullTarget(name)] {
                try owe(target, position)
            }
        }
        for (key, var row) in pruned {
            row.prunedAt = nil
            try put(row, key)
        }
        try void(
            pruned.map { ($0.key, [$0.row.prunedAt, position].compactMap(\.self)) }, position)
    }
}

extension EntityRow {
    /// Leaves a stub of an entity: its document's hash, and the age of the answer.
    fileprivate mutating func prune(at position: Position) {
        isHidden = false
        guard baseState == .live else { return }
        prunedDigest = isPlaceholder ? [] : EntityRow.digest(of: base)
        prunedAt = isPlaceholder ? nil : position
        baseState = .absent
        (base, current, givenUp) = ([], [], [])
        isAssumed = false
        isPlaceholder = false
        triedAt = nil
    }

    /// The ``prunedDigest`` of an entity that was pruned with a document.
    package static func digest(of document: [UInt8]) -> [UInt8] { SHA256Digest.of(document) }
}
