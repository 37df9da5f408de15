// ScratchDirectory.swift — temporary directories for a check, or for reading the past.
//
//   tidemark-scratch-PID-ID/   below the system's temporary directory, for its owner alone (0700)
//     1/ 2/ …                  one for each use, removed after it, and the folder with the last
//
// The folder is locked while it is used. An unlocked one was left by a process that died, and is
// removed by the next process that needs a folder. Process ids alone prove nothing, since they are
// reused.

import Foundation
import TidemarkStore
import TidemarkSync

/// A temporary directory.
package enum ScratchDirectory {
    /// The prefix of the folders' names.
    package static let prefix = "tidemark-scratch-"

    /// The folder of this process, while it is used.
    private struct Folder: Sendable {
        let path: String
        let lock: DirectoryLock
        var made = 0
        var used = 0
    }
    private static let folder = Lock<Folder?>(nil)

    /// Runs `body` with the given directory, or with a new one that is removed afterwards.
    package static func with<R>(
        _ directory: String?, _ body: (String) throws -> R
    ) throws -> R {
        if let directory { return try naming(directory) { try body(directory) } }
        let temporary = try make()
        defer { remove(temporary) }
        return try naming { try body(temporary) }
    }

    /// Runs `body` with a new directory that is removed afterwards.
    package static func with<R>(_ body: (String) async throws -> R) async throws -> R {
        let temporary = try make()
        defer { remove(temporary) }
        do { return try await body(temporary) } catch let error as StoreError {
            throw named(error, parent)
        }
    }

    /// Runs `body` with a function that makes the directory when it is first needed.
    package static func withLazily<R>(_ body: (() throws -> String) throws -> R) throws -> R {
        var made: [String] = []
        defer { made.forEach(remove) }
        return try body {
            let temporary = try make()
            made.append(temporary)
            return temporary
        }
    }

    /// Runs `body`, which stores nothing but what is temporary: where the disk has no room for it,
    /// the error names the folder, as the disk of the store that is read may have.
    package static func naming<R>(
        _ directory: String? = nil, _ body: () throws -> R
    ) throws -> R {
        do { return try body() } catch let error as StoreError {
            throw named(error, directory ?? parent)
        }
    }

    private static func named(_ error: StoreError, _ folder: String) -> StoreError {
        let start = "in the temporary folder "
        guard error.code == .diskFull, !error.detail.hasPrefix(start),
            // Of another file.
            !error.detail.contains("/") || error.detail.contains(folder)
        else { return error }
        var named = error
        named.detail =
            "\(start)\(folder), which needs about as much as the store (TMPDIR names another): "
            + error.detail
        return named
    }

    /// The folder of all temporary files.
    private static var parent: String { FileManager.default.temporaryDirectory.path }

    /// Removes the folder of this process with all of its contents, before the process ends.
    package static func removeAll() {
        folder.withLock { folder in
            if let folder { removeItem(folder.path) }
            folder = nil
        }
    }

    private static func make() throws -> String {
        try folder.withLock { folder in
            var own = try folder ?? begin()
            folder = own
            own.made += 1
            let path = "\(own.path)/\(own.made)"
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false)
            own.used += 1
            folder = own
            return path
        }
    }

    private static func remove(_ directory: String) {
        folder.withLock { folder in
            removeItem(directory)
            guard var own = folder, directory.hasPrefix(own.path + "/") else { return }
            own.used -= 1
            folder = own
            guard own.used == 0 else { return }
            removeItem(own.path)
            folder = nil
        }
    }

    private static func removeItem(_ path: String) {
        try? FileManager.default.removeItem(atPath: path)
    }

    // MARK: The folder of the process

    private static func begin() throws -> Folder {
        for _ in 1...10 {
            let path =
                "\(parent)/\(prefix)\(Waiting.processID)-\(Dependencies.live.makeID())"
            guard let lock = try DirectoryLock.making(path) else { continue }
            sweep(parent, owner: owner(of: path))
            return Folder(path: path, lock: lock)
        }
        throw TidemarkError(.storage, "no folder can be made in \(parent)")
    }

    /// Removes the folders of processes that died; folders in use, or of another user, stay.
    private static func sweep(_ parent: String, owner: Int?) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            guard owner != nil, self.owner(of: path) == owner,
                let lock = DirectoryLock.abandoned(path)
            else { continue }
            removeItem(path)
            lock.release()
        }
    }

    private static func owner(of path: String) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.ownerAccountID] as? NSNumber)?.intValue
    }
}
