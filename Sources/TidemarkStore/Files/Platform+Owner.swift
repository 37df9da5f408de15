// Platform+Owner.swift — whose the files are that user 0 of the system makes in a store: of who
// owns the store, and could not use them else.

import CLMDB

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

extension Platform {
    /// Makes a file as ``createFile(_:)`` does, in the folder of a store or below it.
    static func createFile(
        _ path: String, inStore directory: String
    ) throws(SystemNumber) -> Int32 {
        let made = try createFile(path)
        if let owner = otherOwner(of: directory) { give(made, to: owner) }
        return made
    }

    /// Makes a folder in the folder of a store, or below it.
    static func makeDirectory(
        _ path: String, inStore directory: String
    ) throws(SystemNumber) {
        try makeDirectory(path)
        guard let owner = otherOwner(of: directory),
            let made = try? open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
        else { return }
        give(made, to: owner)
        close(made)
    }

    /// Makes a file that LMDB would make, where it isn't there: of the folder's owner, and written
    /// in place.
    ///
    /// Where each change of a page is written elsewhere, as btrfs does, what was reserved is used
    /// up by the first one, and on a full disk the next one kills the process.
    ///
    /// To LMDB an empty file is one that it has just made. What can't be made here, it makes.
    static func makeForLMDB(_ name: String, of directory: String) {
        guard let made = try? createFile(directory + "/" + name, inStore: directory) else { return }
        tidemark_write_in_place(made)
        close(made)
    }

    private struct Owner {
        let user: uid_t
        let group: gid_t
    }

    /// Who owns a folder; nil where that is user 0, or this process has no right to give files
    /// away.
    private static func otherOwner(of directory: String) -> Owner? {
        guard geteuid() == 0 else { return nil }
        var raw = stat()
        guard unsafe stat(directory, &raw) == 0, raw.st_uid != 0 else { return nil }
        return Owner(user: raw.st_uid, group: raw.st_gid)
    }

    /// Where it can't be given, as in some containers, it stays user 0's.
    private static func give(_ descriptor: Int32, to owner: Owner) {
        _ = fchown(descriptor, owner.user, owner.group)
    }
}
