// Replica+Wipe.swift — drops what was synced, so that the next sync brings it anew.

public import TidemarkEvents
import TidemarkViews

extension Replica {
    /// Drops all entities but those of some collections, in one commit: the next sync lists the
    /// server's anew, whole.
    ///
    /// With the entities go their statuses and issues, what is pending on them, how far their lists
    /// are, and all values of pools that are left. What the server is still to say to what it was
    /// asked before is not taken in; what it makes of a write that was on its way comes with the
    /// next list. A sync run in progress goes on, and its lists are listed again by the next one.
    ///
    /// The log keeps what was there: history, `why` and earlier positions tell of it as before. So
    /// this frees little space, and hides nothing from who reads the log: ``signOut(ifPending:)``
    /// removes a store. Files that only such entities name go with a later sweep, as unused. In a
    /// tree by paths what is listed anew has other ids, so that nobody wants its files any more:
    /// say again what is wanted (``WriteContext/wantFiles(of:_:by:below:isWanted:)``).
    ///
    /// - Parameters:
    ///   - kept: the collections that stay, with their edits and marks; every other one is wiped,
    ///     one that the model does not have any more included. Those that are
    ///     ``CollectionModel/localOnly``, or were so in the last model that had them, stay in any
    ///     case: nothing would bring them anew. What stands in the records of a collection that is
    ///     kept must be kept, too, as it comes with those; and so must the collection of its
    ///     `access.owner`, which hides it.
    ///   - discardingPending: whether changes that the server has not acknowledged are given up,
    ///     refused ones included, and files of the user's that only this device has.
    /// - Throws: ``TidemarkError``: `pendingChanges` where there are such changes or files in what
    ///   is to be wiped, with nothing changed; `noModel` for a collection that the model does not
    ///   have; `invalidKey` for one that can't stay alone; and what `write` throws.
    public func wipe(keeping kept: [CollectionName], discardingPending: Bool = false) throws {
        try write { tx in try tx.wipe(keeping: kept, discardingPending) }
    }

    /// The same without blocking the caller's thread.
    public func wipe(
        keeping kept: [CollectionName], discardingPending: Bool = false
    ) async throws {
        try await write { tx in try tx.wipe(keeping: kept, discardingPending) }
    }
}

extension WriteContext {
    fileprivate func wipe(keeping named: [CollectionName], _ discardsPending: Bool) throws {
        let fold = draft.fold
        for name in named.sorted() where try fold.known(name) == nil {
            let names = try fold.model().collections.map(\.name.rawValue).joined(separator: ", ")
            throw TidemarkError(
                .noModel,
                "the model has no collection \(name) that could be kept; it has \(names); nothing "
                    + "was wiped")
        }
        let kept = try Set(named).union(localOnlyCollections())
        for collection in try fold.model().collections where kept.contains(collection.name) {
            for rule in collection.embeds where !kept.contains(rule.collection) {
                throw TidemarkError(
                    .invalidKey,
                    "\(rule.collection) comes in the records of \(collection.name), which would "
                        + "not be listed anew: keep both, or neither; nothing was wiped")
            }
            // No later list would hide it: only an owner that is here is told to be lost.
            if let owner = collection.ownerReference?.collection, !kept.contains(owner) {
                throw TidemarkError(
                    .invalidKey,
                    "what of \(collection.name) is out of reach with its owner in \(owner) would "
                        + "be seen again: keep both, or neither; nothing was wiped")
            }
        }
        if !discardsPending { try refuse(Unsaved(fold, except: kept)) }
        let keeping = LocalWiped(keeping: kept.sorted())
        try draft.append(Event(.localWiped, recordedAt: draft.now, json: keeping.encoded))
    }

    /// The collections that are kept on this device alone, which no list would bring anew; also
    /// those with entities of an earlier model that today's does not have.
    private func localOnlyCollections() throws -> Set<CollectionName> {
        let model = try draft.fold.model()
        let known = Set(model.collections.map(\.name))
        var names = Set(model.collections.filter(\.localOnly).map(\.name))
        try draft.fold.forEachEntity(in: nil) { key, row in
            if row.isLocalOnly, !known.contains(key.collection) {
                names.insert(key.collection)
            }
            return true
        }
        return names
    }

    private func refuse(_ unsaved: Unsaved) throws {
        guard !unsaved.isEmpty else { return }
        let way =
            unsaved.changes == 0
            ? "wipe with discardingPending where that may be lost"
            : "sync first, or wipe with discardingPending, and nothing of them is sent"
        throw TidemarkError(.pendingChanges, "\(unsaved.words); \(way)")
    }
}
