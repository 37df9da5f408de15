// StoreFiles+Making.swift — a store that is made beside its place and put there when it is whole.

extension StoreFiles {
    /// Where a store is made that is to be at a path: a directory that must not be there yet.
    ///
    /// - Parameter source: the store that it is made of, whose owner gets what user 0 makes.
    /// - Throws: ``StoreError``: `invalidPath` when something is at the path, or the folder that it
    ///   is to lie in is not there; `busy` while one is being made there; what the system says.
    package static func prepareMaking(
        of directory: String, from source: String
    ) throws(StoreError) -> String {
        try checkFree(directory)
        let temporary = makingPath(directory)
        if (try? FileIdentity(ofDirectory: temporary)) != nil {
            let left = try lockMaking(temporary)
            removeMaking(of: directory)
            left.release()
        }
        do throws(SystemNumber) {
            try Platform.makeDirectory(temporary, inStore: source)
        } catch {
            throw StorePath.notMade(temporary, error.number, during: "make")
        }
        return temporary
    }

    /// Keeps everybody else from making a store in a folder that was prepared.
    ///
    /// - Throws: ``StoreError``: `busy` where somebody does, or has removed the folder.
    package static func lockMaking(_ folder: String) throws(StoreError) -> DirectoryLock {
        do throws(StoreError) {
            let lock = try DirectoryLock(folder)
            try lock.identity.checkPlace(folder, during: "make")
            return lock
        } catch  where [.busy, .lost, .missing].contains(error.code) {
            throw StoreError(
                .busy, during: "make", detail: "a store is being made in \(folder)")
        }
    }

    /// Gives what was made, and is closed, its own name; durable when this returns.
    package static func finishMaking(of directory: String) throws(StoreError) {
        try checkFree(directory)
        do throws(SystemNumber) {
            try Platform.rename(makingPath(directory), to: trimmed(directory))
            try Platform.syncDirectory(StorePath.parent(of: directory))
        } catch { throw .system(error.number, during: "make", directory) }
    }

    /// Removes what was made so far, or is left of an attempt that was cut off.
    package static func removeMaking(of directory: String) {
        let path = makingPath(directory)
        ContentFiles(of: path).removeAll()
        for name in names + ["identity.json.new"] { try? Platform.remove(path + "/" + name) }
        try? Platform.removeDirectory(path)
    }

    private static func makingPath(_ directory: String) -> String {
        trimmed(directory) + ".tidemark-making"
    }

    private static func checkFree(_ directory: String) throws(StoreError) {
        guard !directory.isEmpty, !directory.utf8.contains(0) else {
            throw StoreError(.invalidPath, during: "make", detail: "the path is empty")
        }
        do throws(SystemNumber) {
            _ = try Platform.status(of: trimmed(directory), followingLinks: false)
        } catch  where error.number == Platform.noEntry {
            return
        } catch { throw .system(error.number, during: "make", directory) }
        throw StoreError(
            .invalidPath, during: "make", detail: "there is something at \(directory) already")
    }
}
