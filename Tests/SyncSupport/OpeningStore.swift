// OpeningStore.swift — a store to be spoilt and opened again.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// A store with some commits in a folder of its own, which goes with the test.
final class OpeningStore: Sendable {
    let folder: SyncFolder
    let clock = ManualClock()

    var path: String { folder / "store" }

    init(commits: Int = 5, account: String? = nil) throws {
        folder = try SyncFolder()
        let replica = try open(account: account)
        for number in 0..<commits { try Self.put(replica, number) }
        try replica.close()
    }

    deinit { folder.delete() }

    /// Opens it as an app does that makes the store when there is none.
    func open(
        account: String? = nil, device: String? = "device", at path: String? = nil
    ) throws -> Replica {
        var dependencies = Dependencies.seeded(0, clock: clock)
        dependencies.deviceID = { device }
        return try Replica.open(
            at: path ?? self.path, account: account, model: SyncWorld.usualModel,
            dependencies: dependencies)
    }

    /// Opens a store that is there, on a device that can't be told, so that a child may do it.
    static func openExisting(_ path: String, waiting: Duration = .zero) throws -> Replica {
        try Replica.open(
            existing: path, waiting: waiting,
            dependencies: .seeded(2, clock: ManualClock()))
    }

    func adopt(isDryRun: Bool = false, device: String? = "device") throws -> Replica.Adoption {
        var dependencies = Dependencies.seeded(1, clock: clock)
        dependencies.deviceID = { device }
        return try Replica.adopt(at: path, isDryRun: isDryRun, dependencies: dependencies)
    }

    static func put(_ replica: Replica, _ number: Int) throws {
        try replica.write { tx in
            _ = try tx.put(EntityKey("tasks", "t\(number)"), Array(#"{"n":\#(number)}"#.utf8))
        }
    }

    // MARK: Files

    static let dataName = "data.mdb"
    static let identityName = "identity.json"

    func file(_ name: String) -> String { "\(path)/\(name)" }

    func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: file(name))))
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: file(name)))
    }

    func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

    func overwrite(_ name: String, at offset: Int, _ bytes: [UInt8]) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: file(name)))
        try handle.seek(toOffset: UInt64(offset))
        try handle.write(contentsOf: bytes)
        try handle.close()
    }

    func setLength(_ name: String, _ bytes: Int) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: file(name)))
        try handle.truncate(atOffset: UInt64(bytes))
        try handle.close()
    }

    var identity: StoreIdentity {
        get throws { try #require(try StoreIdentity.find(in: path).identity) }
    }

    func changeIdentity(_ change: (inout StoreIdentity) -> Void) throws {
        var identity = try identity
        change(&identity)
        try identity.write(to: path, isDurable: false)
    }

    /// Changes the store's own tables without asking what its identity says.
    func changeTables(_ change: (borrowing WriteTransaction, EventLog) throws -> Void) throws {
        let environment = try Environment.open(
            at: path, Journal.options(create: false))
        try environment.write { transaction in
            try change(transaction, EventLog(environment))
        }
        try environment.close()
    }

    /// The names, bytes and dates of what a reader must leave alone.
    ///
    /// lock.mdb is LMDB's memory
    /// shared by readers, and changes with each of them.
    struct Trace: Equatable {
        var names: [String]
        var bytes: [[UInt8]]
        var dates: [Date?]
    }

    func trace() throws -> Trace {
        let manager = FileManager.default
        let names = try manager.contentsOfDirectory(atPath: path).sorted()
        let kept = names.filter { $0 != "lock.mdb" }
        return Trace(
            names: names, bytes: try kept.map(bytes),
            dates: try (kept.map(file) + [path]).map {
                try manager.attributesOfItem(atPath: $0)[.modificationDate] as? Date
            })
    }

    /// The bytes of the files that hold anything.
    func contents() throws -> [[UInt8]] {
        try [Self.dataName, Self.identityName].map(bytes)
    }
}

/// Expects that `body` is refused with a code, in a sentence that has some words in it.
func expectRefusal(
    _ code: TidemarkError.Code, _ words: String...,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Replica
) {
    do {
        let replica = try body()
        try? replica.close()
        Issue.record("not refused", sourceLocation: sourceLocation)
    } catch let error as TidemarkError {
        #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
        for word in words {
            #expect(error.message.contains(word), "\(error)", sourceLocation: sourceLocation)
        }
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}
