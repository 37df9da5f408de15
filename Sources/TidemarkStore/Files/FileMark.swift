// FileMark.swift — by what a data file is known that nobody has written to since.

/// Which file it is, how long it is, and when it was last written to.
package struct FileMark: Hashable, Sendable {
    /// The file's number in its file system; a negative one for those of 2^63 and more.
    package let inode: Int64
    package let bytes: Int
    /// Nanoseconds since 1970, by the clock of the file system, which ticks every few milliseconds.
    package let modified: Int64

    package init(inode: Int64, bytes: Int, modified: Int64) {
        self.inode = inode
        self.bytes = bytes
        self.modified = modified
    }
}

extension StoreFiles {
    /// Longer than a tick of any file system's clock, in nanoseconds.
    private static let tick: Int64 = 20_000_000

    /// Whether a store's data file is the one that was marked, and nobody has written to it since a
    /// file beside it was written, which holds the mark.
    ///
    /// Two writes within a tick can't be told apart. So the mark counts only if the file beside it
    /// was written later than that.
    package static func isUntouched(
        _ directory: String, since mark: FileMark, heldBy name: String
    ) -> Bool {
        guard
            let data = try? Platform.status(of: directory + "/data.mdb", followingLinks: false),
            let holder = try? Platform.status(of: directory + "/" + name, followingLinks: false)
        else { return false }
        return data.mark == mark && holder.mark.modified - mark.modified >= tick
    }
}
