// Handle+Space.swift — how full the store is, and who keeps it from reusing pages.

import CLMDB

extension Handle {
    /// Refuses a write when the pages in use take more than the quota.
    ///
    /// Free pages are counted only when the file as a whole is over it.
    func checkQuota() throws(StoreError) {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(raw, &info)
        var statistics = MDB_stat()
        unsafe mdb_env_stat(raw, &statistics)
        let pages = unsafe info.me_last_pgno + 1
        let pageBytes = Int(statistics.ms_psize)
        guard pages * pageBytes > quotaBytes else { return }
        let usedBytes = (pages - (try countFreePages())) * pageBytes
        guard usedBytes > quotaBytes else { return }
        throw StoreError(
            .storeFull, during: "begin",
            detail: "\(usedBytes) bytes are in use, and \(quotaBytes) are allowed")
    }

    /// How many bytes of the file are in use: the others are free pages.
    func usedBytes() throws(StoreError) -> Int {
        let info = try readInfo()
        return (info.lastPage + 1 - (try countFreePages())) * info.pageBytes
    }

    /// The pages on LMDB's free list: a tree whose every value begins with a count.
    private func countFreePages() throws(StoreError) -> Int {
        do {
            return try withSnapshot { snapshot in
                var opened: OpaquePointer?
                var code = unsafe mdb_cursor_open(snapshot.raw, 0, &opened)
                guard code == 0, let cursor = unsafe opened else {
                    throw StoreError.lmdb(code, during: "count")
                }
                defer { unsafe mdb_cursor_close(cursor) }
                var (key, value) = unsafe (MDB_val(), MDB_val())
                var pages = 0
                code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
                while code == 0 {
                    let bytes = unsafe UnsafeRawBufferPointer(value.bytes)
                    if bytes.count >= 8 {
                        pages += unsafe bytes.loadUnaligned(as: Int.self)
                    }
                    code = unsafe mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
                }
                guard code == MDB_NOTFOUND else { throw StoreError.lmdb(code, during: "count") }
                return pages
            }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, during: "count", detail: "\(error)")
        }
    }

    /// Frees the slots of readers whose process is gone, with every 64th write.
    ///
    /// As long as one is there, no page that it might see can be used again.
    func forgetDeadReaders() {
        let isTime = writesSinceCheck.withLock { writes in
            writes = (writes + 1) % 64
            return writes == 0
        }
        if isTime { unsafe mdb_reader_check(raw, nil) }
    }

    /// How far the oldest snapshot in use, of any process, is behind a transaction.
    func oldestReaderLag(_ last: UInt64) -> UInt64 {
        let list = ReaderList()
        unsafe mdb_reader_list(
            raw,
            { line, list in
                guard let line = unsafe line, let list = unsafe list else { return 0 }
                unsafe Unmanaged<ReaderList>.fromOpaque(list).takeUnretainedValue()
                    .add(String(cString: line))
                return 0
            }, Unmanaged.passUnretained(list).toOpaque())
        guard let oldest = list.oldest, oldest < last else { return 0 }
        return last - oldest
    }
}

/// What LMDB prints about its readers: a line each of process, thread, and snapshot or "-".
private final class ReaderList {
    var oldest: UInt64?

    func add(_ lines: String) {
        for line in lines.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 3, let transaction = UInt64(words[2]) else { continue }
            oldest = min(oldest ?? .max, transaction)
        }
    }
}
