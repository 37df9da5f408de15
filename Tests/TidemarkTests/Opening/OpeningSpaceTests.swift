// OpeningSpaceTests.swift — a disk that is full, and files that may not grow.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `when there is no more space` {
    private static let big = Array(#"{"text":"\#(String(repeating: "x", count: 20_000))"}"#.utf8)

    private static func put(_ replica: Replica, _ number: Int) throws {
        try replica.write { tx in _ = try tx.put(EntityKey("tasks", "t\(number)"), big) }
    }

    /// Writes until it is refused, and says how often it was not.
    private static func fill(
        _ replica: Replica, from first: Int = 0
    ) -> (stored: Int, code: TidemarkError.Code?) {
        for number in first..<first + 400 {
            do { try put(replica, number) } catch {
                return (number, (error as? TidemarkError)?.code)
            }
        }
        return (400, nil)
    }

    /// Takes all the space that is left, by a file that is returned.
    private static func fillUp(_ disk: TinyDisk) throws -> FileHandle {
        let path = disk.path + "/rest"
        try Data().write(to: URL(filePath: path))
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
        return handle
    }

    /// Whether every document is there and the log is whole.
    private static func expectWhole(
        _ replica: Replica, _ stored: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        for number in 0..<stored {
            let document = try replica.read { try $0.document(EntityKey("tasks", "t\(number)")) }
            #expect(document == big, "\(number)", sourceLocation: sourceLocation)
        }
        #expect(
            try replica.position == Position(UInt64(stored + 2)), sourceLocation: sourceLocation)
        #expect(try replica.journal.verify().findings == [], sourceLocation: sourceLocation)
    }

    @Test(.enabled(if: TinyDisk.isPossible, "\(TinyDisk.reason)"))
    func `on the disk, what was acknowledged is there, and writing goes on when there is`() throws {
        let disk = try #require(try TinyDisk())
        defer { withExtendedLifetime(disk) {} }
        let path = disk.path + "/store"
        func open() throws -> Replica {
            try Replica.open(
                at: path, model: SyncWorld.usualModel,
                dependencies: .seeded(0, clock: ManualClock()))
        }
        var replica = try open()
        let (stored, code) = Self.fill(replica)
        #expect(code == .diskFull)
        // Refused because it was full, and not long before.
        #expect(stored >= 5)
        let free = try disk.freeBytes
        #expect(free < 8 * Self.big.count, "\(free) bytes were free after \(stored) documents")
        // Now for the smallest things too, identity.json among them.
        try Self.fillUp(disk).close()
        try Self.expectWhole(replica, stored)
        try replica.close()

        replica = try open()
        try Self.expectWhole(replica, stored)
        expect(.diskFull) { try Self.put(replica, stored) }
        #expect(disk.grow())
        let (more, _) = Self.fill(replica, from: stored)
        #expect(more > stored)
        try Self.expectWhole(replica, more)
        try replica.close()

        let identity = try #require(try StoreIdentity.find(in: path).identity)
        #expect(identity.position <= Position(UInt64(more + 2)))
        let again = try open()
        try Self.expectWhole(again, more)
        try again.close()
    }

    @Test(.enabled(if: TinyDisk.isPossible, "\(TinyDisk.reason)"))
    func `to make a store, none is made, and it is when there is`() throws {
        let disk = try #require(try TinyDisk())
        defer { withExtendedLifetime(disk) {} }
        let rest = try Self.fillUp(disk)
        let bytes = try rest.offset()
        func open() throws -> Replica {
            try Replica.open(
                at: disk.path + "/store", model: SyncWorld.usualModel,
                dependencies: .seeded(0, clock: ManualClock()))
        }
        // A little more room each time: the creation gets further each time.
        for pages in 0..<24 {
            try rest.truncate(atOffset: bytes - UInt64(pages * 4096))
            do { try open().close() } catch let error as TidemarkError {
                #expect(error.code == .diskFull, "\(pages): \(error)")
            }
        }
        try rest.truncate(atOffset: 0)
        try rest.close()
        let replica = try open()
        try Self.put(replica, 0)
        try Self.expectWhole(replica, 1)
        try replica.close()
    }

    @Test func `that the file may take, what was acknowledged is there, and writing goes on`()
        async throws
    {
        let store = try OpeningStore(commits: 0)
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            let replica = try OpeningStore.openExisting(path)
            let unlimited = limitFiles(to: 400_000)
            let (stored, code) = Self.fill(replica)
            #expect(code == .fileTooLarge)
            #expect(stored >= 3)
            try Self.expectWhole(replica, stored)

            limitFiles(to: unlimited)
            try Self.put(replica, stored)
            try Self.expectWhole(replica, stored + 1)
            try replica.close()
            let again = try OpeningStore.openExisting(path)
            try Self.expectWhole(again, stored + 1)
            try again.close()
        }
    }

    @Test func `that the file may take, a store with a missing file opens, and files can be used`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        await #expect(processExitsWith: .success) { [path = (folder / "store") as String] in
            try Self.useFiles(path)
        }
    }

    /// Uses files, and opens the store, while nothing can be written to its data.
    private static func useFiles(_ path: String) throws {
        let (clock, key) = (ManualClock(), EntityKey("tasks", "1"))
        var tasks = CollectionModel("tasks")
        // Uses are noted where they decide what is removed.
        tasks.contents = [ContentRule("photo", quotaBytes: 100)]
        let replica = try Replica.open(
            at: path, model: SyncModel(name: "m", collections: [tasks]),
            dependencies: .seeded(2, clock: clock))
        let content = try replica.importText("tea")
        let document = JSONValue.object(["photo": content]).encoded()
        try replica.write { tx in _ = try tx.put(key, document) }
        let position = try replica.position
        clock.advance(by: .seconds(90_000))
        // Less than the data has, and more than the file of locks.
        let unlimited = limitFiles(to: 32_768)
        expect(.fileTooLarge) { try put(replica, 0) }

        let file = try #require(try replica.useFiles(of: key).first?.stored?.path)
        #expect(try replica.position == position)

        try FileManager.default.removeItem(atPath: file)
        try replica.close()
        func open() throws -> Replica {
            try Replica.open(existing: path, dependencies: .seeded(2, clock: clock))
        }
        let again = try open()
        #expect(try again.position == position)
        #expect(try again.read { try $0.document(key) } != nil)
        limitFiles(to: unlimited)
        try again.close()

        let last = try open()
        #expect(try last.position == position.next)
        #expect(try last.useFiles(of: key).first?.stored == nil)

        // It is taken in, and noted once there is room.
        limitFiles(to: 32_768)
        #expect(try last.importText("tea") == content)
        #expect(try last.position == position.next)
        limitFiles(to: unlimited)
        #expect(FileManager.default.fileExists(atPath: file))
        #expect(try last.importText("tea") == content)
        #expect(try last.read { try $0.files(of: key) }.first?.stored?.path == file)
        try last.close()
    }

    @Test func `that the file may take, a model with one more index is taken, and goes without it`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        await #expect(processExitsWith: .success) { [path = (folder / "store") as String] in
            try Self.addIndex(path)
        }
    }

    /// Opens a store with one more index, for which there is no room, and again when there is.
    private static func addIndex(_ path: String) throws {
        let index: IndexModel = ["title"]
        func open(_ indexes: [IndexModel]) throws -> Replica {
            try Replica.open(
                at: path,
                model: SyncModel(
                    name: "m", collections: [CollectionModel("tasks", indexes: indexes)]),
                dependencies: .seeded(2, clock: ManualClock()))
        }
        func hasIndex(_ replica: Replica) throws -> Bool {
            try replica.journal.read { try $0.hasIndex(index, in: "tasks") }
        }
        let replica = try open([])
        try replica.write { tx in
            for number in 0..<7_000 {
                let json = #"{"title":"the title of number \#(number)"}"#
                _ = try tx.put(EntityKey("tasks", "t\(number)"), Array(json.utf8))
            }
        }
        try replica.close()
        let data = try Data(contentsOf: URL(filePath: path + "/data.mdb"))

        let unlimited = limitFiles(to: UInt64(data.count + 163_840))
        let full = try open([index])
        #expect(try full.registration?.model["tasks"]?.indexes == [index])
        #expect(try !hasIndex(full))
        try full.write { tx in _ = try tx.put(EntityKey("tasks", "t1"), Array("{}".utf8)) }
        limitFiles(to: unlimited)
        try full.close()

        let again = try open([index])
        #expect(try hasIndex(again))
        #expect(try again.journal.verify().findings == [])
        try again.close()
    }

    @Test func `that the file may take, an update says what for, and is made when there is`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        await #expect(processExitsWith: .success) { [path = (folder / "store") as String] in
            let unlimited = try Self.limitOutdated(path, hasFormer: false)
            expect(.fileTooLarge) { try OpeningStore.openExisting(path).close() }
            let error = #expect(throws: TidemarkError.self) {
                try OpeningStore.openExisting(path).close()
            }
            let why = "another version made the store's tables, and there is no room to make them"
            #expect(error?.message.contains(why) == true, "\(String(describing: error))")
            let reader = try Replica.open(reading: path)
            #expect(try Self.count(reader) == 7_000)
            try reader.close()

            limitFiles(to: unlimited)
            let updated = try OpeningStore.openExisting(path)
            #expect(try Self.count(updated) == 7_000)
            try updated.close()
        }
    }

    @Test func `that the file may take, an update has that of rows which a rebuild left`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        await #expect(processExitsWith: .success) { [path = (folder / "store") as String] in
            let unlimited = try Self.limitOutdated(path, hasFormer: true)
            let updated = try OpeningStore.openExisting(path)
            #expect(try Self.count(updated) == 7_000)
            limitFiles(to: unlimited)
            #expect(try updated.journal.verify().findings == [])
            try updated.close()
        }
    }

    private static func count(_ replica: Replica) throws -> Int {
        var count = 0
        try replica.read { context in
            try context.forEachDocument(in: "tasks") { _, _, _ in
                count += 1
                return true
            }
        }
        return count
    }

    /// Makes a store as an earlier version left it, and has its file hardly grow.
    ///
    /// - Parameter hasFormer: whether the rows that a rebuild before replaced are still there.
    /// - Returns: what was the most before.
    private static func limitOutdated(_ path: String, hasFormer: Bool) throws -> UInt64 {
        let replica = try Replica.open(
            at: path, model: SyncWorld.usualModel, dependencies: .seeded(2, clock: ManualClock()))
        try replica.write { tx in
            for number in 0..<7_000 {
                _ = try tx.put(EntityKey("tasks", "t\(number)"), Array("{}".utf8))
            }
        }
        let views = replica.journal.views
        try replica.journal.environment.write { transaction in
            var state = try views.state(transaction) ?? ViewTables.State()
            if hasFormer {
                let live = state.generation
                var rows: RowChanges = []
                for tree in Tree.allCases {
                    try views.scan(tree, live, transaction) { key, value in
                        rows.append((RowKey(tree, key), value))
                        return true
                    }
                }
                try views.write(rows, live.other, transaction)
            }
            state.fingerprints = [9, 9, 9, 9]
            try views.setState(state, transaction)
        }
        try replica.close()
        let data = try Data(contentsOf: URL(filePath: path + "/data.mdb"))

        // Half of what a second set of tables takes.
        return limitFiles(to: UInt64(data.count + 700_000))
    }
}
