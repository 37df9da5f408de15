// Replica+Changes.swift — what came, changed and went since a position, in this process or in one
// that only reads.

public import TidemarkEvents
import TidemarkViews

extension Replica {
    /// What became of entities since a position.
    ///
    /// Of a collection with a `tree` exactly. Of others it is not kept what was there at a
    /// position: all that is there now and may have come or changed is in ``changed``, nothing in
    /// ``appeared``, and ``disappeared`` may name what was not there then. Who keeps a copy does
    /// the same for both: it puts in or replaces what appeared or changed, and removes what
    /// disappeared, if it has it.
    public struct Changes: Sendable, Hashable {
        /// Of which entities it is told.
        @nonexhaustive public enum Scope: Sendable, Hashable {
            /// Those of all collections of the model.
            case all
            /// Those of one collection.
            case collection(CollectionName)
            /// Those at the root of a collection's tree, not those further down.
            case root(CollectionName)
            /// Those that lie in an entity, not those further down.
            case folder(EntityKey)
        }

        /// What is seen there and was not: made, moved there, or seen again.
        ///
        /// Of trees only.
        public var appeared: [EntityKey]
        /// What is seen there, and of which anything was logged: its fields, what its references
        /// name, how it stands; in trees also its files.
        ///
        /// It may read as before, as where an edit was discarded. Not told is what merely counts in
        /// an entity by `rollUp`. In trees it was seen there before; elsewhere it may have
        /// appeared.
        public var changed: [EntityKey]
        /// What is not seen there any more: deleted, hidden or pruned, moved away, or in something
        /// that was deleted; or an id that turned out to be another entity's.
        ///
        /// In trees it was seen there before; elsewhere it may not have been.
        public var disappeared: [EntityKey]
        /// The position to ask with the next time.
        public var position: Position
    }

    /// What came, changed and went since a position, each entity once, in the order of the keys.
    ///
    /// Every position of the log will do, that of a read (``ReadContext/position``) or of the last
    /// answer. It costs as much as was logged since then and a row for each entity of that, however
    /// much is there. Only where the server's id of a new entity came, what refers to it is looked
    /// up, too: by the index of the reference, for which all lists of ids in that field are read.
    /// Blocks; call it off the main thread.
    ///
    /// What it tells is as of ``Changes/position``, which other commits may follow at once: a
    /// document that is read afterwards may be newer, and is told again the next time. What
    /// disappeared here may be there again by then, and the other way round.
    ///
    /// A position is one of this store: it says nothing of a copy that was put in its place, or of
    /// one that goes on behind a salvage.
    ///
    /// - Parameters:
    ///   - position: from where on; `@0` for the beginning of the log.
    ///   - scope: of which entities.
    /// - Throws: ``TidemarkError``: `anchorExpired` where it can't be told any more: the events
    ///   since then were dropped, the collection was wiped, the model reads its documents
    ///   otherwise, or has it since one was gone, itself or another (of all: or lacks one that it
    ///   had), or a version of the library made the rows anew that makes them otherwise; `notFound`
    ///   behind the end of the log, or of what was never there; `noModel` for a collection that the
    ///   model lacks, and for a place in one that is no tree.
    public func changes(since position: Position, in scope: Changes.Scope = .all) throws -> Changes
    {
        try TidemarkError.mapped {
            let found = try journal.changes(since: position, in: scope.inner)
            return Changes(
                appeared: found.appeared, changed: found.changed, disappeared: found.went,
                position: found.last)
        }
    }
}

extension Replica.Changes.Scope {
    fileprivate var inner: ChangeScope {
        switch self {
        case .all: .all
        case .collection(let name): .collection(name)
        case .root(let name): .root(name)
        case .folder(let key): .folder(key)
        }
    }
}

extension TidemarkError {
    /// Why it can't be told what changed since a position.
    init(_ error: ChangesSinceError) {
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
        case .noCollection(let name):
            self.init(.noModel, "the model has no collection \(name)")
        case .noTree(let name):
            self.init(
                .noModel,
                "\(name) is no tree by the model: it can be told of all of it only")
        case .unknown(let key):
            self.init(.notFound, "there is no \(key), and there was none since then", key: key)
        }
    }
}
