// SyncMachine+Remedies.swift — what a run does so that the server takes what it did not take.
//
//   refused, or left alone → the adapter names an action of the model → it is done, once in a run
//   → what waited for it is sent again, once
//
// Where the action fails, or the server refuses again, the refusal stands.

import TidemarkEvents
import TidemarkViews

/// What a run knows of remedies.
struct Remedies: Sendable {
    /// Writes that the server did not take and about which nothing was asked yet.
    var untaken: [UntakenWrite] = []
    /// What is to be done, the next one last.
    var due: [Remedy] = []
    /// What was done, or failed.
    var made: Set<ServerCall> = []
    /// The entities for which something was looked for; none is looked for twice.
    var tried: Set<EntityKey> = []
    /// The entities that are sent again although the server refused them.
    var retried: Set<EntityKey> = []
}

extension SyncMachine {
    /// The next step so that the server takes what it did not take; nil where there is none.
    mutating func nextRemedy() -> SyncAction? {
        if !remedies.untaken.isEmpty { return look(.remedies(remedies.untaken)) }
        while let remedy = remedies.due.popLast() {
            guard remedies.made.insert(remedy.call).inserted else { continue }
            return perform(.remedy(remedy))
        }
        return nil
    }

    /// Takes what is to be done about the writes that were asked about.
    mutating func take(_ found: [Remedy]) {
        remedies.untaken = []
        remedies.due = found.reversed()
    }

    /// Repeats a remedy that was not carried out.
    mutating func putBack(_ remedy: Remedy) {
        remedies.made.remove(remedy.call)
        remedies.due.append(remedy)
    }

    /// Takes note of a write that the server did not take, where the model has an action.
    mutating func note(untaken item: PushItem, _ answer: ServerAnswer) {
        guard !item.call.isAction, model.collections.contains(where: { !$0.actions.isEmpty }),
            remedies.tried.insert(item.key).inserted
        else { return }
        remedies.untaken.append(UntakenWrite(item, answer))
    }

    /// Takes what came of a remedy: where it was carried out, what waited for it is sent again.
    mutating func took(_ answer: ServerAnswer, of remedy: Remedy) {
        guard case .stored = answer else { return }
        for write in remedy.writes {
            remedies.retried.insert(write.item.key)
            failedNow.remove(write.item.key)
        }
    }
}
