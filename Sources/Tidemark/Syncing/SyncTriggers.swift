// SyncTriggers.swift — when sync runs begin automatically.

import TidemarkEvents
import TidemarkRules

/// When sync runs begin automatically, once an engine was started.
public struct SyncTriggers: Sendable, Hashable {
    /// Whether an edit starts a run, as soon as no other edit follows.
    public var localChanges: Bool
    /// How long after the last run the next one begins, at least a second; nil for what the model
    /// says, ``SyncSettings/runEvery``, and zero for no timer.
    public var every: Duration?
    /// How long to wait for further edits, so that typing makes only one run.
    public var quiet: Duration
    /// How long an edit waits at most while others follow.
    public var quietMax: Duration
    /// How far local time is ahead of UTC, for pruning at each local midnight; nil for no such
    /// pruning.
    ///
    /// It stays what it is: where summer time begins or ends, call ``SyncEngine/start(_:)`` with
    /// the new one.
    public var midnightUTCOffset: Duration?

    /// The triggers; by default every edit, and the model's timer.
    public init(
        localChanges: Bool = true, every: Duration? = nil, quiet: Duration = .seconds(1),
        quietMax: Duration = .seconds(5), midnightUTCOffset: Duration? = nil
    ) {
        self.midnightUTCOffset = midnightUTCOffset
        self.localChanges = localChanges
        self.every = every
        self.quiet = quiet
        self.quietMax = quietMax
    }

    /// None: runs begin when requested, or when a failed one is to be tried again.
    public static let none = SyncTriggers(localChanges: false, every: .zero)

    /// What a schedule goes by.
    ///
    /// - Parameter usual: the model's time between two runs.
    func automatic(every usual: TimeSpan) -> SyncSchedule.Automatic {
        let every = every ?? .seconds(usual.seconds)
        return SyncSchedule.Automatic(
            localChanges: localChanges, every: every > .zero ? every.wholeMicroseconds : nil,
            quiet: quiet.wholeMicroseconds,
            quietMax: quietMax.wholeMicroseconds,
            midnight: midnightUTCOffset?.wholeMicroseconds)
    }
}
