// CollectionWatchers.swift — those who watch one collection, as a change finds them: by the entity,
// by the value or the range of a field, or all.

import TidemarkEvents

/// Those who watch one collection.
struct CollectionWatchers: Sendable {
    /// Some watches by their numbers.
    private typealias Watches = [Int: Watch]

    /// Those whose condition demands something of one field.
    private struct FieldWatchers: Sendable {
        var byValue: [[UInt8]: Watches] = [:]
        var byRange = RangeTree<Watch>()

        var isEmpty: Bool { byValue.isEmpty && byRange.isEmpty }
    }

    private var byKey: [EntityKey: Watches] = [:]
    private var byField: [IndexField: FieldWatchers] = [:]
    /// The fields of these, and what reads them.
    private var fields: (all: [IndexField], reader: FieldReader) = ([], FieldReader([]))
    private var others: Watches = [:]
    /// Those to whom each change is news.
    private var whole: Watches = [:]
    /// How many of them are told of more than documents, and how many ask for trees.
    private var (statusCount, treeCount) = (0, 0)

    var isEmpty: Bool { whole.isEmpty && !asksForVersions }

    /// Whether it depends on what an entity was and is to whom its change is news.
    var asksForVersions: Bool { !byKey.isEmpty || !byField.isEmpty || !others.isEmpty }

    /// Whether a change of this entity can be news to any.
    func wants(_ key: EntityKey) -> Bool {
        !whole.isEmpty || !others.isEmpty || !byField.isEmpty || byKey[key] != nil
    }

    /// Whether a change of what counts in this entity can be news to any.
    func wantsTree(of key: EntityKey) -> Bool { statusCount > 0 && wants(key) }

    /// Whether the condition of any asks for what counts in entities.
    var asksForTrees: Bool { treeCount > 0 }

    private mutating func count(_ watch: Watch, _ one: Int) {
        if watch.interest.includesStatus { statusCount += one }
        if watch.interest.asksForTrees { treeCount += one }
    }

    mutating func add(_ watch: Watch) {
        let number = watch.number
        count(watch, 1)
        switch watch.interest.subject {
        case .entity(let key): byKey[key, default: [:]][number] = watch
        case .entities(let condition):
            switch condition.demand {
            case .value(let field, let values):
                for value in values {
                    byField[field, default: FieldWatchers()]
                        .byValue[value, default: [:]][number] = watch
                }
            case .range(let field, let range):
                byField[field, default: FieldWatchers()].byRange.insert(watch, number, range)
            case nil: others[number] = watch
            }
        case .all: whole[number] = watch
        case .commits: break  // not of a collection
        }
        noteFields()
    }

    private mutating func noteFields() {
        guard fields.all.count != byField.count else { return }
        let all = Array(byField.keys)
        fields = (all, FieldReader(all.map(\.name)))
    }

    mutating func remove(_ watch: Watch) {
        let number = watch.number
        count(watch, -1)
        switch watch.interest.subject {
        case .entity(let key):
            byKey[key]?[number] = nil
            if byKey[key]?.isEmpty == true { byKey[key] = nil }
        case .entities(let condition):
            switch condition.demand {
            case .value(let field, let values):
                for value in values {
                    byField[field]?.byValue[value]?[number] = nil
                    if byField[field]?.byValue[value]?.isEmpty == true {
                        byField[field]?.byValue[value] = nil
                    }
                }
                if byField[field]?.isEmpty == true { byField[field] = nil }
            case .range(let field, let range):
                byField[field]?.byRange.remove(number, range)
                if byField[field]?.isEmpty == true { byField[field] = nil }
            case nil: others[number] = nil
            }
        case .all: whole[number] = nil
        case .commits: break
        }
        noteFields()
    }

    /// All of them, some twice.
    func forEach(_ body: (Watch) -> Void) {
        for watches in byKey.values { watches.values.forEach(body) }
        for field in byField.values {
            for watches in field.byValue.values { watches.values.forEach(body) }
            field.byRange.forEach(body)
        }
        others.values.forEach(body)
        forEachOfWhole(body)
    }

    /// Those to whom each change is news.
    func forEachOfWhole(_ body: (Watch) -> Void) { whole.values.forEach(body) }

    /// The others to whom a change is news, some of them twice.
    func forEach(of versions: EntityVersions, _ body: (Watch) -> Void) {
        if let watches = byKey[versions.key] {
            for watch in watches.values where versions.isNews(to: watch) { body(watch) }
        }
        func ask(_ watch: Watch) {
            guard versions.isNews(to: watch),
                case .entities(let condition) = watch.interest.subject
            else { return }
            if versions.holds(condition) { body(watch) }
        }
        if !byField.isEmpty {
            for document in versions.values(fields.all, fields.reader) {
                for (field, value) in zip(fields.all, document) {
                    guard let watchers = byField[field] else { continue }
                    watchers.byValue[value]?.values.forEach(ask)
                    watchers.byRange.forEach(containing: value, ask)
                }
            }
        }
        others.values.forEach(ask)
    }
}
