// RowDigest.swift — what the views made of one commit, in a few bytes: enough to say later at which
// commit and in which row another fold differs.

import Crypto
import TidemarkEvents
package import TidemarkLog

extension View {
    /// Which rules made the view's rows: the first four bytes of SHA-256 over name and version.
    package var fingerprint: [UInt8] {
        Array(SHA256.hash(data: Array("\(self)/\(version)".utf8)).prefix(4))
    }

    /// The fingerprints of all views together.
    package static var allFingerprints: [UInt8] { allCases.flatMap(\.fingerprint) }
}

/// The rows of one commit, in order.
package typealias RowChanges = [(key: RowKey, value: [UInt8]?)]

extension Fold {
    /// The rows written, in the order of their keys.
    package var sortedChanges: RowChanges {
        changes.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
    }
}

extension ViewDigest {
    /// The digests of sorted row changes, one for each view that has any, by number.
    package static func of(_ changes: RowChanges) -> [ViewDigest] {
        var byView: [UInt32: (SHA256, [UInt8])] = [:]
        for (key, value) in changes {
            let view = key.view.rawValue
            var (sha, rows) = byView[view] ?? (SHA256(), [])
            sha.update(data: count(key.bytes) + key.bytes)
            // A row removed and an empty row are told apart by the leading byte.
            sha.update(data: value.map { [1] + count($0) } ?? [0])
            sha.update(data: value ?? [])
            rows += shortHash(key.bytes) + shortHash(value ?? [])
            byView[view] = (sha, rows)
        }
        return View.allCases.compactMap { view in
            guard let (sha, rows) = byView[view.rawValue] else { return nil }
            return ViewDigest(
                view: view.rawValue, fingerprint: view.fingerprint,
                digest: Array(sha.finalize().prefix(16)), rows: rows)
        }
    }

    private static func count(_ bytes: [UInt8]) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * $0)) }
    }

    private static func shortHash(_ bytes: [UInt8]) -> [UInt8] {
        let value = CRC32C.checksum(of: bytes)
        return (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
}
