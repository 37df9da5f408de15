// ServerAnswer+Paths.swift — answers of a server that knows a tree by paths, with the ids that its
// entities have here. A list's answer is taken apart in TreeWalk.swift.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension ServerAnswer {
    /// The answer to writes, about the entities that were written.
    func naming(_ items: [PushItem]) -> ServerAnswer {
        if case .batch(let answers) = self {
            guard answers.count == items.count else { return self }
            return .batch(
                zip(answers, items).map { answered, item in
                    var answered = answered
                    answered.answer = answered.answer.naming([item])
                    return answered
                })
        }
        guard items.count == 1, let item = items.first,
            item.call.collection?.isByPath == true
        else { return self }
        return switch self {
        // What the answer holds says nothing of the folder: the next list does.
        case .record(let record): .stored(id: item.key.id, record.revision)
        case .stored(_, let revision, let issues):
            .stored(id: item.key.id, revision, issues: issues)
        case .deleted:
            .deleted(ServerRecord(id: item.key.id, revision: nil, document: nil))
        case .conflict: .conflictUnknown
        // It may be somewhere else by now, or another machine says so: the next list tells, and
        // until then the edit waits, or the deletion.
        case .absent where item.call.write?.body != nil || item.call.isDeletion: .ignored()
        case .description, .page, .combined, .unchanged, .cursorExpired, .records, .absent,
            .conflictUnknown, .refused, .ignored, .reserved, .batch, .deferred, .waiting, .failure:
            self
        }
    }
}

/// What became of an entity that was asked for by its path.
enum PlacedRecord: Sendable {
    /// It is there.
    case own(ServerRecord)
    /// It is not there, though another one may be.
    case gone
    /// It is not there, and a move of which there was no answer leads to this path.
    case left(for: String)
    /// It is where a move of which there was no answer leads.
    case moved(EntityRow.Attempt)
    /// Another one is there, where this one was to be made.
    case taken
}

extension ViewReader {
    /// Whether something else than a deletion is pending on an entity that the server had when it
    /// was listed last.
    func isEditedThere(_ key: EntityKey) throws -> Bool {
        guard let row = try entity(key), row.baseState == .live, let last = row.pending.last else {
            return false
        }
        return last.kind != .delete
    }

    /// Whether the next walk of a tree tells what became of a write that got no answer, as the
    /// server told an id of the entity, or something in which it lies was to be moved.
    ///
    /// - Parameter hasWalked: whether this run made one: then it is known where that is.
    func isFoundByWalk(
        _ key: EntityKey, _ collection: CollectionModel, hasWalked: Bool
    ) throws -> Bool {
        guard let row = try entity(key), row.attempt != nil else { return false }
        if row.baseState == .live, let known = try row.baseValue(in: collection).document,
            collection.tree?.serverID(in: known) != nil
        {
            return true
        }
        return try !hasWalked && isCarriedAlong(key, in: collection)
    }

    /// What a server says of an entity that was asked for by its path, or by the one to which it
    /// was to be moved.
    ///
    /// - Parameter record: what is there; nil for nothing.
    func placed(
        _ record: ServerRecord?, of key: EntityKey, by call: ServerCall,
        _ collection: CollectionModel
    ) throws -> PlacedRecord {
        let row = try entity(key) ?? EntityRow()
        let isMade = row.baseState == .live
        // Its id is no path, so nothing was asked about it.
        if !isMade, row.isEmpty { return .gone }
        let target = try row.attempt.flatMap { attempt in
            try movedPath(of: key, in: collection, through: attempt.covers)
        }
        if let attempt = row.attempt, let target, case .read(_, let path) = call,
            ExactString(path) == ExactString(target)
        {
            guard let tree = collection.tree, let bytes = record?.document,
                let known = try row.baseValue(in: collection).document
            else { return .gone }
            let document = try JSONDocument(parsing: bytes)
            return tree.isOther(document, than: known) ? .gone : .moved(attempt)
        }
        if let record, let tree = collection.tree, let bytes = record.document {
            let document = try JSONDocument(parsing: bytes)
            // What is there under the name of a copy is not known to be one, nor to be whole.
            if !isMade, row.pending.first?.request.isEmpty == false { return .taken }
            let known =
                try isMade
                ? row.baseValue(in: collection).document
                : row.treeDocument(in: collection) ?? row.madeDocument(in: collection)
            if known.map({ tree.isOther(document, than: $0) }) != true {
                return .own(
                    ServerRecord(
                        id: key.id, revision: record.revision, serverTime: record.serverTime,
                        parsed: try placed(document, of: key, record.revision, in: collection)))
            }
            if !isMade { return .taken }
        }
        return target.map { PlacedRecord.left(for: $0) } ?? .gone
    }
}

extension EntityRow {
    /// The document with which it was made here, also where it was deleted since.
    fileprivate func madeDocument(in collection: CollectionModel) throws -> JSONDocument? {
        try pending.last { $0.kind == .create }.map {
            try collection.read(JSONDocument(parsing: $0.payload))
        }
    }
}

extension TreeRule {
    /// Whether what lies at a place is another entity than the one that was known there.
    fileprivate func isOther(_ document: JSONDocument, than known: JSONDocument) -> Bool {
        let (mark, had) = (serverID(in: document), serverID(in: known))
        if let mark, let had, mark != had { return true }
        return isFolder(document) != isFolder(known)
    }
}
