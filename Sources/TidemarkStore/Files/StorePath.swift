// StorePath.swift — what may lie at a store's path.

package enum StorePath {
    /// Makes sure that the directory exists; makes its last component when it may.
    static func prepareDirectory(_ path: String, mayCreate: Bool) throws(StoreError) {
        if let status = try status(path, followingLinks: true) {
            guard status.kind == .directory else {
                throw StoreError(.invalidPath, during: "open", detail: "\(path) is no directory")
            }
            return
        }
        guard mayCreate else { throw StoreError(.missing, during: "open", detail: "no \(path)") }
        do throws(SystemNumber) {
            try Platform.makeDirectory(path)
        } catch  where error.number == Platform.exists {
            return
        } catch {
            throw notMade(path, error.number, during: "open")
        }
        try sync(parent(of: path))
    }

    /// Why a directory could not be made.
    static func notMade(_ path: String, _ number: Int32, during: String) -> StoreError {
        guard number == Platform.noEntry else { return .system(number, during: during, path) }
        return StoreError(
            .invalidPath, during: during,
            detail: "the folder \(parent(of: path)) is not there; make it first")
    }

    /// Which file is there, nil when none; a link or anything that isn't a regular file is refused.
    static func existingFile(_ path: String) throws(StoreError) -> FileIdentity? {
        guard let status = try status(path, followingLinks: false) else { return nil }
        switch status.kind {
        case .regular: return status.identity
        case .link:
            throw StoreError(.invalidPath, during: "open", detail: "\(path) is a symbolic link")
        case .directory, .other:
            throw StoreError(.invalidPath, during: "open", detail: "\(path) is no regular file")
        }
    }

    /// Makes the names in a directory durable.
    static func sync(_ directory: String) throws(StoreError) {
        do throws(SystemNumber) {
            try Platform.syncDirectory(directory)
        } catch {
            throw .system(error.number, during: "open", directory)
        }
    }

    private static func status(
        _ path: String, followingLinks: Bool
    ) throws(StoreError) -> FileStatus? {
        do throws(SystemNumber) {
            return try Platform.status(of: path, followingLinks: followingLinks)
        } catch  where error.number == Platform.noEntry {
            return nil
        } catch {
            throw .system(error.number, during: "open", path)
        }
    }

    /// The path without the folder that the process is in now, which may change.
    package static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = Platform.currentFolder else { return path }
        return folder + "/" + path
    }

    static func parent(of path: String) -> String {
        var trimmed = Substring(path)
        while trimmed.count > 1, trimmed.hasSuffix("/") { trimmed.removeLast() }
        guard let slash = trimmed.lastIndex(of: "/") else { return "." }
        return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
    }
}
