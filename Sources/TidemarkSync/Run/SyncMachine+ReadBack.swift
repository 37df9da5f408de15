// SyncMachine+ReadBack.swift — which entities are read back one by one, and the description of the
// server's collections.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// The next entity to read back; nil when there is none.
    mutating func nextReadBack() -> SyncAction? {
        if case .readingBack(var keys) = state {
            // Keeps the array uniquely referenced.
            state = .describing
            while let key = keys.popLast() {
                // Failed before: at the end.
                if let failed = failing[key], failed.reads > 0 || streak.skips(.read) { continue }
                state = .readingBack(keys)
                return look(.entity(key))
            }
        }
        return asked.popLast().map { look(.entity($0)) }
    }

    /// Reads an entity back, if the server can be asked about it.
    mutating func readBack(_ key: EntityKey, _ facts: EntityFacts) -> SyncAction? {
        var attempt: EntityRow.Attempt?
        if case .readingBack = state {
            guard let unanswered = facts.attempt else { return nil }
            attempt = unanswered
        } else if unsettled.remove(key) != nil {
            attempt = facts.attempt
        }
        return question(about: key, attempt, facts).map { perform($0) }
    }

    /// The call that reads an entity; nil where there is none, or a list brings it.
    ///
    /// - Parameters:
    ///   - attempt: the write without an answer that it settles; nil for any other reason.
    ///   - isLate: whether everything was listed before.
    func question(
        about key: EntityKey, _ attempt: EntityRow.Attempt?, _ facts: EntityFacts,
        isLate: Bool = false
    ) -> SyncStep? {
        guard let collection = model[key.collection], !withheld.contains(key.collection) else {
            return nil
        }
        if collection.ids != .client {
            // A server that gives the ids can't be asked for an entity that it has not named. It
            // has named what a list held and no fetch returned. All other entities are shown by the
            // list, if there is one.
            let isListed = scope == .all && !isLate && outcome.paused[key.collection] == nil
            let isNamed =
                facts.baseState != .absent || failing[key].map { !$0.isWrite } ?? false
                || scope.isFetch
            guard attempt == nil ? isNamed : facts.baseState == .live && !isListed else {
                return nil
            }
        }
        return .readBack(key, .read(collection, id: facts.serverID), attempt: attempt)
    }

    /// The next entity whose calls failed in earlier runs; nil when none is left, and the run is
    /// over.
    mutating func nextLate() -> SyncAction? {
        guard late != nil else { return look(.failing) }
        while let call = late?.popLast() {
            if isDue(call.key, .read) { return look(.failed(call)) }
        }
        endUnanswered()
        state = .ended
        return nil
    }

    /// Asks about an entity whose calls failed in earlier runs, if the server can be asked about
    /// it.
    mutating func askLate(_ call: FailingCall, _ facts: EntityFacts) -> SyncAction? {
        // A write that is known not to have been done is sent again, not read back.
        guard facts.attempt != nil || call.row.reads > 0 || !call.row.isWrite else { return nil }
        return question(about: call.key, facts.attempt, facts, isLate: true).map { perform($0) }
    }
}
