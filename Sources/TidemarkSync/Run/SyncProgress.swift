// SyncProgress.swift — how far a sync run is.

public import TidemarkEvents

/// How far a sync run is.
public struct SyncProgress: Sendable, Hashable {
    /// What the run is doing.
    @nonexhaustive public enum Phase: String, Sendable {
        /// Reading back writes whose outcome is not known.
        case readingBack
        /// Fetching what the server changed.
        case pulling
        /// Sending what is pending.
        case pushing
        /// Having values of pools reserved.
        case reserving
        /// Pruning, or logging the end of the run.
        case cleaning
    }
    /// Which parts of a run it does.
    public var scope: SyncScope
    /// What the run is doing.
    public var phase: Phase
    /// With which collection; nil for all of them.
    public var collection: CollectionName?
    /// How much of the phase is done: entities that were read back, that had changed on the server,
    /// or that were sent and answered; keys of pools that were filled.
    public var done: Int
    /// How much the phase has to do, as far as is known now; nil where only the server knows.
    public var total: Int?
    /// What was done so far, in all phases.
    public var counts: SyncCounts

    init(step: SyncStep, outcome: SyncOutcome, left: Int?, scope: SyncScope = .all) {
        self.scope = scope
        counts = outcome.counts
        switch step {
        case .start, .readBack, .readBackAll, .compare:
            (phase, done) = (.readingBack, counts.readBack)
        case .describe, .combine, .list, .feed, .fetch, .refetch, .complete:
            (phase, done) = (.pulling, counts.pulled)
        case .push, .receive, .poll, .remedy:
            (phase, done) = (.pushing, counts.pushed + counts.conflicts + counts.rejected)
        case .refill: (phase, done) = (.reserving, outcome.refills.count)
        case .cleanUp, .renew, .finish: (phase, done) = (.cleaning, 0)
        }
        collection = step.call?.collection?.name
        if case .complete(let list) = step { collection = list.collection.name }
        total = left.map { done + $0 }
    }
}
