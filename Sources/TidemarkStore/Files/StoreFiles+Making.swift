// StoreFiles+Making.swift — a store that is made beside its place and put there when it is whole.

extension StoreFiles {
    /// Makes a store beside its place, and gives it its own name; durable when this returns.
    ///
    /// Nobody else makes one there meanwhile. Nothing is left of one that could not be made.
    ///
    /// - Parameters:
    ///   - directory: where it is to be; nothing may be there.
    ///   - source: the store that it is made of, whose owner gets what user 0 makes.
    ///   - body: makes it in a folder, whose lock it is given, and closes it.
    /// - Throws: ``StoreError``: `invalidPath` when something is at the path, or the folder that it
    ///   is to lie in is not there; `busy` while one is being made there; `lost` where the folder
    ///   went away meanwhile; what the system says; what `body` throws.
    package static func make<R>(
        at directory: String, from source: String,
        _ body: (_ folder: String, _ lock: DirectoryLock) throws -> R
    ) throws -> R {
        let folder = try prepareMaking(of: directory, from: source)
        let lock = try lockMaking(folder)
        defer { lock.release() }
        do {
            let result = try body(folder, lock)
            try lock.identity.checkPlace(folder, during: "make")
            try finishMaking(of: directory)
            return result
        } catch {
            if (try? FileIdentity(ofDirectory: folder)) == lock.identity {
                removeMaking(of: directory)
            }
            throw error
        }
    }

    /// Where a store is made that is to be at a path: a directory that must not be there yet.
    private static func prepareMaking(
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
    private static func lockMaking(_ folder: String) throws(StoreError) -> DirectoryLock {
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
    ///
    /// Where that can't be made durable, it has the name that it had before, if it can be had.
    private static func finishMaking(of directory: String) throws(StoreError) {
        try checkFree(directory)
        let (made, place) = (makingPath(directory), trimmed(directory))
        do throws(SystemNumber) {
            try Platform.rename(made, to: place)
            do throws(SystemNumber) {
                try Platform.syncDirectory(StorePath.parent(of: directory))
            } catch {
                try? Platform.rename(place, to: made)
                throw error
            }
        } catch { throw .system(error.number, during: "make", directory) }
    }

    /// Removes what was made so far, or is left of an attempt that was cut off.
    private static func removeMaking(of directory: String) {
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
