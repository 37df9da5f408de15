// Interest.swift — the subject of a subscription, and whether a change concerns it.

package import TidemarkEvents
package import TidemarkRules

/// The subject of a subscription: one entity, the entities that satisfy a condition, all of some
/// collections, or commits.
package struct Interest: Sendable {
    enum Subject: Sendable {
        case entity(EntityKey)
        case entities(WatchCondition)
        case all
        case commits
    }

    /// Nil for every commit.
    package let collections: Set<CollectionName>?
    let subject: Subject
    /// Whether everything about a row counts, with what counts in the entity, and not only its
    /// document.
    let includesStatus: Bool
    /// The entities that it names, by all ids that they go by: when one of these names another
    /// entity, or one of these entities gets another id, it is out of date.
    package let names: [EntityKey]

    /// Whether its condition asks for what counts in entities.
    var asksForTrees: Bool {
        if case .entities(let condition) = subject { condition.asksForTrees } else { false }
    }

    /// Every commit, also one that changes no entity's row.
    package static let everyCommit = Interest()

    private init() {
        (collections, subject, includesStatus, names) = (nil, .commits, true, [])
    }

    /// Everything about the entities of some collections, and about the ids that they go by.
    package init(allIn collections: Set<CollectionName>) {
        self.collections = collections
        (subject, includesStatus, names) = (.all, true, [])
    }

    /// One entity, there or not.
    ///
    /// - Parameter asked: the id by which it was asked for, where that is another one.
    package init(_ key: EntityKey, asked: EntityKey? = nil, includesStatus: Bool = false) {
        names = [key] + (asked.map { $0 == key ? [] : [$0] } ?? [])
        collections = [key.collection]
        subject = .entity(key)
        self.includesStatus = includesStatus
    }

    /// The entities of a collection that a condition holds for, before or after a commit.
    package init(
        _ collection: CollectionName, where condition: WatchCondition,
        names: [EntityKey] = [], includesStatus: Bool = false
    ) {
        self.names = names
        collections = [collection]
        subject = .entities(condition)
        self.includesStatus = includesStatus || condition.asksForTrees
    }
}

/// A condition on an entity's document, as today's model reads it, and on what counts in it.
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
    /// Whether it asks for what counts in the entity.
    package var asksForTrees: Bool
    /// Whether it holds for a document with an id, in which that counts; in doubt true.
    package var holds: @Sendable ([UInt8], String, RollUpClasses) -> Bool

    package init(
        _ demand: Demand? = nil, asksForTrees: Bool = false,
        holds: @escaping @Sendable ([UInt8], String, RollUpClasses) -> Bool
    ) {
        self.demand = demand
        self.asksForTrees = asksForTrees
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
    private struct Side {
        let document: [UInt8]
        let tree: RollUpClasses
    }

    let key: EntityKey
    /// Before and after, where it is seen.
    private let sides: [Side]
    let dates: DateFormat
    /// Whether the document changed, and not only how it stands with the server.
    let isDocumentChanged: Bool

    init(_ change: EntityChange, _ model: SyncModel?) throws {
        let collection = model?[change.key.collection]
        func side(_ side: EntityChange.Side) throws -> Side? {
            guard let row = try side.row.map({ try EntityRow(parsing: $0) }),
                let document = try row.document(in: collection)
            else { return nil }
            return Side(document: document, tree: side.tree.union(RollUpClasses(row.rollUpClass)))
        }
        key = change.key
        let (old, new) = (try side(change.old), try side(change.new))
        sides = [old, new].compactMap(\.self)
        dates = collection?.dates ?? .iso8601
        isDocumentChanged = old?.document != new?.document
    }

    func holds(_ condition: WatchCondition) -> Bool {
        sides.contains { condition.holds($0.document, key.id, $0.tree) }
    }

    func isNews(to watch: Watch) -> Bool { isDocumentChanged || watch.interest.includesStatus }

    /// The values of some fields, of the old and of the new document, in their order.
    ///
    /// - Parameter reader: reads these fields.
    func values(_ fields: [IndexField], _ reader: FieldReader) -> [[[UInt8]]] {
        sides.map { side in
            zip(fields, reader.values(of: side.document[...])).map { field, member in
                var value: [UInt8] = []
                OrderKey.append(member, kind: field.kind, dates: dates, to: &value)
                return value
            }
        }
    }
}
