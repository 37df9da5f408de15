// BtrfsDisk.swift — a file system that writes each change of a file to another place.

import Foundation

/// A btrfs in a file that goes with the test.
package final class BtrfsDisk: Sendable {
    package let path: String
    private let image: String

    /// Mounts it in a folder among the temporary ones; nil where this user may not, or not on this
    /// system.
    package init?() throws {
        path =
            FileManager.default.temporaryDirectory
            .appending(path: "tidemark-btrfs-\(UUID().uuidString)").path
        image = path + ".image"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        guard Self.run("truncate", "-s", "200M", image), Self.run("mkfs.btrfs", "-q", image),
            Self.run("mount", "-o", "loop", image, path)
        else {
            try? FileManager.default.removeItem(atPath: image)
            try FileManager.default.removeItem(atPath: path)
            return nil
        }
    }

    deinit {
        _ = Self.run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
        try? FileManager.default.removeItem(atPath: image)
    }

    /// Whether this user may make one; tests that need it say so when they are skipped.
    package static let isPossible = (try? BtrfsDisk()) != nil
    package static let reason = "needs mkfs.btrfs and the right to mount"

    private static func run(_ words: String...) -> Bool {
        (try? Command.run("env", words))?.code == 0
    }
}
