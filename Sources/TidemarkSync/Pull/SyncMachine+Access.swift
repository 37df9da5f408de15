// SyncMachine+Access.swift — required entities, choices and pruning in a sync run.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Ends the run where a collection that must not be empty is.
    mutating func hasRequired(_ isThere: Bool, in name: CollectionName) {
        guard let collection = model[name] else { return }
        if isThere {
            listed(collection)
        } else {
            outcome.failure = collection.access.missing.map { .missing($0) }
        }
    }

    /// Checks that all choices were made; nil where the model has none.
    mutating func choose() -> SyncAction? {
        state = .pruning
        let choosing = model.collections.filter {
            !$0.choices.isEmpty && outcome.failed[$0.name] == nil
        }
        return scope == .all && !choosing.isEmpty ? look(.choices(choosing)) : nil
    }

    /// Ends the run where a choice is missing.
    mutating func chosen(missing name: String?) {
        outcome.failure = name.map { .missing($0) }
    }

    /// Checks whether anything can be pruned; nil where this run does not prune.
    mutating func beginPruning() -> SyncAction? {
        state = scope.pushes ? .pushing : .ended
        let prunes = scope == .cleanUp || scope == .all && model.settings.cleanUp == .inPull
        guard prunes, !isTimeInDoubt else { return nil }
        // Without the server's time no entity is known to be old.
        return look(.canPrune(at: serverTime ?? Timestamp(rawValue: 0)))
    }

    /// Prunes, if there is anything to prune.
    mutating func prune(_ isMuch: Bool, _ now: Timestamp) -> SyncAction? {
        isMuch ? perform(.cleanUp(now: now)) : nil
    }

    /// The pruning was logged.
    package mutating func cleanedUp() -> SyncAction {
        guard case .result(.cleanUp) = awaited else { trap("cleaned nothing up") }
        return decide()
    }
}
