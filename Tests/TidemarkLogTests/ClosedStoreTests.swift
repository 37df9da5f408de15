// ClosedStoreTests.swift — a store that nobody has written to since it was closed is opened without
// a look at its pages; any other is looked at.

import Foundation
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `a store that was closed` {
    private let folder: URL
    private var path: String { folder.path }
    private var data: String { path + "/data.mdb" }
    private var identity: String { path + "/identity.json" }

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-closed-\(UUID().uuidString)")
        let opened = try open()
        for _ in 0..<8 {
            try opened.environment.write { transaction in
                let log = EventLog(opened.environment)
                var edge = try log.edge(transaction)
                _ = try log.append([sampleEvent(1)], views: [], edge: &edge, transaction)
            }
        }
        try opened.guardian.close(opened.environment)
    }

    private func open(boot: String? = "boot") throws -> StoreGuard.Opened {
        try StoreGuard.open(
            path, Environment.Options(tables: EventLog.tableNames, mapBytes: 16 << 20),
            StoreOpening(bootID: boot) { "id" })
    }

    private func closed() throws -> FileMark? {
        try StoreIdentity.find(in: path).identity?.closed
    }

    /// Makes the first page of the free list another one; the file's times stay, so that it looks
    /// as if nobody had written to it.
    private func damageFreeList() throws {
        var bytes = try [UInt8](Data(contentsOf: URL(filePath: data)))
        func number(_ offset: Int) -> UInt64 {
            bytes[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let newest = number(144) > number(4096 + 144) ? 0 : 4096
        let root = Int(number(newest + 80))
        bytes[root * 4096] ^= 0xFF
        let times = try times(data)
        let file = try FileHandle(forUpdating: URL(filePath: data))
        try file.seek(toOffset: UInt64(root * 4096))
        try file.write(contentsOf: [bytes[root * 4096]])
        try file.close()
        try setTimes(data, times)
    }

    private func times(_ path: String) throws -> [timespec] {
        var status = stat()
        try #require(unsafe stat(path, &status) == 0)
        #if os(Linux)
            return [status.st_atim, status.st_mtim]
        #else
            return [status.st_atimespec, status.st_mtimespec]
        #endif
    }

    private func setTimes(_ path: String, _ times: [timespec]) throws {
        try #require(unsafe utimensat(AT_FDCWD, path, times, 0) == 0)
    }

    /// Makes identity.json so much younger than the data.
    private func age(identityBy milliseconds: Int) throws {
        var times = try times(data)
        for index in times.indices {
            times[index].tv_nsec += milliseconds * 1_000_000
            times[index].tv_sec += times[index].tv_nsec / 1_000_000_000
            times[index].tv_nsec %= 1_000_000_000
        }
        try setTimes(identity, times)
    }

    private func isRefused(boot: String? = "boot") throws -> Bool {
        do {
            let opened = try open(boot: boot)
            try opened.guardian.close(opened.environment)
            return false
        } catch let error as StoreError {
            #expect(error.code == .damaged)
            return true
        }
    }

    @Test func `says how the last commit left its file`() throws {
        let mark = try #require(try closed())
        #expect(try mark.bytes == Data(contentsOf: URL(filePath: data)).count)
        let opened = try open()
        #expect(try closed() == nil)
        try opened.guardian.close(opened.environment)
        #expect(try closed() == mark)
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `is not looked at again while nobody writes to it`() throws {
        try damageFreeList()
        try age(identityBy: 20)
        #expect(try !isRefused())
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `is looked at when a write may have come within the same tick`() throws {
        try damageFreeList()
        try age(identityBy: 19)
        #expect(try isRefused())
        try FileManager.default.removeItem(at: folder)
    }

    @Test(arguments: ["later", "other", nil] as [String?])
    func `is looked at after another write, another start, or one that is not known`(
        _ change: String?
    ) throws {
        try damageFreeList()
        try age(identityBy: 1000)
        if change == "later" {
            var times = try times(data)
            times[1].tv_sec -= 1
            try setTimes(data, times)
        }
        #expect(try isRefused(boot: change == "later" ? "boot" : change))
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `is looked at where neither start has a name`() throws {
        let opened = try open(boot: "")
        try opened.guardian.close(opened.environment)
        try damageFreeList()
        try age(identityBy: 1000)
        #expect(try isRefused(boot: ""))
        try FileManager.default.removeItem(at: folder)
    }

    @Test func `is looked at when somebody else wrote to it while it was open`() throws {
        let opened = try open()
        var times = try times(data)
        times[1].tv_sec += 1
        try setTimes(data, times)
        try opened.environment.write {
            try EventLog(opened.environment).setIdentity(
                opened.guardian.identity, $0)
        }
        try opened.guardian.close(opened.environment)
        #expect(try closed() == nil)
        try FileManager.default.removeItem(at: folder)
    }
}
