// FoldedEntities.swift — the entities of a fold, taken apart while events are folded into them.

import TidemarkStore

/// Entities that a fold has read or written, found by their keys.
struct FoldedEntities {
    /// One entity; a class, because a table of rows this large is slow to move.
    final class Entry {
        let key: RowKey
        var row: EntityRow
        fileprivate var isWritten = false

        fileprivate init(_ key: RowKey, _ row: EntityRow) {
            self.key = key
            self.row = row
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

    /// The entity under a key; `load` makes it when it is not here yet.
    mutating func entry(_ key: RowKey, orElse load: () throws -> EntityRow) rethrows -> Entry {
        if let last, ByteOrder.areEqual(last.key.bytes, key.bytes) { return last }
        let hashed = HashedKey(key)
        let entry: Entry
        if let known = entries[hashed] {
            entry = known
        } else {
            entry = Entry(key, try load())
            entries[hashed] = entry
        }
        last = entry
        return entry
    }

    /// Remembers that an entity was written.
    mutating func note(_ entry: Entry) {
        guard !entry.isWritten else { return }
        entry.isWritten = true
        written.append(entry)
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

    /// Walks over the rows written, in the order of their keys; makes one at a time.
    func forEachWritten(_ body: (RowKey, [UInt8]?) throws -> Void) rethrows {
        // Numbers are sorted, which are moved without counting references.
        let order = written.indices.sorted {
            ByteOrder.precedes(written[$0].key.bytes, written[$1].key.bytes)
        }
        for entry in order.lazy.map({ written[$0] }) {
            try body(entry.key, entry.row.isEmpty ? nil : entry.row.encoded)
        }
    }
}
