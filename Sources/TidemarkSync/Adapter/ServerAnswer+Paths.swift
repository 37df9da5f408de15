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
            let collection = item.call.collection, let tree = collection.tree, tree.isByPath
        else { return self }
        func own(_ record: ServerRecord) -> ServerRecord {
            var record = record
            record.id = item.key.id
            return record
        }
        return switch self {
        // What the answer holds says nothing of the folder: the next list does.
        case .record(let record): .stored(id: item.key.id, record.revision)
        case .stored(_, let revision, let issues):
            .stored(id: item.key.id, revision, issues: issues)
        case .deleted(let record): .deleted(own(record))
        case .conflict: .conflictUnknown
        // It may be somewhere else by now: the next list tells, and until then the edit waits.
        case .absent where item.call.write?.body != nil: .ignored()
        case .description, .page, .combined, .unchanged, .cursorExpired, .records, .absent,
            .conflictUnknown, .refused, .ignored, .reserved, .batch, .deferred, .waiting, .failure:
            self
        }
    }
}

/// What lies at the path by which an entity was asked for.
enum PlacedRecord: Sendable {
    /// The entity.
    case own(ServerRecord)
    /// Another one.
    case other
    /// Another one, where this one was to be made.
    case taken
}

extension ViewReader {
    /// What a server says of an entity that was asked for by its path.
    func placed(
        _ record: ServerRecord, of key: EntityKey, _ model: SyncModel
    ) throws -> PlacedRecord {
        guard let collection = model[key.collection], let tree = collection.tree, tree.isByPath,
            let bytes = record.document
        else { return .own(record) }
        let document = try JSONDocument(parsing: bytes)
        let row = try entity(key) ?? EntityRow()
        let isMade = row.baseState == .live
        let known =
            try isMade ? row.baseValue(in: collection).document : row.treeDocument(in: collection)
        if let known {
            let mark = tree.serverID.flatMap { document.value($0)?.idText }.map(ExactString.init)
            let had = tree.serverID.flatMap { known.value($0)?.idText }.map(ExactString.init)
            let isOther = mark != nil && had != nil && mark != had
            if isOther || tree.isFolder(document) != tree.isFolder(known) {
                return isMade ? .other : .taken
            }
        }
        return .own(
            ServerRecord(
                id: key.id, revision: record.revision, serverTime: record.serverTime,
                parsed: try placed(document, of: key, in: collection)))
    }
}
