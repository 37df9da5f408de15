// SyncOutcome.swift — how a sync run ended.

public import TidemarkEvents

/// How a sync run ended.
public struct SyncOutcome: Sendable, Hashable {
    /// Why the run ended early, or did not begin; nil when it went to its end.
    public var failure: SyncFailure?
    /// Collections that could not be synced, each with the reason; the others were.
    public var failed: [CollectionName: SyncFailure] = [:]
    /// Collections in which a whole list did not name more than half of the entities, and how many
    /// those are: they are kept until the user decides, or a later list names them.
    ///
    /// It shows the state at the end of the run, also where an earlier run found it.
    public var held: [CollectionName: Int] = [:]
    /// Collections whose list of everything could not go on where an earlier run was cut off: the
    /// server no longer accepted the page token, and the list began again.
    public var restarted: Set<CollectionName> = []
    /// Collections that were not listed, because their lists are not old enough yet
    /// (``CollectionModel/listEvery``), or because a pull of single collections would have had to
    /// wait for a limit with `wholePulls`.
    public var notDue: Set<CollectionName> = []
    /// Collections that were listed to their end, of those that are not listed in every run.
    package var listed: Set<CollectionName> = []
    /// In how many seconds the first of the groups of requests has room again for which something
    /// was left to a later run; 0 where nobody knows, nil where nothing was.
    package var heldBackFor: Int64?
    /// Where a run of everything was cut off, unless the next one begins as any other.
    package var cut: CutPlace?
    /// A notice of the server to the operator of the app, verbatim.
    ///
    /// Credentials in it are masked. The end of an API may be announced this way in advance. The
    /// adapter's ``ServerWords`` name the header field.
    public var alert: String?
    /// Collections in which the server sent a document that holds the credentials of the run.
    ///
    /// Documents are kept verbatim, so the credentials are now in the store, and everyone who may
    /// read those documents on the server can read them, too.
    public var exposed: Set<CollectionName> = []
    /// The keys of pools that values were asked for, or would have been, in the order in which they
    /// were; what failed there fails nothing else.
    public var refills: [Refill] = []
    /// What was done.
    public var counts = SyncCounts()
    /// Mutations that are still in the outbox: neither acknowledged nor refused.
    public var pending = 0
    /// Mutations that the server refused and that wait for the user.
    public var refused = 0
    /// Entities about which calls fail by themselves.
    ///
    /// The outcome of a write is not known, or the entity could not be read. Each call is made
    /// again automatically.
    public var unsettled = 0
    /// Whether the server's time is in doubt: an answer told another time than expected.
    ///
    /// Until then, whatever needs that time waits: nothing is removed because lists do not name it,
    /// nothing is pruned, and lists are whole. It ends with an answer that agrees with what was
    /// known, or with three over ten minutes that agree with one another.
    public var isTimeInDoubt = false
    /// Whether the server is known to ignore the preconditions of writes.
    ///
    /// Each write goes after a read then, and what another client writes in between is replaced
    /// unseen. It is tried again seven days after it was found out.
    public var ignoresPreconditions = false

    /// An outcome to be filled in.
    public init() {}

    /// Whether both sides are equal in what the run's scope has, as far as it could see: lists that
    /// were not due were not looked at.
    public var isSynced: Bool {
        failure == nil && failed.isEmpty && held.isEmpty && pending == 0 && refused == 0
            && unsettled == 0 && !isTimeInDoubt
    }
}

extension SyncOutcome {
    /// What came of a question for values of a pool: ``SyncModel/pools``.
    public struct Refill: Sendable, Hashable {
        /// The name of the pool.
        public var pool: String
        /// What the values are of.
        public var key: [String]
        /// How many values were added.
        public var added: Int
        /// Why it is not filled, or not as far as was asked for; nil where it is.
        public var failure: SyncFailure?

        init(_ key: PoolKey, added: Int = 0, _ failure: SyncFailure?) {
            (pool, self.key) = (key.pool, key.texts)
            self.added = added
            self.failure = failure
        }
    }
}

extension SyncOutcome: CustomStringConvertible {
    /// The outcome in one line, for people: `synced: 2 pulled, 1 pushed`.
    public var description: String {
        var parts: [String] = []
        for (count, word) in [
            (counts.pulled, "pulled"), (counts.pushed, "pushed"), (counts.conflicts, "in conflict"),
            (counts.readBack, "read back"), (pending, "pending"), (refused, "refused"),
            (unsettled, "unsettled"),
        ] where count > 0 {
            parts.append("\(count) \(word)")
        }
        let kept = held.values.reduce(0, +)
        if kept > 0 { parts.append("\(kept) held") }
        if isTimeInDoubt { parts.append("the server's time is in doubt") }
        if ignoresPreconditions { parts.append("the server ignores preconditions") }
        let values = refills.reduce(0) { $0 + $1.added }
        if values > 0 { parts.append("\(values) values reserved") }
        let unfilled = refills.count { $0.failure != nil }
        if unfilled > 0 { parts.append("\(unfilled) keys of pools not filled") }
        if parts.isEmpty { parts.append("nothing new") }
        if !notDue.isEmpty { parts.append("\(notDue.count) lists not due") }
        let list = parts.joined(separator: ", ")
        if let failure { return "not synced: \(failure) (\(list))" }
        return isSynced ? "synced: \(list)" : "not synced: \(list)"
    }
}

/// Counts of what a sync run did.
public struct SyncCounts: Sendable, Hashable {
    /// Requests that were sent.
    public var requests = 0
    /// Entities that the server had changed or deleted.
    public var pulled = 0
    /// Writes that the server took.
    public var pushed = 0
    /// Writes whose precondition no longer held.
    public var conflicts = 0
    /// Writes that the server refused.
    public var rejected = 0
    /// Earlier writes without an answer that were read back.
    public var readBack = 0

    /// Nothing.
    public init() {}

    /// Whether something was new on either side.
    public var hasNews: Bool { pulled + pushed + conflicts + rejected + readBack > 0 }
}
