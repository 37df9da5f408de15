// WrittenRecords.swift — the records that indexes would have of what a fold wrote. The stored ones
// are of the rows that were there before; with these in the places of theirs they are those that
// the commit will leave.

import TidemarkEvents
import TidemarkStore

/// The records of each collection of which an index was read within one fold.
final class WrittenRecordsMemory: FoldMemory {
    var known: [CollectionName: WrittenRecords] = [:]
}

/// What all indexes of one collection have of the entities that were written, in the order of the
/// keys.
final class WrittenRecords {
    /// After how many writes of the fold they are up to date.
    var count = 0
    private var sorted: [IndexEntry] = []
    /// Those of each entity, none of one that is not seen, by its id.
    private var own: [ExactString: [IndexEntry]] = [:]

    /// From so many entities on all is sorted anew.
    private static let manyAtOnce = 64

    /// Whether no entity was written.
    var isEmpty: Bool { own.isEmpty }

    /// Whether an entity was written, so that what is stored of it does not count.
    func hasWritten(_ id: String) -> Bool { own[ExactString(id)] != nil }

    /// Takes in entities as they are now.
    func take(
        _ written: [(key: EntityKey, row: EntityRow)], _ collection: IndexedCollection
    ) throws {
        let areMany = written.count >= Self.manyAtOnce
        for (key, row) in written {
            let values = row.document.map { collection.values(in: $0[...]) }
            let new = collection.entries(values, id: Array(key.id.utf8)[...])
            let old = own.updateValue(new, forKey: ExactString(key.id)) ?? []
            if areMany || old == new { continue }
            for entry in old {
                let place = place(of: entry.key)
                if place < sorted.count, sorted[place] == entry { sorted.remove(at: place) }
            }
            for entry in new { sorted.insert(entry, at: place(of: entry.key)) }
        }
        if areMany { sorted = own.values.joined().sorted(by: IndexEntry.precedes) }
    }

    /// The records of one index, from a key on, up or down.
    func records(
        of index: KeptIndex, from: [UInt8]?, reversed: Bool
    ) -> AnyIterator<(key: [UInt8], row: [UInt8])> {
        var (lower, upper) = (
            place(of: index.name), place(of: KeyRange(beginning: index.name).upper)
        )
        if let from {
            if reversed { upper = min(upper, place(of: from + [0])) }
            if !reversed { lower = max(lower, place(of: from)) }
        }
        let own = lower < upper ? sorted[lower..<upper] : []
        return reversed
            ? AnyIterator(own.reversed().lazy.map { (key: $0.key, row: $0.value) }.makeIterator())
            : AnyIterator(own.lazy.map { (key: $0.key, row: $0.value) }.makeIterator())
    }

    /// Where the first record stands whose key does not come before this one.
    private func place(of key: [UInt8]) -> Int {
        var (low, high) = (0, sorted.count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore = ByteOrder.precedes(sorted[middle].key, key)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// Walks over stored records with those written since in their places.
enum Merging {
    /// - Parameters:
    ///   - written: what was written, in the order of the walk; it stands for what is stored under
    ///     its key.
    ///   - walk: walks over what is stored, up or down.
    ///   - visitStored: gets what is stored; answers whether to go on, as `visit` does.
    static func walk<Row>(
        _ written: AnyIterator<(key: [UInt8], row: Row)>, reversed: Bool,
        _ walk: @escaping (RowSource.Visit) throws -> Void,
        _ visitStored: ([UInt8], [UInt8]) throws -> Bool,
        written visit: ([UInt8], Row) throws -> Bool
    ) throws {
        var next = written.next()
        var goesOn = true
        try walk { key, value in
            while goesOn, let item = next,
                reversed
                    ? ByteOrder.precedes(key, item.key) : ByteOrder.precedes(item.key, key)
            {
                next = written.next()
                goesOn = try visit(item.key, item.row)
            }
            guard goesOn else { return false }
            if let item = next, ByteOrder.areEqual(item.key, key) {
                next = written.next()
                goesOn = try visit(key, item.row)
            } else {
                goesOn = try visitStored(key, value)
            }
            return goesOn
        }
        while goesOn, let item = next {
            next = written.next()
            goesOn = try visit(item.key, item.row)
        }
    }
}
