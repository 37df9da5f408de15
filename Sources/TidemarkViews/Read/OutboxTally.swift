// OutboxTally.swift — open mutations as far as their order needs: rows that are looked at, and not
// taken apart.

import TidemarkEvents
import TidemarkStore

/// What of an open mutation's row decides when it is pushed.
struct OpenMutation {
    var position: UInt64
    var key: EntityKey
    var attempts: UInt64
    /// Whether it follows from a rule.
    var isDerived: Bool

    /// - Returns: nil where it is about an entity whose key does not begin with `prefix`.
    init?(
        _ position: UInt64, _ row: [UInt8], isDerived: Bool, ofThose prefix: [UInt8]
    ) throws(ProtoError) {
        var reader = ProtoReader(row)
        guard let first = try reader.next(), first.number == 1 else { return nil }
        let bytes = try first.slice()
        guard bytes.starts(with: prefix) else { return nil }
        guard let key = EntityKey(bytes: bytes) else { throw .invalidUTF8(1) }
        self.position = position
        self.key = key
        self.isDerived = isDerived
        attempts = 0
        while let field = try reader.next(), field.number <= 5 {
            if field.number == 5 { attempts = try field.unsigned() }
        }
    }

    /// What follows from an event comes after what the event itself is, by entity.
    func precedes(_ other: OpenMutation) -> Bool {
        if position != other.position { return position < other.position }
        return isDerived == other.isDerived ? key < other.key : other.isDerived
    }
}

/// What the open mutations are, as one look over all of them tells.
struct OutboxTally {
    /// Those of one collection of the model.
    struct Collection {
        let name: CollectionName
        let prefix: [UInt8]
        var count = 0
        /// Where they lie; nil where there is none.
        var positions: Range<UInt64>?
    }

    /// Of an entity of which a mutation is a deletion.
    struct Deletion {
        /// Whether its last one is.
        var isLast = true
        /// How many mutations it has from the deletion on.
        var count = 0
    }

    /// In the model's order.
    private(set) var collections: [Collection]
    private(set) var deletions: [EntityKey: Deletion] = [:]
    /// Whether any follows from a rule.
    private(set) var hasDerived = false
    /// The collection of the mutation before.
    private var current = 0

    init(_ model: SyncModel) {
        collections = model.collections.map {
            Collection(name: $0.name, prefix: EntityKey.prefix(of: $0.name))
        }
    }

    /// Counts what is open, in order.
    mutating func count(_ views: ViewReader) throws {
        var derived: [(position: UInt64, row: [UInt8])] = []
        try views.walk(.ledger, Ledger.openDerived) { key, value in
            if let position = Position(bigEndianBytes: key.dropFirst().prefix(8)) {
                derived.append((position.rawValue, value))
            }
            return true
        }
        hasDerived = !derived.isEmpty
        var rest = derived[...]
        try views.skim(Ledger.open) { key, value in
            guard key.count == 9, let position = Position(key.extracting(1..<9))?.rawValue else {
                return true
            }
            while let next = rest.first, next.position < position {
                add(next.position, next.row.span)
                rest = rest.dropFirst()
            }
            add(position, value)
            return true
        }
        for next in rest { add(next.position, next.row.span) }
    }

    /// Counts a row: of its fields only the first two are looked at, key and kind.
    private mutating func add(_ position: UInt64, _ row: Span<UInt8>) {
        guard let key = Self.key(of: row), let index = index(of: row, key) else { return }
        current = index
        collections[index].count += 1
        let start = collections[index].positions?.lowerBound ?? position
        collections[index].positions = start..<position + 1
        let isDeletion =
            key.upperBound + 1 < row.count && row[key.upperBound] == 2 << 3
            && row[key.upperBound + 1] == Self.deletion
        if isDeletion || !deletions.isEmpty { note(row.extracting(key).copied(), isDeletion) }
    }

    /// The kind of a deletion, which is one byte as it is written.
    private static let deletion = UInt8(EventKind.localDeleted.rawValue)

    private mutating func note(_ bytes: [UInt8], _ isDeletion: Bool) {
        guard let key = EntityKey(bytes: bytes) else { return }
        if isDeletion {
            deletions[key, default: Deletion()].isLast = true
        } else if deletions[key] != nil {
            deletions[key]?.isLast = false
        }
        deletions[key]?.count += 1
    }

    /// Where the key lies in a row; nil where the row does not begin with one.
    private static func key(of row: Span<UInt8>) -> Range<Int>? {
        guard row.count > 2, row[0] == 1 << 3 | 2 else { return nil }
        var (start, count) = (2, Int(row[1]))
        if count >= 0x80 {
            (start, count) = (3, count & 0x7F | Int(row[2]) << 7)
            guard row[2] < 0x80 else { return nil }
        }
        return start + count <= row.count ? start..<start + count : nil
    }

    /// Which collection an entity's key is of; nil for none of the model.
    private func index(of row: Span<UInt8>, _ key: Range<Int>) -> Int? {
        guard !collections.isEmpty else { return nil }
        if Self.begins(row, key, with: collections[current].prefix) { return current }
        for index in collections.indices
        where Self.begins(row, key, with: collections[index].prefix) { return index }
        return nil
    }

    private static func begins(
        _ row: Span<UInt8>, _ key: Range<Int>, with prefix: [UInt8]
    ) -> Bool {
        guard prefix.count <= key.count else { return false }
        let beginning = row.extracting(key.lowerBound..<key.lowerBound + prefix.count)
        return ByteOrder.areEqual(beginning, prefix[...])
    }
}
