// CapsuleFile.swift — a capsule as one file: consecutive zstd frames, whose joint content is the
// message tidemark.v1.Capsule of Schemas/tidemark/v1/capsule.proto.
//
//   field  record                         notes
//       1  format                         1; readers refuse newer
//       2  provenance
//       3  base: position, fingerprints
//       4  a row of the entities          sorted by key
//       5  a row of everything else       sorted by key
//       6  a commit: events and digests   sorted by position
//       7  a body
//       8  verbatim answers               in the order of the events that name them
//       9  a file that entities name      in the order of their hashes
//      15  SHA-256 over all before        the last record
//
// It is one message, so that protoc can read it. Each field of its top level is a record, and every
// few MiB are a frame, so that neither a writer nor a reader holds all of it twice.

import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Capsule {
    /// The format that this version writes, and the latest that it reads.
    package static let format: UInt32 = 1

    /// The bytes of the file.
    ///
    /// - Throws: ``CapsuleError`` `tooLarge`, `rowsTooLarge` or `invalid` where the file could not
    ///   be read again.
    package var encoded: [UInt8] { get throws { try encoded(CapsuleLimits()) } }

    /// The bytes of the file, within other limits.
    ///
    /// The verbatim answers are left out where the file would be too large with them.
    package func encoded(_ limits: CapsuleLimits) throws -> [UInt8] {
        do {
            var writer = CapsuleWriter(limits)
            try writer.write(self)
            return try writer.finished()
        } catch let error as CapsuleError where error.code == .tooLarge && !answers.isEmpty {
            var least = self
            least.answers = []
            return try least.encoded(limits)
        }
    }

    /// Writes it to a file, replacing an existing one.
    ///
    /// After a crash, the file is either the old or the new one.
    package func write(to path: String) throws { try Self.write(try encoded, to: path) }

    /// Writes bytes of ``encoded`` to a file, replacing an existing one.
    package static func write(_ bytes: [UInt8], to path: String) throws {
        try SmallFile(at: path).replace(with: bytes, isDurable: true)
    }
}

/// Writes the records of a capsule one after another, and compresses them frame by frame.
private struct CapsuleWriter {
    /// How many bytes of content a frame holds.
    private static let frameBytes = 4 << 20

    private let limits: CapsuleLimits
    private var check: CapsuleCheck
    private var pending: [UInt8] = []
    private var hash = SHA256Stream()
    private var contentBytes = 0
    private var file: [UInt8] = []

    init(_ limits: CapsuleLimits) {
        self.limits = limits
        check = CapsuleCheck(limits)
    }

    mutating func write(_ capsule: Capsule) throws {
        var head = ProtoWriter()
        head.varint(1, UInt64(Capsule.format))
        head.message(2, capsule.provenance.encoded)
        head.message(3, capsule.base.encoded)
        try check.provenance(capsule.provenance)
        try check.base(capsule.base)
        try add(head.bytes)
        try write(capsule.base.rows)
        for commit in capsule.commits {
            try check.commit(commit)
            var writer = ProtoWriter()
            for entry in commit.entries {
                let header = entry.event.headerBytes
                try check.header(header.count, at: entry.position)
                var event = ProtoWriter(capacity: header.count + entry.event.payload.count + 24)
                event.position(1, entry.position)
                event.bytes(2, header)
                event.bytes(3, entry.event.payload)
                writer.message(1, event.bytes)
            }
            for digest in commit.views { writer.message(2, digest.encoded) }
            try add(6, writer.bytes)
        }
        for body in capsule.bodies {
            try check.body(body)
            try add(7, body)
        }
        for kept in capsule.answers {
            try check.answers(kept)
            var writer = ProtoWriter()
            writer.position(1, kept.position)
            writer.message(2, kept.answers.encoded)
            try add(8, writer.bytes)
        }
        for content in capsule.contents {
            try check.content(content)
            var writer = ProtoWriter(capacity: content.bytes.count + 48)
            writer.bytes(1, Hexadecimal.decode(content.digest) ?? [])
            writer.bytes(2, content.bytes)
            try add(9, writer.bytes)
        }
    }

    /// Writes the rows before the events.
    ///
    /// Too many of them are an error of its own: fewer events have as many, unless they begin
    /// elsewhere.
    private mutating func write(_ rows: [SnapshotRow]) throws {
        do {
            for row in rows {
                try check.row(row)
                var writer = ProtoWriter(capacity: row.key.bytes.count + row.value.count + 12)
                writer.bytes(1, row.key.bytes)
                writer.bytes(2, row.value)
                try add(row.key.tree == .rows ? 4 : 5, writer.bytes)
            }
        } catch let error as CapsuleError where error.code == .tooLarge {
            throw CapsuleError(
                .rowsTooLarge, "of the \(rows.count) rows before its events: \(error.detail)")
        }
    }

    /// The bytes of the file, with its checksum at the end.
    mutating func finished() throws -> [UInt8] {
        var trailer = ProtoWriter()
        trailer.bytes(15, hash.digest)
        try add(trailer.bytes)
        try compress(all: true)
        return file
    }

    private mutating func add(_ field: UInt32, _ record: [UInt8]) throws {
        guard record.count <= limits.recordBytesMax else {
            throw CapsuleError(
                .tooLarge, "a record has \(record.count) bytes, \(limits.recordBytesMax) may be")
        }
        var writer = ProtoWriter(capacity: record.count + 6)
        writer.message(field, record)
        try add(writer.bytes)
    }

    private mutating func add(_ bytes: [UInt8]) throws {
        hash.add(bytes[...])
        pending += bytes
        contentBytes += bytes.count
        guard contentBytes <= limits.contentBytesMax else {
            throw CapsuleError(
                .tooLarge, "its content has more than \(limits.contentBytesMax) bytes")
        }
        if pending.count >= Self.frameBytes { try compress(all: false) }
    }

    private mutating func compress(all: Bool) throws {
        var start = 0
        while pending.count - start >= Self.frameBytes || (all && start < pending.count) {
            let end = min(start + Self.frameBytes, pending.count)
            file += try Zstd.compress(Array(pending[start..<end]), level: 6)
            start = end
        }
        pending.removeFirst(start)
        guard file.count <= limits.fileBytesMax else {
            throw CapsuleError(.tooLarge, "the file has more than \(limits.fileBytesMax) bytes")
        }
    }
}

extension Capsule.Provenance {
    fileprivate var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.string(1, build)
        writer.position(2, last)
        writer.bytes(3, root)
        writer.flag(4, isRedacted)
        writer.string(5, redaction)
        writer.flag(6, isShrunk)
        writer.flag(7, namesRemote)
        writer.string(8, note)
        return writer.bytes
    }
}

extension Capsule.Base {
    fileprivate var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.bytes(2, fingerprints)
        return writer.bytes
    }
}
