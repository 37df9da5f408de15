// SyncMachine+Preconditions.swift — whether a run tries if the server heeds preconditions, and what
// it reads before a write where the server does not.

import TidemarkEvents
import TidemarkRules

/// What a run knows of the server's preconditions.
struct PreconditionTrial: Sendable {
    /// What was found out.
    var known: KnownPreconditions?
    /// Whether this run tried already.
    var isOver = false
    /// Whether a file of this run was answered for.
    var hasUploaded = false
    /// The entity that was read last, to be written at once.
    var read: EntityKey?
    /// Whether its candidate is looked at next.
    var isReadNext = false
}

extension ServerCall {
    /// How long the file is that it sends; 0 for none.
    fileprivate var fileBytes: Int {
        if case .file(_, let bytes)? = file { bytes } else { 0 }
    }
}

extension SyncMachine {
    /// Whether an upload that the server took is to be sent once more, to see whether the server
    /// heeds its precondition.
    func isTrial(_ item: PushItem) -> Bool {
        guard traits.triesPreconditions, !trial.isOver, model.settings.limits.isEmpty,
            item.isConditional, case .create = item.call,
            item.call.fileBytes <= PreconditionRule.bytesMax
        else { return false }
        return PreconditionRule.isDue(trial.known, now: begun.now)
    }

    /// Takes note that this run tries.
    mutating func beginTrial() { trial.isOver = true }

    /// Takes what was found out.
    mutating func took(_ found: KnownPreconditions?) { trial.known = found ?? trial.known }

    /// Counts a request that is no step of its own, or of which the answer is not used.
    mutating func countRequest() { outcome.counts.requests += 1 }

    /// What the answer to the second upload says.
    func verdict(of answer: ServerAnswer) -> KnownPreconditions? {
        let areHeeded: Bool
        switch answer {
        case .stored: areHeeded = false
        case .conflictUnknown, .conflict: areHeeded = true
        case .refused(let refusal) where refusal.status == 412: areHeeded = true
        // Any other refusal says nothing of preconditions.
        default: return nil
        }
        return KnownPreconditions(areHeeded: areHeeded, triedAt: begun.now)
    }

    /// Whether an entity is read just before a write of it.
    ///
    /// - Parameter wasRead: whether it was, just now.
    func readsFirst(_ pending: PendingWrite, wasRead: Bool) -> Bool {
        guard !wasRead, pending.write != nil else { return false }
        if pending.isUnread { return true }
        guard traits.triesPreconditions, pending.isConditional else { return false }
        let mayReplace = pending.isLive || pending.isTaken
        return PreconditionRule.readsFirst(trial.known, mayReplace: mayReplace)
    }

    /// The place to which a write moves an entity of a tree, where its version is no reason that it
    /// fails; else nil.
    ///
    /// The same write failed before, and the version was read since.
    func place(ofMoved item: PushItem) -> String? {
        guard case .update(let collection, let id, let body, _, _) = item.call, collection.isByPath,
            let path = collection.tree?.path(in: body), ExactString(path) != ExactString(id),
            conflicting[item.key]?.call == item.call
        else { return nil }
        return path
    }
}
