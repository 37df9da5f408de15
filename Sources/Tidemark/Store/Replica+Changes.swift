// Replica+Changes.swift — what came, changed and went in trees since a position, in this process or
// in one that only reads.

public import TidemarkEvents
import TidemarkViews

extension Replica {
    /// What became of entities of trees since a position.
    public struct Changes: Sendable, Hashable {
        /// Of which entities it is told.
        public enum Scope: Sendable, Hashable {
            /// Those of all collections that are trees.
            case all
            /// Those of one collection.
            case collection(CollectionName)
            /// Those at the root of a collection's tree, not those further down.
            case root(CollectionName)
            /// Those that lie in an entity, not those further down.
            case folder(EntityKey)
        }

        /// What is seen there and was not: made, moved there, or seen again.
        public var appeared: [EntityKey]
        /// What was and is seen there, and of which anything was logged: its fields, how it stands,
        /// its files.
        public var changed: [EntityKey]
        /// What was seen there and is not: deleted, moved away, or in something that was deleted.
        public var went: [EntityKey]
        /// The position to ask with the next time.
        public var position: Position
    }

    /// What came, changed and went since a position, each entity once, in the order of the keys.
    ///
    /// Every position of the log will do, that of a read (``ReadContext/position``) or of the last
    /// answer. It costs as much as was logged since then, however large the trees are.
    ///
    /// - Parameters:
    ///   - position: from where on; `@0` for the beginning of the log.
    ///   - scope: of which entities.
    /// - Throws: ``TidemarkError``: `anchorExpired` where the log or the model does not tell any
    ///   more what was there then; `notFound` behind the end of the log, or of what was never
    ///   there; `noModel` for a collection that is no tree.
    public func changes(since position: Position, in scope: Changes.Scope = .all) throws -> Changes
    {
        try TidemarkError.mapped {
            let found = try journal.treeChanges(since: position, in: scope.inner)
            return Changes(
                appeared: found.appeared, changed: found.changed, went: found.went,
                position: found.last)
        }
    }
}

extension Replica.Changes.Scope {
    fileprivate var inner: TreeScope {
        switch self {
        case .all: .all
        case .collection(let name): .collection(name)
        case .root(let name): .root(name)
        case .folder(let key): .folder(key)
        }
    }
}

extension TidemarkError {
    /// Why it can't be told what became of a tree.
    init(_ error: TreeChangesError) {
        switch error.reason {
        case .expired(let first):
            self.init(
                .anchorExpired,
                "what was there at \(error.position) is not known any more: it can be told what "
                    + "changed since \(first) at the earliest; read all that is there now, and go "
                    + "on from that read's position",
                position: error.position)
        case .ahead(let last):
            self.init(
                .notFound, "there is no event at \(error.position); the log ends at \(last)",
                position: error.position)
        case .noTree(let name):
            self.init(
                .noModel,
                "\(name) is no tree by the model: it can be told of collections with `tree` only")
        case .unknown(let key):
            self.init(.notFound, "there is no \(key), and there was none since then", key: key)
        }
    }
}
