// Environment+Copy.swift — all records of a store, written into another one in the order of their
// keys, so that their pages are full and none is free.

/// What the records of a table are: how many, and the SHA-256 over all keys and values in order.
package struct RecordDigest: Sendable, Hashable {
    package let table: String
    package let records: Int
    package let digest: [UInt8]
}

extension Environment {
    /// How many bytes of records are copied in one transaction.
    private static let copyBytes = 8 << 20

    /// The names of all its tables that there are, also of those that only older stores have.
    package var copiedTables: [String] { existing.map(\.name) }

    private var existing: [Table] { allTables.filter { $0.handle != 0 } }

    /// Writes every record, as it is now, into another store, which has no record yet; durable when
    /// this returns.
    ///
    /// - Parameters:
    ///   - copy: must have been opened with the tables of ``copiedTables``.
    ///   - progress: told how many bytes of records were copied so far.
    /// - Returns: what was copied, table by table.
    /// - Throws: ``StoreError``: `damaged` and `damagedTable` for a record that is not what was
    ///   written; `diskFull`; or what else LMDB says.
    package func copyRecords(
        to copy: Environment, progress: (_ bytes: Int) -> Void
    ) throws -> [RecordDigest] {
        try read { transaction in
            var digests: [RecordDigest] = []
            var batch = RecordBatch()
            var bytes = 0
            func store() throws {
                try batch.store(in: copy)
                bytes += batch.bytes
                batch = RecordBatch()
                progress(bytes)
            }
            for table in existing {
                batch.begin(copy.table(table.name))
                digests.append(
                    try table.digest(transaction) { key, value in
                        batch.add(key, value)
                        guard batch.bytes >= Self.copyBytes else { return }
                        try store()
                        batch.begin(copy.table(table.name))
                    })
            }
            try store()
            let catalog = Catalog(self)
            var values: [(key: CatalogKey, value: [UInt8])] = []
            for key in CatalogKey.allCases {
                if let value = try catalog.value(key, transaction) { values.append((key, value)) }
            }
            // Twice: then the store is whole by either of its two meta pages.
            for _ in 0..<2 {
                try copy.write { transaction in
                    for (key, value) in values {
                        try Catalog(copy).set(key, value, transaction)
                    }
                }
            }
            digests.append(try catalog.digest(transaction))
            return digests
        }
    }

    /// What the records are, as ``copyRecords(to:progress:)`` tells it.
    package func recordDigests() throws -> [RecordDigest] {
        try read { transaction in
            var digests: [RecordDigest] = []
            for table in existing { digests.append(try table.digest(transaction) { _, _ in }) }
            digests.append(try Catalog(self).digest(transaction))
            return digests
        }
    }

    /// Refuses every later read and write: the data file is not the store's any more.
    ///
    /// - Parameter reason: what became of it.
    package func endReplaced(_ reason: String) {
        handle.gate.refuseAll(StoreError(.closed, during: "begin", detail: reason))
    }
}

extension Table {
    fileprivate func digest(
        _ transaction: borrowing ReadTransaction,
        _ body: (_ key: [UInt8], _ value: [UInt8]) throws -> Void
    ) throws -> RecordDigest {
        var hash = RecordHash()
        try transaction.scan(self, from: nil, prefix: [], reversed: false) { key, value in
            let (key, value) = (key.copied(), value.copied())
            hash.add(key, value)
            try body(key, value)
            return true
        }
        return hash.digest(name)
    }
}

extension Catalog {
    fileprivate func digest(_ transaction: borrowing ReadTransaction) throws -> RecordDigest {
        var hash = RecordHash()
        for key in CatalogKey.allCases {
            if let value = try value(key, transaction) { hash.add(key.bytes, value) }
        }
        return hash.digest(table.name)
    }
}

/// Records to be stored in one transaction, by their tables.
private struct RecordBatch {
    private var parts: [(table: Table, records: [(key: [UInt8], value: [UInt8])])] = []
    private(set) var bytes = 0

    mutating func begin(_ table: Table) { parts.append((table, [])) }

    mutating func add(_ key: [UInt8], _ value: [UInt8]) {
        parts[parts.count - 1].records.append((key, value))
        bytes += key.count + value.count
    }

    func store(in environment: Environment) throws {
        try environment.write { transaction in
            for part in parts {
                try transaction.withSorted(part.table) { writer in
                    for record in part.records { try writer.write(record.key, record.value) }
                }
            }
        }
    }
}

/// Hashes records, each with its lengths before it.
private struct RecordHash {
    private var records = 0
    private var stream = SHA256Stream()

    mutating func add(_ key: [UInt8], _ value: [UInt8]) {
        records += 1
        for part in [key, value] {
            stream.add((0..<8).map { UInt8(truncatingIfNeeded: part.count >> (8 * $0)) }[...])
            stream.add(part[...])
        }
    }

    func digest(_ table: String) -> RecordDigest {
        RecordDigest(table: table, records: records, digest: stream.digest)
    }
}
