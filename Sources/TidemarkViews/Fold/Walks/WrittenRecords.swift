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
    private var sorted = SortedRecords()
    /// Those of each entity, none of one that is not seen, by its id.
    private var own: [ExactString: [IndexEntry]] = [:]

    /// Whether no entity was written.
    var isEmpty: Bool { own.isEmpty }

    /// Whether an entity was written, so that what is stored of it does not count.
    func hasWritten(_ id: String) -> Bool { own[ExactString(id)] != nil }

    /// Takes in entities as they are now.
    func take(
        _ written: [(key: EntityKey, row: EntityRow)], _ collection: IndexedCollection
    ) throws {
        // Then all is sorted anew.
        let areMost = written.count > own.count
        for (key, row) in written {
            let values = row.document.map { collection.values(in: $0[...]) }
            let new = collection.entries(values, id: Array(key.id.utf8)[...])
            let old = own.updateValue(new, forKey: ExactString(key.id)) ?? []
            if areMost || old == new { continue }
            for entry in old { sorted.remove(entry) }
            for entry in new { sorted.insert(entry) }
        }
        if areMost { sorted = SortedRecords(own.values.joined()) }
    }

    /// The records of one index, from a key on, up or down.
    func records(
        of index: KeptIndex, from: [UInt8]?, reversed: Bool
    ) -> AnyIterator<(key: [UInt8], row: [UInt8])> {
        let range = KeyRange(beginning: index.name)
        guard let from else {
            return sorted.walk(from: range.lower, to: range.upper, reversed: reversed)
        }
        // The key itself is among them, whichever way.
        if reversed {
            let isInside = ByteOrder.precedes(from, range.upper)
            let upper = isInside ? from + [0] : range.upper
            return sorted.walk(from: range.lower, to: upper, reversed: true)
        }
        let isInside = ByteOrder.precedes(range.lower, from)
        return sorted.walk(from: isInside ? from : range.lower, to: range.upper, reversed: false)
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
