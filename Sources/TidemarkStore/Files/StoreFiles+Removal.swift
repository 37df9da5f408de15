// StoreFiles+Removal.swift — removing a store: its folder gets another name, then it is emptied.
//
// After a crash there is the whole store, or a folder of that other name, which the next opening of
// the store sweeps away.

extension StoreFiles {
    /// The end of the name of a folder that is being removed.
    package static let removedSuffix = ".tidemark-removed"
    /// How many rests of earlier removals there may be beside a store.
    private static let restsMax = 99

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
    /// What is in the folder and not the store's stays, under the folder's new name; where such a
    /// rest is there already, under another one, `~1` and so on.
    ///
    /// - Throws: ``StoreError``: what the system says; the store stays whole then.
    package static func remove(_ directory: String) throws(StoreError) {
        let path = trimmed(directory)
        sweep(path)
        var target = path
        var number = 0
        while true {
            do throws(SystemNumber) {
                try Platform.rename(path, to: target + removedSuffix)
                break
            } catch {
                guard [Platform.notEmpty, Platform.exists].contains(error.number),
                    number < restsMax
                else {
                    throw .system(error.number, during: "remove", path)
                }
                number += 1
                target = "\(path)~\(number)"
            }
        }
        try StorePath.sync(StorePath.parent(of: path))
        sweep(target)
    }

    /// Removes what is left of a removal that was cut off; what can't be removed stays.
    package static func sweep(_ directory: String) {
        let path = trimmed(directory) + removedSuffix
        removeShrinking(path)
        ContentFiles(of: path).removeAll()
        for name in names + ["identity.json.new", probeName] {
            try? Platform.remove(path + "/" + name)
        }
        try? Platform.removeDirectory(path)
    }

    static func trimmed(_ directory: String) -> String {
        var path = Substring(directory)
        while path.utf8.count > 1, path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }
}
