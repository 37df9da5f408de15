// SyncTriggers.swift — which sync runs begin by themselves.

import TidemarkEvents
import TidemarkRules

/// Which sync runs begin by themselves, once an engine was started.
public struct SyncTriggers: Sendable, Hashable {
    /// Whether an edit starts one, as soon as no other follows.
    public var localChanges: Bool
    /// How long after the last run the next one begins, at least a second; nil for never.
    public var every: Duration?
    /// How long no further edit may have come: typing is one run.
    public var quiet: Duration
    /// How long an edit waits at most while others follow.
    public var quietMax: Duration
    /// How far local time is ahead of UTC, where what need not be kept is pruned at each local
    /// midnight; nil for never.
    public var cleansUpAtMidnight: Duration?

    /// Each has a usual value: every edit, and no timer.
    public init(
        localChanges: Bool = true, every: Duration? = nil, quiet: Duration = .seconds(1),
        quietMax: Duration = .seconds(5), cleansUpAtMidnight: Duration? = nil
    ) {
        self.cleansUpAtMidnight = cleansUpAtMidnight
        self.localChanges = localChanges
        self.every = every
        self.quiet = quiet
        self.quietMax = quietMax
    }

    /// None: runs begin when they are asked for, or when a failed one is to be tried again.
    public static let none = SyncTriggers(localChanges: false)

    var automatic: SyncSchedule.Automatic {
        SyncSchedule.Automatic(
            localChanges: localChanges, every: every?.wholeMicroseconds,
            quiet: quiet.wholeMicroseconds,
            quietMax: quietMax.wholeMicroseconds,
            midnight: cleansUpAtMidnight?.wholeMicroseconds)
    }
}
