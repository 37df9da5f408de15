// TemporaryReplica.swift — stores for tests and previews, each in a new folder.

import Foundation
public import Tidemark
public import TidemarkEvents
public import TidemarkSync

extension Replica {
    private static let temporaryPrefix = "tidemark-temporary-"

    /// Makes a store in a new folder under the system's temporary directory.
    ///
    /// It stays until ``deleteTemporary()``.
    ///
    /// - Parameters:
    ///   - model: what is synced and by which rules.
    ///   - remote: the server, if the store is bound to one from the beginning.
    ///   - rules: the app's own rules for conflicts.
    ///   - dependencies: clock, ids and randomness, for example `.seeded(1, clock: clock)`.
    /// - Throws: ``TidemarkError`` when the store can't be made.
    public static func temporary(
        model: SyncModel, remote: Remote? = nil, rules: [ConflictRule] = [],
        dependencies: Dependencies = .live
    ) throws -> Replica {
        let folder = FileManager.default.temporaryDirectory.appending(
            path: temporaryPrefix + Dependencies.live.makeID())
        return try open(
            at: folder.path(percentEncoded: false), model: model, remote: remote, rules: rules,
            dependencies: dependencies)
    }

    /// Makes a store as ``temporary(model:remote:rules:dependencies:)`` does, and deletes it when
    /// `body` has returned or thrown.
    ///
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws, and ``TidemarkError`` when the store can't be made.
    public static func withTemporary<R>(
        model: SyncModel, remote: Remote? = nil, rules: [ConflictRule] = [],
        dependencies: Dependencies = .live, _ body: (Replica) async throws -> R
    ) async throws -> R {
        let replica = try temporary(
            model: model, remote: remote, rules: rules, dependencies: dependencies)
        let result: R
        do { result = try await body(replica) } catch {
            try? replica.deleteTemporary()
            throw error
        }
        try replica.deleteTemporary()
        return result
    }

    /// Closes a store of ``temporary(model:remote:rules:dependencies:)``, unless that was done, and
    /// deletes its folder, unless it is gone.
    ///
    /// - Throws: ``TidemarkError`` when it can't be closed, and errors of the file system.
    public func deleteTemporary() throws {
        let folder = try closedTemporary()
        guard FileManager.default.fileExists(atPath: directory) else { return }
        try FileManager.default.removeItem(at: folder)
    }

    /// Closes a temporary store, and moves its folder.
    func moveTemporary(to path: String) throws {
        try FileManager.default.moveItem(at: try closedTemporary(), to: URL(filePath: path))
    }

    private func closedTemporary() throws -> URL {
        let folder = URL(filePath: directory)
        guard folder.lastPathComponent.hasPrefix(Self.temporaryPrefix) else {
            fatalError("\(directory) was not made by Replica.temporary")
        }
        do { try close() } catch let error as TidemarkError where error.code == .closed {}
        return folder
    }
}
