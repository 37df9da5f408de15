// StoreFiles+Removal.swift — removing a store: its folder gets another name, then it is emptied.
//
// After a crash there is the whole store, or a folder of that other name, which the next opening of
// the store sweeps away.

extension StoreFiles {
    /// The end of the name of a folder that is being removed.
    package static let removedSuffix = ".tidemark-removed"

    /// Refuses a path that is a link: removing it would leave the store.
    ///
    /// - Throws: ``StoreError``: `invalidPath`, or what the system says.
    package static func checkRemovable(_ directory: String) throws(StoreError) {
        let path = trimmed(directory)
        do throws(SystemNumber) {
            guard try Platform.status(of: path, followingLinks: false).kind == .link else { return }
        } catch { throw .system(error.number, during: "remove", path) }
        throw StoreError(
            .invalidPath, during: "remove",
            detail: "\(path) is a symbolic link; open the store by its own path")
    }

    /// Removes the folder of a store that nobody has open any more; gone for good when it returns.
    ///
    /// What is in the folder and not the store's stays, under the folder's new name.
    ///
    /// - Throws: ``StoreError``: what the system says; the store stays whole then.
    package static func remove(_ directory: String) throws(StoreError) {
        let path = trimmed(directory)
        sweep(path)
        do throws(SystemNumber) {
            try Platform.rename(path, to: path + removedSuffix)
        } catch { throw .system(error.number, during: "remove", path) }
        try StorePath.sync(StorePath.parent(of: path))
        sweep(path)
    }

    /// Removes what is left of a removal that was cut off; what can't be removed stays.
    package static func sweep(_ directory: String) {
        let path = trimmed(directory) + removedSuffix
        for name in names + ["identity.json.new"] { try? Platform.remove(path + "/" + name) }
        try? Platform.removeDirectory(path)
    }

    private static func trimmed(_ directory: String) -> String {
        var path = Substring(directory)
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }
}
