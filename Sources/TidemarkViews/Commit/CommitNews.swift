// CommitNews.swift — what a commit changed, for those who are told of it: rows of entities, and
// what counts in an entity whose row may be as it was.

package import TidemarkEvents
import TidemarkRules
import TidemarkStore

/// One entity before and after a commit.
package struct EntityChange: Sendable {
    /// Its row, and what counts in it.
    struct Side: Sendable {
        /// The row's bytes; nil where there is none.
        var row: [UInt8]?
        /// What counts in it, itself included; empty where nobody asks for that.
        var tree: RollUpClasses = []
    }

    package let key: EntityKey
    let old: Side
    let new: Side
}

/// What a commit that is on disk changed.
package struct CommitNews: Sendable {
    /// Who came later than this number may have missed the commit.
    let asOf: Int
    /// Whether the user did something here that may be sent, or fetched.
    var mayBeSent = false
    /// Whether a model was registered: then everything may read differently.
    var isModelChanged = false
    /// The rows that somebody watches; none when they are too many.
    var changes: [EntityChange] = []
    /// The collections of which no change is told by itself, some perhaps twice.
    ///
    /// There are too many, or they refer to an entity that got another id.
    var collections: [CollectionName] = []
    /// The ids that name an entity from now on, and those entities.
    var named: [EntityKey] = []
    /// By which documents are read.
    var model: SyncModel?

    /// Whether it changed nothing that anybody watches.
    var changesNothing: Bool {
        !isModelChanged && changes.isEmpty && collections.isEmpty && named.isEmpty
    }
}

extension Journal {
    /// What a commit is going to change of what somebody watches; read before it is written.
    func news(
        _ draft: Draft, _ generation: Generation, _ transaction: borrowing WriteTransaction
    ) throws -> CommitNews {
        let wanted = shared.feed.wanted
        var news = CommitNews(asOf: wanted.last)
        news.mayBeSent = wanted.edits && draft.mayBeSent
        guard !wanted.watchers.isEmpty else { return news }
        news.isModelChanged = draft.hasModel
        let changes = draft.changes
        var found: [(key: EntityKey, index: Int)] = []
        for index in draft.rowsBefore.indices {
            guard let key = EntityKey(bytes: changes[index].key.bytes),
                wanted.watchers[key.collection]?.wants(key) == true
            else { continue }
            found.append((key, index))
        }
        for (row, target) in changes where row.view == .bindings {
            let keys = [EntityKey(bytes: row.bytes.dropFirst()), target.flatMap(EntityKey.init)]
            news.named += keys.compactMap(\.self)
        }
        if !news.named.isEmpty {
            // What refers to an entity that got another id may read differently.
            let named = Set(news.named.map(\.collection))
            news.collections =
                try model(generation, transaction)?.collections.filter { collection in
                    wanted.watchers[collection.name] != nil
                        && collection.references.contains { named.contains($0.collection) }
                }.map(\.name).sorted() ?? []
        }
        let trees = changes.dropFirst(draft.rowsBefore.count).compactMap { row, value in
            row.treeKey.flatMap { key in
                wanted.watchers[key.collection]?.wantsTree(of: key) == true ? (key, value) : nil
            }
        }
        if found.count + trees.count > CommitFeed.changesMax {
            for name in (found.map(\.key) + trees.map(\.0)).map(\.collection)
            where !news.collections.contains(name) {
                news.collections.append(name)
            }
            return news
        }
        func tree(_ row: [UInt8]?) throws -> RollUpClasses {
            try row.map { try RollUpRow(parsing: $0).counted } ?? []
        }
        func note(
            _ key: EntityKey, _ old: [UInt8]?, _ new: [UInt8]?, _ newTree: RollUpClasses?
        ) throws {
            var sides = (old: EntityChange.Side(row: old), new: EntityChange.Side(row: new))
            if newTree != nil || wanted.watchers[key.collection]?.asksForTrees == true {
                sides.old.tree = try tree(views.row(.rollUp(key), generation, transaction))
                sides.new.tree = newTree ?? sides.old.tree
            }
            guard old != new || sides.old.tree != sides.new.tree else { return }
            news.changes.append(EntityChange(key: key, old: sides.old, new: sides.new))
        }
        var newTrees: [EntityKey: RollUpClasses] = [:]
        for (key, value) in trees { newTrees[key] = try tree(value) }
        for (key, index) in found {
            let newTree = newTrees.removeValue(forKey: key)
            try note(key, draft.rowsBefore[index], changes[index].value, newTree)
        }
        for (key, _) in trees {
            guard let newTree = newTrees[key] else { continue }
            let row = try views.row(.entity(key), generation, transaction)
            try note(key, row, row, newTree)
        }
        if !news.changes.isEmpty {
            news.model = try model(generation, transaction)
        }
        return news
    }

    private func model(
        _ generation: Generation, _ transaction: borrowing WriteTransaction
    ) throws -> SyncModel? {
        let key = RowKey.store("model")
        return try views.row(key, generation, transaction).map {
            models.model(try StoreFactRow(parsing: $0))
        }
    }
}

extension Event {
    /// Whether the user did something here that may wait to be sent.
    var isLocal: Bool {
        if case .local(let what) = kind.family { what != .wiped } else { false }
    }
}
