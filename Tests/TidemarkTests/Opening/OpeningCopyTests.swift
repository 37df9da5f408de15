// OpeningCopyTests.swift — a copy of a store that is in use opens, and is whole; so is what is
// salvaged of one.

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

@Suite struct `a copy of a store that is open` {
    @Test func `is that store at one moment, while others write`() throws {
        let store = try OpeningStore()
        let replica = try store.open()
        let goesOn = Lock(true)
        let writing = Background<Int> {
            var number = 100
            while goesOn.withLock(\.self) {
                _ = try? OpeningStore.put(replica, number)
                number += 1
            }
            return number - 100
        }
        defer { goesOn.withLock { $0 = false } }

        for number in 0..<5 {
            let path = store.folder / "copy\(number)"
            let last = try replica.copy(to: path)

            let copy = try Replica.open(reading: path)
            #expect(try copy.read { $0.position } == last)
            try copy.close()
            #expect(try Journal.verifyStore(at: path, .deep).problems == [])
        }
        goesOn.withLock { $0 = false }
        #expect(writing.value > 0)
        try replica.close()
    }

    @Test func `opens as the same store, and goes on from there`() throws {
        let store = try OpeningStore(account: "me")
        let replica = try store.open(account: "me")
        let path = store.folder / "copy"
        let last = try replica.copy(to: path)
        try OpeningStore.put(replica, 100)
        try replica.close()

        let identity = try #require(try StoreIdentity.find(in: path).identity)
        let known = try store.identity
        #expect(identity.position == last && identity.opening == nil)
        #expect(identity.storeID == known.storeID && identity.account == "me")
        let copy = try store.open(account: "me", at: path)
        try OpeningStore.put(copy, 101)
        #expect(try copy.read { $0.position } > last)
        try copy.close()
        #expect(try Journal.verifyStore(at: path, .deep).problems == [])
    }

    @Test func `is made by who only reads it, too`() throws {
        let store = try OpeningStore()
        let replica = try store.open()
        try OpeningStore.put(replica, 100)
        let reader = try Replica.open(reading: store.path)

        let last = try reader.copy(to: store.folder / "copy")

        #expect(try replica.read { $0.position } == last)
        try reader.close()
        try replica.close()
        try store.open(at: store.folder / "copy").close()
    }

    /// A store with an entity that has a file.
    private func withFile(in folder: SyncFolder) throws -> Replica {
        var files = CollectionModel("files")
        files.contents = [.init("content")]
        let replica = try Replica.open(
            at: folder / "store", model: SyncModel(name: "m", collections: [files]),
            dependencies: .seeded(0, clock: ManualClock()))
        let content = try replica.importText("tea")
        try replica.write { tx in
            _ = try tx.create(
                EntityKey("files", "a"), JSONValue.object(["content": content]).encoded())
        }
        return replica
    }

    @Test func `has the files of its entities, also of those that go meanwhile`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try withFile(in: folder)
        let files = ContentFiles(of: folder / "store")
        let names = try files.digests()
        #expect(names.count == 1)

        try replica.copy(to: folder / "copy") { _ in
            for name in names { try? files.remove(name) }
        }

