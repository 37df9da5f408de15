// OpenTables.swift — LMDB's handles of the named tables, opened once and kept.

import CLMDB

extension WriterThread {
    /// Opens the tables, and makes those that don't exist, in one committed transaction.
    func openTables(_ options: Environment.Options) throws(StoreError) -> [Table] {
        let opened = Monitor<Result<[Table], StoreError>?>(nil)
        try submit { writer in
            let result = Result { () throws(StoreError) in try writer.openTables(options) }
            opened.withLock { $0 = result }
            opened.wakeAll()
        }
        return try opened.waitUntil { $0 }.get()
    }
}

extension Writer {
    fileprivate borrowing func openTables(
        _ options: Environment.Options
    ) throws(StoreError) -> [Table] {
        do {
            return try transaction { transaction in
                try options.tables.indices.map { index in
                    let name = options.tables[index]
                    return options.table(index, try transaction.openTable(name))
                }
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, during: "open", detail: "\(error)")
        }
    }
}

extension Handle {
    /// Opens the tables that exist, in one reading transaction that is committed: handles opened
    /// in an aborted one are gone.
    func openTables(_ options: Environment.Options) throws(StoreError) -> [Table] {
        var begun: OpaquePointer?
        var code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &begun)
        guard code == 0, let transaction = unsafe begun else {
            throw .lmdb(code, during: "open")
        }
        var tables: [Table] = []
        for (index, name) in options.tables.enumerated() {
            var table: MDB_dbi = 0
            code = unsafe mdb_dbi_open(transaction, name, 0, &table)
            guard code == 0 || code == MDB_NOTFOUND else {
                unsafe mdb_txn_abort(transaction)
                throw .lmdb(code, during: "open")
            }
            tables.append(options.table(index, code == 0 ? table : 0))
        }
        code = unsafe mdb_txn_commit(transaction)
        guard code == 0 else { throw .lmdb(code, during: "open") }
        return tables
    }
}

extension Environment.Options {
    fileprivate func table(_ index: Int, _ handle: UInt32) -> Table {
        let name = tables[index]
        return Table(
            name: name, index: index, isChecked: checkedTables.contains(name),
            checksumMask: CRC32C.checksum(of: Array(name.utf8)), handle: handle)
    }
}
