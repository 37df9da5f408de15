// Environment+Open.swift — opening a store: what is checked, in which order, before LMDB maps it.
//
//   1. the directory is there, or is made (0700, its parent synced)
//   2. data.mdb is a regular file, not a link
//   3. the same file isn't open in this process; if it is, that environment is shared
//   4. data.mdb is whole: both meta pages, and every page in use within the file (DataFile.swift)
//   5. lock.mdb has its room on the disk
//   6. LMDB opens it, dead readers are cleared, tables are opened in one committed transaction
//   7. a new store is flushed and its directory entry made durable

import CLMDB

extension Environment {
    /// How to open a store.
    package struct Options: Sendable, Hashable {
        /// The names of all tables, each once; made when they don't exist yet.
        ///
        /// Only what is opened read-only may do without any.
        package var tables: [String]
        /// The names of tables that only older stores have; none is made.
        package var formerTables: [String] = []
        /// Those of the tables whose records carry a checksum over key and value, which every read
        /// checks; must be the same whenever the store is opened.
        package var checkedTables: Set<String>
        /// The address space to reserve, in bytes; costs no memory, and grows when full.
        ///
        /// Less is taken where the system has not so much, or this process other stores open.
        package var mapBytes: Int
        /// How large the map may grow, in bytes; then writes throw `mapFull`.
        package var mapBytesMax: Int
        /// How many bytes the pages in use may take; then writes throw `storeFull`, but for those
        /// that free pages, which need some themselves.
        package var quotaBytes: Int
        /// Reader slots for all processes together.
        package var readersMax: Int
        /// Whether to change nothing on disk; see ``Environment/open(at:_:)``.
        package var readOnly: Bool
        /// Whether to make a store where there is none.
        package var create: Bool

        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
            /// The usual ``mapBytes``; a process has a few gigabytes of address space alone.
            package static let mapBytesUsual = 1 << 30
        #else
            /// The usual ``mapBytes``.
            package static let mapBytesUsual = 64 << 30
        #endif

        /// The usual map that may grow to 1 TiB, of which nine tenths may be used, and 126 readers,
        /// unless said otherwise.
        package init(
            tables: [String], checkedTables: Set<String> = [],
            mapBytes: Int = Environment.Options.mapBytesUsual,
            mapBytesMax: Int = 1 << 40, quotaBytes: Int? = nil, readersMax: Int = 126,
            readOnly: Bool = false, create: Bool = true
        ) {
            self.tables = tables
            self.checkedTables = checkedTables
            self.mapBytes = mapBytes
            self.mapBytesMax = mapBytesMax
            self.quotaBytes = quotaBytes ?? max(mapBytesMax, mapBytes) / 10 * 9
            self.readersMax = readersMax
            self.readOnly = readOnly
            self.create = create
        }
    }

    /// Opens the store in `directory`, or shares it when this process has it open by any path.
    ///
    /// Each opening wants its own ``close()``. A sharing one must name no other tables than the
    /// first; its sizes are ignored; a read-only one gets the writable store, not the other way.
    ///
    /// Read-only, data.mdb and the directory stay as they are; a table that doesn't exist reads as
    /// empty. If lock.mdb exists and may be written, the reader enters itself there, which keeps
    /// a writer in another process from reusing the pages it sees. If not (read-only media, a
    /// copied directory, another owner), there is no such protection: a read that two commits
    /// of others met is then `busy`.
    ///
    /// A store whose very first opening was cut off by a crash is `lost` or `damaged`. Nothing was
    /// ever stored in it, but only a caller that keeps record of that elsewhere can know.
    ///
    /// - Throws: `missing`, `lost`, `damaged`, `invalidPath`, `notPermitted`, `alreadyOpen`, `io`;
    ///   `poisoned` while it is open in this process after a commit that failed; `busy`, read-only,
    ///   where the file is replaced all the time; `nested` inside a read or a write of the store,
    ///   for whose end a closing of it waits.
    package static func open(
        at directory: String, _ options: Options
    ) throws(StoreError) -> Environment {
        while true {
            switch try attempt(at: directory, options) {
            case .opened(let environment): return environment
            case .closing(let identity): waitWhileClosing(identity)
            }
        }
    }

    /// Whether this process has the store in a directory open read-only, which who writes to it
    /// can't share.
    package static func isReadHere(_ directory: String) -> Bool {
        guard let identity = try? StorePath.existingFile(directory + "/data.mdb") else {
            return false
        }
        return Registry.environment(identity)?.isReadOnly ?? false
    }

    /// What came of an attempt to open a store.
    package enum Attempt {
        case opened(Environment)
        /// The same file is being closed.
        case closing(FileIdentity)
    }

    /// Blocks while a file is being closed; to be called where others can open: a read that the
    /// closing waits for may be about to.
    package static func waitWhileClosing(_ identity: FileIdentity) {
        Registry.waitWhileClosing(identity)
    }

    /// The same as ``open(at:_:)``, but without a wait where the store is being closed.
    package static func attempt(
        at directory: String, _ options: Options
    ) throws(StoreError) -> Attempt {
        Platform.require(
            (options.readOnly || !options.tables.isEmpty)
                && Set(options.tables).count == options.tables.count,
            "A store needs at least one table, and each table name only once.")
        return try Registry.whileOpening { () throws(StoreError) -> Attempt in
            try openUnlessClosing(directory, options)
        }
    }

