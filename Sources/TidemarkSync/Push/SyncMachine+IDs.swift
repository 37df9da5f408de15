// SyncMachine+IDs.swift — asks for the server's own ids of what was made in trees by paths. Answers
// to writes don't tell them, and by its path alone nobody knows again what another client moves
// before the next list.
//
//   a few were made     each is read, once all is sent
//   more                the folders are listed in which they lie
//   one tells no id     the server has none: no other is asked for

import TidemarkEvents
import TidemarkViews

extension SyncMachine {
    /// How many entities of a round are read by themselves.
    static let idReadsMax = 20

    /// Asks for the ids of what was made, or has it read next.
    mutating func nextIDs() -> SyncAction? {
        made.removeAll { withoutIDs.contains($0.collection) }
        defer { made = [] }
        guard made.count <= Self.idReadsMax else { return look(.foldersAround(made)) }
        asked += made.reversed()
        askedForIDs.formUnion(made)
        return nil
    }

    /// Whether an entity is read for its id.
    func asksForID(of key: EntityKey) -> Bool { askedForIDs.contains(key) }

    /// Takes the answer about an entity that was read for its id.
    mutating func tookID(of key: EntityKey, _ answer: ServerAnswer) {
        askedForIDs.remove(key)
        guard case .record(let record) = answer, let tree = model[key.collection]?.tree,
            let document = record.document.flatMap({ try? JSONDocument(parsing: $0) }),
            tree.serverID(in: document) == nil
        else { return }
        withoutIDs.insert(key.collection)
    }
}

extension ServerCall {
    /// Whether it makes an entity of a tree by paths whose id of the server's the model names.
    var makesWithID: Bool {
        guard let collection, collection.isByPath, collection.tree?.serverID != nil else {
            return false
        }
        return switch self {
        case .create: true
        case .perform(_, _, _, _, let document): document != nil
        default: false
        }
    }
}
