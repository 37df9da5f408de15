// IndexCheck.swift — whether the indexes say what the rows say.

package import TidemarkEvents
import TidemarkLog
package import TidemarkStore

/// A record that an index does not have, or should not.
package struct IndexDifference: Sendable, Hashable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        case missing
        case leftOver = "left over"
        case different
    }
    package var kind: Kind
    /// The collection and the fields; nil for a record of an index that the model does not have.
    package var collection: CollectionName?
    package var fields: [String]
    /// The id of the entity; nil where it can't be read.
    package var id: String?

    package var description: String {
        guard let collection else { return "a record of an index that nothing asks for is there" }
        let entity = id.map { "\(collection)/\($0)" } ?? "an entity that can't be read"
        return "the record of \(entity) in the index of \(collection) on "
            + "\(fields.joined(separator: ", ")) is \(kind.rawValue)"
    }
}

extension ViewTables {
    /// How the indexes differ from ones that are built from the rows.
    ///
    /// Needs memory in proportion to the largest collection with indexes.
    ///
    /// - Parameter differencesMax: how many records are listed at most.
    package func indexDifferences(
        _ models: ModelCache, _ state: State, differencesMax: Int = 100,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [IndexDifference] {
        let table = indexTable(state.generation)
        let plan = try indexPlan(models, state.generation, transaction)
        var differences: [IndexDifference] = []
        var known = 0
        for collection in plan.collections {
            for index in collection.indexes where state.indexes.contains(index.name) {
                let one = IndexPlan(plan, only: [index.name])
                var expected = try indexEntries(one, state.generation, transaction)[...]
                func note(_ kind: IndexDifference.Kind, _ entry: IndexEntry) -> Bool {
                    let rest = entry.key[index.name.count...]
                    let end = index.componentsEnd(of: rest)?.end
                    differences.append(
                        IndexDifference(
                            kind: kind, collection: collection.model.name,
                            fields: index.index.fields.map(\.name),
                            id: end.flatMap { KeptIndex.id(rest[$0...], entry.value) }))
                    return differences.count < differencesMax
                }
                try transaction.scan(table, from: nil, prefix: index.name, reversed: false) {
                    known += 1
                    let found = IndexEntry(key: $0.copied(), value: $1.copied())
                    while let next = expected.first, IndexEntry.precedes(next, found) {
                        expected = expected.dropFirst()
                        guard note(.missing, next) else { return false }
                    }
                    guard let next = expected.first, next.key == found.key else {
                        return note(.leftOver, found)
                    }
                    expected = expected.dropFirst()
                    return next.value == found.value || note(.different, next)
                }
                for entry in expected where differences.count < differencesMax {
                    _ = note(.missing, entry)
                }
            }
        }
        guard differences.count < differencesMax else { return differences }
        // What is there besides is of no index that the store says it has.
        let names = state.indexes.filter(plan.names.contains)
        guard try transaction.count(table) != known else { return differences }
        try transaction.scan(table, from: nil, prefix: [], reversed: false) { key, _ in
            guard !names.contains(Array(key.copied().prefix(KeptIndex.nameBytes))) else {
                return true
            }
            differences.append(IndexDifference(kind: .leftOver, collection: nil, fields: []))
            return differences.count < differencesMax
        }
        return differences
    }
}

extension Journal {
    /// How the indexes differ at this moment from ones that are built from the rows.
    package func indexDifferences(
        differencesMax: Int = 100, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [IndexDifference] {
        let state = try views.state(transaction) ?? ViewTables.State()
        // An outdated index is not read; it is rebuilt when the store is opened for writing.
        let last = try log.lastPosition(transaction)
        guard state.currentIndexes(last) == state.indexes else { return [] }
        return try views.indexDifferences(
            models, state, differencesMax: differencesMax, transaction)
    }
}
