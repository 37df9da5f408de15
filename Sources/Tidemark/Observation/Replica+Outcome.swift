// Replica+Outcome.swift — what became of a change that was made here, now or once it is known.

public import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension ReadContext {
    /// What became of a change that was made here; nil as long as it waits: for the server, or,
    /// where that refused it, for somebody's answer.
    ///
    /// It is kept for as long as the change is in the log (`settings.keep`), so that it is known
    /// after a restart, too.
    ///
    /// - Parameter change: the position that the edit, the deletion or the request returned.
    /// - Throws: ``TidemarkError`` `notFound` where no change of this store was logged there, or
    ///   the log does not reach back to it.
    public func outcome(of change: Position) throws -> MutationOutcome? {
        let row = try views.changed(at: change)
        return row.isOpen ? nil : row.outcome
    }
}

extension Replica {
    /// Waits until it is known what became of a change that was made here.
    ///
    /// It waits for as long as the change does: over runs that fail, and, where the server refused
    /// it, until somebody answered the issue and what follows from that came to its end. Nothing is
    /// sent because of it. It costs a look at each commit that is about the entity.
    ///
    /// - Parameter change: the position that the edit, the deletion or the request returned.
    /// - Throws: ``TidemarkError``: `notFound` as for ``ReadContext/outcome(of:)``, `readOnly` when
    ///   the replica was opened for reading only and the outcome is not known yet, and `closed`
    ///   when the replica is closed meanwhile; `CancellationError` when the task is cancelled.
    public func outcome(of change: Position) async throws -> MutationOutcome {
        if isReader {
            // Nobody would tell it when to look again.
            guard let outcome = try read({ try $0.outcome(of: change) }) else { throw readOnly }
            return outcome
        }
        let outcomes = ObservedValues(
            source: ObservedSource<MutationOutcome?>(
                replica: self,
                interest: { views in
                    let key = try views.changed(at: change).key
                    return Interest(try views.resolve(key), asked: key, includesStatus: true)
                },
                read: { context in
                    let outcome = try context.outcome(of: change)
                    return ObservedReading(fingerprint: Array((outcome?.rawValue ?? "").utf8)) {
                        outcome
                    }
                }))
        for try await outcome in outcomes {
            if let outcome { return outcome }
        }
        try Task.checkCancellation()
        throw TidemarkError(.closed, "the replica was closed before \(change) came to an end")
    }
}

extension ViewReader {
    /// The change that was logged at a position.
    fileprivate func changed(at position: Position) throws -> MutationRow {
        guard let row = try mutation(position) else {
            throw TidemarkError(
                .notFound, "no change was logged at \(position), or the log begins after it")
        }
        return row
    }
}
