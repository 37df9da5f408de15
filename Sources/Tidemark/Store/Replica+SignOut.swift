// Replica+SignOut.swift — ends the use of an account on this device without losing pending changes
// by accident.

import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Replica {
    /// What signing out does with changes that the server has not acknowledged, including refused
    /// ones, and with files of the user's that only this device has.
    @nonexhaustive public enum PendingChanges: Sendable, Hashable {
        /// Nothing is done while there are any: `pendingChanges` is thrown.
        case refuse
        /// The store is closed and kept, and can be opened and synced again.
        case keep
        /// They are removed with the store, and are lost.
        case discard
    }

    /// Ends the use of this store: stops its engines, closes it and, unless it is to be kept,
    /// removes its folder.
    ///
    /// Concurrent writes are either seen by the check for pending changes, or refused as `closed`.
    /// An engine that is started meanwhile ends with the store. After a crash in the middle, either
    /// the store is complete, or its remains are removed by the next opening.
    ///
    /// What is kept on this device alone (``CollectionModel/localOnly``) goes with the store, and
    /// counts as no pending change.
    ///
    /// - Throws: ``TidemarkError``: `pendingChanges`, with nothing changed; `busy` when this
    ///   process has the store open in another replica, which must be closed first, with nothing
    ///   changed; `closed`; or why the folder can't be removed, in which case the store is closed.
    public func signOut(ifPending: PendingChanges) async throws {
        let (engines, journal, directory) = (engines, journal, directory)
        // One may have been started since they were stopped.
        defer { if journal.isClosed { engines.end() } }
        do {
            guard ifPending != .keep else {
                await engines.stop()
                return try await BlockingWork.run(waits: true) { try journal.close() }
            }
            try await journal.closeRemoving(
                unless: { views in
                    guard ifPending == .refuse else { return }
                    let unsaved = try Unsaved(views)
                    guard unsaved.isEmpty else { throw Self.pending(unsaved, directory) }
                }, ending: { await engines.stop() })
        } catch { throw TidemarkError.wrapping(error) }
    }

    private static func pending(_ unsaved: Unsaved, _ directory: String) -> TidemarkError {
        // No sync sends what waits for none.
        let sync = unsaved.changes == 0 ? "" : "sync \(directory) first, or "
        return TidemarkError(
            .pendingChanges, "\(unsaved.words); \(sync)sign out with .keep or .discard")
    }
}
