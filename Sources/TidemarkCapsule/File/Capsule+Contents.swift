// Capsule+Contents.swift — the files beside entities that a capsule names, and their bytes where it
// was made with them.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension Capsule {
    /// A file that entities name.
    package struct Content: Sendable, Hashable {
        /// SHA-256 in 64 hexadecimal digits.
        package var digest: String
        package var bytes: [UInt8]

        package init(digest: String, bytes: [UInt8]) {
            self.digest = digest
            self.bytes = bytes
        }

        /// Whether it holds what its name says.
        package var isWhole: Bool { Hexadecimal.encode(SHA256Digest.of(bytes)) == digest }
    }

    /// The files that its rows and events tell of, by their digests, in order.
    package var namedContents: [String] {
        var digests: Set<String> = []
        for row in base.rows {
            if let digest = row.key.digestOfContent { digests.insert(digest) }
        }
        for event in commits.lazy.flatMap(\.entries).map(\.event) {
            if let digest = event.read(AssetStored.self)?.digest { digests.insert(digest) }
        }
        return digests.sorted()
    }

    /// Takes the bytes of its files that are there and whole; passes over the others.
    ///
    /// - Parameter store: the directory of the store.
    /// - Returns: how many had no room; and those that are damaged, by their digests.
    package mutating func takeContents(
        from store: String, limits: CapsuleLimits = CapsuleLimits()
    ) throws -> (noRoom: Int, damaged: [String]) {
        let files = ContentFiles(of: store)
        contents = []
        var (room, noRoom) = (limits.contentsBytesMax, 0)
        var damaged: [String] = []
        for digest in namedContents where ContentFiles.isDigest(digest) {
            guard let length = try? files.bytes(of: digest) else { continue }
            guard length <= UInt64(room) else {
                noRoom += 1
                continue
            }
            // It may be removed meanwhile.
            guard let bytes = try? files.read(digest, bytesMax: Int(length)) else { continue }
            let content = Content(digest: digest, bytes: bytes)
            guard content.isWhole else {
                damaged.append(digest)
                continue
            }
            room -= content.bytes.count
            contents.append(content)
        }
        return (noRoom, damaged)
    }
}
