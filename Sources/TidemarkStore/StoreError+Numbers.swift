// StoreError+Numbers.swift — from LMDB's and the system's numbers to our codes.

import CLMDB

extension StoreError {
    /// The error behind a number that LMDB returned; `number` is not 0.
    static func lmdb(_ number: Int32, during: String) -> StoreError {
        let detail = unsafe String(cString: mdb_strerror(number))
        return StoreError(code(of: number), number: number, during: during, detail: detail)
    }

    /// The error behind a number that LMDB returned as a read began; `number` is not 0.
    ///
    /// With its first read a process locks the byte of lock.mdb that has its number: only another
    /// process of the same number can have that lock.
    static func lmdb(ofRead number: Int32, during: String) -> StoreError {
        guard [Platform.wouldBlock, Platform.accessDenied].contains(number) else {
            return .lmdb(number, during: during)
        }
        return StoreError(
            .busy, number: Platform.wouldBlock, during: during,
            detail: "another process that is number \(Platform.processID), too, as the first ones "
                + "of two containers are, has the store open")
    }

    /// The error behind an errno, with what was being touched.
    static func system(_ number: Int32, during: String, _ subject: String) -> StoreError {
        let said = unsafe String(cString: mdb_strerror(number))
        return StoreError(
            code(of: number), number: number, during: during, detail: "\(subject): \(said)")
    }

    private static func code(of number: Int32) -> Code {
        switch number {
        case MDB_MAP_FULL: .mapFull
        case MDB_READERS_FULL: .readersFull
        case MDB_KEYEXIST: .keyExists
        case MDB_BAD_VALSIZE: .badKey
        case MDB_PANIC: .poisoned
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND, MDB_INVALID, MDB_VERSION_MISMATCH, MDB_INCOMPATIBLE:
            .damaged
        default: code(ofSystem: number)
        }
    }

    private static func code(ofSystem number: Int32) -> Code {
        switch number {
        case Platform.noEntry: .missing
        case Platform.noSpace, Platform.overQuota: .diskFull
        case Platform.fileTooBig: .fileTooLarge
        case Platform.accessDenied, Platform.notPermitted: .notPermitted
        case Platform.readOnlyFileSystem: .readOnly
        case Platform.notADirectory, Platform.nameTooLong, Platform.tooManyLinks: .invalidPath
        default: .io
        }
    }
}
