// RunningEngines.swift — which engines a replica has, and which of them may run.

import TidemarkStore
import TidemarkViews

/// The engines that were made for a replica and are still kept.
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

    /// Stops each, one after another.
    func stop() async {
        for engine in engines.withLock({ $0.compactMap(\.engine) }) { await engine.stop() }
    }
}

extension SyncEngine {
    /// Takes the turn among the engines of all replicas that have this store open; as often as it
    /// is asked for, it is to be given back.
    ///
    /// - Throws: ``TidemarkError``: `engineRunning` when it is another one's.
    func beginSyncing() throws(TidemarkError) {
        guard replica.journal.shared.beginSyncing(ObjectIdentifier(self)) else {
            throw TidemarkError(
                .engineRunning,
                "another SyncEngine is syncing \(replica.directory); stop that one first, or use it"
            )
        }
    }
}
