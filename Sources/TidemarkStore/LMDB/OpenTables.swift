// OpenTables.swift — LMDB's handles of the named tables, opened once and kept.

import CLMDB

/// The tables of an environment.
struct OpenTables: Sendable {
    var tables: [Table] = []
    /// Those that are only opened where they exist.
    var former: [Table] = []
}

extension WriterThread {
    /// Opens the tables, and makes those that don't exist, in one committed transaction.
    func openTables(_ options: Environment.Options) throws(StoreError) -> OpenTables {
        let opened = Monitor<Result<OpenTables, StoreError>?>(nil)
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
    ) throws(StoreError) -> OpenTables {
        do {
            return try transaction { transaction in
                var opened = OpenTables()
                for name in options.tables {
                    let handle = try transaction.openTable(name)
                    opened.tables.append(options.table(name, handle ?? 0))
                }
                for name in options.formerTables {
                    let handle = try transaction.openTable(name, mayCreate: false)
                    opened.former.append(options.table(name, handle ?? 0))
                }
                return opened
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
    func openTables(_ options: Environment.Options) throws(StoreError) -> OpenTables {
        var begun: OpaquePointer?
        var looksLeft = Self.looksForSlotMax
        var code: Int32
        repeat {
            code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &begun)
        } while code == MDB_READERS_FULL && waitForSlot(&looksLeft)
        guard code == 0, let transaction = unsafe begun else {
            throw .lmdb(ofRead: code, during: "open")
        }
        var opened = OpenTables()
        for (index, name) in (options.tables + options.formerTables).enumerated() {
            var table: MDB_dbi = 0
            code = unsafe mdb_dbi_open(transaction, name, 0, &table)
            guard code == 0 || code == MDB_NOTFOUND else {
                unsafe mdb_txn_abort(transaction)
                throw .lmdb(code, during: "open")
            }
            let found = options.table(name, code == 0 ? table : 0)
            if index < options.tables.count {
                opened.tables.append(found)
            } else {
                opened.former.append(found)
            }
        }
        code = unsafe mdb_txn_commit(transaction)
        guard code == 0 else { throw .lmdb(code, during: "open") }
        return opened
    }
}

extension Environment.Options {
    fileprivate func table(_ name: String, _ handle: UInt32) -> Table {
        Table(
            name: name, isChecked: checkedTables.contains(name),
            checksumMask: CRC32C.checksum(of: Array(name.utf8)), handle: handle)
    }
}
