// Handle+Read.swift — one reading transaction, from the pool and back.

import CLMDB

extension Handle {
    /// Runs `body` with a snapshot; inside another read of the same thread, with the same one.
    ///
    /// - Parameter isOwner: whether the caller keeps other processes from replacing the file.
    func read<R>(
        isOwner: Bool = true, _ body: (borrowing ReadTransaction) throws -> R
    ) throws -> R {
        try withSnapshot(isOwner: isOwner) { snapshot in try read(snapshot, body) }
    }

    func withSnapshot<R>(isOwner: Bool = true, _ body: (Gate.Snapshot) throws -> R) throws -> R {
        let me = Platform.threadID
        let snapshot = try enter(me)
        defer { gate.leaveReader(me, end: Self.end) }
        // Another process may have put a smaller file in its place, which is written to now.
        if isReadOnly || !isOwner { try checkStillThere() }
        guard isReadOnly, mayMissWriters else { return try body(snapshot) }
        // What was read counts only where no writer came meanwhile.
        let result = Result { try body(snapshot) }
        try checkStillThere()
        if !isSeenByWriters { try checkPagesUnused(snapshot) }
        return try result.get()
    }

    /// Refuses what was read from a snapshot whose pages a writer may have used again.
    ///
    /// The commit after it frees pages that it sees. The second one can't use them yet, but what
    /// follows on that one can, also before it is committed.
    private func checkPagesUnused(_ snapshot: Gate.Snapshot) throws(StoreError) {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(raw, &info)
        guard unsafe info.me_last_txnid >= mdb_txn_id(snapshot.raw) + 2 else { return }
        throw StoreError(
            .busy, number: Platform.accessDenied, during: "read",
            detail: "another process wrote meanwhile, and could not know what is read here, as "
                + "lock.mdb is not there or can't be written: pages may have been used again")
    }

    /// Ends what a snapshot sees; one that is kept can be begun anew, and keeps its slot.
    static func end(_ snapshot: Gate.Snapshot, isKept: Bool) {
        if isKept { unsafe mdb_txn_reset(snapshot.raw) } else { unsafe mdb_txn_abort(snapshot.raw) }
    }

    // MARK: Held

    /// Keeps a snapshot of the last commit; the thread is not inside a read.
    func hold(_ holder: ObjectIdentifier) throws(StoreError) {
        let me = Platform.threadID
        _ = try enter(me)
        gate.hold(holder, me)
    }

    /// Runs `body` with the snapshot that is kept; the thread is not inside another read.
    func read<R>(
        heldBy holder: ObjectIdentifier, _ body: (borrowing ReadTransaction) throws -> R
    ) throws -> R {
        let me = Platform.threadID
        let snapshot = try gate.enterHeld(holder, me)
        defer { gate.hold(holder, me) }
        return try read(snapshot, body)
    }

    /// Lets go of the snapshot that is kept, if it still is.
    func release(_ holder: ObjectIdentifier) { gate.release(holder, end: Self.end) }

    /// Runs `body` with a snapshot that this thread entered.
    private func read<R>(
        _ snapshot: Gate.Snapshot, _ body: (borrowing ReadTransaction) throws -> R
    ) throws -> R {
        var neighbours = LongNeighbours()
        return unsafe try withUnsafeMutablePointer(to: &neighbours) { neighbours in
            try body(unsafe ReadTransaction(snapshot.raw, mapView(snapshot.raw), neighbours))
        }
    }

    private func enter(_ me: UInt64) throws(StoreError) -> Gate.Snapshot {
        var triesLeft = 16
        var looksLeft = Self.looksForSlotMax
        while true {
            let code: Int32
            switch gate.enterReader(me) {
            case .refused(let error): throw error
            case .nested(let snapshot): return snapshot
            case .pooled(let snapshot):
                code = unsafe mdb_txn_renew(snapshot.raw)
                if code == 0 { return snapshot }
                unsafe mdb_txn_abort(snapshot.raw)
            case .fresh:
                var begun: OpaquePointer?
                code = unsafe mdb_txn_begin(raw, nil, UInt32(MDB_RDONLY), &begun)
                if code == 0, let begun = unsafe begun {
                    let snapshot = unsafe Gate.Snapshot(raw: begun)
                    gate.admitted(snapshot, me)
                    return snapshot
                }
            }
            gate.dropReader(me)
            if code == MDB_READERS_FULL, waitForSlot(&looksLeft) { continue }
            triesLeft -= 1
            guard code == MDB_MAP_RESIZED, triesLeft > 0 else {
                throw .lmdb(ofRead: code, during: "begin")
            }
            try adoptMap()
        }
    }

    /// How often it is looked again, for a second, whether a reader's slot is free.
    static let looksForSlotMax = 100

    /// Frees the slots of readers whose process is gone; where there are none, waits a little for
    /// one of the reads that go on.
    ///
    /// - Returns: false where it was looked often enough.
    func waitForSlot(_ looksLeft: inout Int) -> Bool {
        guard looksLeft > 0 else { return false }
        looksLeft -= 1
        var cleared: Int32 = 0
        unsafe mdb_reader_check(raw, &cleared)
        if cleared == 0 { Platform.pause(nanoseconds: 10_000_000) }
        return true
    }
}
