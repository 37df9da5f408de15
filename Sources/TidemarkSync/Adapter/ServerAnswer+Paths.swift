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
    /// It is not there, as its move was carried out, of which there was no answer.
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

    /// What a server says of an entity that was asked for by its path.
    ///
    /// - Parameter record: what is there; nil for nothing.
    func placed(
        _ record: ServerRecord?, of key: EntityKey, _ collection: CollectionModel
    ) throws -> PlacedRecord {
        let row = try entity(key) ?? EntityRow()
        let isMade = row.baseState == .live
        // Its id is no path, so nothing was asked about it.
        if !isMade, row.isEmpty { return .gone }
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
        guard let attempt = row.attempt, try isOnItsWay(key, in: collection) else { return .gone }
        return .moved(attempt)
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
