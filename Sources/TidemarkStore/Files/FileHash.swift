// FileHash.swift — hashes of files that servers tell, besides SHA-256, by which files are named.

import Crypto

/// How a server makes the checksum of a file.
package enum FileHash: Sendable {
    case sha256, sha1, md5

    /// The hash of a whole file, in hexadecimal digits.
    package func digits(of path: String, bytes: Int) throws(StoreError) -> String {
        switch self {
        case .sha256: try Self.digits(of: path, bytes, SHA256())
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
        let digits = Array("0123456789abcdef".utf8)
        let digest = hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: digest, as: UTF8.self)
    }

    /// How much of a file is in memory at a time.
    private static let chunkBytes = 256 << 10
}
