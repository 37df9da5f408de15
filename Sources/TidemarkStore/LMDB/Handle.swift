// Handle.swift — LMDB's environment: opened once, its map moved through the gate, closed once.

import CLMDB

/// LMDB's environment of one data file, and the gate in front of it.
@safe final class Handle: @unchecked Sendable {
    // @unchecked because: LMDB guards its own state; what it leaves to the caller, not to move the
    // map or close under a transaction, the gate guarantees.
    let raw: OpaquePointer
    let gate: Gate
    let isReadOnly: Bool
    /// Which file it is; the registry knows it by this.
    let identity: FileIdentity
    private let descriptor: Int32
    /// Where the data file lay when it was opened.
    private let dataPath: String
    private let lockPath: String
    /// The lock.mdb that it was opened with, or an older one; nil for none.
    private let lockIdentity: FileIdentity?
    /// Whether writers learn from lock.mdb what is read here, and leave those pages alone.
    let isSeenByWriters: Bool
    private let missesWriters = Lock(false)
    private let mapBytesMax: Int
    /// How many bytes the pages in use may take.
    let quotaBytes: Int
    private let isOpen = Lock(true)
    private let pages: MapPages
    /// The file as it is after the last commit; nil once somebody else has written to it.
    private let lastMark: Lock<FileMark?>
    /// Writes begun since dead readers were last looked for.
    let writesSinceCheck = Lock(0)

    /// Maps a data file that was inspected, or makes one.
    ///
    /// The caller holds the registry's opening lock, and registers the result or drops it.
    init(
        _ directory: String, _ options: Environment.Options, isLockFileUsable: Bool
    ) throws(StoreError) {
        var flags = UInt32(MDB_NOTLS)
        if options.readOnly { flags |= UInt32(MDB_RDONLY) }
        if !isLockFileUsable { flags |= UInt32(MDB_NOLOCK) }
        let lockPath = StorePath.absolute(directory) + "/lock.mdb"
        let lock = try? Platform.status(of: lockPath, followingLinks: false).identity
        let raw = try unsafe Self.mapped(directory, options, flags)
        var isWhole = false
        defer { if !isWhole { unsafe mdb_env_close(raw) } }

        var descriptor: Int32 = -1
        try Self.check(unsafe mdb_env_get_fd(raw, &descriptor))
        Platform.closeOnExec(descriptor)
        unsafe mdb_reader_check(raw, nil)
        do throws(SystemNumber) {
            let status = try Platform.status(of: descriptor)
            identity = status.identity
            lastMark = Lock(status.mark)
        } catch {
            throw .system(error.number, during: "open", directory)
        }
        isWhole = true
        unsafe self.raw = raw
        self.descriptor = descriptor
        dataPath = StorePath.absolute(directory) + "/data.mdb"
        self.lockPath = lockPath
        lockIdentity = isLockFileUsable ? lock : nil
        isSeenByWriters = isLockFileUsable
        isReadOnly = options.readOnly
        mapBytesMax = max(options.mapBytesMax, options.mapBytes)
        quotaBytes = options.quotaBytes
        var statistics = MDB_stat()
        unsafe mdb_env_stat(raw, &statistics)
        pages = MapPages(pageBytes: Int(statistics.ms_psize))
        gate = Gate(readersMax: max(1, min(32, options.readersMax)))
    }

    deinit { close() }

    /// Waits for every transaction to end and closes; nothing when it is closed.
    func close() {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else { return }
        for snapshot in gate.close() { unsafe mdb_txn_abort(snapshot.raw) }
        Registry.remove(identity) { unsafe mdb_env_close(raw) }
    }

    /// LMDB's environment of the file, with its share of the map that is wanted or, where the
    /// system has no address space for it, with a smaller one.
    private static func mapped(
        _ directory: String, _ options: Environment.Options, _ flags: UInt32
    ) throws(StoreError) -> OpaquePointer {
        let file = try? Platform.status(of: directory + "/data.mdb", followingLinks: false)
        let fileBytes = file?.sizeBytes ?? 0
        let wanted = MapSizes.share(
            of: options.mapBytes, stores: Registry.count + 1, fileBytes: fileBytes,
            addressBytes: Platform.addressBytesLimit)
        let sizes = MapSizes.opening(wanted: wanted, fileBytes: fileBytes)
        var number = Platform.noMemory
        for bytes in sizes where number == Platform.noMemory {
            var created: OpaquePointer?
            try check(unsafe mdb_env_create(&created))
            guard let raw = unsafe created else {
                throw .lmdb(Platform.inputOutput, during: "open")
            }
            number = unsafe open(raw, directory, options, flags, mapBytes: bytes)
            if number == 0 { return unsafe raw }
            // After a failed opening it can only be closed.
            unsafe mdb_env_close(raw)
        }
        throw .lmdb(number, during: "open")
    }

