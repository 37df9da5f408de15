// ScratchDirectory.swift — a directory for the time of a check, or of a look into the past.

import Foundation

/// A temporary directory.
package enum ScratchDirectory {
    /// Runs `body` with a new directory that is removed afterwards, or with the one given.
    package static func with<R>(
        _ directory: String?, _ body: (String) throws -> R
    ) throws -> R {
        if let directory { return try body(directory) }
        let temporary = try make()
        defer { remove(temporary) }
        return try body(temporary)
    }

    /// Runs `body` with a new directory that is removed afterwards.
    package static func with<R>(_ body: (String) async throws -> R) async throws -> R {
        let temporary = try make()
        defer { remove(temporary) }
        return try await body(temporary)
    }

    /// Runs `body` with a function that makes the directory once it is needed.
    package static func withLazily<R>(_ body: (() throws -> String) throws -> R) throws -> R {
        var made: [String] = []
        defer { made.forEach(remove) }
        return try body {
            let temporary = try make()
            made.append(temporary)
            return temporary
        }
    }

    private static func make() throws -> String {
        try FileManager.default.url(
            for: .itemReplacementDirectory, in: .userDomainMask,
            appropriateFor: FileManager.default.temporaryDirectory, create: true
        ).path
    }

    private static func remove(_ directory: String) {
        try? FileManager.default.removeItem(atPath: directory)
    }
}