    private static func openUnlessClosing(
        _ directory: String, _ options: Options
    ) throws(StoreError) -> Attempt {
        guard !directory.isEmpty, !directory.utf8.contains(0) else {
            throw StoreError(.invalidPath, during: "open", detail: "the path is empty")
        }
        let mayCreate = options.create && !options.readOnly
        try StorePath.prepareDirectory(directory, mayCreate: mayCreate)
        let dataPath = directory + "/data.mdb"
        guard let identity = try StorePath.existingFile(dataPath) else {
            guard mayCreate else {
                throw StoreError(.missing, during: "open", detail: "no \(dataPath)")
            }
            return .opened(try openFile(directory, options, isNew: true))
        }
        switch Registry.find(identity, refusing: { $0.objection(to: options) }) {
        case .shared(let environment): return .opened(environment)
        case .refused(_, let error): throw error
        case .closing(let environment):
            // The closing would wait for who waits for it.
            try environment?.checkNotInside("open")
            return .closing(identity)
        case .absent: break
        }
        guard options.readOnly else {
            try DataFile.check(dataPath)
            return .opened(try openFile(directory, options, isNew: false))
        }
        return .opened(try openForReading(directory, options))
    }

    /// How often it is looked again, for a second, whether a new data file has its lock.mdb.
    ///
    /// It takes longer only when the process that puts them there was ended in between.
    private static let lookingAgainMax = 100

    /// Opens a data file that another process may put a smaller one in the place of.
    private static func openForReading(
        _ directory: String, _ options: Options
    ) throws(StoreError) -> Environment {
        let dataPath = directory + "/data.mdb"
        var looks = 0
        while true {
            try DataFile.check(dataPath)
            let environment = try openFile(directory, options, isNew: false)
            let handle = environment.handle
            // In this order: once the folder is gone, the new file's lock.mdb is in its place.
            let isBeingReplaced = StoreFiles.isBeingReplaced(directory)
            let isThePair =
                try StorePath.existingFile(dataPath) == handle.identity && !handle.hasOtherLock
            if isThePair, !isBeingReplaced { return environment }
            looks += 1
            guard looks < lookingAgainMax else {
                guard isThePair else {
                    handle.close()
                    throw StoreError(
                        .busy, during: "open",
                        detail: "a process puts one smaller file after the other in the place of "
                            + "\(dataPath)")
                }
                // That process is gone. Until a writer ends its work, nobody writes.
                handle.noteOldLock()
                return environment
            }
            handle.close()
            Platform.pause(nanoseconds: 10_000_000)
        }
    }

    private static func openFile(
        _ directory: String, _ options: Options, isNew: Bool
    ) throws(StoreError) -> Environment {
        let lockPath = directory + "/lock.mdb"
        if !options.readOnly {
            Platform.makeForLMDB("lock.mdb", of: directory)
            // LMDB writes to this file's pages in memory: 64 bytes a reader, and some more.
            do throws(SystemNumber) {
                try Platform.reserve(lockPath, bytes: 4096 + 64 * options.readersMax)
            } catch { throw .system(error.number, during: "open", lockPath) }
            if isNew { Platform.makeForLMDB("data.mdb", of: directory) }
        }
        let handle = try Handle(
            directory, options,
            isLockFileUsable: !options.readOnly || Platform.isWritable(lockPath))
        let environment = try openTables(handle, options)
        Registry.add(environment, handle.identity)
        if isNew { try environment.makeDurable(directory) }
        return environment
    }

    private static func openTables(
        _ handle: Handle, _ options: Options
    ) throws(StoreError) -> Environment {
        guard !options.readOnly else {
            let tables = try handle.openTables(options)
            return Environment(handle: handle, writer: nil, tables)
        }
        let writer = try WriterThread(handle)
        do throws(StoreError) {
            let tables = try writer.openTables(options)
            return Environment(handle: handle, writer: writer, tables)
        } catch {
            // Closed before anybody else may open the file again.
            writer.stop()
            writer.waitUntilEnded()
            handle.close()
            throw error
        }
    }

    /// Why a second opening with these options can't share this environment.
    private func objection(to options: Options) -> StoreError? {
        if var error = handle.gate.refusal(ofWrites: !options.readOnly), error.code == .poisoned {
            error.during = "open"
            error.detail += "; all that have it open in this process must close it first"
            return error
        }
        let missing = options.tables.filter { name in !tables.contains { $0.name == name } }
        let reason: String
        if isReadOnly, !options.readOnly {
            reason = "it is open read-only in this process"
        } else if !missing.isEmpty {
            reason = "it is open in this process without the tables \(missing)"
        } else {
            return nil
        }
        return StoreError(.alreadyOpen, during: "open", detail: reason)
    }

    private func makeDurable(_ directory: String) throws(StoreError) {
        do {
            try flush()
            try StorePath.sync(directory)
        } catch let error as StoreError {
            throw error
        } catch {
            throw StoreError(.io, during: "open", detail: "\(error)")
        }
    }
}
