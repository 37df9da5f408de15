// SnapshotManifest.swift — what a snapshot holds and by which rules; the message
// tidemark.v1.Snapshot.

package import TidemarkEvents
package import TidemarkLog
import TidemarkStore

/// What is known of one snapshot.
package struct SnapshotManifest: Sendable, Hashable {
    /// The last event that its rows know of; not part of the message, but of the key.
    package var position: Position
    /// Which rules made the rows: ``View/allFingerprints``.
    package var fingerprints: [UInt8]
    package var rows: UInt64 = 0
    /// SHA-256 of each chunk as it is stored, one after another.
    package var chunkDigests: [UInt8] = []
    /// Whether the log begins behind it, so that nothing else says what it says.
    package var isBase = false

    package init(position: Position, fingerprints: [UInt8]) {
        self.position = position
        self.fingerprints = fingerprints
    }

    package var chunks: UInt32 { UInt32(chunkDigests.count / SHA256Digest.byteCount) }

    /// The digest of a chunk.
    func digest(_ chunk: UInt32) -> ArraySlice<UInt8> {
        let start = Int(chunk) * SHA256Digest.byteCount
        return chunkDigests[start..<start + SHA256Digest.byteCount]
    }

    /// SHA-256 over position, fingerprints, number of rows and chunk digests.
    package var digest: [UInt8] {
        SHA256Digest.of(
            position.bigEndianBytes + fingerprints + Position(rows).bigEndianBytes + chunkDigests)
    }

    /// Whether today's rules would make the same rows.
    package var isCurrent: Bool { fingerprints == View.allFingerprints }

    /// Whether rules of this version or of an earlier one made the rows; those of earlier ones are
    /// read, too, and later events folded over them by today's.
    package var isReadable: Bool {
        fingerprints.count % 4 == 0 && fingerprints.count <= View.allFingerprints.count
            && View.allCases.enumerated().allSatisfy { index, view in
                let known = Array(fingerprints.dropFirst(index * 4).prefix(4))
                return known.isEmpty || view.version(of: known).map { $0 <= view.version } == true
            }
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.bytes(1, fingerprints)
        writer.varint(2, rows)
        writer.bytes(3, chunkDigests)
        writer.bytes(4, digest)
        return writer.bytes
    }

    /// Reads a manifest and checks it against its own digest.
    ///
    /// - Throws: ``LogError`` `corruptSnapshot`.
    package init(parsing bytes: [UInt8], position: Position) throws(LogError) {
        self.init(position: position, fingerprints: [])
        var known: [UInt8] = []
        do throws(ProtoError) {
            var reader = ProtoReader(bytes)
            while let field = try reader.next() {
                switch field.number {
                case 1: fingerprints = try field.bytes()
                case 2: rows = try field.unsigned()
                case 3: chunkDigests = try field.bytes()
                case 4: known = try field.bytes()
                default: continue
                }
            }
        } catch { throw damaged("its manifest: \(error)") }
        guard chunkDigests.count % SHA256Digest.byteCount == 0, known == digest else {
            throw damaged("its manifest is not what was written")
        }
    }

    func damaged(_ detail: String) -> LogError {
        if isBase {
            return LogError(
                .corruptBase, at: position,
                "the views that the log begins with: \(detail); nothing else holds them. The "
                    + "tables may be whole: see `tidemark verify`")
        }
        return LogError(
            .corruptSnapshot, at: position,
            "the snapshot of the views: \(detail); it is disposable, `tidemark rebuild` removes it")
    }
}
