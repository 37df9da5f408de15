// Replica+Observe.swift — observing one entity; queries are in Replica+ObserveQuery.swift.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension Replica {
    /// An entity as it is now, and each time it has changed; nil while there is none.
    ///
    /// Only commits that change this entity wake who observes it; what the server acknowledges
    /// without changing it does not. See ``ObservedValues`` for the end of it.
    public func observe<T: Entity>(_ type: T.Type, _ id: ID<T>) -> ObservedValues<T?> {
        ObservedValues(
            source: ObservedSource(
                replica: self,
                interest: { Interest(try $0.resolve(T.key(id)), asked: T.key(id)) },
                read: { context in
                    let collection = try context.collection(T.self)
                    guard let (key, row) = try context.views.found(T.key(id)),
                        let stored = try row.document(in: collection)
                    else { return ObservedReading(fingerprint: [0]) { nil } }
                    let names = try context.views.localNames(collection)
                    let document = try names?.named(checked: stored) ?? stored
                    return ObservedReading(fingerprint: [1] + document) {
                        try EntityReader(in: collection)
                            .entity(key, document, at: row.seenPosition)
                    }
                }))
    }

    /// An entity and how it stands with the server, as it is now, and each time either has changed;
    /// nil while there is none.
    public func observe<T: Entity>(row type: T.Type, _ id: ID<T>) -> ObservedValues<Tracked<T>?> {
        ObservedValues(
            source: ObservedSource(
                replica: self,
                interest: {
                    Interest(try $0.resolve(T.key(id)), asked: T.key(id), includesStatus: true)
                },
                read: { context in
                    guard let row = try context.trackedRow(T.key(id)) else {
                        return ObservedReading(fingerprint: [0]) { nil }
                    }
                    return ObservedReading(fingerprint: [1] + row.fingerprint) {
                        try row.decoded(EntityReader<T>(in: row.collection))
                    }
                }))
    }
}

extension ReadContext {
    /// The entity with an id and how it stands with the server; nil when there is none to be seen.
    ///
    /// - Throws: ``TidemarkError`` `undecodable` when the document is no such entity.
    public func row<T: Entity>(_ type: T.Type, _ id: ID<T>) throws -> Tracked<T>? {
        let reader = try reader(type)
        return try trackedRow(T.key(id))?.decoded(reader)
    }

    func trackedRow(_ key: EntityKey) throws -> TrackedRow? {
        try views.found(key).flatMap { try TrackedRow($0.key, $0.row, views) }
    }
}
