// EngineStatus.swift — the status of an engine, for display.

public import TidemarkEvents
public import TidemarkSync

/// The status of an engine, and of the outbox.
public struct EngineStatus: Sendable, Hashable {
    /// The activity of an engine.
    @nonexhaustive public enum Activity: Sendable, Hashable {
        /// Nothing, until a run is requested.
        case idle
        /// A sync run is in progress.
        case syncing(SyncProgress)
        /// The next run begins automatically at this time of the device's clock, at the latest.
        case waiting(until: Timestamp, SyncWaitReason)
        /// No run begins automatically until the user or the app does something.
        case paused(SyncPauseReason)
        /// It was stopped; with the error where the store failed, or no run can begin.
        case stopped(TidemarkError?)
    }

    /// A file of the user's that is being sent.
    public struct Sending: Sendable, Hashable {
        /// Its SHA-256 in 64 hexadecimal digits, as the entity names it.
        public let sha256: String
        /// How many of its bytes were handed to the network; fewer again where it is sent anew.
        public let sent: Int
        /// Its length.
        public let bytes: Int
    }

    /// The engine's activity.
    public var activity: Activity
    /// The outcome of this engine's last run; nil before the first one.
    public var lastOutcome: SyncOutcome?
    /// What came of the last time that this engine fetched files; nil before the first one.
    public var lastTransfer: Result<TransferOutcome, TidemarkError>?
    /// How many mutations the server has not acknowledged, without those it refused, as of the last
    /// change of this status.
    public var pending: Int
    /// How many mutations the server refused and that wait for the user.
    public var refused: Int
    /// Collections in which a whole list did not name more than half of the entities, and how many
    /// those are: they are kept until the user decides.
    public var held: [CollectionName: Int]
    /// The files of 256 KiB and more that are being sent now, in the order in which they began; it
    /// changes with each hundredth of one.
    public package(set) var sending: [Sending] = []

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

    /// The progress of the current run; nil when there is none.
    public var progress: SyncProgress? {
        if case .syncing(let progress) = activity { progress } else { nil }
    }
}
