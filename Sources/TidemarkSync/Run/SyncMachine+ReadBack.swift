// SyncMachine+ReadBack.swift — which entities are read back one by one, and the description of the
// server's collections.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// The next entity to read back; nil when there is none.
    mutating func nextReadBack() -> SyncAction? {
        if let proof = proofs.popLast() { return perform(.compare(proof)) }
        if let step = askedAnew.popLast() { return perform(step) }
        if case .readingBack(var keys) = state {
            // Keeps the array uniquely referenced.
            state = .describing
            while let key = keys.popLast() {
                // Failed before: at the end. Where many others fail: in the next run.
                if isAskedLate(key) { continue }
                let more = together(with: key, &keys) { !isAskedLate($0) }
                state = .readingBack(keys)
                return look(more.isEmpty ? .entity(key) : .entities([key] + more))
            }
        }
        while let key = asked.popLast() {
            if withoutIDs.contains(key.collection), askedForIDs.remove(key) != nil { continue }
            guard unsettled.contains(key) else { return look(.entity(key)) }
            if isStuck(key, .read) {
                unsettled.remove(key)
                continue
            }
            var keys = asked
            let more = together(with: key, &keys) { unsettled.contains($0) }
            asked = keys
            return look(more.isEmpty ? .entity(key) : .entities([key] + more))
        }
        return nil
    }

    private func isAskedLate(_ key: EntityKey) -> Bool {
        if isStuck(key, .read) { return true }
        return failing[key].map { $0.reads > 0 || streak.skips(.read) } ?? false
    }

    /// Takes the entities that are asked after together with one.
    private func together(
        with key: EntityKey, _ keys: inout [EntityKey], _ isMeant: (EntityKey) -> Bool
    ) -> [EntityKey] {
        guard traits.readBacksPerFetchMax > 1, model[key.collection]?.ids == .client,
            !readAlone.contains(key), !traits.isAlone(key.id)
        else { return [] }
        var more: [EntityKey] = []
        while more.count + 1 < traits.readBacksPerFetchMax, let next = keys.last,
            next.collection == key.collection, isMeant(next), !readAlone.contains(next),
            traits.joins(next.id, ([key] + more).map(\.id))
        {
            more.append(next)
            keys.removeLast()
        }
        return more
    }

    /// Reads several entities back of which it is not known what became of their writes.
    mutating func readBack(_ keys: [EntityKey], _ facts: [EntityFacts]) -> SyncAction? {
        guard let collection = keys.first.flatMap({ model[$0.collection] }),
            !withheld.contains(collection.name)
        else { return nil }
        for key in keys { unsettled.remove(key) }
        let items = zip(keys, facts).compactMap { key, facts in
            facts.attempt.map { ReadBack(key: key, id: facts.serverID, attempt: $0) }
        }
        guard !items.isEmpty else { return nil }
        return perform(.readBackAll(collection, items))
    }

    /// Has entities read by themselves.
    mutating func readAlone(_ items: [ReadBack]) {
        let keys = items.map(\.key)
        readAlone.formUnion(keys)
        putBack(keys)
    }

    /// Has entities whose writes have no known outcome read once more.
    mutating func putBack(_ keys: [EntityKey]) {
        if case .readingBack(let rest) = state {
            state = .readingBack(rest + keys.reversed())
        } else {
            unsettled.formUnion(keys)
            asked += keys.reversed()
        }
    }

    /// Leaves an entity that is not at its path to the walk of its tree, which is made in this run
    /// also where it is not due.
    mutating func putOff(_ key: EntityKey, _ attempt: EntityRow.Attempt?) {
        failedNow.insert(key)
        guard attempt != nil, !hasWalked(key.collection) else { return }
        putOff.append(key)
        if case .readingBack = state, outcome.notDue.remove(key.collection) != nil {
            let targets = Self.targets(of: scope, in: model).filter {
                $0.collection == key.collection
            }
            pulls += targets
            unpulled += targets
        }
    }

    /// Whether a tree was walked in this run.
    func hasWalked(_ collection: CollectionName) -> Bool { walked.contains(collection) }

    /// Whether that walk told all of the tree, and not an entity that was left to it.
    func isMissed(_ key: EntityKey) -> Bool { missed.contains(key) }

    /// Those of the entities left to a walk that it does not name, by their ids here; none where it
    /// does not tell all of its tree, or the server no ids by which it would have named them.
    func unfound(by list: Listing) -> [String] {
        guard list.collection.tree?.serverID != nil, list.tellsWhole else { return [] }
        return putOff.filter { key in
            key.collection == list.collection.name && list.unnamed.contains(ExactString(key.id))
        }.map(\.id)
    }

    /// Has the entities read that were left to the walk of a tree, if it did not settle their
    /// writes.
    mutating func readAfterWalk(_ list: Listing) {
        let collection = list.collection.name
        walked.insert(collection)
        let keys = putOff.filter { $0.collection == collection }
        guard !keys.isEmpty else { return }
        // What is concluded of others that are not named holds for them as well.
        if !isTimeInDoubt, list.sweep(absent: list.unnamed.inOrder) == .deleted {
            missed.formUnion(unfound(by: list).map { EntityKey(collection, $0) })
        }
        putOff.removeAll { $0.collection == collection }
        failedNow.subtract(keys)
        readAlone.formUnion(keys)
        putBack(keys)
    }

    /// Reads an entity back, if the server can be asked about it.
    mutating func readBack(_ key: EntityKey, _ facts: EntityFacts) -> SyncAction? {
        var attempt: EntityRow.Attempt?
        if case .readingBack = state {
            guard let unanswered = facts.attempt else { return nil }
            attempt = unanswered
        } else {
            let isUnsettled = unsettled.remove(key) != nil
            // A list told it meanwhile.
            if isUnsettled, readAlone.contains(key), facts.attempt == nil { return nil }
            // What is at the path of a file may be what its write sent.
            if isUnsettled || model[key.collection]?.tree?.content != nil {
                attempt = facts.attempt
            }
        }
        // What was made and deleted since has no use for an id.
        let isGone = asksForID(of: key) && facts.baseState == .deleted
        guard !isGone, let step = question(about: key, attempt, facts) else {
            askedForIDs.remove(key)
            return nil
        }
        return perform(step)
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
            // list, if there is one of all.
            let isListed =
                scope == .all && !isLate && !collection.isListedInParts
                && outcome.failed[key.collection] == nil
            let isNamed =
                facts.baseState != .absent || failing[key].map { !$0.isWrite } ?? false
                || scope.isFetch
            guard attempt == nil ? isNamed : facts.baseState == .live && !isListed else {
                return nil
            }
        }
        guard attempt == nil, let list = facts.list else {
            return .readBack(key, .read(collection, id: facts.serverID), attempt: attempt)
        }
        let call = ServerCall.listPart(collection, list, after: nil, page: nil)
        return .readBack(key, call, attempt: nil)
    }

    /// The next entity whose calls failed in earlier runs; nil when none is left, and the run is
    /// over.
    mutating func nextLate() -> SyncAction? {
        guard unreadTogether.isEmpty else {
            // Perhaps only one can't be read. All else tells first whether the server fails.
            readAlone(unreadTogether)
            unreadTogether = []
            return nil
        }
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