    private static func open(
        _ raw: OpaquePointer, _ directory: String, _ options: Environment.Options,
        _ flags: UInt32, mapBytes: Int
    ) -> Int32 {
        var number = unsafe mdb_env_set_maxdbs(raw, tablesMax(options))
        if number == 0 { number = unsafe mdb_env_set_maxreaders(raw, UInt32(options.readersMax)) }
        if number == 0 { number = unsafe mdb_env_set_mapsize(raw, mapBytes) }
        guard number == 0 else { return number }
        return Platform.besideStandardStreams {
            unsafe mdb_env_open(raw, directory, flags, 0o600)
        }
    }

    private static func tablesMax(_ options: Environment.Options) -> UInt32 {
        UInt32(max(options.tables.count + options.formerTables.count, 1))
    }

    /// Whether the file holds a commit of that number, or a later one.
    func hasCommit(_ number: Int) -> Bool {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(raw, &info)
        return unsafe info.me_last_txnid >= number
    }

    // MARK: The map

    /// Doubles the map, within its bound, or lets it grow by less where the system has not so much
    /// address space.
    ///
    /// - Throws: `mapFull` where it can't grow; the map stays as it was.
    func growMap(after full: StoreError) throws(StoreError) {
        try gate.withExclusive(end: Self.end) { () throws(StoreError) in
            let bytes = mapBytes
            guard bytes < mapBytesMax else {
                var error = full
                error.detail += ", and the map has its largest size of \(bytes) bytes"
                throw error
            }
            guard try setMap(MapSizes.growth(from: bytes, most: mapBytesMax)) else {
                throw StoreError(
                    .mapFull, number: Platform.noMemory, during: full.during,
                    detail: "the map has \(bytes) bytes, and the system no address space for more")
            }
        }
    }

    /// Makes the map as large as another process needed it for the file.
    ///
    /// - Throws: `io` where there is no address space for it; the map stays as it was.
    func adoptMap() throws(StoreError) {
        try gate.withExclusive(end: Self.end) { () throws(StoreError) in
            let fileBytes = (try? Platform.status(of: descriptor).sizeBytes) ?? 0
            // Not LMDB's 0, the largest size that any process ever asked for: it may be refused.
            guard try setMap(MapSizes.adoption(from: mapBytes, fileBytes: fileBytes)) else {
                throw StoreError.lmdb(Platform.noMemory, during: "grow")
            }
        }
    }

    /// Gives the map the first of some sizes that the system has address space for, beside the map
    /// that there is.
    ///
    /// LMDB unmaps that one first and, where the new one is refused, never maps the file again: so
    /// it's asked only for what the system has just given.
    ///
    /// - Returns: false where it has address space for none of them; nothing is changed then.
    private func setMap(_ sizes: [Int]) throws(StoreError) -> Bool {
        guard let bytes = sizes.first(where: { Platform.canMap(descriptor, bytes: $0) }) else {
            return false
        }
        defer { pages.forget() }
        let code = unsafe mdb_env_set_mapsize(raw, bytes)
        guard code == 0 else {
            // Another thread took the address space in between: nothing can be read any more.
            let error = StoreError.lmdb(code, during: "grow")
            gate.refuseAll(error)
            throw error
        }
        return true
    }

    /// What a transaction that begins now knows of the map.
    func mapView(_ transaction: OpaquePointer) -> MapPages.View? {
        unsafe pages.view(transaction) { mapBytes }
    }

    private var mapBytes: Int {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(raw, &info)
        return unsafe info.me_mapsize
    }

    // MARK: State

