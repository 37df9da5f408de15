// SyncStatusModel.swift — an engine's status for the main thread: views that show it are redrawn
// when it changes.

public import Observation

/// The status of an engine, for display.
///
/// It follows the engine for as long as this object exists.
@MainActor @Observable public final class SyncStatusModel {
    /// The status of the engine and of the outbox.
    public private(set) var status: EngineStatus

    @ObservationIgnored private var following: Following?

    /// Follows an engine.
    public init(_ engine: SyncEngine) {
        status = engine.broadcast.current
        let changes = engine.statuses
        following = Following(
            Task { [weak self] in
                for await status in changes {
                    guard let self else { return }
                    if self.status != status { self.status = status }
                }
            })
    }
}
