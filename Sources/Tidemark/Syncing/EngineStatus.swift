// EngineStatus.swift — what an engine is doing, for a person to see.

public import TidemarkEvents
public import TidemarkSync

/// What an engine is doing, and what waits.
public struct EngineStatus: Sendable, Hashable {
    /// What an engine is doing.
    public enum Activity: Sendable, Hashable {
        /// Nothing, until it is asked to.
        case idle
        /// A sync run is going on.
        case syncing(SyncProgress)
        /// The next run begins by itself then, by the device's clock, at the latest.
        case waiting(until: Timestamp, SyncWaitReason)
        /// No run begins by itself before somebody does something.
        case paused(SyncPauseReason)
        /// It was stopped, or stopped because the store failed.
        case stopped(TidemarkError?)
    }

    /// What the engine is doing.
    public var activity: Activity
    /// How the last run ended that this engine made; nil before any did.
    public var lastOutcome: SyncOutcome?
    /// Mutations that the server has not acknowledged, as of the last time anything changed here.
    public var pending: Int
    /// Mutations that the server refused and that wait for the user.
    public var refused: Int
    /// Collections of which a whole list did not name more than half: how many entities are kept
    /// until the user says what is to become of them.
    public var held: [CollectionName: Int]

    /// A status from its parts.
    public init(
        _ activity: Activity, lastOutcome: SyncOutcome? = nil, pending: Int = 0, refused: Int = 0,
        held: [CollectionName: Int] = [:]
    ) {
        self.activity = activity
        self.lastOutcome = lastOutcome
        self.pending = pending
        self.refused = refused
        self.held = held
    }

    /// How the run is going on; nil while none is.
    public var progress: SyncProgress? {
        if case .syncing(let progress) = activity { progress } else { nil }
    }
}
