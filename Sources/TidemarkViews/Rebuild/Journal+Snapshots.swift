// Journal+Snapshots.swift — taking snapshots of the views, when nobody waits for a commit.
//
//   1. chunks that a crash left without a manifest are removed
//   2. the rows are read at one moment and packed, in memory: some 32 MiB of chunks at a time
//   3. the chunks are written, some a transaction, so that no other write waits long
//   4. 2 and 3 again for the rest of large views, unless the log went on meanwhile: then it is
//      given up
//   5. the manifest is written, and older snapshots that are not needed go in the same transaction
//
// A crash at any point leaves the store as it was before.

import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore

extension Journal {
    /// Takes a snapshot of the views when one is due; fails silently, as it can be done without.
    ///
    /// Costs a look at the last position when none is. Not to be called inside a read or a write.
    package func keepSnapshots() {
        guard (try? isSnapshotDue()) == true, shared.beginSnapshot() else { return }
        defer { shared.endSnapshot() }
        do { try takeSnapshot() } catch {
            try? environment.write(freeing: true) { transaction in
                let whole = try self.snapshots.manifests(transaction).map(\.position)
                try self.snapshots.remove(except: Set(whole), transaction)
            }
        }
    }

    func isSnapshotDue() throws -> Bool {
        guard guardian != nil else { return false }
        return try environment.read { transaction in
            let last = try log.lastPosition(transaction)
            guard SnapshotRule.isDue(last: last, newest: nil, rows: 0) else { return false }
            let state = try views.state(transaction) ?? ViewTables.State()
            let newest = try snapshots.manifests(transaction).first(where: \.isCurrent)
            let rows = try Tree.allCases.reduce(0) {
                try $0 + transaction.count(views.table($1, state.generation))
            }
            return state.isCurrent
                && SnapshotRule.isDue(last: last, newest: newest?.position, rows: UInt64(rows))
        }
    }

    /// How many bytes of chunks are written in one transaction.
    private static let bytesPerTransaction = 2 << 20

    /// Takes a snapshot of the views as they are now.
    ///
    /// - Parameters:
    ///   - chunkBytes: how many bytes of rows a chunk holds, roughly.
    ///   - bytesPerPiece: how many bytes of chunks are in memory at a time.
    ///   - progress: told how many chunks are written, after each piece; what it throws cuts the
    ///     snapshot short, as a crash would.
    /// - Returns: what it holds; nil when the log has grown since, or nothing was written yet.
    @discardableResult
    package func takeSnapshot(
        chunkBytes: Int? = nil, bytesPerPiece: Int = 32 << 20,
        progress: (_ chunks: UInt32) throws -> Void = { _ in }
    ) throws -> SnapshotManifest? {
        var piece = try SnapshotPiece(self, chunkBytes ?? SnapshotPacker.chunkBytes)
        guard let start = piece?.start else { return nil }
        try environment.write(freeing: true) { transaction in
            let whole = try self.snapshots.manifests(transaction).map(\.position)
            try self.snapshots.remove(except: Set(whole).subtracting([start]), transaction)
        }
        while piece?.isWhole == false {
            let chunks = try environment.read { transaction in
                try piece?.read(self, bytesPerPiece, transaction)
            }
            guard let chunks else { return nil }
            try write(chunks)
            try progress(piece?.manifest.chunks ?? 0)
        }
        guard let manifest = piece?.manifest else { return nil }
        try environment.write { transaction in
            try self.snapshots.put(manifest, transaction)
            let whole = try self.snapshots.manifests(transaction).filter(\.isCurrent)
            let kept = SnapshotRule.kept(whole.map(\.position))
            try self.snapshots.remove(except: Set(kept), transaction)
        }
        return manifest
    }

    private func write(_ chunks: [SnapshotPacker.Chunk]) throws {
        var rest = chunks[...]
        while !rest.isEmpty {
            var bytes = 0
            let some = rest.prefix { chunk in
                defer { bytes += chunk.bytes.count }
                return bytes < Self.bytesPerTransaction
            }
            try environment.write { transaction in
                for chunk in some { try self.snapshots.put(chunk, transaction) }
            }
            rest = rest.dropFirst(some.count)
        }
    }
}

/// A snapshot in the making.
private struct SnapshotPiece {
    /// The position that it is of.
    let start: Position
    private let generation: Generation
    private var packer: SnapshotPacker
    private var trees = Tree.allCases[...]
    /// The last row that was packed.
    private var last: [UInt8]?

    var isWhole: Bool { trees.isEmpty }
    var manifest: SnapshotManifest { packer.manifest }

    /// Nil when there is nothing to take one of.
    init?(_ journal: Journal, _ chunkBytes: Int) throws {
        let found = try journal.environment.read { transaction in
            (try journal.log.lastPosition(transaction), try journal.views.state(transaction))
        }
        guard let state = found.1, state.isCurrent, found.0 > .start else { return nil }
        start = found.0
        generation = state.generation
        packer = SnapshotPacker(
            SnapshotManifest(position: start, fingerprints: View.allFingerprints),
            chunkBytes: chunkBytes)
    }

    /// Packs the next rows; nil when the views are not those any more that it began with.
    mutating func read(
        _ journal: Journal, _ bytesMax: Int, _ transaction: borrowing ReadTransaction
    ) throws -> [SnapshotPacker.Chunk]? {
        let state = try journal.views.state(transaction)
        guard try journal.log.lastPosition(transaction) == start, state?.isCurrent == true,
            state?.generation == generation
        else { return nil }
        var chunks: [SnapshotPacker.Chunk] = []
        var bytes = 0
        while let tree = trees.first {
            var (packer, last, isFull) = (packer, last, false)
            try journal.views.scan(tree, generation, from: last, transaction) { key, value in
                if key == last { return true }
                last = key
                if let chunk = try packer.add(RowKey(tree, key), value) {
                    chunks.append(chunk)
                    bytes += chunk.bytes.count
                    isFull = bytes >= bytesMax
                }
                return !isFull
            }
            (self.packer, self.last) = (packer, last)
            if isFull { return chunks }
            trees = trees.dropFirst()
            self.last = nil
        }
        if let chunk = try packer.end() { chunks.append(chunk) }
        return chunks
    }
}
