// SyncStep.swift — the next thing that a sync run has to do.

package import TidemarkEvents
package import TidemarkViews

/// The next thing that a sync run has to do.
package indirect enum SyncStep: Sendable, Hashable {
    /// Ask how an entity stands whose last write has no known outcome, whose version is not known,
    /// or that a list of everything did not name.
    case readBack(EntityKey, ServerCall, attempt: EntityRow.Attempt?)
    /// Ask what tells the collections from others of the same names.
    case describe(ServerCall)
    /// Fetch a page of a collection.
    case list(ServerCall)
    /// Fetch entities that a list only named.
    case fetch(CollectionModel, ids: [String])
    /// Ask for entities that are here as placeholders, and that all refer to one thing.
    case refetch(CollectionModel, ids: [String], together: String?)
    /// Note that a collection was listed to its end.
    case complete(Listing)
    /// Prune what need not be kept, by the server's time.
    case cleanUp(now: Timestamp)
    /// Send what is pending on entities: one, or several in one request.
    case push([PushItem])
    /// Ask the app for other credentials: those of a step were refused.
    case renew(SyncStep)
    /// Nothing is left to do.
    case finish

    /// The call to make, where the step makes one.
    package var call: ServerCall? {
        switch self {
        case .readBack(_, let call, _), .describe(let call), .list(let call): call
        case .fetch(let collection, let ids): .fetch(collection, ids: ids)
        case .refetch(let collection, let ids, let together):
            .refetch(collection, ids: ids, together: together)
        case .push(let items): items.count == 1 ? items[0].call : .batch(items.map(\.call))
        case .complete, .cleanUp, .renew, .finish: nil
        }
    }
}
