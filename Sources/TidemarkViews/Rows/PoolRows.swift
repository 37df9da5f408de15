// PoolRows.swift — reserved values: what is left of each key of a pool, and what was taken.
//
//   'Pk' pool 0 text 0 … 0                 what is known of a key
//   'Pl' pool 0 text 0 … 0 until value     a value that is left, by the moment at which it ends
//   'Pv' pool 0 first text 0 value         whether a value is left, and where, or was taken
//
// So the value that ends first is found by one seek, and one that comes again by another. Of a
// value that was taken the row stays for ever: whatever the server hands out, it is not used twice.

package import TidemarkEvents
package import TidemarkRules

/// What is known of a key of a pool: 'Pk'.
package struct PoolRow: Sendable, Hashable {
    /// How many values a run was asked to have here; nil where the model says how many.
    package var fill: Int?
    /// By what the values were made that came last; nil where the server does not say.
    package var pattern: String?
    /// How long no values are asked for, after calls that failed; nil where none did.
    package var gate: SyncGate?
    /// Whether values were asked for only because the model named the key: without that, it is not
    /// kept filled.
    package var isOnlyNamed = false

    package init() {}

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.flag(1, true)
        writer.varint(2, UInt64(fill ?? 0))
        if let pattern { writer.message(3, pattern) }
        if let gate { writer.message(4, gate.encoded) }
        writer.flag(5, isOnlyNamed)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init()
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 2: fill = Int(clamping: try field.unsigned())
            case 3: pattern = try field.string()
            case 4: gate = try SyncGate(parsing: try field.bytes())
            case 5: isOnlyNamed = try field.flag()
            default: continue
            }
        }
    }
}

/// A value that can be handed out: 'Pl'.
package struct ReservedValueRow: Sendable, Hashable {
    package var value: String
    /// From then on it can't be used, by the device's clock; the greatest time of all for never.
    package var until: Timestamp
    /// The event that brought it.
    package var position: Position
    package var pattern: String?

    /// When a value ends that has no end.
    package static let never = Timestamp(rawValue: .max)

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        if let pattern { writer.message(2, pattern) }
        return writer.bytes
    }

    init(_ value: String, until: Timestamp?, _ position: Position, _ pattern: String?) {
        self.value = value
        self.until = until ?? Self.never
        self.position = position
        self.pattern = pattern
    }

    /// Reads a row by the end of its key, and its value; nil for a key of another form.
    fileprivate init?(_ rest: ArraySlice<UInt8>, _ bytes: [UInt8]) throws(ProtoError) {
        guard let until = Timestamp(orderBytes: rest.prefix(8)),
            let value = String(utf8: rest.dropFirst(8))
        else { return nil }
        self.init(value, until: until, .start, nil)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: pattern = try field.string()
            default: continue
            }
        }
    }
}

/// What became of a value: 'Pv'.
enum ReservedValueState: Hashable {
    /// It is left for a key, until then.
    case left(PoolKey, until: Timestamp)
    /// It was taken by that event.
    case taken(Position)

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        switch self {
        case .left(let key, let until):
            writer.bytes(1, key.bytes)
            if until != ReservedValueRow.never { writer.signed(2, until.rawValue) }
        case .taken(let position): writer.position(3, position)
        }
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        var key: PoolKey?
        var until = ReservedValueRow.never
        var taken = Position.start
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: key = PoolKey.reading(try field.bytes()[...])?.key
            case 2: until = Timestamp(rawValue: try field.signed())
            case 3: taken = try field.position()
            default: continue
            }
        }
        self = key.map { .left($0, until: until) } ?? .taken(taken)
    }
}

extension RowKey {
    package static func pool(_ key: PoolKey) -> RowKey { RowKey(.ledger, Ledger.pools + key.bytes) }

    package static func leftValue(_ key: PoolKey, _ value: String, until: Timestamp) -> RowKey {
        RowKey(.ledger, Ledger.leftValues + key.bytes + until.orderBytes + value.utf8)
    }

