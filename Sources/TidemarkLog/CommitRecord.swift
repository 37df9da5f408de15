// CommitRecord.swift — what the log says about each commit, right behind its last event: the
// message tidemark.v1.Commit in a frame of its own.
//
//   offset  width  field   notes
//        0      1  format  1, as that of an event's frame
//        1      1  flags   2; an event's frame has others
//        2      2  –       0
//        4      4  crc32c  little-endian, over bytes 0–3 and 8 to the end
//        8      …  record  canonical protobuf, to the end of the value

package import TidemarkEvents
import TidemarkStore

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

    /// The message's bytes; the last position is in the key.
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

// MARK: In the log

extension CommitRecord {
    static let format: UInt8 = 1
    static let flags: UInt8 = 2
    static let prefixBytes = 8
    /// What follows the position in a commit's key; an event's has nothing there.
    static let mark = UInt8(ascii: "C")
    static let keyBytes = Position.byteCount + 1

    /// The key of the commit that ends with an event: behind that event's, before the next one's.
    package static func key(_ last: Position) -> [UInt8] { last.bigEndianBytes + [mark] }

    /// Whether a key of the table "log" is that of a commit.
    static func isKey(_ key: Span<UInt8>) -> Bool {
        key.count == keyBytes && key[keyBytes - 1] == mark
    }

    /// The position in such a key; nil where it is too short for one.
    static func position(_ key: Span<UInt8>) -> Position? {
        guard key.count >= Position.byteCount else { return nil }
        return Position(key.extracting(0..<Position.byteCount))
    }

    /// The frame's bytes.
    package var framed: [UInt8] {
        let record = encoded
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.prefixBytes + record.count)
        bytes += [Self.format, Self.flags, 0, 0]
        bytes += [0, 0, 0, 0]
        bytes += record
        let checksum = Self.checksum(bytes.span)
        for index in 0..<4 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: checksum >> (8 * UInt32(index)))
        }
        return bytes
    }

    /// Reads what ``framed`` wrote.
    ///
    /// - Throws: ``LogError`` `corruptCommit`, `newerFormat`.
    package init(framed bytes: Span<UInt8>, last: Position) throws(LogError) {
        guard bytes.count >= Self.prefixBytes else {
            throw LogError(.corruptCommit, at: last, "\(bytes.count) bytes are too few for one")
        }
        let stored = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[4 + $1]) << (8 * UInt32($1)) }
        guard Self.checksum(bytes) == stored else {
            throw LogError(.corruptCommit, at: last, "the checksum of its record differs")
        }
        guard bytes[0] == Self.format, bytes[1] == Self.flags, bytes[2] == 0, bytes[3] == 0 else {
            throw LogError(
                .newerFormat, at: last,
                "the commit's record has the format \(bytes[0]) and the flags \(bytes[1]), which "
                    + "are not known to this version")
        }
        let record = bytes.extracting(Self.prefixBytes..<bytes.count).copied()
        do { try self.init(parsing: record, last: last) } catch {
            throw LogError(.corruptCommit, at: last, "\(error)")
        }
    }

    private static func checksum(_ bytes: Span<UInt8>) -> UInt32 {
        var crc = CRC32C()
        crc.update(bytes.extracting(0..<4))
        crc.update(bytes.extracting(8..<bytes.count))
        return crc.value
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
