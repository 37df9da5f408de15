// FoldServer.swift — what the server says of an entity, and what becomes of what is pending on it.

import TidemarkEvents
import TidemarkRules

extension Fold {
    func serverSays(_ event: Event, _ position: Position, isDeletion: Bool) throws {
        guard let named = event.key, isDeletion || event.isObject else { return }
        let key = try resolve(named)
        let place = RowKey.entity(key)
        let asOf = event.asOf ?? position
        if try changeUnpending(place, { $0.take(event, position, asOf, isDeletion) }) { return }
        var row = try entity(at: place)
        // What is less fresh never changes the base, in whatever order it arrives.
        guard row.isFresher(event, asOf) else { return }
        // The answer to our own write is not another side's change: what is pending stays on it.
        if event.mutation == nil, !row.pending.isEmpty {
            let new: Base =
                isDeletion ? .deleted(last: nil) : .live(try JSONDocument(parsing: event.payload))
            try rebase(&row, onto: new, key, event, position)
        }
        row.set(event, position, asOf, isDeletion)
        try refresh(&row)
        try put(row, at: place)
    }

    private func rebase(
        _ row: inout EntityRow, onto new: Base, _ key: EntityKey, _ event: Event,
        _ position: Position
    ) throws {
        let collection = try collection(key.collection)
        let changes = try row.changes
        let rebase = Rebase(
            changes, from: try row.baseValue, to: new, policy: collection.conflict,
            serverFields: collection.serverFields)
        var kept: [EntityRow.Pending] = []
        for (index, verdict) in rebase.verdicts.enumerated() {
            let item = row.pending[index]
            switch verdict {
            case .stays: kept.append(item)
            case .arrived:
                let outcome: MutationOutcome = changes[index].mayHaveArrived ? .accepted : .merged
                try settle(item.position, outcome, proof: position, revision: event.revision)
            case .coalesced:
                try settle(item.position, .coalesced, proof: position, revision: event.revision)
            case .superseded:
                try settle(item.position, .superseded, proof: position, revision: event.revision)
            }
        }
        for (index, conflict) in rebase.conflicts.enumerated() {
            let decision = DecisionRow(
                key: key, rule: collection.conflict.rawValue,
                ruleVersion: UInt64(Rebase.version),
                result: conflict.localWins ? "localWins" : "serverWins",
                inputs: [conflict.position, position], fields: conflict.fields)
            put(.decision(position, index), decision.encoded)
        }
        row.pending = kept
        // Of an attempt that carried nothing but what is settled now, nothing is left to learn.
        if let attempt = row.attempt, !kept.contains(where: { $0.position <= attempt.covers }) {
            endAttempt(&row, key)
        }
        if !kept.contains(where: \.isRefused) { row.refusal = nil }
    }
}

extension EntityRow {
    /// Whether what a server said is to change what is known: it is not older than that.
    fileprivate func isFresher(_ event: Event, _ asOf: Position) -> Bool {
        if let known = self.asOf, asOf < known { return false }
        if asOf == self.asOf, let known = serverTime, let time = event.serverTime, time < known {
            return false
        }
        return true
    }

    /// Makes what the server said the base.
    fileprivate mutating func set(
        _ event: Event, _ position: Position, _ asOf: Position, _ isDeletion: Bool
    ) {
        if isDeletion {
            baseState = .deleted
            revision = nil
        } else {
            baseState = .live
            base = event.payload
            revision = event.revision
        }
        serverTime = event.serverTime
        isAssumed = false
        basePosition = position
        self.asOf = asOf
    }

    /// The whole of it for an entity on which nothing is pending; false when nothing changed.
    fileprivate mutating func take(
        _ event: Event, _ position: Position, _ asOf: Position, _ isDeletion: Bool
    ) -> Bool {
        guard isFresher(event, asOf) else { return false }
        set(event, position, asOf, isDeletion)
        current = []
        if isDeletion { base = [] }
        return true
    }
}