        try replica.close()
        #expect(try files.digests() == [])
        #expect(try ContentFiles(of: folder / "copy").digests() == names)
        #expect(try Journal.verifyStore(at: folder / "copy", .deep).problems == [])
    }

    @Test func `is not made where a file of an entity can't be read`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try withFile(in: folder)
        let files = ContentFiles(of: folder / "store")
        let path = try files.path(of: try #require(try files.digests().first))
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)

        #expect(throws: TidemarkError.self) { try replica.copy(to: folder / "copy") }

        try replica.close()
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left == ["store"])
    }

    @Test func `is not made where the store went away meanwhile`() throws {
        let store = try OpeningStore()
        let replica = try Replica.open(reading: store.path)
        let moved = store.folder / "moved"

        expect(.lost) {
            try replica.copy(to: store.folder / "copy") { _ in
                try? FileManager.default.moveItem(atPath: store.path, toPath: moved)
                try? FileManager.default.createDirectory(
                    atPath: store.path, withIntermediateDirectories: false)
            }
        }

        try replica.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(Set(names) == ["store", "moved"])
    }

    @Test(.enabled(if: geteuid() == 0, "only user 0 may give files away"))
    func `is of who owns the store`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try withFile(in: folder)
        let code = unsafe lchown(folder / "store", 4711, 4712)
        #expect(code == 0)

        try replica.copy(to: folder / "copy")

        let copy = folder / "copy"
        let below = try FileManager.default.subpathsOfDirectory(atPath: copy).map { "/\($0)" }
        #expect(below.count > 3)
        for path in [""] + below {
            var status = stat()
            let code = unsafe lstat(copy + path, &status)
            #expect(code == 0 && status.st_uid == 4711 && status.st_gid == 4712, "\(path)")
        }
        try replica.close()
    }

    @Test func `is not made where another one is, but in the place of one that was cut off`()
        throws
    {
        let store = try OpeningStore()
        let replica = try store.open()
        let path = store.folder / "copy"
        let left = path + ".tidemark-making"
        try FileManager.default.createDirectory(
            atPath: left, withIntermediateDirectories: false)
        try Data("half".utf8).write(to: URL(filePath: left + "/data.mdb"))

        try replica.copy(to: path) { _ in expect(.busy) { try replica.copy(to: path) } }

        try replica.close()
        let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(Set(names) == ["store", "copy"])
        #expect(try Journal.verifyStore(at: path, .deep).problems == [])
        try store.open(at: path).close()
    }

    @Test(
        .enabled(if: SyncTool.isThere, SyncTool.missing),
        .enabled(if: FaultShim.isPossible, FaultShim.missing))
    func `is there where nothing failed, and else is not, whichever call fails`() async throws {
        let store = try OpeningStore()
        let folder = try SyncFolder()
        defer { folder.delete() }
        let shim = try #require(try FaultShim(in: folder))
        let tool = try #require(SyncTool.path)
        let copy = store.folder / "copy"
        var (number, isReached) = (0, true)
        while isReached, number < 100 {
            number += 1
            let run = try await shim.run(
                tool, ["copy", store.path, "-o", copy], .inputOutput, at: number,
                calls: "fsync rename")
            isReached = run.isReached
            let isMade = run.ended.code == 0
            let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
            #expect(Set(names) == (isMade ? ["store", "copy"] : ["store"]), "\(number)")
            if isMade { try FileManager.default.removeItem(atPath: copy) }
        }
        #expect((4..<100).contains(number), "\(number) calls were tried")
    }

    @Test func `is not made where something is, and leaves nothing where it fails`() throws {
        let store = try OpeningStore()
        let replica = try store.open()
        expect(.invalidPath) { try replica.copy(to: store.path) }
        let copy = store.folder / "copy"
        try Data().write(to: URL(filePath: copy))
        expect(.invalidPath) { try replica.copy(to: copy) }

        try replica.close()
        expect(.closed) { try replica.copy(to: store.folder / "other") }

        let names = try FileManager.default.contentsOfDirectory(atPath: store.folder / "")
        #expect(Set(names) == ["store", "copy"])
    }
}

@Suite struct `a store that is salvaged` {
    @Test func `is made where nobody else makes one meanwhile`() throws {
        let store = try OpeningStore()
        let new = store.folder / "new"
        func salvage(_ progress: (String) throws -> Void = { _ in }) throws -> SalvageReport {
            try SalvageReport.salvage(
                store.path, to: new, withUnproven: false, .seeded(0, clock: ManualClock()),
                progress: progress)
        }

        var refused = 0
        let report = try salvage { step in
            guard step.hasPrefix("folding") || step == "copying files" else { return }
            refused += 1
            #expect {
                _ = try salvage()
            } throws: { error in
                (error as? StoreError)?.code == .busy
            }
        }

        #expect(refused == 2 && report.isComplete)
        let names = try FileManager.default.contentsOfDirectory(atPath: store.folder.path)
        #expect(Set(names) == ["store", "new"])
        #expect(try Journal.verifyStore(at: new, .deep).problems == [])
    }
}
