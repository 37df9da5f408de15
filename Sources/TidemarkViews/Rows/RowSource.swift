// RowSource.swift — where a reader's rows come from: the tables of a transaction, rows in memory,
// or rows that the log makes in the place of damaged ones.

/// Rows that can be read, for as long as the transaction that they are of.
package struct RowSource {
    /// Takes a row; answers whether to go on.
    package typealias Visit = (_ key: [UInt8], _ value: [UInt8]) throws -> Bool

    /// The row under a key.
    let get: (RowKey) throws -> [UInt8]?
    /// Walks over the rows of a tree under a prefix, up or down.
    let walk: (_ tree: Tree, _ prefix: [UInt8], _ reversed: Bool, _ visit: Visit) throws -> Void
    /// Walks over the records of the indexes under a prefix, from a key on, up or down.
    let walkIndex:
        (_ prefix: [UInt8], _ from: [UInt8]?, _ reversed: Bool, _ visit: Visit) throws -> Void

    /// - Parameter walkIndex: nil where there are no indexes.
    package init(
        get: @escaping (RowKey) throws -> [UInt8]?,
        walk: @escaping (Tree, [UInt8], Bool, Visit) throws -> Void,
        walkIndex: (([UInt8], [UInt8]?, Bool, Visit) throws -> Void)? = nil
    ) {
        self.get = get
        self.walk = walk
        self.walkIndex = walkIndex ?? { _, _, _, _ in }
    }
}
