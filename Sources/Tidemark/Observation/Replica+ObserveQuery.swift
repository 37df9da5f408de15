// Replica+ObserveQuery.swift — observing the result of a query: entities, rows, or their number.

import TidemarkEvents
import TidemarkStore
package import TidemarkViews

extension Replica {
    /// The current entities of a query, in its order, and again each time they change.
    ///
    /// Only commits that change an entity that met or meets the query's condition wake the
    /// observer. ``ObservedValues`` describes when the sequence ends.
    public func observe<T: Entity>(_ query: EntityQuery<T>) -> ObservedValues<[T]> {
        ObservedValues(source: source(query))
    }

    /// The entities of a query with their sync status, and again each time any of this changes.
    public func observe<T: Entity>(rows query: EntityQuery<T>) -> ObservedValues<[Tracked<T>]> {
        ObservedValues(source: source(rows: query))
    }

    /// The number of entities that meet a query, and again each time it changes.
    public func observe<T: Entity>(count query: EntityQuery<T>) -> ObservedValues<Int> {
        ObservedValues(
            source: ObservedSource(
                replica: self, interest: { try Interest(query, $0) },
                read: { context in
                    let count = try context.count(query)
                    var fingerprint: [UInt8] = []
                    Position(UInt64(count)).appendBigEndianBytes(to: &fingerprint)
                    return ObservedReading(fingerprint: fingerprint) { count }
                }))
    }

    /// How many entities of a query have each value of a property, and again each time that
    /// changes; values that none has are not in it.
    ///
    /// Only commits that change an entity that met or meets the query's condition wake the
    /// observer. ``EntityReading/counts(_:by:)`` has more.
    public func observe<T: Entity, Value: QueryValue & Hashable>(
        counts query: EntityQuery<T>, by path: any KeyPath<T, Value> & Sendable
    ) -> ObservedValues<[Value: Int]> {
        ObservedValues(
            source: ObservedSource(
                replica: self, interest: { try Interest(query, $0) },
                read: { context in
                    let counts = try context.counts(query, by: path)
                    return ObservedReading(fingerprint: context.position.bigEndianBytes) { counts }
                }))
    }

    func source<T: Entity>(_ query: EntityQuery<T>) -> ObservedSource<[T]> {
        ObservedSource(
            replica: self, interest: { try Interest(query, $0) },
            read: { context in
                let collection = try context.collection(T.self)
                let reader = EntityReader<T>(in: collection)
                var found: [FoundEntity] = []
                var decoded: [EntityKey: T] = [:]
                var fingerprint = ResultFingerprint()
                let names = try context.views.localNames(collection)
                try context.views.forEachFound(
                    try context.documentQuery(query),
                    reading: { try $0.named(by: names).checked(for: query, reader, &decoded) }
                ) { entity in
                    found.append(entity)
                    fingerprint.add(Array(entity.key.id.utf8))
                    fingerprint.add(entity.document)
                    return true
                }
                return ObservedReading(fingerprint: fingerprint.bytes) { [found, decoded] in
                    let reader = EntityReader<T>(in: collection)
                    return try found.map { try decoded[$0.key] ?? $0.entity(reader) }
                }
            })
    }

    func source<T: Entity>(rows query: EntityQuery<T>) -> ObservedSource<[Tracked<T>]> {
        ObservedSource(
            replica: self, interest: { try Interest(query, $0, includesStatus: true) },
            read: { context in
                let collection = try context.collection(T.self)
                let (rows, decoded) = try context.trackedRows(query, context.reader(T.self))
                var fingerprint = ResultFingerprint()
                for row in rows { fingerprint.add(row.fingerprint) }
                return ObservedReading(fingerprint: fingerprint.bytes) {
                    let reader = EntityReader<T>(in: collection)
                    return try rows.map { try $0.tracked(decoded[$0.key] ?? $0.entity(reader)) }
                }
            })
    }
}

extension ReadContext {
    /// The entities of a query with their sync status, in its order.
    ///
    /// - Throws: what ``all(_:)-(EntityQuery<T>)`` throws.
    public func rows<T: Entity>(_ query: EntityQuery<T>) throws -> [Tracked<T>] {
        let reader = try reader(T.self)
        let (rows, decoded) = try trackedRows(query, reader)
        return try rows.map { try $0.tracked(decoded[$0.key] ?? $0.entity(reader)) }
    }

    fileprivate func trackedRows<T: Entity>(
        _ query: EntityQuery<T>, _ reader: EntityReader<T>
    ) throws -> (rows: [TrackedRow], decoded: [EntityKey: T]) {
        var rows: [TrackedRow] = []
        var decoded: [EntityKey: T] = [:]
        let hasRollUps = try hasRollUps(of: T.collection)
        try views.forEachFound(
            try documentQuery(query), reading: { try $0.checked(for: query, reader, &decoded) }
        ) { found in
            let row = try TrackedRow(found.key, found.row, views, hasRollUps: hasRollUps)
            if let row { rows.append(row) }
            return true
        }
        return (rows, decoded)
    }
}

extension Interest {
    /// The changes that can affect a query's result.
    package init<T: Entity>(
        _ query: EntityQuery<T>, _ views: ViewReader, includesStatus: Bool = false
    ) throws {
        var names: [EntityKey] = []
        // Aliases may come while it is watched.
        let documents = try DocumentQuery(
            query.terms, of: T.collection, in: try views.model(), hasAliases: { _ in true }
        ) {
            let keys = try views.keys(of: $0)
            names.append($0)
            names += keys
            return keys.map(\.id)
        }
        let condition = WatchCondition(
            documents.demand, asksForTrees: documents.asksForTrees
        ) { documents.matches($0, id: $1, tree: $2) }
        self.init(
            T.collection, where: condition, names: names, includesStatus: includesStatus)
    }
}

extension DocumentQuery {
    /// What the query demands of one field: one of few values where it does, else a range, of
    /// several one with two ends.
    fileprivate var demand: WatchCondition.Demand? {
        let facts = QueryFacts(conditions)
        var found: (field: IndexField, range: KeyRange)?
        for case .field(let field) in facts.fields {
            if let values = facts.values[.field(field)] {
                guard let first = values.first, let last = values.last else { return nil }
                if values.count <= QueryPlan.rangesMax { return .value(field, values) }
                found = found ?? (field, KeyRange(first, KeyRange(beginning: last).upper))
            } else if let range = facts.ranges[.field(field)] {
                if found?.range.hasTwoEnds != true, found == nil || range.hasTwoEnds {
                    found = (field, range)
                }
            }
        }
        return found.map { .range($0.field, $0.range) }
    }
}

extension KeyRange {
    /// Whether it ends at a value on both sides, and not where the values of a type end.
    fileprivate var hasTwoEnds: Bool { lower.count > 1 && upper.count > 1 }
}

/// A digest of the parts of a result, of a fixed length.
private struct ResultFingerprint {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ part: [UInt8]) {
        // Each part's digest has the same length, so different sequences of parts can't collide.
        bytes = SHA256Digest.of(bytes + SHA256Digest.of(part))
    }
}
