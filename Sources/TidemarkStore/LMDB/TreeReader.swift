// TreeReader.swift — reading from LMDB's trees; both kinds of transaction do it through this.

import CLMDB

/// The least and most bytes of a key, and the bytes a value stays below.
enum Bounds {
    static let keyBytes = 1...511
    static let valueBytes = 1 << 31
}

/// LMDB's transaction with what its reads need; lives inside the transaction that wraps it.
@safe struct TreeReader {
    let raw: OpaquePointer
    /// Nil in a reading transaction.
    let state: TransactionState?
    /// The pages of the map; nil where they can't be told.
    let pages: MapPages.View?
    /// Nil in a writing transaction, whose records change.
    let neighbours: UnsafeMutablePointer<LongNeighbours>?

    func get(_ table: Table, _ key: [UInt8]) throws(StoreError) -> [UInt8]? {
        guard let found = unsafe try find(table, key) else { return nil }
        return unsafe [UInt8](found)
    }

    /// Lends the value of `key`; false, without calling `body`, when there is none.
    func lend(
        _ table: Table, _ key: [UInt8], _ body: (Span<UInt8>) throws -> Void
    ) throws -> Bool {
        guard let found = unsafe try find(table, key) else { return false }
        state?.lend()
        defer { state?.takeBack() }
        try body(unsafe found.span)
        return true
    }

    func count(_ table: Table) throws(StoreError) -> Int {
        guard let known = try statistics(of: table, during: "count") else { return 0 }
        return known.ms_entries
    }

    func pageBytes(_ table: Table) throws(StoreError) -> Int {
        guard let known = try statistics(of: table, during: "pageBytes") else { return 0 }
        let pages = known.ms_branch_pages + known.ms_leaf_pages + known.ms_overflow_pages
        return Int(known.ms_psize) * pages
    }

    /// What LMDB knows of a table; nil where the store doesn't have it.
    private func statistics(
        of table: Table, during operation: String
    ) throws(StoreError) -> MDB_stat? {
        state?.checkThread()
        guard table.handle != 0 else { return nil }
        var statistics = MDB_stat()
        let code = unsafe mdb_stat(raw, table.handle, &statistics)
        guard code == 0 else { throw failure(code, during: operation, in: table) }
        return statistics
    }

    func end(
        _ table: Table, _ operation: MDB_cursor_op
    ) throws(StoreError) -> (key: [UInt8], value: [UInt8])? {
        state?.checkThread()
        guard table.handle != 0 else { return nil }
        var cursor = try Cursor(self, table)
        guard try cursor.move(operation) else { return nil }
        try checkLeaf(table, cursor)
        let value = unsafe try checked(table, UnsafeRawBufferPointer(cursor.key), cursor.value)
        return (unsafe [UInt8](cursor.key), unsafe [UInt8](value))
    }

