// FoldWalks.swift — walks over the rows that were there, with those that this fold wrote in their
// places. None of them sees the current event's writes.

package import TidemarkEvents
import TidemarkStore

extension Fold: RowReading {
    package func walk(
        _ tree: Tree, _ prefix: [UInt8], from: [UInt8],
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Bool
    ) throws {
        let start = from.isEmpty ? nil : from
        if tree == .rows {
            try merge(tree, prefix, start, entitiesWritten(prefix), body) {
                try $1.row.isEmpty || body($0, $1.row.encoded)
            }
        } else {
            try merge(tree, prefix, start, writtenLedger(prefix), body) { key, value in
                try value.map { try body(key, $0) } ?? true
            }
        }
    }

    package func forEachEntity(
        in collection: CollectionName?, _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        try forEachEntity(collection.map { EntityKey.prefix(of: $0) } ?? [], nil, body)
    }

    /// Walks over the entities of a collection in any order, as their rows are encoded; `body` says
    /// whether to go on.
    func forEachEncoded(
        in collection: CollectionName, _ body: (EntityKey, [UInt8]) throws -> Bool
    ) throws {
        let prefix = EntityKey.prefix(of: collection)
        var goesOn = true
        try rows.walk(.rows, prefix, nil, false) { bytes, value in
            guard !entities.isWritten(bytes), let key = EntityKey(bytes: bytes) else { return true }
            goesOn = try body(key, value)
            return goesOn
        }
        guard goesOn else { return }
        try entities.forEachWritten(prefix) { place, row in
            guard let key = EntityKey(bytes: place.bytes) else { return true }
            return try body(key, row.encoded)
        }
    }

    /// Walks over the records of the indexes of stored rows under a prefix.
    func walkIndex(_ prefix: [UInt8], _ body: RowSource.Visit) throws {
        try rows.walkIndex(prefix, nil, false, body)
    }

    /// The entities of a collection that were written, in the order of their keys.
    func entitiesTaken(in collection: CollectionName) -> [(key: EntityKey, row: EntityRow)] {
        entities.written(EntityKey.prefix(of: collection)).keyed
    }

    /// The entities of a collection that were written after so many writes of all.
    func entitiesTaken(
        in collection: CollectionName, after count: Int
    ) -> [(key: EntityKey, row: EntityRow)] {
        entities.written(EntityKey.prefix(of: collection), after: count).keyed
    }

    private func forEachEntity(
        _ prefix: [UInt8], _ from: [UInt8]?, reversed: Bool = false,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        try merge(.rows, prefix, from, reversed: reversed, entitiesWritten(prefix)) {
            bytes, value in
            guard let key = EntityKey(bytes: bytes) else { return true }
            return try body(key, try EntityRow(parsing: value))
        } written: { bytes, entry in
            guard !entry.row.isEmpty, let key = EntityKey(bytes: bytes) else { return true }
            return try body(key, entry.row)
        }
    }

    /// Walks over stored rows, from a key on, up or down, and, in their order, over those written
    /// since.
    private func merge<Row>(
        _ tree: Tree, _ prefix: [UInt8], _ from: [UInt8]?, reversed: Bool = false,
        _ written: [(key: [UInt8], row: Row)],
        _ visitStored: ([UInt8], [UInt8]) throws -> Bool,
        written visit: ([UInt8], Row) throws -> Bool
    ) throws {
        let ordered = reversed ? written.reversed() : written
        let rest = ordered.drop { item in
            guard let from else { return false }
            return reversed
                ? ByteOrder.precedes(from, item.key) : ByteOrder.precedes(item.key, from)
        }
        try Merging.walk(
            AnyIterator(rest.makeIterator()), reversed: reversed,
            { try self.rows.walk(tree, prefix, from, reversed, $0) }, visitStored, written: visit)
    }

    private func entitiesWritten(
        _ prefix: [UInt8]
    ) -> [(key: [UInt8], row: FoldedEntities.Entry)] {
        entities.written(prefix).map { (key: $0.key.bytes, row: $0) }
    }

    /// The rows of the ledger under a prefix that were written, in the order of their keys.
    private func writtenLedger(_ prefix: [UInt8]) -> [(key: [UInt8], row: [UInt8]?)] {
        var rows: [(key: [UInt8], row: [UInt8]?)] = []
        func take(_ key: RowKey, _ value: [UInt8]?) {
            guard key.tree == .ledger, key.bytes.starts(with: prefix) else { return }
            rows.append((key.bytes, value))
        }
        for (key, value) in changes { take(key, value) }
        if prefix.isEmpty || prefix.starts(with: Ledger.settled) { mutations.forEachSettled(take) }
        if prefix.isEmpty || prefix.starts(with: Ledger.open) { mutations.forEachOpen(take) }
        return rows.sorted { ByteOrder.precedes($0.key, $1.key) }
    }
}

// MARK: What queries read

extension Fold: IndexReading {
    package func row(at place: RowKey) throws -> EntityRow? {
        if let entry = entities.known(place.bytes) { return entry.row.isEmpty ? nil : entry.row }
        return try rows.get(place).map { try EntityRow(parsing: $0) }
    }

    package func forEachEntity(
        in collection: CollectionName, from id: String?, reversed: Bool,
        _ body: (EntityKey, EntityRow) throws -> Bool
    ) throws {
        try forEachEntity(
            EntityKey.prefix(of: collection), id.map { EntityKey(collection, $0).bytes },
            reversed: reversed, body)
    }

    package func walkLedger(
        _ prefix: [UInt8], reversed: Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        try merge(.ledger, prefix, nil, reversed: reversed, writtenLedger(prefix), body) {
            key, value in try value.map { try body(key, $0) } ?? true
        }
    }

    package func walkIndex(
        _ index: KeptIndex, of collection: CollectionName, from: [UInt8]?, reversed: Bool,
        isPast: ([UInt8]) -> Bool, _ body: ([UInt8], [UInt8]) throws -> Bool
    ) throws {
        let written = try writtenRecords(of: index, in: collection)
        if written.isEmpty { return try rows.walkIndex(index.name, from, reversed, body) }
        let prefix = EntityKey.prefix(of: collection)
        var passing = PassingRecords()
        var leap: [UInt8]?
        try Merging.walk(
            written.walk(from: from, reversed: reversed), reversed: reversed,
            { visit in
                var start = from
                repeat {
                    leap = nil
                    try self.rows.walkIndex(index.name, start, reversed) { key, value in
                        try visit(key, value) && leap == nil
                    }
                    start = leap
                } while leap != nil
            },
            { key, value in
                let record = try index.record(key, value, of: collection)
                guard entities.isWritten(prefix + record.id.utf8) else {
                    passing.end(noting: &written.passed)
                    return try body(key, value)
                }
                if isPast(key) { return false }
                leap = passing.pass(key, knowing: written.passed, reversed: reversed)
                return true
            }, written: body)
        passing.end(noting: &written.passed)
    }

    /// What an index has of the entities that were written.
    private func writtenRecords(
        of index: KeptIndex, in name: CollectionName
    ) throws -> WrittenRecords {
        let memory = memory(WrittenRecordsMemory.self)
        let count = followTaken()
        guard let collection = try indexPlan()[name] else { return WrittenRecords() }
        let prefix = collection.rowPrefix
        if let known = memory.known[index.name] {
            if known.count < count {
                known.take(entities.written(prefix, after: known.count), index, of: collection)
            }
            known.count = count
            return known
        }
        let records = WrittenRecords()
        records.take(entities.written(prefix), index, of: collection)
        records.count = count
        memory.known[index.name] = records
        return records
    }
}
