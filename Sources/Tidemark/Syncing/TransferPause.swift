// TransferPause.swift — how long no file is fetched or sent automatically after passes that did not
// get on.

import TidemarkEvents
import TidemarkRules
import TidemarkSync

/// How long no file is fetched automatically; only in memory, beside the pauses of single files.
struct TransferPause: Sendable, Hashable {
    /// How many passes in a row did not reach the remote, or found no room.
    private var failures = 0
    private var begun: Timestamp?
    private var until: Timestamp?

    /// The end of the pause; nil where there is none, also after the clock was set back.
    func end(at now: Timestamp) -> Timestamp? {
        guard let begun, let until, begun <= now, now < until else { return nil }
        return until
    }

    /// A pass has ended.
    ///
    /// The remote is asked less and less often. One of many other servers that is away holds the
    /// files only as long as its own.
    mutating func ended(
        _ outcome: TransferOutcome, at now: Timestamp, _ backoff: SyncSettings.BackoffSpan
    ) {
        if outcome.failure == nil || outcome.stored > 0 || outcome.sent > 0
            || outcome.bytes > 0
        {
            self = TransferPause()
        }
        guard let failure = outcome.failure, failure != .cancelled else { return }
        begun = now
        until = outcome.heldUntil
        guard outcome.isRemoteAway else { return }
        failures += 1
        // Other credentials come with time, or with a run.
        let wait = failure == .unauthorized ? backoff.max : self.wait(backoff)
        until = max(now.adding(wait), outcome.heldUntil ?? now)
    }

    /// A pass has ended that fetched files as long as the disk had room for them.
    mutating func ended(
        isFull: Bool, at now: Timestamp, _ backoff: SyncSettings.BackoffSpan
    ) {
        guard isFull else { return self = TransferPause() }
        failures += 1
        (begun, until) = (now, now.adding(wait(backoff)))
    }

    /// How long the pause is after so many passes.
    private func wait(_ backoff: SyncSettings.BackoffSpan) -> TimeSpan {
        var progress = FetchProgress()
        progress.failures = failures
        return TransferRule.pause(.failed, progress, retryAfter: nil, backoff)
    }

    /// A pass has ended with an error of the storage.
    mutating func broke(at now: Timestamp, _ backoff: SyncSettings.BackoffSpan) {
        (begun, until) = (now, now.adding(backoff.max))
    }
}
