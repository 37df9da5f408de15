// SyncMachine+Preconditions.swift — how a run finds out whether the server heeds preconditions, and
// what it reads before a write where the server does not.
//
//   an upload is accepted → the same request once more → 412: heeded; 2xx: ignored
//                         → the file is read, for the version that it has by now

import TidemarkEvents
package import TidemarkRules

/// What a run knows of the server's preconditions.
struct PreconditionTrial: Sendable {
    /// What was found out.
    var known: KnownPreconditions?
    /// An upload that is sent once more.
    var next: PushItem?
    /// Whether this run tried already.
    var isOver = false
    /// The entity that was read last, to be written at once.
    var read: EntityKey?
}

extension ServerCall {
    /// How long the file is that it sends; 0 for none.
    fileprivate var fileBytes: Int {
        if case .file(_, let bytes)? = file { bytes } else { 0 }
    }
}

extension SyncMachine {
    /// Whether an accepted upload is to be sent once more, to see whether the server heeds its
    /// precondition.
    ///
    /// Its version is not taken from the answer: the second one may change it.
    package func isTrial(_ items: [PushItem], _ answer: ServerAnswer) -> Bool {
        guard traits.triesPreconditions, !trial.isOver, trial.next == nil, items.count == 1,
            let item = items.first, item.isConditional, case .create = item.call,
            case .stored = answer, item.call.fileBytes <= PreconditionRule.bytesMax
        else { return false }
        return PreconditionRule.isDue(trial.known, now: begun.now)
    }

    /// Takes note of an upload that is sent once more.
    package mutating func begin(trial item: PushItem) { trial.next = item }

    /// Sends an upload once more; nil where there is none.
    mutating func nextTrial() -> SyncAction? {
        guard let item = trial.next else { return nil }
        (trial.next, trial.isOver) = (nil, true)
        return perform(.trial(item))
    }

    /// What the answer to the second upload says.
    package func verdict(of answer: ServerAnswer) -> KnownPreconditions? {
        switch answer {
        case .stored: KnownPreconditions(areHeeded: false, triedAt: begun.now)
        case .conflictUnknown, .conflict:
            KnownPreconditions(areHeeded: true, triedAt: begun.now)
        case .refused(let refusal) where refusal.status == 412:
            KnownPreconditions(areHeeded: true, triedAt: begun.now)
        // Any other refusal says nothing of preconditions.
        default: nil
        }
    }

    /// Whether an entity is read just before a write of it.
    func readsFirst(_ pending: PendingWrite) -> Bool {
        guard traits.triesPreconditions, pending.isConditional, trial.read != pending.key else {
            return false
        }
        return PreconditionRule.readsFirst(trial.known, isCreation: !pending.isLive)
    }
}
