// TreeEndings.swift — what is pending in a folder that is deleted here and ends with it: it is not
// sent, and has its outcome with the deletion. Until then it stays, and is back where the deletion
// is given up.
//
//   made in it, not sent                ends
//   a file in it was changed, not sent  ends, but for its name and place
//   sent without an answer              is settled first
//   refused                             waits for the user, and so does the deletion
//   moved or renamed                    is sent first: it may make room for what else was moved
//   copied to another place             is sent first, as the copy is made of it, and so are the
//                                       folders in which it lies
//   a way of what goes elsewhere        is sent first, as that is made there, or moved through it

import TidemarkEvents
import TidemarkRules

extension EntityRow {
    /// Whether what is pending can end with the folder in which the entity lies.
    func canEnd(in collection: CollectionModel) throws -> Bool {
        guard collection.isByPath, let tree = collection.tree, attempt == nil, !pending.isEmpty,
            refusal == nil
        else { return false }
        if baseState != .live, isEntered { return false }
        let names = [tree.name, tree.parent, tree.kind].compactMap(\.self)
        let places = Set(names.map(ExactString.init))
        return try pending.allSatisfy { item in
            guard !item.isDerived, !item.isRefused, !item.mayHaveArrived else { return false }
            switch item.kind {
            case .create: return true
            case .update where baseState == .live:
                let fields = try Patch(parsing: item.payload).fieldNames
                return !fields.contains { places.contains(ExactString($0)) }
            case .update: return true
            case .delete, .carried, .action: return false
            }
        }
    }
}

extension TreeReader {
    /// The folder with which all ends that is pending on an entity; nil where it is sent.
    package mutating func ending(of id: String, _ rows: some RowReading) throws -> String? {
        if let known = endings[id] { return known }
        let found = try findEnding(of: id, rows)
        endings[id] = .some(found)
        return found
    }

    private mutating func findEnding(of id: String, _ rows: some RowReading) throws -> String? {
        guard collection.isByPath, try steps(of: id, rows).isOrphan else { return nil }
        let row = try rows.entity(at: .entity(EntityKey(collection.name, id)))
        guard try row.canEnd(in: collection) else { return nil }
        let folder = try above(id, rows).dropFirst().first { id in
            let row = try rows.entity(at: .entity(EntityKey(collection.name, id)))
            return row.baseState == .live && row.endsDeleted
        }
        guard let folder, try !needed(rows).contains(id) else { return nil }
        return folder
    }

    /// What others need that are sent: of what they are made, and where they are moved through,
    /// each with all in which it lies.
    private mutating func needed(_ rows: some RowReading) throws -> Set<String> {
        if let neededIDs { return neededIDs }
        var found: Set<String> = []
        try rows.forEachMutation(openOnly: true) { position, mutation in
            let key = mutation.key
            guard key.collection == collection.name else { return true }
            if let source = try steps(of: key.id, rows).sources[position] {
                found.formUnion(try above(source, rows))
            }
            let needs = try needs(of: key.id, position, rows)
            guard !needs.isEmpty else { return true }
            let row = try rows.entity(at: .entity(key))
            let ends = try row.isOrphan && row.canEnd(in: collection)
            let isAlone = row.pending.contains { $0.position == position && $0.isSentAlone }
            guard try !ends && (isAlone || !row.canEnd(in: collection)) else { return true }
            for need in needs { found.formUnion(try above(need, rows)) }
            return true
        }
        neededIDs = found
        return found
    }
}

extension Fold {
    /// Settles what ends with a folder that was deleted here, and is on the server.
    func endBelow(_ folder: EntityKey, _ position: Position) throws {
        guard let collection = try known(folder.collection)?.model, collection.isByPath,
            var reader = TreeReader(collection)
        else { return }
        var found: [EntityKey] = []
        var seen: Set<EntityKey> = []
        try forEachMutation(openOnly: true) { _, mutation in
            if mutation.key.collection == folder.collection, seen.insert(mutation.key).inserted {
                found.append(mutation.key)
            }
            return true
        }
        for key in found {
            var row = try entity(key)
            guard row.isOrphan, try row.canEnd(in: collection),
                try reader.above(key.id, self).dropFirst().contains(folder.id)
            else { continue }
            for item in row.pending {
                try settle(item, of: key, .annihilated, proof: position, revision: nil)
            }
            row.pending = []
            forgetIssues(of: &row, key)
            try refresh(&row, key)
            try put(row, key)
        }
    }
}

extension EntityRow {
    /// Whether anything that is pending deletes it.
    var hasDeletion: Bool { pending.contains { $0.kind == .delete } }

    /// Whether the server has, or had, a folder of a tree here.
    func isFolder(in collection: CollectionModel) throws -> Bool {
        guard let tree = collection.tree, let document = try baseValue(in: collection).document
        else { return false }
        return tree.isFolder(document)
    }
}
