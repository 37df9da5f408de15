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
    /// A field and its value by ``OrderKey``, where only entities with that value can fulfil the
    /// condition.
    package var equality: (field: IndexField, value: [UInt8])?
    /// Whether it holds for a document with an id; in doubt true.
    package var holds: @Sendable ([UInt8], String) -> Bool

    package init(
        equality: (field: IndexField, value: [UInt8])? = nil,
        holds: @escaping @Sendable ([UInt8], String) -> Bool
    ) {
        self.equality = equality
        self.holds = holds
    }
}

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

/// Those who watch one collection.
struct CollectionWatchers: Sendable {
    private var byKey: [EntityKey: [Watch]] = [:]
    /// Conditions with an equality, by field and value.
    private var byValue: [IndexField: [[UInt8]: [Watch]]] = [:]
    private var others: [Watch] = []

    var isEmpty: Bool { byKey.isEmpty && byValue.isEmpty && others.isEmpty }

    /// Whether a change of this entity can be news to any.
    func wants(_ key: EntityKey) -> Bool {
        !others.isEmpty || !byValue.isEmpty || byKey[key] != nil
    }

    mutating func add(_ watch: Watch) {
        switch watch.interest.subject {
        case .entity(let key): byKey[key, default: []].append(watch)
        case .entities(let condition):
            if let (field, value) = condition.equality {
                byValue[field, default: [:]][value, default: []].append(watch)
            } else {
                others.append(watch)
            }
        }
    }

    mutating func remove(_ watch: Watch) {
        func without(_ watches: [Watch]?) -> [Watch]? {
            let rest = watches?.filter { $0.number != watch.number }
            return rest?.isEmpty == true ? nil : rest
        }
        switch watch.interest.subject {
        case .entity(let key):
            let rest = without(byKey[key])
            byKey[key] = rest
        case .entities(let condition):
            if let (field, value) = condition.equality {
                var values = byValue[field] ?? [:]
                values[value] = without(values[value])
                byValue[field] = values.isEmpty ? nil : values
            } else {
                let rest = without(others)
                others = rest ?? []
            }
        }
    }

    func forEach(_ body: (Watch) -> Void) {
        for watches in byKey.values { watches.forEach(body) }
        for values in byValue.values { for watches in values.values { watches.forEach(body) } }
        others.forEach(body)
    }

    /// Those to whom a change is news, some of them twice.
    func forEach(of versions: EntityVersions, _ body: (Watch) -> Void) {
        for watch in byKey[versions.key] ?? [] where versions.isNews(to: watch) { body(watch) }
        func ask(_ watches: [Watch]) {
            for watch in watches where versions.isNews(to: watch) {
                guard case .entities(let condition) = watch.interest.subject else { continue }
                if versions.holds(condition) { body(watch) }
            }
        }
        if !byValue.isEmpty {
            let fields = Array(byValue.keys)
            for document in versions.values(fields) {
                for (field, value) in zip(fields, document) {
                    if let watches = byValue[field]?[value] { ask(watches) }
                }
            }
        }
        ask(others)
    }
}
