// Replica+TakeOver.swift — entities of a server that the app kept in a database of its own, taken
// over before they are synced here: what the server said of them last is the base of later edits.
//
// They are logged as the server's words, of no run, with nothing asked for. No list is noted, so
// that the next one is whole. As an edit, a take-over is input: a replay takes it as it was.

public import TidemarkEvents
import TidemarkRules
public import TidemarkSync
import TidemarkViews

extension Replica {
    /// Takes over entities that a server has and that the app kept in a database of its own: one
    /// page of them in one commit, before a sync run lists their collection.
    ///
    /// They are no edits: nothing of them is sent, and the next list of the collection is whole.
    /// What is edited afterwards is edited on what is handed over, so that a change of the server
    /// since then is a conflict, or merged, by the collection's policy. What the server deleted
    /// since then goes with that list.
    ///
    /// What is here already just so is passed over: where a process died amid the pages, all of
    /// them are handed over again, from the first one on. The order of pages, collections and
    /// references does not matter.
    ///
    /// - Parameters:
    ///   - records: each as an adapter makes it of the server's answer: the server's id, the
    ///     version where the server has versions, the time of the last change where the server told
    ///     it, and the whole document as the server sent it last, without what the user edited
    ///     since. A document that lacks some of it is handed over without a version, so that where
    ///     the server has versions it is read before it is written: on that version an edit would
    ///     be sent without the rest. Where it has none, let the first run be one of everything.
    ///     What stands in a record of another collection (``CollectionModel/embeds``) is handed
    ///     over by itself.
    ///   - collection: the collection of all of them.
    /// - Returns: how many were not here yet, or otherwise.
    /// - Throws: ``TidemarkError``, and nothing of the page is taken: `noModel` where the model has
    ///   no such collection; `invalidKey` where it is kept on this device alone, or is a tree by
    ///   paths, and for an id that is no key, or that the server can't have given;
    ///   `invalidDocument` where there is none, or it is no JSON object, is said to be partial,
    ///   names another id, holds others, or its version is too long; `pendingChanges` where an edit
    ///   of the entity waits, also one that a rule of the model made; `alreadyExists` where the
    ///   collection was listed, which is only known where its lists leave a cursor or a date, or
    ///   the server spoke of the entity; `engineRunning` while an engine is started or a run is
    ///   under way; and those of a write.
    @discardableResult
    public func takeOver(
        _ records: [ServerRecord], of collection: CollectionName
    ) throws -> Int {
        let (moment, shared) = (dependencies.moment, journal.shared)
        return try write { tx in try tx.takeOver(records, of: collection, at: moment, shared) }
    }

    /// The same without blocking the caller's thread.
    @discardableResult
    public func takeOver(
        _ records: [ServerRecord], of collection: CollectionName
    ) async throws -> Int {
        let (moment, shared) = (dependencies.moment, journal.shared)
        return try await write { tx in
            try tx.takeOver(records, of: collection, at: moment, shared)
        }
    }
}

extension WriteContext {
    fileprivate func takeOver(
        _ records: [ServerRecord], of name: CollectionName, at moment: Moment,
        _ shared: SharedStore
    ) throws -> Int {
        guard let collection = try draft.fold.known(name)?.model else {
            throw TidemarkError.noCollection(name, in: try draft.fold.model())
        }
        try Self.check(collection)
        let news = ServerNews(draft.fold, begun: moment)
        var count = 0
        for given in records {
            let record = try Self.checked(given, collection)
            guard try news.verdict(on: record, in: name, asOf: draft.last) == .new else { continue }
            let key = EntityKey(name, record.id)
            // A list may have said that the server has it no more.
            if count == 0, try isListed(collection) {
                throw TidemarkError(
                    .alreadyExists,
                    "\(key) differs from what is here, and \(name) was listed: what the server "
                        + "says counts from its first list on; take over before that", key: key)
            }
            try checkUnspoken(key)
            // Without `asOf`, as the server was not asked.
            try draft.append(
                checked: Event(
                    .serverUpserted, recordedAt: draft.now, key: key,
                    serverTime: record.serverTime, revision: record.revision,
                    json: record.document))
            count += 1
        }
        // A list that was asked for already does not know what it is to name.
        if count > 0, shared.isSyncing {
            throw TidemarkError(
                .engineRunning,
                "an engine syncs the store, and what it asked for before would not be compared "
                    + "with what is taken over of \(name): take over before an engine is started")
        }
        return count
    }

