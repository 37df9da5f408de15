// SyncEngine+Transfers.swift — fetches and sends files beside entities: when asked to, and by
// itself in an engine that was started.

import TidemarkEvents
import TidemarkRules
import TidemarkStore
public import TidemarkSync
import TidemarkViews

extension SyncEngine {
    /// Fetches the files that the model's `contents` want here, sends those of the user's that
    /// pending changes name, and waits until none is due.
    ///
    /// A change that names a file of the user's is pushed by the first run after the file was sent.
    /// Several go at once, within the model's `budgets`, also while a run is in progress; who calls
    /// this waits for all of them.
    /// A pass that goes on by itself is joined, and all that is due begins at once.
    /// A file is seen once it is whole and on disk, its hash compared where its record has one.
    /// What breaks off goes on later where it stopped. Failures of network and server are in the
    /// outcome. After ``start(_:)`` files are fetched and sent without this call.
    ///
    /// A server that can't be had is asked for no other file, and by the engine itself not until
    /// the pause is over, which a run that succeeds, or this call, ends at once; the files of other
    /// servers go on. Where three can't be had and none could, no more are tried. Where the disk is
    /// full nothing is fetched likewise, until this call or the end of the pause; what is here is
    /// sent all the same.
    ///
    /// If the task is cancelled, or the engine is stopped, the log stays consistent. A pass that
    /// was joined goes on when the task is cancelled, which does not wait for it any more.
    ///
    /// - Returns: what came of it.
    /// - Throws: ``TidemarkError``: `otherRemote` when the replica belongs to another origin,
    ///   `invalidModel` when the adapter can't do what the model asks for, `engineRunning` when
    ///   another engine syncs the same store, `nested` within the closure that gives credentials,
    ///   `readOnly` when the replica was opened for reading only, and errors of the storage.
    @discardableResult
    public func transfer() async throws -> TransferOutcome {
        try asking.refuse("a pass over the files")
        if replica.isReader { throw replica.readOnly }
        let stops = stops
        var joined = TransferOutcome()
        while let transfers, let signal = transferSignal {
            let start = signal.join()
            await withTaskCancellationHandler {
                await transfers.endOrCancellation()
            } onCancel: {
                signal.leave()
                Task { await self.endTransfersWhilePaused() }
            }
            joined.add(signal.outcome, since: start)
            guard stops == self.stops, !Task.isCancelled else {
                return TransferOutcome(.cancelled)
            }
        }
        transferPauses = TransferPauses()
        let task = beginTransfers(isAutomatic: false)
        var outcome = try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
        outcome.add(joined, since: TransferOutcome())
        return outcome
    }

    /// Ends an automatic pass that nobody waits for, while the engine is paused.
    func endTransfersWhilePaused() {
        guard schedule.isPaused, areTransfersAutomatic, transferSignal?.isAwaited != true else {
            return
        }
        transfers?.cancel()
    }

    private func beginTransfers(isAutomatic: Bool) -> Task<TransferOutcome, any Error> {
        let begun = replica.dependencies.now()
        let isFetching = transferPauses.roomEnd(at: begun) == nil
        let away = transferPauses.away(at: begun)
        let signal = TransferSignal(isAwaited: !isAutomatic)
        let task = Task {
            defer {
                (transfers, transferSignal) = (nil, nil)
                bell.ring()
            }
            do {
                let bell = bell
                var outcome = try await syncing {
                    _ = try bind()
                    return try await TransferDriver(
                        journal: replica.journal, adapter: adapter, transport: transport,
                        limits: limits, dependencies: replica.dependencies,
                        credentials: credentials, isFetching: isFetching, away: away,
                        signal: signal, sending: sending,
                        hasSent: { bell.ringForEdit() }
                    ).run()
                }
                let now = replica.dependencies.now()
                transferPauses.ended(outcome, isFetching: isFetching, at: now, backoff)
                outcome.nextAt = try nextTransferTime(at: now)
                publish(.success(outcome))
                return outcome
            } catch {
                let error = TidemarkError.wrapping(error)
                transferPauses.broke(at: replica.dependencies.now(), backoff)
                publish(.failure(TidemarkError(ending: error)))
                throw error
            }
        }
        (transfers, transferSignal) = (task, signal)
        areTransfersAutomatic = isAutomatic
        return task
    }

    private var backoff: SyncSettings.BackoffSpan {
        (try? replica.registration)?.model.settings.backoff ?? SyncSettings.BackoffSpan()
    }

    private func publish(_ transfer: Result<TransferOutcome, TidemarkError>) {
        broadcast.send { $0.lastTransfer = transfer }
    }

    /// When the next request about a file is due: one that fetches not before there may be room,
    /// and one to a server that could not be had not before that is asked again.
    private func nextTransferTime(at now: Timestamp) throws -> Timestamp? {
        let (pauses, away) = (transferPauses, transferPauses.away(at: now))
        return try replica.journal.read { views in
            var fetch = try views.nextFetchTime(at: now)
            if let end = pauses.firstEnd(at: now) {
                let others = try views.nextFetchTime(
                    at: now, isAway: try views.isAt(away, by: adapter))
                fetch = fetch.map { min(max($0, end), others ?? max($0, end)) }
            }
            if let end = pauses.roomEnd(at: now) { fetch = fetch.map { max($0, end) } }
            let send = try views.nextSendTime(at: now).map {
                max($0, pauses.end(of: .remote, at: now) ?? $0)
            }
            return [fetch, send].compactMap(\.self).min().map { max($0, pauses.end(at: now) ?? $0) }
        }
    }

    /// Begins to fetch and send what is due.
    ///
    /// - Returns: when something will be due; nil for never, or while files are being fetched, the
    ///   end of which rings the bell.
    func transferAutomatically(at now: Timestamp) throws -> Timestamp? {
        guard isStarted, !schedule.isPaused else { return nil }
        guard transfers == nil else {
            transferSignal?.look()
            return nil
        }
        let (due, isOpen): (Timestamp?, Bool)
        do {
            due = try nextTransferTime(at: now)
            isOpen = try replica.journal.read { try !$0.openTransfers().isEmpty }
        } catch { throw TidemarkError.wrapping(error) }
        // Without an answer are only requests of a process that is gone, or of a pass that broke.
        guard isOpen || due.map({ $0 <= now }) ?? false else { return due }
        if let end = transferPauses.end(at: now) { return end }
        _ = beginTransfers(isAutomatic: true)
        return nil
    }
}

extension Task where Success == TransferOutcome, Failure == any Error {
    /// Waits for its end, or until the task that waits is cancelled: this one goes on then.
    fileprivate func endOrCancellation() async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        _ = Task<Void, Never> {
            _ = await self.result
            continuation.finish()
        }
        for await _ in ends {}
    }
}
