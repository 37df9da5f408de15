// ScratchDirectory.swift — a directory for the time of a check.

import Foundation

/// A temporary directory.
enum ScratchDirectory {
    /// Runs `body` with a new directory that is removed afterwards, or with the one given.
    static func with<R>(_ directory: String?, _ body: (String) throws -> R) throws -> R {
        if let directory { return try body(directory) }
        let temporary = try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask,
            appropriateFor: FileManager.default.temporaryDirectory, create: true)
        defer { try? FileManager.default.removeItem(at: temporary) }
        return try body(temporary.path)
    }
}
