// ReplicaSupport.swift — replicas for the time of a test, and what is said of them in few words.

import Dispatch
import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

/// A temporary replica for the time of a test.
func withReplica<R>(
    _ model: SyncModel = SyncWorld.usualModel, _ body: (Replica) throws -> R
) throws -> R {
    let replica = try Replica.temporary(
        model: model, dependencies: .seeded(0, clock: ManualClock()))
    let result: R
    do { result = try body(replica) } catch {
        try replica.deleteTemporary()
        throw error
    }
    #expect(try replica.journal.verify(.deep).findings == [])
    try replica.deleteTemporary()
    return result
}

extension Replica {
    /// The position of the log.
    var position: Position { get throws { try read { $0.position } } }

    func text(_ key: EntityKey) throws -> String? {
        try read { try $0.document(key) }.map { String(decoding: $0, as: UTF8.self) }
    }

    /// The keys of the entities that are seen in a collection.
    func keys(in collection: CollectionName) throws -> [EntityKey] {
        try read { store in
            var keys: [EntityKey] = []
            try store.forEachDocument(in: collection) { key, _, _ in
                keys.append(key)
                return true
            }
            return keys
        }
    }

    /// The files and folders of a tree that are seen, and where they lie.
    func seenFiles() throws -> [(key: EntityKey, path: String, isFolder: Bool)] {
        try read { store in
            var seen: [(key: EntityKey, path: String, isFolder: Bool)] = []
            try store.forEachDocument(in: "files") { key, bytes, _ in
                let kind = try JSONDocument(parsing: bytes).value("kind")?.stringValue
                let path = try store.path(of: key)?.joined(separator: "/") ?? "(nowhere: \(key.id))"
                seen.append((key, path, kind == "folder"))
                return true
            }
            return seen
        }
    }

    /// Where they lie, each folder with a slash at its end.
    func seenPaths() throws -> [String] {
        try seenFiles().map { "\($0.path)\($0.isFolder ? "/" : "")" }.sorted()
    }
}

/// Runs `body` on a thread of its own, and waits for its end.
func onAnotherThread(_ body: @escaping @Sendable () throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    let failure = SyncBox<any Error>()
    Thread.detachNewThread {
        do { try body() } catch { failure.value = error }
        done.signal()
    }
    done.wait()
    if let error = failure.value { throw error }
}

/// Whether `body` throws that code.
func expect(
    _ code: TidemarkError.Code, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    #expect(sourceLocation: sourceLocation) {
        try body()
    } throws: { error in
        (error as? TidemarkError)?.code == code
    }
}
