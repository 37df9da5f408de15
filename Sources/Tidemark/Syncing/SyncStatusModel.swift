// SyncStatusModel.swift — an engine's status for the main thread: whatever shows it is redrawn when
// it changes.

public import Observation

/// The status of an engine, to be shown.
///
/// Follows the engine for as long as it is kept.
@MainActor @Observable public final class SyncStatusModel {
    /// What the engine is doing, and what waits.
    public private(set) var status: EngineStatus

    @ObservationIgnored private var following: Following?

    /// Follows an engine.
    public init(_ engine: SyncEngine) {
        status = engine.broadcast.current
        let changes = engine.status
        following = Following(
            Task { [weak self] in
                for await status in changes {
                    guard let self else { return }
                    if self.status != status { self.status = status }
                }
            })
    }
}