    func scan(
        _ table: Table, from start: [UInt8]?, prefix: [UInt8], reversed: Bool,
        _ body: (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool
    ) throws {
        state?.checkThread()
        guard prefix.count <= Bounds.keyBytes.upperBound,
            start?.count ?? 0 <= Bounds.keyBytes.upperBound
        else { throw badKey(during: "scan", bytes: max(prefix.count, start?.count ?? 0)) }
        guard table.handle != 0 else { return }

        var cursor = try Cursor(self, table)
        var found =
            try reversed
            ? cursor.seekDown(from: start ?? [], prefix: prefix)
            : cursor.seekUp(from: start ?? [], prefix: prefix)
        if !(prefix.isEmpty && start?.isEmpty ?? true) {
            try checkSeek(table, &cursor, found: found, reversed: reversed)
        }
        state?.lend()
        defer { state?.takeBack() }
        var walked = 0
        var before = unsafe cursor.key
        while found, cursor.keyHasPrefix(prefix) {
            let key = unsafe cursor.key
            if walked == 0 || (unsafe pages?.isOther(key, before) ?? false) {
                try checkLeaf(table, cursor)
            }
            let value = unsafe try checked(table, UnsafeRawBufferPointer(key), cursor.value)
            // Else a walk through damaged pages might never end.
            if walked > 0, unsafe !Self.ascends(reversed ? key : before, reversed ? before : key) {
                throw damaged(table, "a key does not follow on the one before it")
            }
            guard try body(unsafe key.span, unsafe value.span) else { return }
            walked += 1
            unsafe before = key
            found = try cursor.move(reversed ? MDB_PREV : MDB_NEXT)
        }
        // A page or a key that is another one may end a walk before its time, or its beginning.
        if found {
            if unsafe walked == 0 || (pages?.isOther(cursor.key, before) ?? false) {
                try checkLeaf(table, cursor)
            }
            try checkNeighbour(table, cursor)
        }
        guard !found, prefix.isEmpty, start?.isEmpty ?? true else { return }
        let count = try count(table)
        if walked != count {
            throw damaged(table, "\(count) records are counted, and a walk finds \(walked)")
        }
    }

    /// Whether one key stands before another.
    @inline(__always)
    private static func ascends(
        _ key: UnsafeBufferPointer<UInt8>, _ next: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        let order = unsafe Platform.order(
            UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(next),
            count: min(key.count, next.count))
        return order == 0 ? key.count < next.count : order < 0
    }

    /// Removes `key`, in a writing transaction; false when it wasn't there.
    func delete(_ table: Table, _ key: [UInt8]) throws(StoreError) -> Bool {
        try checkWrite(key, [], during: "delete")
        try checkPlace(table, key)
        let code = unsafe key.withUnsafeBytes { bytes in
            var name = unsafe MDB_val(bytes)
            return unsafe mdb_del(raw, table.handle, &name, nil)
        }
        switch code {
        case 0: return true
        case MDB_NOTFOUND: return false
        default: throw failure(code, during: "delete", in: table)
        }
    }

    /// Throws `badKey` for what can't be stored; stops the process where nothing may be written.
    func checkWrite(
        _ key: [UInt8], _ value: [UInt8], during: String
    ) throws(StoreError) {
        state?.checkWrite()
        guard Bounds.keyBytes.contains(key.count), value.count < Bounds.valueBytes else {
            throw badKey(during: during, bytes: key.count)
        }
    }

    /// An error from LMDB; a writing transaction remembers it.
    ///
    /// - Parameter table: the table whose pages LMDB was on; a damaged one that is checked can be
    ///   made again.
    func failure(_ number: Int32, during: String, in table: Table? = nil) -> StoreError {
        if let table, number == MDB_CORRUPTED || number == MDB_PAGE_NOTFOUND {
            if state == nil { renew() }
            let said = unsafe String(cString: mdb_strerror(number))
            return damaged(table, "a page is no leaf or branch: \(said)", during: "read")
        }
        let error = StoreError.lmdb(number, during: during)
        state?.record(error)
        return error
    }

    /// Goes on reading the same commit after an error, which LMDB refuses else; not where another
    /// one came meanwhile.
    private func renew() {
        let number = unsafe mdb_txn_id(raw)
        unsafe mdb_txn_reset(raw)
        guard unsafe mdb_txn_renew(raw) == 0 else { return }
        if unsafe mdb_txn_id(raw) != number { unsafe mdb_txn_reset(raw) }
    }

    /// The error for a key out of bounds; a writing transaction remembers it.
    func badKey(during: String, bytes: Int) -> StoreError {
        let error = StoreError(.badKey, during: during, detail: "a key of \(bytes) bytes")
        state?.record(error)
        return error
    }

    /// Points into the map, or into the transaction's own pages, until the next write or its end.
    private func find(
        _ table: Table, _ key: [UInt8]
    ) throws(StoreError) -> UnsafeBufferPointer<UInt8>? {
        state?.checkThread()
        guard Bounds.keyBytes.contains(key.count) else {
            throw badKey(during: "get", bytes: key.count)
        }
        guard table.handle != 0 else { return nil }
        var value = unsafe MDB_val()
        let code = unsafe key.withUnsafeBytes { bytes in
            var name = unsafe MDB_val(bytes)
            return unsafe mdb_get(raw, table.handle, &name, &value)
        }
        switch code {
        case 0:
            guard unsafe pages?.isRight(value.mv_data, isWriting: state != nil) ?? true else {
                throw damaged(table, "the page of a record is another one", during: "read")
            }
            guard table.isChecked else { return unsafe value.bytes }
            let found = unsafe key.withUnsafeBytes {
                unsafe CheckedRecord.value(of: value.bytes, $0, table)
            }
            guard let found = unsafe found else { throw damaged(table, record: key) }
            return unsafe found
        case MDB_NOTFOUND:
            if state == nil { try checkMissing(table, key) }
            return nil
        default: throw failure(code, during: "get", in: table)
        }
    }
}

// MARK: - Pages

extension TreeReader {
    /// Looks at the page that a cursor is on.
    private func checkLeaf(_ table: Table, _ cursor: borrowing Cursor) throws(StoreError) {
        guard let pages,
            unsafe !pages.isWholeLeaf(cursor.key.baseAddress, isWriting: state != nil)
        else { return }
        throw damaged(table, "a page is another one, or not whole", during: "read")
    }

