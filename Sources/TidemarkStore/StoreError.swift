// StoreError.swift — the one error of this module: what is wrong, and what to do next.

/// Why a storage call failed, with the number that came from LMDB or the system.
package struct StoreError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of reasons; what to switch on.
    package enum Code: String, Sendable, CaseIterable {
        /// There is no store at this path, and none was to be created.
        case missing
        /// A store was here and its data file is now empty, deleted or replaced.
        case lost
        /// The data file is not whole or not a store.
        case damaged
        /// A record of a table that can be made again is not what was written, or a walk over
        /// the table does not lead from one key to the next.
        case damagedTable
        /// Another process has the store open for writing, or one of the same number has it open.
        case busy
        /// The log ends before, or differs from, what is known to have been written.
        case rolledBack
        /// What lies beside the data belongs to another store.
        case otherStore
        /// The store was last used on another device.
        case otherDevice
        /// The store belongs to another account.
        case otherAccount
        /// `identity.json` is missing or damaged, though there is a log.
        case unfitIdentity
        /// The process died while it opened the store, twice in a row.
        case interrupted
        /// The store is of a format that this version doesn't know.
        case newerFormat
        /// Another version made the tables that can be made again, and who asks may not do so.
        case otherVersion
        /// The store lies on a file system of another machine, where locks can't be relied on.
        case remoteFileSystem
        /// The store has its largest intended size; what frees space is still possible.
        case storeFull
        /// The data needs more than the largest allowed map.
        case mapFull
        /// Too many reading transactions in all processes together.
        case readersFull
        /// No space left on the device, or over quota.
        case diskFull
        /// The file may not grow further on this system or for this process.
        case fileTooLarge
        /// The process may not read or write this path.
        case notPermitted
        /// A write was asked of a store that was opened read-only, or lies on read-only media.
        case readOnly
        /// The same file is open in this process with options that do not fit.
        case alreadyOpen
        /// An appended key was not greater than the last one.
        case keyExists
        /// A key is empty or longer than 511 bytes, or a value is 2 GiB or larger.
        case badKey
        /// A commit failed; writes, and reads where LMDB can't begin them, are refused until all
        /// openings of this process are closed and the store is opened again.
        case poisoned
        /// The store was closed.
        case closed
        /// It was asked for inside a read or a write of the same store, where it would wait for
        /// itself.
        case nested
        /// The path, or what lies there, can't be a store, or what it is to lie in is not there.
        case invalidPath
        /// A file beside the data, or one that was to be put there, is not there or not what it
        /// should be.
        case unfitFile
        /// Anything else the system said.
        case io
    }

    /// What to switch on.
    package var code: Code
    /// What to search for: LMDB's code (below −30000), an errno (above 0), or 0 when neither.
    package var number: Int32
    /// What was being done, in a word: "open", "begin", "put", "commit" and so on.
    package var during: String
    /// What the system or this module said, for a person to read.
    package var detail: String

    /// An error from its parts.
    package init(_ code: Code, number: Int32 = 0, during: String, detail: String) {
        self.code = code
        self.number = number
        self.during = during
        self.detail = detail
    }

    /// One sentence that says what is wrong and one that says what to do.
    package var description: String {
        let source = number == 0 ? "" : " (\(number))"
        return "\(during) failed, \(code.rawValue): \(detail)\(source). \(advice)"
    }

    /// What a person can do about it, as a sentence.
    package var advice: String {
        switch number {
        case Platform.noMemory:
            "Close what maps much memory, or give the process more address space: by `ulimit -v`, "
                + "on iOS by the entitlement for extended virtual addressing."
        case Platform.noDescriptor, Platform.noFile:
            "Close other stores and files, or let the process have more open: by `ulimit -n`."
        case Platform.staleFile where code == .lost: StoreError.Code.closed.advice
        case Platform.accessDenied where code == .busy:
            "Read it again, or let this process write lock.mdb, and open the store again: mount "
                + "its folder writable."
        case Platform.wouldBlock where code == .busy:
            "Let the containers share one process namespace: `--pid=container:NAME`, "
                + "`shareProcessNamespace: true`."
        case Platform.wouldBlock:
            "Close other stores, or let the user have more threads: by `ulimit -u`."
        default: code.advice
        }
    }
}

extension StoreError {
    /// Whether there was no room for what was to be written, and nothing else is wrong.
    package var saysNoRoom: Bool {
        [.storeFull, .mapFull, .diskFull, .fileTooLarge].contains(code)
    }

    /// Whether there was no descriptor for what was to be opened.
    package var saysNoDescriptor: Bool {
        [Platform.noDescriptor, Platform.noFile].contains(number)
    }
}

extension StoreError.Code {
    /// What a person can do about it, as a sentence.
    package var advice: String {
        switch self {
        case .missing:
            "Check the path, or make a store by `Replica.open(at:model:)` or `tidemark init`."
        case .lost: "Do not write; restore the directory or let the server fill a new store."
        case .damaged: "Keep the file as it is and salvage it, or restore the directory."
        case .damagedTable: "`tidemark rebuild` makes the table anew from the log."
        case .busy: "Wait until it has closed the store, or read the store meanwhile."
        case .rolledBack, .otherDevice, .unfitIdentity:
            "Check it with `tidemark verify`, then accept it as it is with `tidemark adopt`."
        case .otherStore:
            "Put data.mdb and identity.json of one store together, or accept this one as it is "
                + "with `tidemark adopt`."
        case .interrupted:
            "Check it with `tidemark verify`; when that is fine, `tidemark adopt` opens it again."
        case .otherAccount: "Open it with the account that it belongs to, or use another store."
        case .newerFormat: "Use a newer version; nothing was changed."
        case .otherVersion: "Open the store for writing once, which makes them anew."
        case .remoteFileSystem: "Use a directory on a disk of this machine."
        case .storeFull: "Prune or compact the store, or raise its quota."
        case .mapFull: "Prune or compact the store, or raise the largest map size."
        case .readersFull: "End processes that hang in a read, or let fewer read at a time."
        case .diskFull: "Free some space and try again; nothing of this write was stored."
        case .fileTooLarge: "Raise the file size limit; nothing of this write was stored."
        case .notPermitted: "Check who owns the directory and its permissions."
        case .readOnly: "Open the store for writing, on writable media."
        case .alreadyOpen: "Close the other one first, or open with the same options."
        case .keyExists:
            "Another writer was here or the caller's counter is wrong; stop and verify."
        case .badKey: "Use keys of 1 to 511 bytes and values below 2 GiB."
        case .poisoned:
            "Close it wherever this process has it open, open it again and verify its last events."
        case .closed: "Open the store again."
        case .nested: "Do both in one closure, or one after the other."
        case .invalidPath: "Use a directory of its own, with regular files in it."
        case .unfitFile: "Check the file and try again; nothing of it was stored."
        case .io: "Check the disk, then open the store again and verify it."
        }
    }
}
