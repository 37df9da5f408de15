// Snapshots.swift — the views at a position, kept beside the log so that what they were at a later
// one need not be folded from the first event. Disposable: the log says the same.
//
//   table      key                                        value
//   snapshots  position, number of a chunk (4 bytes)      rows, zstd (SnapshotRows.swift)
//   snapshots  position, FF FF FF FF                      message tidemark.v1.Snapshot, last
//
// Chunks without a manifest are what a crash left of one; the next snapshot removes them. Only the
// one that a truncated log begins with is not disposable: its manifest is in the log's base.

package import TidemarkEvents
package import TidemarkLog
package import TidemarkStore

/// The snapshots of one store.
package struct Snapshots: Sendable {
    package static let tableNames = ["snapshots"]
    /// More bytes than a chunk has before compression.
    ///
    /// A row goes whole into one, and no value of the store has more than 4 GiB. That a chunk is
    /// what was written is checked before.
    private static let chunkBytesMax = 8 << 30
    private static let manifestNumber = UInt32.max

    package let table: Table
    private let log: EventLog

    package init(_ environment: Environment) {
        table = environment.table("snapshots")
        log = EventLog(environment)
    }

    private static func key(_ position: Position, _ number: UInt32) -> [UInt8] {
        position.bigEndianBytes
            + (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    // MARK: Writing

    /// Writes a whole snapshot in one transaction.
    ///
    /// - Parameter rows: hands over the rows in the order of their keys.
    package func write(
        at position: Position, fingerprints: [UInt8],
        _ transaction: borrowing WriteTransaction,
        _ rows: ((RowKey, [UInt8]) throws -> Void) throws -> Void
    ) throws {
        var packer = SnapshotPacker(
            SnapshotManifest(position: position, fingerprints: fingerprints))
        try rows { key, value in
            if let chunk = try packer.add(key, value) { try put(chunk, transaction) }
        }
        if let chunk = try packer.end() { try put(chunk, transaction) }
        try put(packer.manifest, transaction)
    }

    /// Stores a chunk.
    func put(_ chunk: SnapshotPacker.Chunk, _ transaction: borrowing WriteTransaction) throws {
        try transaction.put(table, Self.key(chunk.position, chunk.number), chunk.bytes)
    }

    /// Stores a manifest; from now on the snapshot is there.
    func put(_ manifest: SnapshotManifest, _ transaction: borrowing WriteTransaction) throws {
        try transaction.put(
            table, Self.key(manifest.position, Self.manifestNumber), manifest.encoded)
    }

    /// Makes a snapshot the one that the log begins with, as its base says already; removes the
    /// one before it, and all others up to it.
    func becomeBase(
        _ manifest: SnapshotManifest, _ transaction: borrowing WriteTransaction
    ) throws {
        let later = try manifests(transaction).map(\.position).filter { $0 > manifest.position }
        try transaction.delete(table, Self.key(manifest.position, Self.manifestNumber))
        try remove(except: Set(later), transaction)
    }

    /// Removes all snapshots but some, and all chunks without a manifest; never those of the one
    /// that the log begins with.
    package func remove(
        except kept: Set<Position>, _ transaction: borrowing WriteTransaction
    ) throws {
        var kept = kept
        try log.checkBeginning(transaction)
        if let base = try log.base(transaction) { kept.insert(base.position) }
        var dropped: [[UInt8]] = []
        try transaction.scan(table, from: nil, prefix: [], reversed: false) { key, _ in
            let key = key.copied()
            let position = Position(bigEndianBytes: key.prefix(8))
            if position.map({ !kept.contains($0) }) ?? true { dropped.append(key) }
            return true
        }
        for key in dropped { try transaction.delete(table, key) }
    }

    /// Removes all snapshots but the one that the log begins with, which it returns.
    ///
    /// Where their table is damaged all are gone for good, unless the log begins with one: then all
    /// stay, and none but that one is to be read.
    func removeAll(_ transaction: borrowing WriteTransaction) throws -> SnapshotManifest? {
        guard let base = try base(transaction) else {
            try transaction.clear(table)
            return nil
        }
        if try transaction.hasOwnPages(table) { try remove(except: [], transaction) }
        return base
    }

    // MARK: Reading

    /// The manifests as they were read, the last position first; of a damaged one what is wrong.
    package func found(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [Result<SnapshotManifest, LogError>] {
        var found: [Result<SnapshotManifest, LogError>] = []
        try transaction.scan(table, from: nil, prefix: [], reversed: true) { key, value in
            let key = key.copied()
            guard key.count == 12, Array(key[8...]) == [0xFF, 0xFF, 0xFF, 0xFF],
                let position = Position(bigEndianBytes: key.prefix(8))
            else { return true }
            do throws(LogError) {
                found.append(
                    .success(try SnapshotManifest(parsing: value.copied(), position: position)))
            } catch { found.append(.failure(error)) }
            return true
        }
        return found
    }

    /// The manifests that are whole, the last position first.
    package func manifests(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [SnapshotManifest] { try found(transaction).compactMap { try? $0.get() } }

    /// The one that the log begins with; nil where nothing was dropped.
    ///
    /// - Throws: ``LogError``: `corruptBase`, also where something was dropped and nothing says so;
    ///   `newerFormat` where rules of a later version made it.
    package func base(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> SnapshotManifest? {
        guard let base = try log.base(transaction) else {
            try log.checkBeginning(transaction)
            return nil
        }
        var manifest: SnapshotManifest
        do throws(LogError) {
            manifest = try SnapshotManifest(parsing: base.views, position: base.position)
            manifest.isBase = true
        } catch {
            throw LogError(.corruptBase, at: base.position, error.detail)
        }
        guard manifest.isReadable else {
            throw LogError(
                .newerFormat, at: base.position,
                "rules of a newer version made the views that the log begins with; use that version"
            )
        }
        return manifest
    }

    /// How many bytes its chunks take in the store.
    package func storedBytes(
        of manifest: SnapshotManifest, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Int {
        var bytes = 0
        let prefix = manifest.position.bigEndianBytes
        try transaction.scan(table, from: nil, prefix: prefix, reversed: false) { _, value in
            bytes += value.count
            return true
        }
        return bytes
    }

    /// Walks over the rows of a snapshot in the order of their keys; each chunk is checked before
    /// one of its rows is handed over.
    ///
    /// - Throws: ``LogError`` `corruptSnapshot` where they are not what was written.
    package func forEachRow(
        of manifest: SnapshotManifest, _ transaction: borrowing some TableReading & ~Copyable,
        _ body: (RowKey, [UInt8]) throws -> Void
    ) throws {
        var rows: UInt64 = 0
        for number in 0..<manifest.chunks {
            let key = Self.key(manifest.position, number)
            guard let chunk = try transaction.get(table, key) else {
                throw manifest.damaged("chunk \(number) is missing")
            }
            guard SHA256Digest.of(chunk)[...] == manifest.digest(number) else {
                throw manifest.damaged("chunk \(number) is not what was written")
            }
            do {
                let bytes = try Zstd.decompress(chunk, bytesMax: Self.chunkBytesMax)
                try SnapshotRows.forEach(in: bytes) { key, value in
                    rows += 1
                    try body(key, value)
                }
            } catch let error as ProtoError {
                throw manifest.damaged("chunk \(number): \(error)")
            } catch let error as ZstdError {
                throw manifest.damaged("chunk \(number): \(error)")
            }
        }
        guard rows == manifest.rows else { throw manifest.damaged("it has \(rows) rows") }
    }
}

extension Snapshots {
    /// What is wrong with the checksums of snapshots, also of those by other rules.
    package func problems(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [LogError] {
        var problems: [LogError] = []
        for manifest in try found(transaction) {
            switch manifest {
            case .success(let manifest):
                if let problem = try problem(of: manifest, transaction) { problems.append(problem) }
            case .failure(let problem): problems.append(problem)
            }
        }
        return problems
    }

    /// What is wrong with the checksums of one; nil for nothing.
    func problem(
        of manifest: SnapshotManifest, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogError? {
        do {
            try forEachRow(of: manifest, transaction) { _, _ in }
            return nil
        } catch let error as LogError { return error }
    }
}

/// Packs rows into the chunks of a snapshot.
struct SnapshotPacker {
    /// A part of a snapshot as it is stored.
    struct Chunk: Sendable {
        var position: Position
        var number: UInt32
        var bytes: [UInt8]
    }

    /// How many bytes of rows a chunk holds, roughly.
    static let chunkBytes = 512 << 10

    private(set) var manifest: SnapshotManifest
    private let chunkBytes: Int
    private var writer = ProtoWriter()

    init(_ manifest: SnapshotManifest, chunkBytes: Int = chunkBytes) {
        self.manifest = manifest
        self.chunkBytes = chunkBytes
    }

    /// Takes the next row; returns a chunk when one is full.
    mutating func add(_ key: RowKey, _ value: [UInt8]) throws -> Chunk? {
        SnapshotRows.append(key, value, to: &writer)
        manifest.rows += 1
        return writer.bytes.count < chunkBytes ? nil : try end()
    }

    /// The chunk of the rows since the last one, if there are any.
    mutating func end() throws -> Chunk? {
        guard !writer.bytes.isEmpty else { return nil }
        let bytes = try Zstd.compress(writer.bytes)
        writer.removeAll()
        let chunk = Chunk(position: manifest.position, number: manifest.chunks, bytes: bytes)
        manifest.chunkDigests += SHA256Digest.of(bytes)
        return chunk
    }
}
