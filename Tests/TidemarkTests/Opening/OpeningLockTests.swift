// OpeningLockTests.swift — one process writes a store, any number read it.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a store that is open for writing` {
    let store: OpeningStore

    init() throws {
        store = try OpeningStore()
        try store.changeIdentity { $0.device = nil }
    }

    private func open() throws -> Replica { try OpeningStore.openExisting(store.path) }

    @Test func `is busy for another process, which names the one that has it`() async throws {
        let replica = try open()
        let holder = getpid()
        await #expect(processExitsWith: .success) {
            [path = store.path as String, holder = holder as Int32] in
            expectRefusal(.busy, "process \(holder) has") { try OpeningStore.openExisting(path) }
            expect(.busy) { _ = try Replica.adopt(at: path) }
        }
        try OpeningStore.put(replica, 100)
        try await replica.close()
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            try OpeningStore.openExisting(path).close()
        }
    }

    @Test(.enabled(if: SyncTool.isThere, SyncTool.missing))
    func `makes the tool wait, or say that it is busy`() async throws {
        let replica = try open()
        let path = store.path
        async let waiting = SyncTool.run("put", path, "tasks/w", "{}", "--wait", "3600")
        for verb in [["put", path, "tasks/x", "{}"], ["rebuild", path], ["adopt", path]] {
            let refused = try await SyncTool.run(verb + ["--wait", "0"])
            #expect(refused.code == 2, "\(verb)")
            #expect(refused.err.contains("process \(getpid()) has"), "\(refused.err)")
        }
        try OpeningStore.put(replica, 100)
        try await replica.close()

        let ended = try await waiting
        #expect(ended.code == 0, "\(ended.err)")
        #expect(ended.out.hasPrefix("@9 "), "after what was written meanwhile")
    }

    @Test func `waits for who reads it in the same process, or says that it is read`() throws {
        let reader = try Replica.open(reading: store.path)
        expectRefusal(.busy, "open to read only") { try open() }
        #expect(try store.identity.opening == nil)

        let path = store.path
        Thread.detachNewThread { try? reader.close() }
        try OpeningStore.openExisting(path, waiting: .seconds(3600)).close()
    }

    @Test func `waits in the API as long as it is told`() throws {
        let lock = try DirectoryLock(store.path)
        let start = ContinuousClock().now
        let longest = Duration.milliseconds(200)
        expectRefusal(.busy) { try OpeningStore.openExisting(store.path, waiting: longest) }
        #expect(ContinuousClock().now - start >= longest)

        let path = store.path
        Thread.detachNewThread { lock.release() }
        try OpeningStore.openExisting(path, waiting: .seconds(3600)).close()
    }

    @Test func `or read by a process of the same number, as of another container, is busy`()
        async throws
    {
        // LMDB locks the byte that has a process's number: here those of all are taken.
        let file = try FileHandle(forUpdating: URL(filePath: store.file("lock.mdb")))
        var numbers = flock()
        numbers.l_type = Int16(F_WRLCK)
        numbers.l_start = 1
        numbers.l_len = 1 << 30
        let code = unsafe fcntl(file.fileDescriptor, F_SETLK, &numbers)
        #expect(code == 0)
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            let words = "another process that is number \(getpid()), too"
            expectRefusal(.busy, words, "shareProcessNamespace") {
                try OpeningStore.openExisting(path, waiting: .seconds(3600))
            }
            expectRefusal(.busy, words) { try Replica.open(reading: path) }
        }
        try file.close()
        #expect(try store.identity.opening == nil)
        try await open().close()
    }

    @Test func `stays so when its files are renamed or deleted`() async throws {
        let replica = try open()
        try store.remove("lock.mdb")
        try store.remove(OpeningStore.identityName)
        try FileManager.default.moveItem(
            atPath: store.file(OpeningStore.dataName), toPath: store.file("elsewhere"))
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            expectRefusal(.busy, "another process has") { try OpeningStore.openExisting(path) }
        }
        try await replica.close()
    }

    @Test func `is free again at once when its process was killed`() async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = store.path as String] in
            let replica = try OpeningStore.openExisting(path)
            try replica.write { tx in
                _ = try tx.put(EntityKey("tasks", "killed"), Array("{}".utf8))
            }
            try replica.journal.environment.write { _ in _ = kill(getpid(), SIGKILL) }
        }
        let replica = try open()
        #expect(try replica.read { $0.position } == Position(8))
        try OpeningStore.put(replica, 100)
        try await replica.close()
    }

    @Test func `is shared by all who open it in the same process, until the last closes it`()
        async throws
    {
        let link = store.folder / "link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: store.path)
        let first = try open()
        let second = try OpeningStore.openExisting(link)
        try OpeningStore.put(first, 100)
        try OpeningStore.put(second, 101)
        try await first.close()
        expect(.closed) { try first.close() }

        await #expect(processExitsWith: .success) { [path = store.path as String] in
            expectRefusal(.busy) { try OpeningStore.openExisting(path) }
        }
        #expect(try second.read { $0.position } == Position(9))
        try await second.close()
        #expect(try store.identity.opening == nil)
        #expect(try store.identity.position == Position(9))
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            try OpeningStore.openExisting(path).close()
        }
    }

    @Test func `is free when nobody holds it any more, closed or not`() async throws {
        do { _ = try open() }
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            try OpeningStore.openExisting(path).close()
        }
        try await open().close()
    }

    @Test func `is opened and closed by many threads at once`() async throws {
        let path = store.path
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<16 {
                group.addTask {
                    for round in 0..<10 {
                        let replica = try OpeningStore.openExisting(path)
                        try OpeningStore.put(replica, 1000 + number * 100 + round)
                        try replica.close()
                    }
                }
            }
            try await group.waitForAll()
        }
        let identity = try store.identity
        #expect(identity.position == Position(167))
        #expect(identity.opening == nil)
    }
}
