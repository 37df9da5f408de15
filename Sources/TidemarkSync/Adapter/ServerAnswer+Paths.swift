// ServerAnswer+Paths.swift — answers of a server that knows a tree by paths, with the ids that its
// entities have here. A list's answer is taken apart in TreeWalk.swift.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

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
        case .description, .page, .combined, .unchanged, .cursorExpired, .records, .absent,
            .conflictUnknown, .refused, .ignored, .reserved, .batch, .deferred, .waiting, .failure:
            self
        }
    }
}

extension ViewReader {
    /// What a server says of an entity that was asked for by its path: nothing where it is another
    /// one that lies there by now.
    package func placed(
        _ record: ServerRecord, of key: EntityKey, _ model: SyncModel
    ) throws -> [ServerRecord] {
        guard let collection = model[key.collection], let tree = collection.tree, tree.isByPath,
            let bytes = record.document
        else { return [record] }
        let document = try JSONDocument(parsing: bytes)
        let row = try entity(key)
        if let known = try row?.baseValue(in: collection).document {
            let mark = tree.serverID.flatMap { document.value($0)?.idText }
            let had = tree.serverID.flatMap { known.value($0)?.idText }
            let isOther =
                mark != nil && had != nil && mark.map(ExactString.init) != had.map(ExactString.init)
            if isOther || tree.isFolder(document) != tree.isFolder(known) { return [] }
        }
        return [
            ServerRecord(
                id: key.id, revision: record.revision, serverTime: record.serverTime,
                parsed: try placed(document, of: key, in: collection))
        ]
    }
}
