// SyncMachine+Access.swift — what a sync run does about what must be there, what has to be chosen,
// and what need not be kept.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Ends the run where a collection has to have an entity and has none.
    mutating func hasRequired(_ isThere: Bool) -> SyncAction? {
        guard case .fact(.hasInReach(let name)) = awaited else { trap("asked for nothing") }
        if !isThere { outcome.failure = model[name]?.access.missing.map { .missing($0) } }
        return nil
    }

    /// Looks whether what has to be chosen was; nil where nothing has to.
    mutating func choose() -> SyncAction? {
        state = .pruning
        let choosing = model.collections.filter {
            !$0.choices.isEmpty && outcome.paused[$0.name] == nil
        }
        return scope == .all && !choosing.isEmpty ? look(.choices(choosing)) : nil
    }

    /// Ends the run where a choice was not made.
    mutating func chosen(missing name: String?) -> SyncAction? {
        outcome.failure = name.map { .missing($0) }
        return nil
    }

    /// Looks whether something need not be kept; nil where nothing is pruned in this run.
    mutating func beginPruning() -> SyncAction? {
        state = scope.pushes ? .pushing : .ended
        let prunes = scope == .cleanUp || scope == .all && model.settings.cleanUp == .inPull
        guard prunes, !isTimeInDoubt else { return nil }
        // Without the server's time nothing is known to be old.
        return look(.canPrune(at: serverTime ?? Timestamp(rawValue: 0)))
    }

    /// Prunes, if there is anything.
    mutating func prune(_ isMuch: Bool, _ now: Timestamp) -> SyncAction? {
        isMuch ? perform(.cleanUp(now: now)) : nil
    }

    /// Takes note that what need not be kept was pruned.
    package mutating func cleanedUp() -> SyncAction {
        guard case .result(.cleanUp) = awaited else { trap("cleaned nothing up") }
        return decide()
    }
}
