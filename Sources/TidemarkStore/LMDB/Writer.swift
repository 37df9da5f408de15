// Writer.swift — what a job on the writer thread may do: run transactions, one after another.

import CLMDB

/// The right to write, lent to a job while it runs on the writer thread.
///
/// Several callers' changes may share one transaction, or one job run several transactions.
@safe package struct Writer: ~Copyable {
    private let handle: Handle
    private let threadID = Platform.threadID

    init(_ handle: Handle) { self.handle = handle }

    /// Runs `body` in a transaction and commits it; durable when this returns.
    ///
    /// When the map is full the transaction is aborted, the map doubled, and **`body` runs again**
    /// from the beginning, as often as it takes: whatever it changes outside of the transaction it
    /// must set, not add to.
    ///
    /// - Parameter freeing: whether it is let through when the store has reached its quota, because
    ///   it makes pages free.
    /// - Throws: what `body` threw, after aborting; `storeFull` without calling it; the error of a
    ///   method of the transaction, even when `body` caught it; or why beginning or committing
    ///   failed. Nothing was stored then, except that after an `io` error of a commit, or one that
    ///   came behind its last page, nobody knows, and the environment refuses writes until it is
    ///   opened again; `poisoned` where LMDB begins nothing any more after that commit, and reads
    ///   are refused, too.
    package borrowing func transaction<T>(
        freeing: Bool = false, _ body: (borrowing WriteTransaction) throws -> T
    ) throws -> T {
        checkThread()
        handle.gate.checkNotReading("A write")
        var adoptionsLeft = 16
        while true {
            switch try attempt(freeing, body) {
            case .committed(let value): return value
            case .mapFull(let error): try handle.growMap(after: error)
            case .mapResized(let error):
                adoptionsLeft -= 1
                guard adoptionsLeft > 0 else { throw error }
                try handle.adoptMap()
            }
        }
    }

    /// Puts everything on disk once more, outside of a transaction.
    borrowing func flush() throws(StoreError) {
        let code = unsafe mdb_env_sync(handle.raw, 1)
        guard code == 0 else { throw poisoning(.lmdb(code, during: "flush")) }
    }

    private enum Attempt<T> {
        case committed(T)
        case mapFull(StoreError)
        case mapResized(StoreError)
    }

    private borrowing func attempt<T>(
        _ freeing: Bool, _ body: (borrowing WriteTransaction) throws -> T
    ) throws -> Attempt<T> {
        try handle.gate.enterWriter()
        defer { handle.gate.leaveWriter() }
        try handle.checkStillThere(isNamed: true)
        if !freeing { try handle.checkQuota() }
        handle.forgetDeadReaders()
        var begun: OpaquePointer?
        let code = unsafe mdb_txn_begin(handle.raw, nil, 0, &begun)
        guard code == 0, let raw = unsafe begun else {
            let error = StoreError.lmdb(code, during: "begin")
            if code == MDB_MAP_RESIZED { return .mapResized(error) }
            throw poisoning(error, isGivenUp: code == MDB_PANIC)
        }

        let state = TransactionState()
        let result = Result { try body(unsafe WriteTransaction(raw, state, handle.mapView(raw))) }
        checkThread()
        if let failure = state.failure {
            unsafe mdb_txn_abort(raw)
            if failure.code == .mapFull { return .mapFull(failure) }
            _ = try result.get()
            throw failure
        }
        switch result {
        case .failure(let error):
            unsafe mdb_txn_abort(raw)
            throw error
        case .success(let value):
            let number = unsafe mdb_txn_id(raw)
            // Whatever it returns, the transaction is gone afterwards.
            let code = unsafe mdb_txn_commit(raw)
            guard code != 0 else {
                handle.noteCommit()
                return .committed(value)
            }
            let error = handle.explained(.lmdb(code, during: "commit"))
            if error.code == .mapFull { return .mapFull(error) }
            throw poisoning(
                error, isGivenUp: isGivenUp(), isInFile: handle.hasCommit(number))
        }
    }

    /// Whether LMDB begins no transaction any more, not even to read: so it is after a commit that
    /// could not write its last page, over an older one.
    private borrowing func isGivenUp() -> Bool {
        var begun: OpaquePointer?
        let code = unsafe mdb_txn_begin(handle.raw, nil, 0, &begun)
        if code == 0, let raw = unsafe begun { unsafe mdb_txn_abort(raw) }
        return code == MDB_PANIC
    }

    /// After a commit whose bytes may or may not be on disk, nothing may be built on it.
    ///
    /// - Parameter isInFile: whether it is in the file: on Apple's systems LMDB flushes once more
    ///   behind the page that makes it count, and where that fails the next opening may find it.
    /// - Returns: what to throw: `poisoned` where nothing can be read any more either, as who takes
    ///   it for a full disk goes on with the store.
    private borrowing func poisoning(
        _ error: StoreError, isGivenUp: Bool = false, isInFile: Bool = false
    ) -> StoreError {
        guard isGivenUp || isInFile || error.number == Platform.inputOutput else { return error }
        let later = StoreError(
            .poisoned, number: error.number, during: "begin",
            detail: "an earlier \(error.during) failed: \(error.detail)")
        guard isGivenUp else {
            handle.gate.refuseWrites(later)
            return error
        }
        handle.gate.refuseAll(later)
        var told = error
        told.code = .poisoned
        return told
    }

    private borrowing func checkThread() {
        Platform.require(
            Platform.threadID == threadID,
            "A writing transaction was begun or ended on another thread than the writer thread.")
    }
}
