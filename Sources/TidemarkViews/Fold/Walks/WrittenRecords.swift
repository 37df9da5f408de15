// WrittenRecords.swift — the records that an index would have of what a fold wrote. The stored ones
// are of the rows that were there before; with these in the places of theirs they are those that
// the commit will leave.

import TidemarkEvents
import TidemarkStore

/// The records of each index that was read within one fold, by its name.
final class WrittenRecordsMemory: FoldMemory {
    var known: [[UInt8]: WrittenRecords] = [:]
}

/// What one index has of the entities that were written, in the order of the keys.
final class WrittenRecords {
    /// After how many writes of the fold they are up to date.
    var count = 0
    /// The stored records that these stand for, as far as walks passed over many at once.
    var passed = PassedRecords()
    private var sorted = SortedRecords()
    /// That of each entity, nil of one that is not seen; entries stay as long as their fold.
    private var own: [ObjectIdentifier: IndexEntry?] = [:]

    /// Whether no entity was written.
    var isEmpty: Bool { own.isEmpty }

    /// Takes in entities as they are now.
    func take(
        _ written: [FoldedEntities.Entry], _ index: KeptIndex, of collection: IndexedCollection
    ) {
        // Then all is sorted anew.
        let areMost = written.count > own.count
        for entity in written {
            let id = entity.key.bytes[collection.rowPrefix.count...]
            let values = entity.row.document.map { collection.values(in: $0[...]) }
            let new = values.map { index.entry($0, collection.model.dates, id: id) }
            let old = own.updateValue(new, forKey: ObjectIdentifier(entity)) ?? nil
            if areMost || old == new { continue }
            if let old { sorted.remove(old) }
            if let new { sorted.insert(new) }
        }
        if areMost { sorted = SortedRecords(own.values.compactMap(\.self)) }
    }

    /// Those from a key on, itself among them, up or down; all of them from none.
    func walk(from: [UInt8]?, reversed: Bool) -> AnyIterator<(key: [UInt8], row: [UInt8])> {
        sorted.walk(from: from, reversed: reversed)
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
