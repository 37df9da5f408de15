// FileHash.swift — the hash of a file, as far as it was read.

/// The hash of a file up to a place, from which it goes on.
package struct FileHash: Sendable {
    private var hash = SHA256Stream()
    /// How many bytes were read.
    private var bytes = 0

    package init() {}

    /// What the file holds, if it ends where the reading did.
    package var content: ContentFiles.Content {
        ContentFiles.Content(digest: ContentFiles.digits(hash.digest), bytes: UInt64(bytes))
    }

    /// Reads on in an open file, up to a place or to the end that it has now.
    ///
    /// - Parameter progress: told how many bytes were read so far.
    mutating func add(
        _ file: Int32, upTo end: UInt64? = nil, _ progress: (_ bytes: UInt64) -> Void = { _ in }
    ) throws(SystemNumber) {
        let end = end.map { Int(clamping: $0) } ?? .max
        while bytes < end {
            let count = min(ContentFiles.chunkBytes, end - bytes)
            let chunk = try Platform.read(file, at: bytes, count: count)
            hash.add(chunk[...])
            bytes += chunk.count
            progress(UInt64(bytes))
            guard chunk.count == count else { return }
        }
    }
}
