// Environment.swift — the door of this module: an open store, to read from and write to.

/// An open LMDB store: some tables in one directory.
///
/// Any number of threads may read, each from its own snapshot; one thread of its own writes.
/// Close it explicitly; when the last reference goes without that, it closes quietly.
package final class Environment: Sendable {
    /// Its tables, in the order of the options.
    package let tables: [Table]
    /// Those of them that only older stores have.
    private let formerTables: [Table]
    let handle: Handle
    private let writer: WriterThread?

    init(handle: Handle, writer: WriterThread?, _ opened: OpenTables) {
        self.handle = handle
        self.writer = writer
        tables = opened.tables
        formerTables = opened.former
    }

    /// All tables, those last that only older stores have.
    var allTables: [Table] { tables + formerTables }

    /// Whether it was opened read-only, so that every write throws `readOnly`.
    package var isReadOnly: Bool { handle.isReadOnly }

    /// The table of that name, which must be one of the options' tables.
    package func table(_ name: String) -> Table {
        guard let table = tables.first(where: { $0.name == name }) else {
            fatalError("The table \(name) is not among the tables this store was opened with.")
        }
        return table
    }

    /// LMDB's own list of tables; other keys than their names may stand in it, too.
    package var catalog: Table { .catalog }

    /// A table that only older stores have, and which reads as empty in all others; nil when the
    /// store was opened without asking for it.
    package func formerTable(_ name: String) -> Table? {
        formerTables.first { $0.name == name }
    }

    /// Runs `body` on a snapshot of the last commit.
    ///
    /// Synchronous and short. At most 32 reads run at a time, others wait. A read inside a read on
    /// the same thread sees the same snapshot, and a blocking `write` is refused as `nested`.
    ///
    /// - Parameter isOwner: whether the caller keeps other processes from replacing or removing the
    ///   data file; else, and where it is open read-only, that is looked at first.
    /// - Throws: what `body` throws; `readersFull` when all slots stay taken; `closed`; `lost`;
    ///   `busy` where it was opened without a lock.mdb, and two commits came meanwhile; `poisoned`
    ///   after a failed commit where LMDB can't read any more.
    package func read<R>(
        isOwner: Bool = true, _ body: (borrowing ReadTransaction) throws -> R
    ) throws -> R {
        try handle.read(isOwner: isOwner, body)
    }

    /// Whether this process has opened it more than once, and not closed it again.
    package var isShared: Bool { Registry.openings(handle.identity) > 1 }

    /// Sizes and counters of the store.
    package func info() throws(StoreError) -> Info {
        do {
            return try handle.read { _ in try handle.readInfo() }
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, during: "info", detail: "\(error)")
        }
    }

    /// How many bytes of the file are in use; walks over the list of free pages.
    package func usedBytes() throws(StoreError) -> Int { try handle.usedBytes() }

    /// Puts everything on disk once more; commits are durable without it.
    package func flush() throws {
        try perform { writer in try writer.flush() }
    }

    /// Ends one opening; the last one finishes the queued writes, waits for the reads, and closes.
    ///
    /// - Throws: `closed` when it is closed already; `nested` inside a read or a write of it.
    package func close() throws(StoreError) {
        try checkNotInside("close")
        guard try Registry.endOpening(handle.identity) else { return }
        writer?.stop()
        writer?.waitUntilEnded()
        handle.close()
    }

    /// Refuses what would wait for itself: this thread is inside a read or a write of the
    /// environment.
    ///
    /// - Throws: `nested`.
    package func checkNotInside(_ action: String) throws(StoreError) {
        guard
            let inside = writer?.isHere == true ? "write" : handle.gate.isReadingHere ? "read" : nil
        else { return }
        throw StoreError(
            .nested, during: action, detail: "it was called inside a \(inside) of the same store")
    }

    /// Whether this thread is inside a read of the environment: another one begun in it sees the
    /// same.
    package var isReadingHere: Bool { handle.gate.isReadingHere }

    /// How many reads of the environment this thread has begun within its outermost one.
    package var nestedReads: Int { handle.gate.nestedReads }

    /// The data file as the last commit left it, also after the closing; nil when somebody else has
    /// written to it since it was opened.
    package var mark: FileMark? { handle.mark }

    /// Blocks until every write that was taken up has ended; only once the store is being closed.
    package func waitForLastWrites() { writer?.waitUntilEnded() }

    /// The writer thread, or why there is none.
    func writerThread() throws(StoreError) -> WriterThread {
        guard let writer else {
            throw StoreError(.readOnly, during: "begin", detail: "the store is open read-only")
        }
        return writer
    }
}

extension Environment {
    /// Sizes in bytes, and counters, of one moment.
    package struct Info: Sendable, Hashable {
        /// The address space reserved; the largest the file can become before the map grows.
        package var mapBytes: Int
        /// The data file's length.
        package var fileBytes: Int
        /// One page; fixed when the store was made.
        package var pageBytes: Int
        /// The number of the last page in use, counted from 0.
        package var lastPage: Int
        /// The number of the last commit; grows by one with each that changed something.
        package var lastTransaction: UInt64
        /// Reader slots that were ever used since the lock file was made, in all processes.
        package var readers: Int
        /// Reader slots there are.
        package var readersMax: Int
        /// How many commits the oldest snapshot that any process reads now is behind the last one.
        ///
        /// Pages freed since then can't be used again, so the file grows while this does.
        package var oldestReaderLag: UInt64
    }
}
