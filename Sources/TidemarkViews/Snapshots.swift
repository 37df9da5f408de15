// Snapshots.swift — the views at a position, kept beside the log so that what they were at a later
// one need not be folded from the first event. Disposable: the log says the same.
//
//   table      key                                        value
//   snapshots  position, number of a chunk (4 bytes)      rows, zstd (SnapshotRows.swift)
//   snapshots  position, FF FF FF FF                      message tidemark.v1.Snapshot, last

package import TidemarkEvents
import TidemarkLog
package import TidemarkStore

/// What is known of one snapshot.
package struct SnapshotManifest: Sendable, Hashable {
    /// The last event that its rows know of; not part of the message, but of the key.
    package var position: Position
    /// Which rules made the rows: ``View/allFingerprints``.
    package var fingerprints: [UInt8]
    package var rows: UInt64
    package var chunks: UInt32
    /// SHA-256 over the SHA-256 of each chunk before compression.
    package var digest: [UInt8]

    package init(
        position: Position, fingerprints: [UInt8], rows: UInt64, chunks: UInt32, digest: [UInt8]
    ) {
        self.position = position
        self.fingerprints = fingerprints
        self.rows = rows
        self.chunks = chunks
        self.digest = digest
    }

    /// Whether today's rules would make the same rows.
    package var isCurrent: Bool { fingerprints == View.allFingerprints }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.bytes(1, fingerprints)
        writer.varint(2, rows)
        writer.varint(3, UInt64(chunks))
        writer.bytes(4, digest)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8], position: Position) throws(ProtoError) {
        self.init(position: position, fingerprints: [], rows: 0, chunks: 0, digest: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: fingerprints = try field.bytes()
            case 2: rows = try field.unsigned()
            case 3: chunks = try field.small()
            case 4: digest = try field.bytes()
            default: continue
            }
        }
    }
}

/// The snapshots of one store.
package struct Snapshots: Sendable {
    package static let tableNames = ["snapshots"]
    /// How many bytes of rows a chunk holds, roughly.
    static let chunkBytes = 256 << 10
    /// The most bytes that a chunk may have before compression.
    static let chunkBytesMax = 64 << 20
    private static let manifestNumber = UInt32.max

    private let table: Table

    package init(_ environment: Environment) { table = environment.table("snapshots") }

    private static func key(_ position: Position, _ number: UInt32) -> [UInt8] {
        position.bigEndianBytes
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// Writes a snapshot: its chunks, then the manifest.
    ///
    /// - Parameter rows: hands over the rows in the order of their keys.
    package func write(
        at position: Position, fingerprints: [UInt8],
        _ transaction: borrowing WriteTransaction,
        _ rows: ((RowKey, [UInt8]) throws -> Void) throws -> Void
    ) throws {
        var manifest = SnapshotManifest(
            position: position, fingerprints: fingerprints, rows: 0, chunks: 0, digest: [])
        var hashes: [UInt8] = []
        var writer = ProtoWriter()
        func flush() throws {
            guard !writer.bytes.isEmpty else { return }
            hashes += SHA256Digest.of(writer.bytes)
            try transaction.put(
                table, Self.key(position, manifest.chunks), try Zstd.compress(writer.bytes))
            manifest.chunks += 1
            writer = ProtoWriter()
        }
        try rows { key, value in
            SnapshotRows.append(key, value, to: &writer)
            manifest.rows += 1
            if writer.bytes.count >= Self.chunkBytes { try flush() }
        }
        try flush()
        manifest.digest = SHA256Digest.of(hashes)
        try transaction.put(
            table, Self.key(position, Self.manifestNumber), manifest.encoded)
    }

    /// The manifests, the last position first.
    package func manifests(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [SnapshotManifest] {
        var found: [SnapshotManifest] = []
        try transaction.scan(table, from: nil, prefix: [], reversed: true) { key, value in
            let key = key.copied()
            guard key.count == 12, Array(key[8...]) == [0xFF, 0xFF, 0xFF, 0xFF],
                let position = Position(bigEndianBytes: key.prefix(8))
            else { return true }
            found.append(try SnapshotManifest(parsing: value.copied(), position: position))
            return true
        }
        return found
    }

    /// The last snapshot up to a position that today's rules would make just so.
    package func nearest(
        to position: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> SnapshotManifest? {
        try manifests(transaction).first { $0.position <= position && $0.isCurrent }
    }

    /// Walks over the rows of a snapshot in the order of their keys, and checks them on the way.
    ///
    /// - Throws: ``LogError`` `corruptSnapshot` where they are not what was written.
    package func forEachRow(
        of manifest: SnapshotManifest, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (RowKey, [UInt8]) throws -> Void
    ) throws {
        var hashes: [UInt8] = []
        var rows: UInt64 = 0
        for number in 0..<manifest.chunks {
            let key = Self.key(manifest.position, number)
            guard let chunk = try transaction.get(table, key) else {
                throw Self.damaged(manifest, "chunk \(number) is missing")
            }
            let bytes: [UInt8]
            do { bytes = try Zstd.decompress(chunk, bytesMax: Self.chunkBytesMax) } catch {
                throw Self.damaged(manifest, "chunk \(number): \(error)")
            }
            hashes += SHA256Digest.of(bytes)
            do {
                try SnapshotRows.forEach(in: bytes) { key, value in
                    rows += 1
                    try body(key, value)
                }
            } catch let error as ProtoError {
                throw Self.damaged(manifest, "chunk \(number): \(error)")
            }
        }
        guard rows == manifest.rows, SHA256Digest.of(hashes) == manifest.digest else {
            throw Self.damaged(manifest, "its rows are not those that were written")
        }
    }

    private static func damaged(_ manifest: SnapshotManifest, _ detail: String) -> LogError {
        LogError(.corruptSnapshot, at: manifest.position, detail)
    }
}
