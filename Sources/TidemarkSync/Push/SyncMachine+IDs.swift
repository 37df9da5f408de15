// SyncMachine+IDs.swift — asks for the server's own ids of what was made in trees by paths. Answers
// to writes don't tell them, and by its path alone nobody knows again what another client moves
// before the next list.
//
//   a few were made     each is read, once all is sent
//   more                one is read, then the folders are listed in which they lie, not too many
//   one tells no id     the server has none: no other is asked for
//   one can't be read   the next list tells all of them, as it does what is left

import TidemarkEvents
import TidemarkViews

extension SyncMachine {
    /// How many entities of a round are read by themselves.
    static let idReadsMax = 20
    /// How many folders are listed for the ids of what was made in them.
    static let idListsMax = 20

    /// Asks for the ids of what was made, or has it read next.
    mutating func nextIDs() -> SyncAction? {
        made.removeAll { withoutIDs.contains($0.collection) }
        guard made.count > Self.idReadsMax else {
            asked += made.reversed()
            askedForIDs.formUnion(made)
            made = []
            return nil
        }
        // The first one of a tree tells whether the server has any.
        if let index = made.firstIndex(where: { !triedForIDs.contains($0.collection) }) {
            let key = made.remove(at: index)
            triedForIDs.insert(key.collection)
            asked.append(key)
            askedForIDs.insert(key)
            return nil
        }
        defer { made = [] }
        return look(.foldersAround(made, atMost: Self.idListsMax))
    }

    /// Leaves all of them to the next list, as one of them can't be read: that is no reason to end
    /// the run.
    mutating func leaveIDs() {
        asked.removeAll { askedForIDs.contains($0) }
        (askedForIDs, made) = ([], [])
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
