// SyncMachine+Access.swift — what a sync run does about what must be there, what came into reach,
// and what need not be kept.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Takes note that the list in hand, if there was one, is done.
    ///
    /// - Returns: whether the run ends, because the collection has to have an entity.
    mutating func endsAfterList(_ views: ViewReader) throws -> Bool {
        // A list that is begun anew is not done.
        guard let collection = listed, unpulled.first?.name != collection.name else { return false }
        listed = nil
        if hasGained, !hasRestarted {
            hasRestarted = true
            restartPull()
        }
        guard let name = collection.access.missing, outcome.paused[collection.name] == nil,
            try !views.hasInReach(collection.name)
        else { return false }
        outcome.failure = .missing(name)
        return true
    }

    /// What is left to do when everything was pulled, before anything is pushed; nil for nothing.
    mutating func endPull(_ views: ViewReader) throws -> SyncStep? {
        guard !hasPulled else { return nil }
        hasPulled = true
        if scope == .all, let name = try unmetChoice(views) {
            outcome.failure = .missing(name)
            return .finish
        }
        let prunes = scope == .cleanUp || scope == .all && model.settings.cleanUp == .inPull
        // Without the server's time nothing is known to be old.
        let now = serverTime ?? Timestamp(rawValue: 0)
        guard prunes, !isTimeInDoubt, try !views.pruneDecision(at: now).isEmpty else { return nil }
        return .cleanUp(now: now)
    }

    /// What a run ends with because a field names nothing where there is not just one entity that
    /// it could name; nil where there is none such.
    private func unmetChoice(_ views: ViewReader) throws -> String? {
        for collection in model.collections where outcome.paused[collection.name] == nil {
            for choice in collection.choices
            where try lacks(choice.field, in: collection, views)
                && views.countInReach(choice.collection, upTo: 2) != 1
            {
                return choice.missing
            }
        }
        return nil
    }

    /// Whether an entity names nothing in a field.
    private func lacks(
        _ field: String, in collection: CollectionModel, _ views: ViewReader
    ) throws -> Bool {
        var found = false
        try views.forEachEntity(in: collection.name) { _, row in
            guard !row.isPlaceholder, let bytes = try row.document(in: collection) else {
                return true
            }
            found = try JSONDocument(parsing: bytes).ids(in: field).isEmpty
            return !found
        }
        return found
    }
}
