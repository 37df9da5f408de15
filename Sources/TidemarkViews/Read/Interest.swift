// Interest.swift — the subject of a subscription, and whether a change concerns it.

package import TidemarkEvents

/// The subject of a subscription: one entity, or the entities that satisfy a condition.
package struct Interest: Sendable {
    enum Subject: Sendable {
        case entity(EntityKey)
        case entities(WatchCondition)
    }

    let collection: CollectionName
    let subject: Subject
    /// Whether everything about a row counts, and not only its document.
    let includesStatus: Bool
    /// The entities that it names, by all ids that they go by: when one of these names another
    /// entity, or one of these entities gets another id, it is out of date.
    package let names: [EntityKey]

    /// One entity, there or not.
    ///
    /// - Parameter asked: the id by which it was asked for, where that is another one.
    package init(_ key: EntityKey, asked: EntityKey? = nil, includesStatus: Bool = false) {
        names = [key] + (asked.map { $0 == key ? [] : [$0] } ?? [])
        collection = key.collection
        subject = .entity(key)
        self.includesStatus = includesStatus
    }

    /// The entities of a collection that a condition holds for, before or after a commit.
    package init(
        _ collection: CollectionName, where condition: WatchCondition,
        names: [EntityKey] = [], includesStatus: Bool = false
    ) {
        self.names = names
        self.collection = collection
        subject = .entities(condition)
        self.includesStatus = includesStatus
    }
}

/// A condition on an entity's document, as today's model reads it.
package struct WatchCondition: Sendable {
    /// What the condition demands of one field, by ``OrderKey``.
    package enum Demand: Sendable {
        /// One of some values, of which there is at least one.
        case value(IndexField, [[UInt8]])
        /// A value in a range.
        case range(IndexField, KeyRange)
    }

    /// What only entities can fulfil the condition that fulfil this; nil for any.
    package var demand: Demand?
    /// Whether it holds for a document with an id; in doubt true.
    package var holds: @Sendable ([UInt8], String) -> Bool

    package init(
        _ demand: Demand? = nil, holds: @escaping @Sendable ([UInt8], String) -> Bool
    ) {
        self.demand = demand
        self.holds = holds
    }
}

/// One subscription.
struct Watch: Sendable {
    let number: Int
    /// The opening of the store that it ends with.
    let owner: ObjectIdentifier
    let interest: Interest
    let tell: @Sendable () -> Void
}

/// An entity before and after a commit, as its documents read.
struct EntityVersions {
    let key: EntityKey
    let old: [UInt8]?
    let new: [UInt8]?
    let dates: DateFormat
    /// Whether the document changed, and not only how it stands with the server.
    let isDocumentChanged: Bool

    init(_ change: EntityChange, _ model: SyncModel?) throws {
        let collection = model?[change.key.collection]
        func document(_ row: [UInt8]?) throws -> [UInt8]? {
            try row.flatMap { try EntityRow(parsing: $0).document(in: collection) }
        }
        key = change.key
        old = try document(change.old)
        new = try document(change.new)
        dates = collection?.dates ?? .iso8601
        isDocumentChanged = old != new
    }

    func holds(_ condition: WatchCondition) -> Bool {
        old.map { condition.holds($0, key.id) } == true
            || new.map { condition.holds($0, key.id) } == true
    }

    func isNews(to watch: Watch) -> Bool { isDocumentChanged || watch.interest.includesStatus }

    /// The values of some fields, of the old and of the new document, in their order.
    func values(_ fields: [IndexField]) -> [[[UInt8]]] {
        let names = fields.map { Array($0.name.utf8) }
        return [old, new].compactMap(\.self).map { document in
            zip(fields, JSON.members(names, of: document[...])).map { field, member in
                var value: [UInt8] = []
                OrderKey.append(member, kind: field.kind, dates: dates, to: &value)
                return value
            }
        }
    }
}
