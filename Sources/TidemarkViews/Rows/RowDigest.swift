// RowDigest.swift — what the views made of one commit, in a few bytes: enough to say later at which
// commit and in which row another fold differs.

import TidemarkEvents
package import TidemarkLog
import TidemarkStore

extension View {
    /// Which rules made the view's rows: the first four bytes of SHA-256 over name and version.
    package var fingerprint: [UInt8] { Self.fingerprints[Int(rawValue)] }

    /// By the view's number.
    private static let fingerprints: [[UInt8]] =
        [[]] + allCases.map { $0.fingerprint(ofVersion: $0.version) }

    private func fingerprint(ofVersion version: Int) -> [UInt8] {
        Array(SHA256Digest.of(Array("\(self)/\(version)".utf8)).prefix(4))
    }

    /// Whether a fingerprint is that of the view in one of its versions, past or to come.
    package func isFingerprint(_ bytes: [UInt8]) -> Bool { version(of: bytes) != nil }

    /// The version of the view that has a fingerprint, past or to come; nil for none.
    package func version(of fingerprint: [UInt8]) -> Int? {
        if fingerprint == self.fingerprint { return version }
        return (1...1000).first { self.fingerprint(ofVersion: $0) == fingerprint }
    }

    /// The fingerprints of all views together.
    package static var allFingerprints: [UInt8] { allCases.flatMap(\.fingerprint) }
}

/// The rows of one commit, in order.
package typealias RowChanges = [(key: RowKey, value: [UInt8]?)]

extension ViewDigest {
    /// The digests of sorted row changes, one for each view that has any, by number.
    package static func of(_ changes: RowChanges) -> [ViewDigest] {
        var inputs = [[UInt8]](repeating: [], count: View.allCases.count + 1)
        var rows = inputs
        for (key, value) in changes {
            let view = Int(key.view.rawValue)
            append(key.bytes.count, to: &inputs[view])
            inputs[view].append(contentsOf: key.bytes)
            // A row removed and an empty row are told apart by the leading byte.
            inputs[view].append(value == nil ? 0 : 1)
            if let value {
                append(value.count, to: &inputs[view])
                inputs[view].append(contentsOf: value)
            }
            append(Int(CRC32C.checksum(of: key.bytes)), to: &rows[view])
            append(Int(CRC32C.checksum(of: value ?? [])), to: &rows[view])
        }
        return View.allCases.compactMap { view in
            let number = Int(view.rawValue)
            guard !rows[number].isEmpty else { return nil }
            return ViewDigest(
                view: view.rawValue, fingerprint: view.fingerprint,
                digest: Array(SHA256Digest.of(inputs[number]).prefix(16)), rows: rows[number])
        }
    }

    /// Four bytes, little-endian.
    private static func append(_ number: Int, to bytes: inout [UInt8]) {
        for shift in stride(from: 0, to: 32, by: 8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }
}

/// What a commit recorded about one row.
package struct RowHash: Hashable, Sendable {
    /// CRC32C of the row's key.
    package var key: UInt32
    /// CRC32C of its value; that of nothing, 0, for a row removed.
    package var value: UInt32
}

extension ViewDigest {
    /// The rows that the commit wrote in this view, in key order.
    package var shortHashes: [RowHash] {
        var hashes: [RowHash] = []
        hashes.reserveCapacity(rows.count / 8)
        forEachShortHash { hashes.append($0) }
        return hashes
    }

    /// Walks over ``shortHashes`` without making them all.
    package func forEachShortHash(_ body: (RowHash) -> Void) {
        func number(_ start: Int) -> UInt32 {
            UInt32(rows[start]) | UInt32(rows[start + 1]) << 8 | UInt32(rows[start + 2]) << 16
                | UInt32(rows[start + 3]) << 24
        }
        for start in stride(from: 0, to: rows.count - rows.count % 8, by: 8) {
            body(RowHash(key: number(start), value: number(start + 4)))
        }
    }
}
