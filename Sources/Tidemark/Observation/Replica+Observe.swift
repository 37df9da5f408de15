// Replica+Observe.swift — observing one entity, or whatever a closure reads; queries are in
// Replica+ObserveQuery.swift.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension Replica {
    /// The current state of an entity, and each changed one; nil while it does not exist.
    ///
    /// Only commits that change this entity wake the observer; an acknowledgement by the server
    /// without a change does not. ``ObservedValues`` describes when the sequence ends.
    public func observe<T: Entity>(_ type: T.Type, _ id: ID<T>) -> ObservedValues<T?> {
        ObservedValues(
            source: ObservedSource(
                replica: self,
                interest: { Interest(try $0.resolve(T.key(id)), asked: T.key(id)) },
                read: { context in
                    let collection = try context.collection(T.self)
                    guard let (key, row) = try context.views.found(T.key(id)),
                        let stored = try row.document(in: collection)
                    else { return ObservedReading(fingerprint: []) { nil } }
                    let names = try context.views.localNames(collection)
                    let document = try names?.named(checked: stored) ?? stored
                    // The id is the key's, whatever the document holds.
                    var fingerprint = Array(key.id.utf8)
                    fingerprint.append(0)
                    fingerprint += document
                    return ObservedReading(fingerprint: fingerprint) {
                        try EntityReader(in: collection)
                            .entity(key, document, at: row.seenPosition)
                    }
                }))
    }

    /// An entity with its sync status, and again each time either changes, or what counts in it;
    /// nil while it does not exist.
    public func observe<T: Entity>(row type: T.Type, _ id: ID<T>) -> ObservedValues<Tracked<T>?> {
        ObservedValues(
            source: ObservedSource(
                replica: self,
                interest: {
                    Interest(try $0.resolve(T.key(id)), asked: T.key(id), includesStatus: true)
                },
                read: { context in
                    _ = try context.collection(T.self)
                    guard let row = try context.trackedRow(T.key(id)) else {
                        return ObservedReading(fingerprint: [0]) { nil }
                    }
                    return ObservedReading(fingerprint: [1] + row.fingerprint) {
                        try row.decoded(EntityReader<T>(in: row.collection))
                    }
                }))
    }

    /// The current result of any read, and each that differs: a sum, a row with what it refers to,
    /// the open issues, the files of an entity, the outbox.
    ///
    /// Only commits that change an entity of a collection that `read` read wake the observer, its
    /// status and the ids that it goes by included: by queries, by ids, by their documents, status
    /// or paths. Where it read anything else, as issues, files, what waits, the position, or by a
    /// replica of the same store instead of its context, on the same thread, every commit does,
    /// also one that changes no entity. What counts is what it read the last time.
    ///
    /// `read` runs off the caller's actor, once for all that came meanwhile. Where a query says it
    /// all, observe that, which fewer commits wake. ``ObservedValues`` describes when the sequence
    /// ends; what `read` throws ends it, too.
    public func observe<Value: Equatable & Sendable>(
        _ read: @escaping @Sendable (ReadContext) throws -> Value
    ) -> ObservedValues<Value> {
        ObservedValues(source: source(read))
    }

    func source<Value: Equatable & Sendable>(
        _ read: @escaping @Sendable (ReadContext) throws -> Value
    ) -> ObservedSource<Value> {
        ObservedSource(
            replica: self, interest: nil,
            read: { context in
                let value = try read(context)
                return ObservedReading(fingerprint: context.views.last.bigEndianBytes) { value }
            })
    }
}

extension ReadContext {
    /// The entity with an id, with its sync status; nil when there is no visible one.
    ///
    /// - Throws: ``TidemarkError``: `noModel` when the model lacks the collection, `undecodable`
    ///   when the document can't be read as the type.
    public func row<T: Entity>(_ type: T.Type, _ id: ID<T>) throws -> Tracked<T>? {
        let reader = try reader(type)
        return try trackedRow(T.key(id))?.decoded(reader)
    }

    func trackedRow(_ key: EntityKey) throws -> TrackedRow? {
        try views.found(key).flatMap {
            try TrackedRow($0.key, $0.row, views, hasRollUps: hasRollUps(of: key.collection))
        }
    }

    func hasRollUps(of collection: CollectionName) throws -> Bool {
        try views.model().hasRollUps(of: collection)
    }
}
