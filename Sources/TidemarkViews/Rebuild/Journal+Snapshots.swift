// Journal+Snapshots.swift — taking snapshots of the views, when nobody waits for a commit.
//
//   1. chunks that a crash left without a manifest are removed
//   2. the rows are read at one moment and packed, in memory: some 32 MiB of chunks at a time
//   3. the chunks are written, some a transaction, so that no other write waits long
//   4. 2 and 3 again for the rest of large views, at the same moment, while the log goes on
//   5. the manifest is written, and older snapshots that are not needed go in the same transaction
//
// A crash at any point leaves the store as it was before. Where the map has to grow between 2 and
// 5, or the tables are made anew, it is given up.

import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore

extension Journal {
    /// Takes a snapshot of the views when one is due; fails silently, as it can be done without,
    /// and is tried again after as many events as the smallest one needs.
    ///
    /// Costs a look at the last position when none is. Not to be called inside a read or a write.
    package func keepSnapshots(progress: (_ chunks: UInt32) throws -> Void = { _ in }) {
        guard (try? isSnapshotDue()) == true, shared.beginSnapshot() else { return }
        defer { shared.endSnapshot() }
        do { try takeSnapshot(progress: progress) } catch {
            if let last = try? environment.read({ try self.log.lastPosition($0) }) {
                shared.snapshotGivenUp.withLock { $0 = last }
            }
            try? environment.write(freeing: true) { transaction in
                let whole = try self.snapshots.manifests(transaction).map(\.position)
                try self.snapshots.remove(except: Set(whole), transaction)
            }
        }
    }

    func isSnapshotDue() throws -> Bool {
        guard guardian != nil else { return false }
        let givenUp = shared.snapshotGivenUp.withLock(\.self)
        return try environment.read { transaction in
            let last = try log.lastPosition(transaction)
            guard SnapshotRule.isDue(last: last, newest: givenUp, rows: 0) else { return false }
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

    /// Takes a snapshot of the views as they are now; others may write meanwhile.
    ///
    /// - Parameters:
    ///   - chunkBytes: how many bytes of rows a chunk holds, roughly.
    ///   - bytesPerPiece: how many bytes of chunks are in memory at a time.
    ///   - progress: told how many chunks are written, after each piece; what it throws cuts the
    ///     snapshot short, as a crash would.
    /// - Returns: what it holds; nil when nothing was written yet.
    /// - Throws: ``StoreError`` `busy` where the map had to grow meanwhile, or the tables were made
    ///   anew.
    @discardableResult
    package func takeSnapshot(
        chunkBytes: Int? = nil, bytesPerPiece: Int = 32 << 20,
        progress: (_ chunks: UInt32) throws -> Void = { _ in }
    ) throws -> SnapshotManifest? {
        // First: what is freed while a moment is held can't be used again for the chunks.
        try environment.write(freeing: true) { transaction in
            let last = try self.log.lastPosition(transaction)
            let whole = try self.snapshots.manifests(transaction).map(\.position)
            try self.snapshots.remove(except: Set(whole).subtracting([last]), transaction)
        }
        let rebuilds = shared.rebuilds.withLock(\.self)
        let held = try environment.hold()
        defer { held.end() }
        let begun = try held.read {
            try SnapshotPiece(self, chunkBytes ?? SnapshotPacker.chunkBytes, $0)
        }
        guard var piece = begun else { return nil }
        while !piece.isWhole {
            let chunks = try held.read { try piece.read(self, bytesPerPiece, $0) }
            try write(chunks)
            try progress(piece.manifest.chunks)
        }
        held.end()
        let (manifest, generation) = (piece.manifest, piece.generation)
        try environment.write { transaction in
            // A rebuild removes chunks, and has the rows that were read in doubt: one that began
            // meanwhile, or ended.
            guard self.shared.rebuilds.withLock({ $0 == rebuilds }),
                try self.views.state(transaction)?.generation == generation
            else {
                throw StoreError(
                    .busy, during: "snapshot", detail: "the tables were made anew meanwhile")
            }
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
    let generation: Generation
    private var packer: SnapshotPacker
    private var trees = Tree.allCases[...]
    /// The last row that was packed.
    private var last: [UInt8]?

    var isWhole: Bool { trees.isEmpty }
    var manifest: SnapshotManifest { packer.manifest }

    /// Nil when there is nothing to take one of.
    init?(
        _ journal: Journal, _ chunkBytes: Int, _ transaction: borrowing ReadTransaction
    ) throws {
        let last = try journal.log.lastPosition(transaction)
        guard let state = try journal.views.state(transaction), state.isCurrent, last > .start
        else { return nil }
        generation = state.generation
        packer = SnapshotPacker(
            SnapshotManifest(position: last, fingerprints: View.allFingerprints),
            chunkBytes: chunkBytes)
    }

    /// Packs the next rows.
    ///
    /// - Parameter transaction: must see what the one did that it began with.
    mutating func read(
        _ journal: Journal, _ bytesMax: Int, _ transaction: borrowing ReadTransaction
    ) throws -> [SnapshotPacker.Chunk] {
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
