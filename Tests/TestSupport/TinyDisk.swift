// TinyDisk.swift — a file system of one megabyte, to be filled.

import Foundation

/// A file system in memory that goes with the test.
package final class TinyDisk: Sendable {
    package let path: String

    /// Mounts it at a path where nothing is; nil where this user may not, or not on this system.
    package init?(at path: String) throws {
        self.path = path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
        guard Self.run("mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", path) else {
            return nil
        }
    }

    deinit { _ = Self.run("umount", "-l", path) }

    /// Whether this user may mount one; tests that need it say so when they are skipped.
    package static let isPossible: Bool = {
        let probe = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-disk-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: probe) }
        return (try? TinyDisk(at: probe)) != nil
    }()
    package static let reason = "needs the right to mount a tmpfs"

    /// Makes it four megabytes large.
    package func grow() -> Bool { Self.run("mount", "-o", "remount,size=4m", path) }

    private static func run(_ words: String...) -> Bool {
        (try? Command.run("env", words))?.code == 0
    }
}