    /// Refuses to go on when the data file has no name left in any directory, and to read where
    /// writers have another lock.mdb.
    ///
    /// - Parameter isNamed: whether another file in its place is looked for, too, as there is where
    ///   the store's folder was moved away and a copy put there.
    func checkStillThere(isNamed: Bool = false) throws(StoreError) {
        let status: FileStatus
        do throws(SystemNumber) { status = try Platform.status(of: descriptor) } catch {
            throw .system(error.number, during: "begin", "data.mdb")
        }
        lastMark.withLock { mark in if mark != status.mark { mark = nil } }
        guard status.links == 0 || isNamed && isReplaced || isReadOnly && hasOtherLock else {
            return
        }
        // Who only reads opens what lies there now, as after another process made it smaller.
        let isThere = isReadOnly && (try? StorePath.existingFile(dataPath)) != nil
        let error = StoreError(
            .lost, number: isThere ? Platform.staleFile : 0, during: "begin",
            detail: isThere
                ? "another process has put another file in the place of data.mdb or lock.mdb"
                : "data.mdb was deleted or replaced while it was open")
        gate.refuseWrites(error)
        throw error
    }

    /// Whether another file lies where this one was opened; where there is none it may have moved.
    private var isReplaced: Bool {
        let found = try? Platform.status(of: dataPath, followingLinks: false).identity
        return found.map { $0 != identity } ?? false
    }

    /// Whether another lock.mdb lies where that was with which it was opened: a writer who has that
    /// one does not know of who reads here.
    var hasOtherLock: Bool {
        guard let lockIdentity,
            let found = try? Platform.status(of: lockPath, followingLinks: false).identity
        else { return false }
        return found != lockIdentity
    }

    /// Whether lock.mdb can't be written, or the next writer puts another one in its place before
    /// it writes, so that pages may be used again while they are read here.
    var mayMissWriters: Bool { !isSeenByWriters || missesWriters.withLock(\.self) }

    func noteOldLock() { missesWriters.withLock { $0 = true } }

    /// Takes note of the file as a commit left it.
    func noteCommit() {
        let mark = try? Platform.status(of: descriptor).mark
        lastMark.withLock { last in if last != nil { last = mark } }
    }

    /// The file as the last commit left it; nil when somebody else has written to it meanwhile.
    var mark: FileMark? { lastMark.withLock(\.self) }

    /// LMDB calls a write that was cut short an input/output error; mostly the disk was full.
    func explained(_ error: StoreError) -> StoreError {
        guard error.number == Platform.inputOutput else { return error }
        let size = (try? Platform.status(of: descriptor).sizeBytes) ?? 0
        if let limit = Platform.fileBytesLimit, size + 0x10000 > limit {
            return .system(Platform.fileTooBig, during: error.during, "data.mdb")
        }
        if let free = Platform.space(descriptor)?.free, free < 0x10000 {
            return .system(Platform.noSpace, during: error.during, "data.mdb")
        }
        guard let number = refusalOfMore else { return error }
        return .system(number, during: error.during, "data.mdb")
    }

    /// What the system answers to 64 KiB more in the store's folder where it has no room for them,
    /// as for a user who is over quota; nil where it has, or refuses them for another reason.
    private var refusalOfMore: Int32? {
        let path = StorePath.parent(of: dataPath) + "/" + StoreFiles.probeName
        var noise: UInt32 = 1
        let bytes = (0..<0x10000).map { _ in
            noise = noise &* 1_664_525 &+ 1_013_904_223
            return UInt8(truncatingIfNeeded: noise >> 24)
        }
        do throws(SystemNumber) {
            try Platform.remove(path)
            let descriptor = try Platform.createFile(path)
            defer { Platform.closeFile(descriptor) }
            try Platform.remove(path)
            try Platform.write(bytes, to: descriptor)
            try Platform.sync(descriptor)
            return nil
        } catch {
            let isFull = error.number == Platform.noSpace || error.number == Platform.overQuota
            return isFull ? error.number : nil
        }
    }

    /// Sizes and counters; call it with a transaction of this process open.
    func readInfo() throws(StoreError) -> Environment.Info {
        var info = unsafe MDB_envinfo()
        unsafe mdb_env_info(raw, &info)
        var statistics = MDB_stat()
        unsafe mdb_env_stat(raw, &statistics)
        do throws(SystemNumber) {
            return unsafe Environment.Info(
                mapBytes: info.me_mapsize, fileBytes: try Platform.status(of: descriptor).sizeBytes,
                pageBytes: Int(statistics.ms_psize), lastPage: info.me_last_pgno,
                lastTransaction: UInt64(info.me_last_txnid), readers: Int(info.me_numreaders),
                readersMax: Int(info.me_maxreaders),
                oldestReaderLag: oldestReaderLag(UInt64(info.me_last_txnid)))
        } catch {
            throw .system(error.number, during: "info", "data.mdb")
        }
    }

    private static func check(_ code: Int32) throws(StoreError) {
        guard code == 0 else { throw .lmdb(code, during: "open") }
    }
}
