// StoreStats.swift — the size of a store and of its parts.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// The size of a store and of its parts.
package struct StoreStats: Sendable {
    /// Events and payload bytes of one kind.
    package struct Kind: Sendable {
        package var events = 0
        package var bytes = 0
    }
    /// A snapshot of the views.
    package struct Snapshot: Sendable {
        package var position: Position
        package var rows: UInt64
        package var bytes: Int
        /// Whether today's rules made it; otherwise it is useless.
        package var isCurrent: Bool
    }
    package var kinds: [EventKind: Kind] = [:]
    package var events = 0
    /// The frames of all events, in bytes, as if every payload were inline.
    package var logBytes = 0
    /// The size of the data file, in bytes.
    package var fileBytes = 0
    /// How many commits the oldest read of any process is behind.
    package var readerLag: UInt64 = 0
    package var commits = 0
    package var entities = 0
    package var mutations = 0
    /// How many files lie beside entities, and their lengths together, in bytes.
    package var files = (count: 0, bytes: UInt64(0))
    package var sealed = Sealed()
    package var snapshots: [Snapshot] = []
    /// The views that the log begins with, where its first events were dropped.
    package var base: Snapshot?
    package var firstAt: Timestamp?
    package var lastAt: Timestamp?
}

extension StoreStats.Snapshot {
    fileprivate init(_ manifest: SnapshotManifest, bytes: Int) {
        self.init(
            position: manifest.position, rows: manifest.rows, bytes: bytes,
            isCurrent: manifest.isCurrent)
    }
}

extension StoreStats {
    /// What to say of a read that goes on for so long that the file grows; nil where none does.
    package var readerWords: String? {
        guard readerLag > 1_000 else { return nil }
        return "a read that goes on is \(readerLag) commits behind: pages that were freed since "
            + "can't be used again, and the file grows until it ends"
    }

    /// The events that are sealed.
    package struct Sealed: Sendable, Hashable {
        package var events = 0
        package var blocks = 0
        /// How many bytes the blocks take.
        package var bytes = 0
    }
}

extension Journal {
    /// Counts all of it; reads the whole log.
    package func stats() throws -> StoreStats {
        var stats = StoreStats()
        let info = try environment.info()
        stats.fileBytes = info.fileBytes
        stats.readerLag = info.oldestReaderLag
        try environment.read { transaction in
            stats.commits = Int(clamping: try log.commitCount(transaction))
            stats.sealed.events = Int(clamping: try log.sealed.last(transaction).rawValue)
            (stats.sealed.blocks, stats.sealed.bytes) = try log.sealed.size(transaction)
            stats.snapshots = try snapshots.manifests(transaction).map {
                StoreStats.Snapshot(
                    $0, bytes: try snapshots.storedBytes(of: $0, transaction))
            }
            if let base = try snapshots.base(transaction) {
                stats.base = StoreStats.Snapshot(
                    base, bytes: try snapshots.storedBytes(of: base, transaction))
                stats.sealed.events -= Int(clamping: base.position.rawValue)
            }
            try log.forEachFrame(transaction) { position, frame in
                guard let frame = readable(at: position, { try frame.get() }),
                    let event = readable(
                        at: position, { try Event(header: frame.header, payload: []) })
                else { return true }
                let bytes =
                    EventFrame.prefixBytes + frame.header.count + Int(clamping: frame.payload.bytes)
                stats.kinds[event.kind, default: StoreStats.Kind()].events += 1
                stats.kinds[event.kind, default: StoreStats.Kind()].bytes += bytes
                stats.events += 1
                stats.logBytes += bytes
                stats.firstAt = stats.firstAt ?? event.recordedAt
                stats.lastAt = event.recordedAt
                return true
            }
        }
        try read { views in
            try views.forEachEntity { _, row in
                if row.document != nil { stats.entities += 1 }
                return true
            }
            try views.forEachMutation { _, _ in
                stats.mutations += 1
                return true
            }
            try views.forEachContent { _, row in
                guard let stored = row.stored else { return }
                stats.files.count += 1
                stats.files.bytes &+= stored.bytes
            }
        }
        return stats
    }
}
