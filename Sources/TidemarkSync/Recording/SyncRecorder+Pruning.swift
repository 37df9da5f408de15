// SyncRecorder+Pruning.swift — how it stands in the log that entities are pruned.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncRecorder {
    /// Logs that what need not be kept is to be pruned, unless there is nothing.
    ///
    /// Nor is anything in a boot without an answer: the device's clock alone makes nothing old.
    ///
    /// - Parameters:
    ///   - now: the server's time.
    ///   - moment: when it went off, by the device's clocks.
    mutating func cleanUp(_ now: Timestamp, _ moment: Moment, _ draft: Draft) throws {
        // The boot's first answer may be one of this run that brought nothing.
        if dated != nil { _ = try begin(draft) }
        guard try !draft.fold.isTimeInDoubt(), try draft.fold.believes(now, begun: self.begun),
            try draft.fold.isHeard(in: begun.bootID)
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
}
