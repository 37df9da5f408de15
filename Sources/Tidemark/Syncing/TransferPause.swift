// TransferPause.swift — how long no file is fetched or sent automatically after passes that did not
// get on: each server by itself, the disk, and the store.

import TidemarkEvents
import TidemarkRules
import TidemarkSync

/// How long files are not fetched and sent automatically; only in memory, beside the pauses of
/// single files.
struct TransferPauses: Sendable, Hashable {
    private var servers: [FileServer: TransferPause] = [:]
    /// No room for what is fetched.
    private var room = TransferPause()
    private var storage = TransferPause()
    /// No server could be had.
    private var network = TransferPause()

    /// Until when nothing is done at all; nil for no pause.
    func end(at now: Timestamp) -> Timestamp? {
        [storage.end(at: now), network.end(at: now)].compactMap(\.self).max()
    }

    /// Until when nothing is fetched, as there is no room; nil for no pause.
    func roomEnd(at now: Timestamp) -> Timestamp? { room.end(at: now) }

    /// Until when a server is not asked; nil for no pause.
    func end(of server: FileServer, at now: Timestamp) -> Timestamp? {
        servers[server]?.end(at: now)
    }

    /// The servers that are not asked.
    func away(at now: Timestamp) -> Set<FileServer> {
        Set(servers.keys.filter { end(of: $0, at: now) != nil })
    }

    /// When the first of the servers that are not asked is asked again; nil where all are.
    func firstEnd(at now: Timestamp) -> Timestamp? {
        servers.values.compactMap { $0.end(at: now) }.min()
    }

    /// Ends the pauses of all servers.
    mutating func reachAll() { (servers, network) = ([:], TransferPause()) }

    /// A pass has ended.
    ///
    /// A server that can't be had is asked less and less often.
    mutating func ended(
        _ outcome: TransferOutcome, isFetching: Bool, at now: Timestamp,
        _ backoff: SyncSettings.BackoffSpan
    ) {
        storage = TransferPause()
        for server in outcome.reached { servers[server] = nil }
        if !outcome.reached.isEmpty { network = TransferPause() }
        if outcome.isOffline, let failure = outcome.failure {
            network.failed(.init(failure), at: now, backoff)
        }
        for (server, away) in outcome.away {
            servers[server, default: TransferPause()].failed(away, at: now, backoff)
        }
        if isFetching { room.ended(isFull: outcome.isFull, at: now, backoff) }
    }

    /// A pass has ended with an error of the storage.
    mutating func broke(at now: Timestamp, _ backoff: SyncSettings.BackoffSpan) {
        storage.broke(at: now, backoff)
    }
}

/// One reason for a pause.
private struct TransferPause: Sendable, Hashable {
    /// How many passes in a row did not get on.
    private var failures = 0
    private var begun: Timestamp?
    private var until: Timestamp?

    /// The end of the pause; nil where there is none, also after the clock was set back.
    func end(at now: Timestamp) -> Timestamp? {
        guard let begun, let until, begun <= now, now < until else { return nil }
        return until
    }

    /// A server could not be had.
    mutating func failed(
        _ away: TransferOutcome.Away, at now: Timestamp, _ backoff: SyncSettings.BackoffSpan
    ) {
        guard away.failure != .cancelled else { return }
        failures += 1
        // Other credentials come with time, or with a run.
        let wait = away.failure == .unauthorized ? backoff.max : self.wait(backoff)
        begun = now
        until = max(now.adding(wait), away.until ?? now)
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
