// DirectoryLock+Scratch.swift — folders that only one process uses, and that end with it.

extension DirectoryLock {
    /// Makes a directory that only its owner may enter, and takes its lock.
    ///
    /// - Returns: nil when there is something of that name, or another process removed it before
    ///   it was locked.
    /// - Throws: ``StoreError``: what the system says.
    package static func making(_ directory: String) throws(StoreError) -> DirectoryLock? {
        do throws(SystemNumber) { try Platform.makeDirectory(directory) } catch
            where error.number == Platform.exists
        {
            return nil
        } catch {
            throw .system(error.number, during: "open", directory)
        }
        return abandoned(directory)
    }

    /// The lock of a directory that nobody holds; nil where somebody does, or there is none.
    ///
    /// A link leads nowhere.
    package static func abandoned(_ directory: String) -> DirectoryLock? {
        guard let status = try? Platform.status(of: directory, followingLinks: false),
            status.kind == .directory, let lock = try? DirectoryLock(directory),
            lock.identity == status.identity,
            (try? FileIdentity(ofDirectory: directory)) == lock.identity
        else { return nil }
        return lock
    }
}