    /// Looks at the record that a cursor is on, and at its page, where it says that another one is
    /// not there.
    private func checkRecord(_ table: Table, _ cursor: borrowing Cursor) throws(StoreError) {
        try checkLeaf(table, cursor)
        try checkNeighbour(table, cursor)
    }

    /// Looks at a record beside what was sought; at a long one once a read.
    private func checkNeighbour(
        _ table: Table, _ cursor: borrowing Cursor
    ) throws(StoreError) {
        guard table.isChecked else { return }
        let (key, value) = unsafe (cursor.key, cursor.value)
        guard let neighbours = unsafe neighbours, value.count >= LongNeighbours.bytesMin else {
            _ = unsafe try checked(table, UnsafeRawBufferPointer(key), value)
            return
        }
        let place = UInt(bitPattern: key.baseAddress)
        if unsafe neighbours.pointee.contains(table, place) { return }
        _ = unsafe try checked(table, UnsafeRawBufferPointer(key), value)
        unsafe neighbours.pointee.insert(table, place)
    }

    /// Looks at the page on which a key stands or will stand, before LMDB makes it anew: of one
    /// that says it is another one, that other would be taken for free.
    func checkPlace(_ table: Table, _ key: [UInt8]) throws(StoreError) {
        guard pages != nil else { return }
        var cursor = try Cursor(self, table)
        try checkPlace(table, key, &cursor)
    }

    /// The same with a cursor that is there.
    func checkPlace(
        _ table: Table, _ key: [UInt8], _ cursor: inout Cursor
    ) throws(StoreError) {
        guard let pages, try cursor.seekNear(key) else { return }
        for isSecond in [false, true] {
            guard unsafe pages.isRightLeaf(cursor.key.baseAddress, isWriting: true) else {
                throw damaged(table, "a page is another one, or not whole", during: "read")
            }
            if !isSecond { try checkRun(table, key, cursor) }
            // The page before it may be the one that the key belongs to.
            guard !isSecond, unsafe pages.mayBeginPage(cursor.key.baseAddress),
                try cursor.move(MDB_PREV)
            else { return }
        }
    }

    /// Looks at the pages of their own on which a key's record lies, if it does: LMDB frees those
    /// that the record names, and as many as the first of them says.
    private func checkRun(
        _ table: Table, _ key: [UInt8], _ cursor: borrowing Cursor
    ) throws(StoreError) {
        guard let pages, unsafe pages.isOnRun(cursor.value.baseAddress, isWriting: true),
            cursor.keyEquals(key)
        else { return }
        guard unsafe pages.isWholeRun(cursor.value, filePages: try filePages()) else {
            throw damaged(table, "the pages of a record are another one's", during: "read")
        }
        _ = unsafe try checked(table, UnsafeRawBufferPointer(cursor.key), cursor.value)
    }

