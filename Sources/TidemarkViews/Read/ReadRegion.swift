// ReadRegion.swift — of which collections something is read, as far as that is all that is read.
//
// It is noted where rows are read, so that no question that they answer is forgotten:
//
//   rows, roll-ups, indexes   their collection
//   the model                 nothing: who watches a collection is told of each model
//   ids of entities           nothing: who watches a collection is told of each id in it, and in
//                             those to which it refers
//   anything else             everything

package import TidemarkEvents

/// What was read, by collections.
struct ReadRegion: Sendable {
    /// Of which something was read; nil once anything was read that is of none.
    private(set) var collections: Set<CollectionName>? = []
    /// What the key began with that was noted last: neighbours often have one collection.
    private var last: [UInt8] = []

    private static let model = RowKey.store("model").bytes

    mutating func noteEverything() { collections = nil }

    mutating func note(_ collection: CollectionName) { collections?.insert(collection) }

    /// Notes that the row under a key was read, or those whose keys begin so.
    mutating func note(_ tree: Tree, _ key: [UInt8]) {
        guard collections != nil else { return }
        guard tree == .ledger else { return note(key[...]) }
        let first = key.first
        if first == Ledger.rollUps[0] { return note(key.dropFirst()) }
        let isOfNames = first == Ledger.bindings[0] || first == Ledger.aliases[0]
        if !isOfNames, key != Self.model { noteEverything() }
    }

    /// - Parameter key: begins with the collection and a zero byte, unless it is of all.
    private mutating func note(_ key: ArraySlice<UInt8>) {
        if !last.isEmpty, key.starts(with: last) { return }
        guard let zero = key.firstIndex(of: 0), let name = String(utf8: key[..<zero]) else {
            return noteEverything()
        }
        last = Array(key[...zero])
        note(CollectionName(name))
    }
}

extension ViewReader {
    /// Notes what is read by `body`, also where it throws.
    ///
    /// - Returns: what it returns, and of which collections it read something; nil where it read
    ///   anything else, or nothing.
    package func noting<R>(
        _ body: () throws -> R
    ) -> (result: Result<R, any Error>, collections: Set<CollectionName>?) {
        region = ReadRegion()
        defer { region = nil }
        let result: Result<R, any Error> = Result { try body() }
        let found = region?.collections ?? []
        return (result, found.isEmpty ? nil : found)
    }

    /// Notes that something is read that no collection has.
    package func noteEverything() { region?.noteEverything() }
}
