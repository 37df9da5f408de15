// SyncEngine+Transfers.swift — fetches files beside entities: when asked to, and by itself in an
// engine that was started.

import TidemarkEvents
import TidemarkRules
import TidemarkStore
public import TidemarkSync
import TidemarkViews

extension SyncEngine {
    /// Fetches the files that the model's `contents` want here, and waits until none is due.
    ///
    /// Several are fetched at once, within the model's `budgets`, also while a run is in progress.
    /// A file is seen once it is whole and on disk, its hash compared where its record has one.
    /// What breaks off goes on later where it stopped. Failures of network and server are in the
    /// outcome. After ``start(_:)`` files are fetched without this call.
    ///
    /// If the task is cancelled, the log stays consistent.
    ///
    /// - Returns: what came of it.
    /// - Throws: ``TidemarkError``: `otherRemote` when the replica belongs to another origin,
    ///   `engineRunning` when another engine syncs the same store, and errors of the storage.
    @discardableResult
    public func transfer() async throws -> TransferOutcome {
        while let transfers { _ = await transfers.result }
        let task = beginTransfers()
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    @discardableResult
    private func beginTransfers() -> Task<TransferOutcome, any Error> {
        let task = Task {
            defer {
                transfers = nil
                bell.ring()
            }
            do {
                let outcome = try await syncing {
                    _ = try bind()
                    return try await TransferDriver(
                        journal: replica.journal, transport: transport, limits: limits,
                        dependencies: replica.dependencies, credentials: credentials
                    ).run()
                }
                areTransfersBroken = false
                return outcome
            } catch {
                // By itself it is not tried again at once.
                areTransfersBroken = true
                throw TidemarkError.wrapping(error)
            }
        }
        transfers = task
        return task
    }

    /// Begins to fetch what is due.
    ///
    /// - Returns: when something will be due; nil for never, or while files are being fetched, the
    ///   end of which rings the bell.
    func transferAutomatically(at now: Timestamp) throws -> Timestamp? {
        guard isStarted, !schedule.isPaused, !areTransfersBroken, transfers == nil else {
            return nil
        }
        let (due, isOpen): (Timestamp?, Bool)
        do {
            (due, isOpen) = try replica.journal.read { views in
                (try views.nextTransferTime(), try !views.openTransfers().isEmpty)
            }
        } catch { throw TidemarkError.wrapping(error) }
        // Without an answer are only requests of a process that is gone.
        guard isOpen || due.map({ $0 <= now }) ?? false else { return due }
        beginTransfers()
        return nil
    }
}
