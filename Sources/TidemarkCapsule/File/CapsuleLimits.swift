// CapsuleLimits.swift — the most that a capsule may hold: it may come from a stranger.

package import TidemarkEvents

/// The most that is read of a capsule, and so the most that is written.
package struct CapsuleLimits: Sendable, Hashable {
    /// Bytes of the file as it lies on disk.
    package var fileBytesMax = 128 << 20
    /// Bytes of everything after decompression; refused by what the frames say, before any of them
    /// is decompressed, and again by what they hold.
    package var contentBytesMax = 256 << 20
    /// Bytes of what one zstd frame holds; those written here hold a quarter of it.
    package var frameBytesMax = 16 << 20
    /// Frames of the file.
    package var framesMax = 65_536
    /// Bytes of one record: a row, a commit with its events, a body.
    package var recordBytesMax = 64 << 20
    /// Rows of the base.
    package var rowsMax = 4_000_000
    /// Events of all commits.
    package var eventsMax = 1_000_000
    /// Bodies that payloads name.
    package var bodiesMax = 100_000
    /// Bytes of the note, and of the words on redaction.
    package var noteBytesMax = 64 << 10
    /// Bytes of the version that wrote it.
    package var buildBytesMax = 200
    /// Bytes of a row's key, as LMDB has it.
    package var keyBytesMax = 511
    /// Views that one commit has digests of, and the base fingerprints.
    package var viewsMax = 64

    /// The last position: what every JSON reader takes for a whole number.
    package static let positionMax = Position(1 << 53 - 1)
    /// The furthest moment from 1970 in either direction: some 9,000 years.
    package static let microsecondsMax: Int64 = 1 << 58

    package init() {}
}
