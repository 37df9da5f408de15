// FoldedEntities.swift — the entities of a fold, taken apart while events are folded into them.

import TidemarkEvents
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
        var changed: [UInt8]? {
            let row = row
            return row.isEmpty ? nil : row.encoded
        }

        /// How many bytes its documents are; their row is not copied for that.
        fileprivate var documentBytes: Int {
            var bytes = row.base.count + row.current.count
            for index in row.pending.indices { bytes += row.pending[index].payload.count }
            return bytes
        }

        fileprivate init(_ key: RowKey, _ row: EntityRow, _ before: [UInt8]?) {
            self.key = key
            self.row = row
            self.before = before
        }
    }

    /// All of them, in the order in which they were asked for first: an entity's number is its
    /// place there.
    private var entries: [Entry] = []
    private var numbers = KeyNumbers()
    private var writtenCount = 0
    /// The one asked for last: it is asked for several times while an event is folded.
    private var last: Entry?
    /// Those written, each as often as it was, since somebody follows that; nil before.
    private var followed: [Entry]?

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
        let hash = KeyNumbers.hash(key.bytes)
        let entry: Entry
        if let number = number(of: key.bytes, hash) {
            entry = entries[number]
        } else {
            let (row, before) = try load()
            entry = Entry(key, row, before)
            numbers.add(hash)
            entries.append(entry)
            count(entry)
        }
        last = entry
        return entry
    }

    /// The entity under a key where it was read or written; `key` as it lies in its tree.
    func known(_ key: [UInt8]) -> Entry? {
        number(of: key, KeyNumbers.hash(key)).map { entries[$0] }
    }

    private func number(of key: [UInt8], _ hash: UInt32) -> Int? {
        numbers.first(hash) { ByteOrder.areEqual(entries[$0].key.bytes, key) }
    }

    /// Remembers that an entity was written; to be called each time.
    mutating func note(_ entry: Entry) {
        count(entry)
        followed?.append(entry)
        guard !entry.isWritten else { return }
        entry.isWritten = true
        writtenCount += 1
    }

    private mutating func count(_ entry: Entry) {
        let bytes = Self.bytesPerEntity + entry.key.bytes.count + entry.documentBytes
        heldBytes += bytes - entry.heldBytes
        entry.heldBytes = bytes
    }

    /// The entities written whose keys begin with some bytes, in the order of their keys.
    func written(_ prefix: [UInt8]) -> [Entry] {
        entries.filter { $0.isWritten && $0.key.bytes.starts(with: prefix) }
            .sorted { ByteOrder.precedes($0.key.bytes, $1.key.bytes) }
    }

    /// Whether an entity was written; `key` as it lies in its tree.
    func isWritten(_ key: [UInt8]) -> Bool {
        known(key)?.isWritten ?? false
    }

    /// Walks over the entities written whose keys begin with some bytes, in no order of theirs.
    func forEachWritten(_ prefix: [UInt8], _ body: (RowKey, EntityRow) throws -> Bool) rethrows {
        for entry in entries where entry.isWritten && entry.key.bytes.starts(with: prefix) {
            guard try body(entry.key, entry.row) else { return }
        }
    }

    /// How many writes there were since this was asked for first.
    mutating func follow() -> Int {
        if followed == nil { followed = [] }
        return followed?.count ?? 0
    }

    /// The entities whose keys begin with some bytes that were written after so many writes.
    func written(_ prefix: [UInt8], after count: Int) -> [Entry] {
        (followed ?? []).dropFirst(count).filter { $0.key.bytes.starts(with: prefix) }
    }

    /// The entities written, in the order of their keys.
    var sorted: some Sequence<Entry> {
        let written =
            writtenCount == entries.count ? entries : entries.filter(\.isWritten)
        return ByteOrder.order(of: written.map(\.key.bytes)).lazy.map { written[$0] }
    }
}

extension [FoldedEntities.Entry] {
    /// The entities with their keys.
    var keyed: [(key: EntityKey, row: EntityRow)] {
        compactMap { entry in EntityKey(bytes: entry.key.bytes).map { ($0, entry.row) } }
    }
}

extension Fold {
    /// The key of an entity's row; that of the one asked for last is not made again, as an event
    /// asks for its own several times.
    func rowKey(of entity: EntityKey) -> RowKey {
        if let known = knownRowKey, known.entity == entity { return known.rowKey }
        let rowKey = RowKey.entity(entity)
        knownRowKey = (entity, rowKey)
        return rowKey
    }
}
