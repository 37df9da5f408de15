// TinyDisk.swift — a file system of one megabyte, to be filled.

import Foundation

/// A file system in memory that goes with the test.
package final class TinyDisk: Sendable {
    package let path: String

    /// Mounts it in a folder that is made for it, among the temporary ones unless given; nil where
    /// this user may not, or not on this system.
    package init?(at place: String? = nil) throws {
        path =
            place
            ?? FileManager.default.temporaryDirectory
            .appending(path: "tidemark-disk-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        guard Self.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", path) else {
            try FileManager.default.removeItem(atPath: path)
            return nil
        }
    }

    deinit {
        _ = Self.run("umount", "-l", path)
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Whether this user may mount one; tests that need it say so when they are skipped.
    package static let isPossible = (try? TinyDisk()) != nil
    package static let reason = "needs the right to mount a tmpfs"

    /// Makes it four megabytes large.
    package func grow() -> Bool { Self.run("mount", "-o", "remount,size=4m", path) }

    /// How many bytes nothing uses yet.
    package var freeBytes: Int {
        get throws {
            let attributes = try FileManager.default.attributesOfFileSystem(forPath: path)
            return attributes[.systemFreeSize] as? Int ?? 0
        }
    }

    private static func run(_ words: String...) -> Bool {
        (try? Command.run("env", words))?.code == 0
    }
}
