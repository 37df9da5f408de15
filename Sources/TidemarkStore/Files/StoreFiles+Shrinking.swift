// StoreFiles+Shrinking.swift — a data file whose place is taken by a smaller one of equal records.
//
//   1. the copy is made in a folder of the store, `shrinking`
//   2. when it is proven, the folder's name becomes `shrunk`
//   3. its data.mdb is put in the place of the store's
//   4. so is its lock.mdb, and the folder goes
//
// Each step is on disk before the next. Cut off before 3, the next opening for writing removes the
// folder; behind it, it does 4. Whoever reads the old file has it, and its lock.mdb, until he
// closes it: nobody writes to it any more. Whoever opens the new one waits for 4: with the old
// lock.mdb a writer would not know of him. Where 4 does not come, as that process is gone, he reads
// with the old one until a writer does it; from then on, and in a read that goes on meanwhile, his
// file is `lost`, and he opens it anew.
//
// What somebody else put into such a folder stays there, and the folder with it. Where `shrunk` is
// there for that, step 2 moves the two files into it, data.mdb first. What has one of these names
// and is no folder, as a file or a link, stays as well; beside it nothing is made smaller.

extension StoreFiles {
    /// In the order in which they go: without its data.mdb the folder is one of step 4.
    private static let copyNames = ["lock.mdb", probeName, "data.mdb"]

    private static func unproven(_ directory: String) -> String {
        trimmed(directory) + "/shrinking"
    }

    private static func proven(_ directory: String) -> String { trimmed(directory) + "/shrunk" }

    /// Makes the folder for a copy; the caller has the directory's lock.
    ///
    /// - Returns: its path.
    /// - Throws: ``StoreError``: `unfitFile` where something that is no folder has a name that is
    ///   needed, or what the system says.
    package static func beginShrinking(_ directory: String) throws(StoreError) -> String {
        try settleShrinking(directory)
        let folder = unproven(directory)
        for path in [folder, proven(directory)] {
            let isFree: Bool
            do throws(SystemNumber) {
                let isTaken = try exists(path)
                let isOurs = try isFolder(path)
                isFree = !isTaken || isOurs
            } catch { throw .system(error.number, during: "shrink", path) }
            guard isFree else {
                throw StoreError(
                    .unfitFile, during: "shrink",
                    detail: "\(path) is no folder, and one of that name is needed; move it away")
            }
        }
        do throws(SystemNumber) {
            try Platform.makeDirectory(folder, inStore: directory)
        } catch  where error.number == Platform.exists {
            return folder
        } catch { throw .system(error.number, during: "shrink", folder) }
        return folder
    }

    /// Puts the copy, which is on disk and proven, in the place of the store's data file.
    ///
    /// The copy must be open for writing in this process meanwhile: LMDB counts its commits in the
    /// lock.mdb that it is open with, and a reader that comes across the two pairs must not begin
    /// that count anew.
    ///
    /// - Throws: ``StoreError``: the old file is in its place then, unless the last step failed,
    ///   which the next opening does.
    package static func endShrinking(_ directory: String) throws(StoreError) {
        let folder = proven(directory)
        do throws(SystemNumber) {
            try moveCopy(directory)
            try Platform.syncDirectory(directory)
            try Platform.rename(folder + "/data.mdb", to: directory + "/data.mdb")
            try Platform.syncDirectory(directory)
            try moveLock(directory)
        } catch { throw .system(error.number, during: "shrink", directory) }
    }

    /// Ends what a process began that is gone, before the store is opened for writing; the caller
    /// has the directory's lock.
    package static func settleShrinking(_ directory: String) throws(StoreError) {
        do throws(SystemNumber) {
            try removeCopy(in: unproven(directory))
            let folder = proven(directory)
            guard try isFolder(folder) else { return }
            guard try !exists(folder + "/data.mdb") else { return try removeCopy(in: folder) }
            try moveLock(directory)
        } catch { throw .system(error.number, during: "open", directory) }
    }

    /// Whether the data file in its place may not have its own lock.mdb yet.
    static func isBeingReplaced(_ directory: String) -> Bool {
        let folder = proven(directory)
        guard let isThere = try? isFolder(folder), isThere else { return false }
        return ["lock.mdb", "data.mdb"].contains { name in
            (try? exists(folder + "/" + name)) ?? false
        }
    }

    /// Removes a copy wherever it is.
    static func removeShrinking(_ directory: String) {
        try? removeCopy(in: unproven(directory))
        try? removeCopy(in: proven(directory))
    }

    private static func moveCopy(_ directory: String) throws(SystemNumber) {
        let (copy, folder) = (unproven(directory), proven(directory))
        guard try exists(folder) else { return try Platform.rename(copy, to: folder) }
        // With lock.mdb alone there, step 4 would be done before step 3.
        for name in ["data.mdb", "lock.mdb"] {
            try Platform.rename(copy + "/" + name, to: folder + "/" + name)
            try Platform.syncDirectory(folder)
        }
        try removeFolder(copy)
    }

    private static func moveLock(_ directory: String) throws(SystemNumber) {
        let lock = proven(directory) + "/lock.mdb"
        if try exists(lock) { try Platform.rename(lock, to: directory + "/lock.mdb") }
        try removeFolder(proven(directory))
        try Platform.syncDirectory(directory)
    }

    private static func removeCopy(in folder: String) throws(SystemNumber) {
        guard try isFolder(folder) else { return }
        for name in copyNames { try Platform.remove(folder + "/" + name) }
        try removeFolder(folder)
    }

    /// Removes a folder of which the store's own files are gone; it stays where there are others.
    private static func removeFolder(_ folder: String) throws(SystemNumber) {
        do throws(SystemNumber) {
            try Platform.removeDirectory(folder)
        } catch  where [Platform.notEmpty, Platform.exists].contains(error.number) {
            return
        }
    }

    /// Whether there is a folder; a link to one is none.
    private static func isFolder(_ path: String) throws(SystemNumber) -> Bool {
        do throws(SystemNumber) {
            return try Platform.status(of: path, followingLinks: false).kind == .directory
        } catch  where error.number == Platform.noEntry { return false }
    }

    private static func exists(_ path: String) throws(SystemNumber) -> Bool {
        do throws(SystemNumber) {
            _ = try Platform.status(of: path, followingLinks: false)
            return true
        } catch  where error.number == Platform.noEntry { return false }
    }
}