    private func filePages() throws(StoreError) -> Int {
        var descriptor: Int32 = -1
        let code = unsafe mdb_env_get_fd(mdb_txn_env(raw), &descriptor)
        guard code == 0 else { throw failure(code, during: "read") }
        do throws(SystemNumber) {
            return try Platform.status(of: descriptor).sizeBytes / Int(pages?.pageBytes ?? 1)
        } catch { throw .system(error.number, during: "read", "data.mdb") }
    }

    /// Looks at what a seek was decided by besides what it led to: the record on its other side,
    /// whose key may have been the one sought; its page, where that is another one, since the next
    /// page is gone to where all keys of a page seemed to be too small.
    private func checkSeek(
        _ table: Table, _ cursor: inout Cursor, found: Bool, reversed: Bool
    ) throws(StoreError) {
        guard let pages else { return }
        guard found else {
            var end = try Cursor(self, table)
            if try end.move(reversed ? MDB_FIRST : MDB_LAST) { return try checkRecord(table, end) }
            let count = try count(table)
            guard count == 0 else {
                throw damaged(table, "\(count) records are counted, and none is found")
            }
            return
        }
        let isAtEdge = unsafe pages.isAtEdge(
            cursor.key.baseAddress, ofUpperEnd: reversed, isWriting: state != nil)
        guard isAtEdge || table.isChecked else { return }
        guard try cursor.move(reversed ? MDB_NEXT : MDB_PREV) else {
            _ = try cursor.move(reversed ? MDB_LAST : MDB_FIRST)
            return
        }
        if isAtEdge { try checkLeaf(table, cursor) }
        try checkNeighbour(table, cursor)
        _ = try cursor.move(reversed ? MDB_PREV : MDB_NEXT)
    }

    /// Looks at the pages between whose records a key would stand that is not there.
    private func checkMissing(_ table: Table, _ key: [UInt8]) throws(StoreError) {
        guard pages != nil else { return }
        var cursor = try Cursor(self, table)
        let found = try cursor.seekUp(from: key, prefix: [])
        if found { try checkRecord(table, cursor) }
        try checkSeek(table, &cursor, found: found, reversed: false)
    }
}

extension TreeReader {
    /// Makes a table empty and leaves its pages as they are, neither free nor in use.
    ///
    /// The table's record in the list of tables is written anew; LMDB reads it once a transaction,
    /// so that it must not have done so yet.
    func leaveBehind(_ table: Table) throws(StoreError) {
        // Flags and depth, pages and records of none, and no root: see ``DataFile/Tree``.
        let empty = [UInt8](repeating: 0, count: 40) + [UInt8](repeating: 0xFF, count: 8)
        var opened: OpaquePointer?
        var code = unsafe mdb_cursor_open(raw, Table.catalog.handle, &opened)
        guard code == 0, let cursor = unsafe opened else { throw failure(code, during: "clear") }
        code = unsafe Array(table.name.utf8).withUnsafeBytes { name in
            unsafe empty.withUnsafeBytes { record in
                var (key, value) = unsafe (MDB_val(name), MDB_val(record))
                return unsafe mdb_cursor_put(cursor, &key, &value, Self.tableRecord)
            }
        }
        unsafe mdb_cursor_close(cursor)
        guard code == 0 else { throw failure(code, during: "clear") }
        guard try count(table) == 0 else {
            throw damaged(table, "a page is another one, or not whole", during: "clear")
        }
    }

    /// LMDB's flag for the record of a table, with which it writes these itself.
    private static let tableRecord: UInt32 = 2
}

extension MDB_val {
    /// LMDB only reads through it.
    init(_ bytes: UnsafeRawBufferPointer) {
        unsafe self.init(
            mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
    }

    var bytes: UnsafeBufferPointer<UInt8> {
        unsafe UnsafeBufferPointer(
            start: mv_data?.assumingMemoryBound(to: UInt8.self), count: mv_size)
    }
}
