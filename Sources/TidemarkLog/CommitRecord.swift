// CommitRecord.swift — what is kept beside the log about each commit: the message
// tidemark.v1.Commit.

package import TidemarkEvents

/// One commit: which events, their root, and what the views made of them.
package struct CommitRecord: Sendable, Hashable {
    package var first: Position
    package var last: Position
    package var root: Hash
    package var views: [ViewDigest]

    package init(first: Position, last: Position, root: Hash, views: [ViewDigest]) {
        self.first = first
        self.last = last
        self.root = root
        self.views = views
    }

    /// The record's bytes; the last position is the key they are kept under.
    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, first)
        writer.bytes(2, root)
        for view in views { writer.message(3, view.encoded) }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8], last: Position) throws(ProtoError) {
        self.init(first: .start, last: last, root: [], views: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: first = try field.position()
            case 2: root = try field.bytes()
            case 3: views.append(try ViewDigest(parsing: try field.bytes()))
            default: continue
            }
        }
    }
}

/// What one view made of one commit.
package struct ViewDigest: Sendable, Hashable {
    /// The view's number.
    package var view: UInt32
    /// Which rules made the rows.
    package var fingerprint: [UInt8]
    /// The first 16 bytes of SHA-256 over the rows that the commit wrote.
    package var digest: [UInt8]
    /// Eight bytes a row, in key order: CRC32C of the key, CRC32C of the value, little-endian.
    package var rows: [UInt8]

    package init(view: UInt32, fingerprint: [UInt8], digest: [UInt8], rows: [UInt8]) {
        self.view = view
        self.fingerprint = fingerprint
        self.digest = digest
        self.rows = rows
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, UInt64(view))
        writer.bytes(2, fingerprint)
        writer.bytes(3, digest)
        writer.bytes(4, rows)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(view: 0, fingerprint: [], digest: [], rows: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: view = try field.small()
            case 2: fingerprint = try field.bytes()
            case 3: digest = try field.bytes()
            case 4: rows = try field.bytes()
            default: continue
            }
        }
    }
}