    /// Whether rows tell of a list that brings entities of a collection.
    private func isListed(_ collection: CollectionModel) throws -> Bool {
        let fold = draft.fold
        return try fold.model().bringing([collection.name]).contains { listed in
            try fold.hasListRows(of: listed.name)
        }
    }

    /// Refuses a collection of which a server can't have said anything that counts here.
    private static func check(_ collection: CollectionModel) throws {
        if collection.localOnly {
            throw TidemarkError(
                .invalidKey,
                "\(collection.name) is kept on this device alone, so that no server said anything "
                    + "of it: create its entities")
        }
        if collection.isByPath {
            throw TidemarkError(
                .invalidKey,
                "\(collection.name) is a tree by paths, whose entities get their ids from lists: "
                    + "sync, and nothing is to be taken over")
        }
    }

    /// The record as the log takes it.
    private static func checked(
        _ record: ServerRecord, _ collection: CollectionModel
    ) throws -> ServerRecord {
        let key = EntityKey(collection.name, record.id)
        guard key.isValid else {
            throw TidemarkError(
                .invalidKey,
                "an id of \(collection.name) is no key: 1 to \(EntityKey.idBytesMax) bytes without "
                    + "control characters")
        }
        guard collection.ids != .serverNumber || record.id.isWholeNumber else {
            throw TidemarkError(
                .invalidKey,
                "\(key) has an id that is no number, and the server of \(collection.name) gives "
                    + "numbers: what it does not have yet is created, and not taken over", key: key)
        }
        guard !record.isDeleted, let document = record.document else {
            throw TidemarkError(
                .invalidDocument,
                "\(key) is deleted: leave out what the server does not have", key: key)
        }
        guard !record.isPartial else {
            throw TidemarkError(
                .invalidDocument,
                "\(key) is said to be only a part (isPartial): hand over what there is of it as a "
                    + "document without a version, so that it is read before it is written",
                key: key)
        }
        guard record.revision.map({ $0.rawValue.count <= Revision.bytesMax }) ?? true else {
            throw TidemarkError(
                .invalidDocument,
                "\(key) has a version of more than \(Revision.bytesMax) bytes", key: key)
        }
        do { try JSON.validateObject(document) } catch {
            throw TidemarkError(.invalidDocument, "\(key) is no JSON object: \(error)", key: key)
        }
        if let said = JSON.value(collection.idField, of: document)?.idText,
            ExactString(said) != ExactString(record.id)
        {
            throw TidemarkError(
                .invalidDocument,
                "\(key) says in \(collection.idField) that its id is \(said): what is sent would "
                    + "go by that", key: key)
        }
        try checkEmbedded(record, document, key, collection)
        // As in an answer, what the model drops is not kept.
        guard !collection.drops.isEmpty else { return record }
        var record = record
        record.document = JSON.dropping(collection.drops, from: document)
        return record
    }

    /// Refuses a record that holds others.
    private static func checkEmbedded(
        _ record: ServerRecord, _ document: [UInt8], _ key: EntityKey, _ collection: CollectionModel
    ) throws {
        var held = record.children.map(\.member)
        if !collection.embeds.isEmpty {
            let members = try JSONDocument(parsing: document)
            held += collection.embeds.map(\.member).filter { members.rawValue($0) != nil }
        }
        guard let member = held.first else { return }
        throw TidemarkError(
            .invalidDocument,
            "\(key) holds others in \(member): take these over by themselves, and leave that out",
            key: key)
    }

    /// Refuses an entity that was edited here, or of which the server spoke.
    private func checkUnspoken(_ named: EntityKey) throws {
        let key = try draft.fold.resolve(named)
        let row = try draft.fold.entity(key)
        guard row.pending.isEmpty, row.attempt == nil else {
            throw TidemarkError(
                .pendingChanges,
                "an edit of \(key) waits, of the user's or by a rule of the model, and would be in "
                    + "conflict with what is taken over: take over before the first edit, each "
                    + "entity once, and then edit", key: key)
        }
        guard row.baseState == .absent || row.isPlaceholder || row.isTakenOver else {
            throw TidemarkError(
                .alreadyExists,
                "\(key) differs from what the server said of it here: take over before the first "
                    + "sync run", key: key, position: row.basePosition)
        }
    }
}
