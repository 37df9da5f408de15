// RowSource.swift — where a reader's rows come from: the tables of a transaction, rows in memory,
// or rows that the log makes in the place of damaged ones.

/// Rows that can be read, for as long as the transaction that they are of.
package struct RowSource {
    /// Takes a row; answers whether to go on.
    package typealias Visit = (_ key: [UInt8], _ value: [UInt8]) throws -> Bool

    /// Looks at a row without a copy of it; answers whether to go on.
    package typealias Glance = (_ key: Span<UInt8>, _ value: Span<UInt8>) throws -> Bool

    /// The row under a key that tables take.
    private let stored: (RowKey) throws -> [UInt8]?
    /// Walks over the rows of a tree under a prefix, from a key on, up or down.
    let walk:
        (
            _ tree: Tree, _ prefix: [UInt8], _ from: [UInt8]?, _ reversed: Bool, _ visit: Visit
        ) throws -> Void
    /// Walks up over the rows of the ledger under a prefix, which are lent.
    let skim: (_ prefix: [UInt8], _ visit: Glance) throws -> Void
    /// Walks over the records of the indexes under a prefix, from a key on, up or down.
    let walkIndex:
        (_ prefix: [UInt8], _ from: [UInt8]?, _ reversed: Bool, _ visit: Visit) throws -> Void

    /// - Parameters:
    ///   - skim: nil where rows are arrays anyway.
    ///   - walkIndex: nil where there are no indexes.
    package init(
        get: @escaping (RowKey) throws -> [UInt8]?,
        walk: @escaping (Tree, [UInt8], [UInt8]?, Bool, Visit) throws -> Void,
        skim: (([UInt8], Glance) throws -> Void)? = nil,
        walkIndex: (([UInt8], [UInt8]?, Bool, Visit) throws -> Void)? = nil
    ) {
        stored = get
        self.walk = walk
        self.skim =
            skim ?? { prefix, visit in
                try walk(.ledger, prefix, nil, false) { try visit($0.span, $1.span) }
            }
        self.walkIndex = walkIndex ?? { _, _, _, _ in }
    }

    /// The row under a key; none under one that is longer than tables take, as a reference may
    /// hold any text.
    func get(_ key: RowKey) throws -> [UInt8]? {
        guard key.bytes.count <= RowKey.bytesMax else { return nil }
        return try stored(key)
    }
}