    package static func reservedValue(_ key: PoolKey, _ value: String) -> RowKey {
        var bytes = Ledger.reservedValues + Array(key.pool.utf8) + [0]
        bytes += Array((key.texts.first ?? "").utf8) + [0]
        return RowKey(.ledger, bytes + value.utf8)
    }
}

extension Ledger {
    package static let pools = LedgerSort.pools.prefix + "k".utf8
    package static let leftValues = LedgerSort.pools.prefix + "l".utf8
    package static let reservedValues = LedgerSort.pools.prefix + "v".utf8
}

extension RowReading {
    /// What is known of a key of a pool; nil where no values were ever asked for.
    package func pool(_ key: PoolKey) throws -> PoolRow? {
        try get(.pool(key)).map { try PoolRow(parsing: $0) }
    }

    /// All keys that values were asked for, in the order of their bytes.
    package func poolKeys() throws -> [PoolKey] {
        try ledgerRows(Ledger.pools).compactMap { row in
            PoolKey.reading(row.key.bytes.dropFirst(Ledger.pools.count))?.key
        }
    }

    /// The keys that are kept filled whether a model names them or not, as a run was asked to fill
    /// them, in the order of their bytes.
    package func askedPoolKeys() throws -> [PoolKey] {
        try ledgerRows(Ledger.pools).compactMap { row in
            guard try !PoolRow(parsing: row.value).isOnlyNamed else { return nil }
            return PoolKey.reading(row.key.bytes.dropFirst(Ledger.pools.count))?.key
        }
    }

    /// Whether values are left, of whatever key.
    package func hasValues() throws -> Bool { try !ledgerRows(Ledger.leftValues).isEmpty }

    /// Walks over the values that can be used from a moment on, the one that ends first at the
    /// beginning; `body` says whether to go on.
    package func forEachValue(
        of key: PoolKey, from now: Timestamp, _ body: (ReservedValueRow) throws -> Bool
    ) throws {
        guard now < ReservedValueRow.never else { return }
        let prefix = Ledger.leftValues + key.bytes
        // What ends at this moment can't be used any more.
        let first = prefix + now.adding(from: 0, to: 1).orderBytes
        try walk(.ledger, prefix, from: first) { bytes, row in
            guard let value = try ReservedValueRow(bytes.dropFirst(prefix.count), row) else {
                return true
            }
            return try body(value)
        }
    }

    /// All values that are left of a key, those whose time is over, too.
    package func values(of key: PoolKey) throws -> [ReservedValueRow] {
        let prefix = Ledger.leftValues + key.bytes
        return try ledgerRows(prefix).compactMap { row in
            try ReservedValueRow(row.key.bytes.dropFirst(prefix.count), row.value)
        }
    }

    /// The value that is handed out next; nil where none is left that can be used.
    package func nextValue(of key: PoolKey, at now: Timestamp) throws -> ReservedValueRow? {
        var next: ReservedValueRow?
        try forEachValue(of: key, from: now) { value in
            next = value
            return false
        }
        return next
    }

    /// How many values are left that can be used.
    ///
    /// - Parameter pattern: counts only values that were made by it; nil for all.
    package func countValues(
        of key: PoolKey, at now: Timestamp, pattern: String? = nil
    ) throws -> Int {
        var count = 0
        try forEachValue(of: key, from: now) { value in
            if pattern == nil || value.pattern == pattern { count += 1 }
            return true
        }
        return count
    }

    /// The event by which a value was taken; nil for one that was not.
    package func taking(of value: String, from key: PoolKey) throws -> Position? {
        guard PoolKey.isUsable(value: value),
            let row = try get(.reservedValue(key, value)),
            case .taken(let position) = try ReservedValueState(parsing: row)
        else { return nil }
        return position
    }

    /// Whether a value can be added: it is not there already, and was never taken.
    package func isNew(_ value: String, of key: PoolKey) throws -> Bool {
        try PoolKey.isUsable(value: value) && get(.reservedValue(key, value)) == nil
    }
}
