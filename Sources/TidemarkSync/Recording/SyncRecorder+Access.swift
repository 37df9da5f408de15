// SyncRecorder+Access.swift — what is out of reach and what was pruned, as far as it decides
// what is logged.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncRecorder {
    /// Logs that what need not be kept is to be pruned, unless there is nothing.
    ///
    /// - Parameters:
    ///   - now: the server's time.
    ///   - moment: when it went off, by the device's clocks.
    mutating func cleanUp(_ now: Timestamp, _ moment: Moment, _ draft: Draft) throws {
        guard try !draft.fold.isTimeInDoubt(), try draft.fold.believes(now, begun: self.begun)
        else { return }
        for _ in 0..<Self.cleanUpsMax {
            guard try !draft.fold.pruneDecision(at: now).isEmpty else { return }
            let start = try begin(draft)
            let bootID = try draft.fold.unnamed(moment.bootID)
            try draft.append(
                Event(
                    .timerFired, recordedAt: draft.now, sync: start, uptime: moment.uptime,
                    bootID: bootID,
                    json: TimerFired(.cleanUp, now: now).encoded))
        }
    }

    /// How many events one clean-up takes, each of ``PruneDecision/itemsMax``.
    ///
    /// The next run goes on.
    private static let cleanUpsMax = 100

    /// Whether a word of the server about an entity says nothing new, though it is not here: it was
    /// pruned as it is, and would be again.
    func wouldBePruned(_ document: [UInt8], _ key: EntityKey, _ draft: Draft) throws -> Bool {
        let row = try draft.fold.entity(key)
        guard row.baseState == .absent, row.pending.isEmpty, !row.prunedDigest.isEmpty,
            let now = try serverNow(draft), let collection = try model(key, draft)
        else { return false }
        return collection.isPast(document, at: now)
            && row.prunedDigest == EntityRow.digest(of: document)
    }

    /// Whether an entity is out of reach by itself, so that any list that names it is news.
    func wasOutOfReach(_ key: EntityKey, _ row: EntityRow, _ draft: Draft) throws -> Bool {
        guard row.isHidden else { return false }
        return try model(key, draft)?.access.hidesAbsent == true
    }

    private func model(_ key: EntityKey, _ draft: Draft) throws -> CollectionModel? {
        try draft.fold.knownCollection(key.collection)
    }
}
