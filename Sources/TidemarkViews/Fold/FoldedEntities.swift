// FoldedEntities.swift — the entities of a fold, taken apart while events are folded into them.

import TidemarkStore

/// Entities that a fold has read or written, found by their keys.
struct FoldedEntities {
    /// One entity; a class, because a table of rows this large is slow to move.
    final class Entry {
        let key: RowKey
        var row: EntityRow
        /// Its row as it was there before, where that is remembered.
        let before: [UInt8]?
        fileprivate var isWritten = false
        /// What it counted for in ``FoldedEntities/heldBytes``.
        fileprivate var heldBytes = 0

        /// What is to be stored of it; nil where there is nothing of it any more.
        var changed: [UInt8]? { row.isEmpty ? nil : row.encoded }

        fileprivate init(_ key: RowKey, _ row: EntityRow, _ before: [UInt8]?) {
            self.key = key
            self.row = row
            self.before = before
        }
    }

    /// A key with its hash: a key that differs is told without looking at its bytes.
    private struct HashedKey: Hashable {
        let hash: Int
        let key: RowKey

        init(_ key: RowKey) {
            self.key = key
            var hasher = Hasher()
            ByteOrder.hash(key.bytes, into: &hasher)
            hash = hasher.finalize()
        }

        static func == (left: Self, right: Self) -> Bool {
            left.hash == right.hash && ByteOrder.areEqual(left.key.bytes, right.key.bytes)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(hash) }
    }

    private var entries: [HashedKey: Entry] = [:]
    private var written: [Entry] = []
    /// The one asked for last: it is asked for several times while an event is folded.
    private var last: Entry?

    var count: Int { entries.count }

    /// How much memory they take, roughly.
    private(set) var heldBytes = 0
    /// What each takes besides its key and its documents: itself, and its places in tables.
    private static let bytesPerEntity = 400

    /// The entity under a key; `load` makes it when it is not here yet, and says what row of it is
    /// to be remembered.
    mutating func entry(
        _ key: RowKey, orElse load: () throws -> (EntityRow, before: [UInt8]?)
    ) rethrows -> Entry {
        if let last, ByteOrder.areEqual(last.key.bytes, key.bytes) { return last }
        let hashed = HashedKey(key)
        let entry: Entry
        if let known = entries[hashed] {
            entry = known
        } else {
            let (row, before) = try load()
            entry = Entry(key, row, before)
            entries[hashed] = entry
            count(entry)
        }
        last = entry
        return entry
    }

    /// Remembers that an entity was written; to be called each time.
    mutating func note(_ entry: Entry) {
        count(entry)
        guard !entry.isWritten else { return }
        entry.isWritten = true
        written.append(entry)
    }

    private mutating func count(_ entry: Entry) {
        let bytes =
            Self.bytesPerEntity + entry.key.bytes.count + entry.row.documentBytes
        heldBytes += bytes - entry.heldBytes
        entry.heldBytes = bytes
    }

    /// The entities written whose keys begin with some bytes, in the order of their keys.
    func written(_ prefix: [UInt8]) -> [Entry] {
        written.filter { $0.key.bytes.starts(with: prefix) }
            .sorted { ByteOrder.precedes($0.key.bytes, $1.key.bytes) }
    }

    /// Whether an entity was written; `key` as it lies in its tree.
    func isWritten(_ key: [UInt8]) -> Bool {
        entries[HashedKey(RowKey(.rows, key))]?.isWritten ?? false
    }

    /// Walks over the entities written whose keys begin with some bytes, in no order of theirs.
    func forEachWritten(_ prefix: [UInt8], _ body: (RowKey, EntityRow) throws -> Bool) rethrows {
        for entry in written where entry.key.bytes.starts(with: prefix) {
            guard try body(entry.key, entry.row) else { return }
        }
    }

    /// The entities written, in the order of their keys.
    var sorted: some Sequence<Entry> {
        ByteOrder.order(of: written.map(\.key.bytes)).lazy.map { written[$0] }
    }
}
