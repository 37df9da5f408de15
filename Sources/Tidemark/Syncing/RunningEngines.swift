// RunningEngines.swift — the engines of a replica, and which of them may run.

import TidemarkStore
import TidemarkViews

/// The engines that were created for a replica and still exist.
final class RunningEngines: Sendable {
    private struct Weak: Sendable {
        weak let engine: SyncEngine?
    }
    private let engines = Lock<[Weak]>([])

    func add(_ engine: SyncEngine) {
        engines.withLock { engines in
            engines.removeAll { $0.engine == nil }
            engines.append(Weak(engine: engine))
        }
    }

    /// Ends what is in flight, as the store was closed, and has those that wait see that.
    func end() {
        for engine in engines.withLock({ $0.compactMap(\.engine) }) {
            Task { await engine.endAll() }
            engine.bell.ring()
        }
    }

    /// Stops all engines, one after another.
    func stop() async {
        for engine in engines.withLock({ $0.compactMap(\.engine) }) { await engine.stop() }
    }
}

extension SyncEngine {
    /// Takes the right to sync among the engines of all replicas that have this store open; every
    /// call must be matched by giving it back.
    ///
    /// - Throws: ``TidemarkError``: `engineRunning` when another engine has it; `readOnly` where
    ///   the store was opened for reading only.
    func beginSyncing() throws(TidemarkError) {
        if replica.isReader { throw replica.readOnly }
        guard replica.journal.shared.beginSyncing(ObjectIdentifier(self)) else {
            throw TidemarkError(
                .engineRunning,
                "another SyncEngine is syncing \(replica.directory); stop that one first, or use it"
            )
        }
    }
}
