// CapsuleLimits.swift — the limits of a capsule, because it may come from a stranger.

package import TidemarkEvents

/// The limits for reading a capsule, and so for writing one.
package struct CapsuleLimits: Sendable, Hashable {
    /// The bytes of the file on disk.
    package var fileBytesMax = 128 << 20
    /// The bytes of all decompressed content.
    ///
    /// Checked by the sizes that frames declare before any of them is decompressed, and again by
    /// their real sizes.
    package var contentBytesMax = 256 << 20
    /// The decompressed bytes of one zstd frame; frames written here hold a quarter of it.
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
    /// The bytes of all files that entities name; one may take a record at most.
    package var contentsBytesMax = 60 << 20
    /// The bytes of the note, and of the description of the redaction.
    package var noteBytesMax = 64 << 10
    /// Bytes of the version that wrote it.
    package var buildBytesMax = 200
    /// The bytes of a row's key, as LMDB limits them.
    package var keyBytesMax = 511
    /// The views that one commit or the base may name.
    package var viewsMax = 64

    /// The last position: the largest integer that every JSON reader keeps exact.
    package static let positionMax = Position(1 << 53 - 1)
    /// The largest distance from 1970 in either direction: about 9,000 years.
    package static let microsecondsMax: Int64 = 1 << 58

    package init() {}
}
