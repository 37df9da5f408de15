// CommitNews.swift — what a commit changed, for those who are told of it.

package import TidemarkEvents
import TidemarkStore

/// One entity's row, before and after a commit.
package struct EntityChange: Sendable {
    package let key: EntityKey
    /// The rows' bytes; nil where there is none.
    let old: [UInt8]?
    let new: [UInt8]?
}

/// What a commit that is on disk changed.
package struct CommitNews: Sendable {
    /// Who came later than this number may have missed the commit.
    let asOf: Int
    /// Whether the user edited something here.
    var isLocal = false
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
        news.isLocal = wanted.edits && draft.isLocal
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
        if found.count > CommitFeed.changesMax {
            // In the order of their keys, so the collections are, too.
            for change in found where news.collections.last != change.key.collection {
                news.collections.append(change.key.collection)
            }
            return news
        }
        for change in found {
            let (old, new) = (draft.rowsBefore[change.index], changes[change.index].value)
            guard old != new else { continue }
            news.changes.append(EntityChange(key: change.key, old: old, new: new))
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
    /// Whether the user did it here.
    var isLocal: Bool {
        if case .local = kind.family { true } else { false }
    }
}
