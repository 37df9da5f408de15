// FileHash.swift — hashes of files that servers tell, besides SHA-256, by which files are named.

import Crypto

/// How a server makes the checksum of a file.
package enum FileHash: Sendable {
    case sha1, md5

    /// The hash of a whole file, in hexadecimal digits.
    package func digits(of path: String, bytes: Int) throws(StoreError) -> String {
        switch self {
        case .sha1: try Self.digits(of: path, bytes, Insecure.SHA1())
        case .md5: try Self.digits(of: path, bytes, Insecure.MD5())
        }
    }

    private static func digits(
        of path: String, _ bytes: Int, _ hash: some HashFunction
    ) throws(StoreError) -> String {
        var hash = hash
        var reader = try PartReader(path, offset: 0, count: bytes)
        while reader.left > 0 { hash.update(data: try reader.next(chunkBytes)) }
        return ContentFiles.digits(Array(hash.finalize()))
    }

    /// How much of a file is in memory at a time.
    private static let chunkBytes = 256 << 10
}
