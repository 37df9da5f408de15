// SyncOutcome.swift — how a sync run ended.

public import TidemarkEvents

/// How a sync run ended.
public struct SyncOutcome: Sendable, Hashable {
    /// Why the run ended early, or did not begin; nil when it went to its end.
    public var failure: SyncFailure?
    /// Collections that could not be synced, each with the reason; the others were.
    public var paused: [CollectionName: SyncFailure] = [:]
    /// Collections of which a whole list did not name more than half: how many entities are kept
    /// until the user says what is to become of them, or a later list names them.
    ///
    /// As it is at the end of the run, whichever run found it.
    public var held: [CollectionName: Int] = [:]
    /// Collections whose list of everything could not go on where an earlier run was cut off: the
    /// server no longer accepted the page token, and the list began again.
    public var restarted: Set<CollectionName> = []
    /// A notice of the server to the operator of the app, verbatim.
    ///
    /// But for credentials in it, which are masked. It may announce the end of an API before that
    /// comes; which header field says it is in the adapter's ``ServerWords``.
    public var alert: String?
    /// Collections of which the server sent a document that holds the credentials of the run.
    ///
    /// Documents are kept as they come, so the credentials are in the store now, and in the data
    /// of all who may read them there.
    public var exposed: Set<CollectionName> = []
    /// What was done.
    public var counts = SyncCounts()
    /// Mutations that are still in the outbox: neither acknowledged nor refused.
    public var pending = 0
    /// Mutations that the server refused and that wait for the user.
    public var refused = 0
    /// Entities about which calls fail for reasons of their own.
    ///
    /// The outcome of a write is not known, or how they stand on the server. Each is asked again by
    /// itself.
    public var unsettled = 0
    /// Whether what the server's clock shows is in doubt: an answer said another time than
    /// was to be expected.
    ///
    /// Until then, whatever needs that time waits: nothing is removed because lists do not name it,
    /// nothing is pruned, and lists are whole. It ends with an answer that agrees with what was
    /// known, or with three over ten minutes that agree with one another.
    public var isTimeInDoubt = false

    /// An outcome to be filled in.
    public init() {}

    /// Whether both sides are equal as far as this run could see.
    public var isSynced: Bool {
        failure == nil && paused.isEmpty && held.isEmpty && pending == 0 && refused == 0
            && unsettled == 0 && !isTimeInDoubt
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
        if parts.isEmpty { parts.append("nothing new") }
        let list = parts.joined(separator: ", ")
        if let failure { return "not synced: \(failure) (\(list))" }
        return isSynced ? "synced: \(list)" : "not synced: \(list)"
    }
}

/// What a sync run did.
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
