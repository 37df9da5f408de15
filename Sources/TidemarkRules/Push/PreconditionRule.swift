// PreconditionRule.swift — whether a server heeds the preconditions of writes, as it was found out,
// and when that is found out again.
//
//   not known        a write of what the server has, or has there, goes after a read
//   heeded           writes go with their preconditions
//   ignored          every write with a precondition goes after a read
//
// It is tried by our own upload of a new file: once that was taken, and the server still has the
// version that it told, the very request is sent once more. Its precondition does not hold any
// more, so a server that heeds it refuses it; one that ignores it replaces the file by the same
// bytes.

package import TidemarkEvents

/// What is known of a server's preconditions.
package struct KnownPreconditions: Sendable, Hashable {
    package var areHeeded: Bool
    /// When it was found out, by the device's clock.
    package var triedAt: Timestamp

    package init(areHeeded: Bool, triedAt: Timestamp) {
        self.areHeeded = areHeeded
        self.triedAt = triedAt
    }
}

/// When a server's preconditions are tried, and which writes go after a read.
package enum PreconditionRule {
    /// The largest file that is sent twice.
    package static let bytesMax = 1 << 20

    /// Whether the next upload that fits is sent twice; until one does, the last answer counts.
    ///
    /// - Parameter now: the device's clock.
    package static func isDue(_ known: KnownPreconditions?, now: Timestamp) -> Bool {
        HabitRule.isDue(last: known?.triedAt, now: now)
    }

    /// Whether a write with a precondition goes after a read.
    ///
    /// - Parameter mayReplace: whether the server has something at its place, as far as is known.
    ///   Where it has not, the list came just before, and nothing is known of the server only until
    ///   its first upload that can be tried: a small one whose answer tells a version.
    package static func readsFirst(_ known: KnownPreconditions?, mayReplace: Bool) -> Bool {
        known.map { !$0.areHeeded } ?? mayReplace
    }
}
