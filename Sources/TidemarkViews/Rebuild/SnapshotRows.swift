// SnapshotRows.swift — view rows as bytes: what a snapshot and a capsule hold of the views.

package import TidemarkEvents

/// One view row by its key.
package struct SnapshotRow: Sendable, Hashable {
    package var key: RowKey
    package var value: [UInt8]

    package init(key: RowKey, value: [UInt8]) {
        self.key = key
        self.value = value
    }
}

/// Rows in the order of their keys as the message tidemark.v1.SnapshotRows.
package enum SnapshotRows {
    /// The fields of the two trees: 1 of the entities, 2 of the ledger.
    private static func field(_ tree: Tree) -> UInt32 { tree == .rows ? 1 : 2 }

    package static func append(_ key: RowKey, _ value: [UInt8], to writer: inout ProtoWriter) {
        let size =
            ProtoWriter.size(ofBytes: key.bytes.count) + ProtoWriter.size(ofBytes: value.count)
        writer.begin(field(key.tree), bytes: size)
        writer.bytes(1, key.bytes)
        writer.bytes(2, value)
    }

    /// Reads rows back, one after another.
    ///
    /// - Throws: ``ProtoError`` for bytes that rows are not written as, and what `body` throws.
    package static func forEach(
        in bytes: [UInt8], _ body: (RowKey, [UInt8]) throws -> Void
    ) throws {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            guard field.number == 1 || field.number == 2 else { continue }
            var row = ProtoReader(try field.bytes())
            var key: [UInt8] = []
            var value: [UInt8] = []
            while let part = try row.next() {
                switch part.number {
                case 1: key = try part.bytes()
                case 2: value = try part.bytes()
                default: continue
                }
            }
            try body(RowKey(field.number == 1 ? .rows : .ledger, key), value)
        }
    }
}
