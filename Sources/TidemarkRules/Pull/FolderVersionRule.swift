// FolderVersionRule.swift — when every folder of a tree is listed, although their versions are said
// to move with everything below.

package import TidemarkEvents

/// When every folder of a tree is listed, whatever their versions.
package enum FolderVersionRule {
    /// How long folders are left out by their versions alone.
    private static let every = TimeSpan.days(7)

    /// Whether all are to be listed.
    ///
    /// - Parameters:
    ///   - last: when they were last, by the device's clock; nil for never.
    ///   - now: the device's clock. One that was set back tells nothing.
    package static func isDue(last: Timestamp?, now: Timestamp) -> Bool {
        guard let last, now >= last else { return true }
        return now >= last.adding(every)
    }
}
