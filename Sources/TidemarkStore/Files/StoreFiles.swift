// StoreFiles.swift — the files of a store before any of them is opened: are they fit to be?

/// The files in a store's directory.
package enum StoreFiles {
    /// What is at the place of the data file.
    package enum Data: Sendable {
        case missing
        /// Not a whole store: why.
        case unfit(StoreError)
        case whole
    }

    /// Every file of a store.
    static let names = ["data.mdb", "lock.mdb", "identity.json"]
    /// A file that has this name for a moment, while it is looked whether there is room for more.
    static let probeName = "data.mdb.probe"

    /// Makes sure that the directory is there, making it (0700) if that is allowed, and on a disk
    /// of this machine.
    ///
    /// - Throws: `missing`, `invalidPath`, `remoteFileSystem`, or what the system says.
    package static func prepare(_ directory: String, mayCreate: Bool) throws(StoreError) {
        guard !directory.isEmpty, !directory.utf8.contains(0) else {
            throw StoreError(.invalidPath, during: "open", detail: "the path is empty")
        }
        if mayCreate { sweep(directory) }
        try StorePath.prepareDirectory(directory, mayCreate: mayCreate)
        guard let type = Platform.fileSystemType(directory), isRemote(type) else { return }
        throw StoreError(
            .remoteFileSystem, during: "open",
            detail: "\(directory) is on a file system of another machine or process (type 0x"
                + String(type, radix: 16) + ")")
    }

    /// Whether a file system type, by its number on Linux, is one where another machine, or a
    /// program of the user, keeps the files.
    package static func isRemote(_ type: UInt64) -> Bool {
        switch type {
        case 0x6969: true  // NFS
        case 0x517B, 0xFF53_4D42, 0xFE53_4D42: true  // SMB, CIFS, SMB 2
        case 0x6573_5546: true  // FUSE
        case 0x5346_414F, 0x6B41_4653: true  // AFS, both clients
        case 0x7375_7245: true  // Coda
        case 0x00C3_6400: true  // Ceph
        case 0x0BD0_0BD0: true  // Lustre
        default: false
        }
    }

    /// Refuses files that a writer must not touch: links, and a data file with a second name.
    package static func checkNames(_ directory: String) throws(StoreError) {
        for name in names {
            let path = directory + "/" + name
            guard try StorePath.existingFile(path) != nil else { continue }
            let links: Int
            do throws(SystemNumber) {
                links = try Platform.status(of: path, followingLinks: false).links
            } catch { throw .system(error.number, during: "open", path) }
            guard links <= 1 else {
                throw StoreError(
                    .invalidPath, during: "open",
                    detail: "\(path) has \(links) names (hard links), and writing would change it "
                        + "under each; copy it")
            }
        }
    }

    /// Takes the rights that others than the owner have on the files.
    package static func makePrivate(_ directory: String) throws(StoreError) {
        for name in names {
            let path = directory + "/" + name
            do throws(SystemNumber) {
                let status = try Platform.status(of: path, followingLinks: false)
                if !status.isPrivate { try Platform.makePrivate(path) }
            } catch  where error.number == Platform.noEntry {
                continue
            } catch { throw .system(error.number, during: "open", path) }
        }
    }

    /// Looks at the data file without mapping it.
    ///
    /// - Throws: `invalidPath`, or what the system says.
    package static func data(_ directory: String) throws(StoreError) -> Data {
        let path = directory + "/data.mdb"
        guard try StorePath.existingFile(path) != nil else { return .missing }
        do throws(StoreError) {
            try DataFile.check(path)
            return .whole
        } catch  where error.code == .lost || error.code == .damaged {
            return .unfit(error)
        }
    }

    /// More than a store without events has.
    private static let emptyBytesMax = 256 << 10

    /// Removes the files of a store whose creation was cut off.
    ///
    /// - Throws: `damaged` when there is more than a creation can have left.
    package static func removeUnfinished(_ directory: String) throws(StoreError) {
        let path = directory + "/data.mdb"
        do throws(SystemNumber) {
            let bytes = try Platform.status(of: path, followingLinks: false).sizeBytes
            guard bytes <= emptyBytesMax else {
                throw SystemNumber(number: Platform.exists)
            }
            try Platform.remove(path)
            try Platform.remove(directory + "/lock.mdb")
        } catch  where error.number == Platform.exists {
            throw StoreError(
                .damaged, during: "open",
                detail: "\(path) can't be read, and is too large for a store that was never used")
        } catch { throw .system(error.number, during: "open", path) }
    }
}
