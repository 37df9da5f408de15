// OpeningFilesTests.swift — files that are gone, cut, damaged, linked, or not ours to touch.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

@Suite struct `opening a store whose files` {
    let store: OpeningStore

    init() throws { store = try OpeningStore() }

    private func expectReading(_ code: StoreError.Code) {
        #expect { try Journal.open(at: store.path, readOnly: true) } throws: { error in
            (error as? StoreError)?.code == code
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only user 0 may give files away"))
    func `are another user's leaves them that one's when user 0 does it`() throws {
        func paths() throws -> [String] {
            try [""] + FileManager.default.subpathsOfDirectory(atPath: store.path).map { "/\($0)" }
        }
        for path in try paths() {
            let code = unsafe lchown(store.path + path, 4711, 4712)
            #expect(code == 0)
        }
        let file = store.folder / "file"
        try Data("tea".utf8).write(to: URL(filePath: file))

        _ = try store.adopt()
        let replica = try store.open()
        _ = try replica.importFile(at: file)
        try OpeningStore.put(replica, 100)

        #expect(try paths().count > 5)
        for path in try paths() {
            var status = stat()
            let code = unsafe lstat(store.path + path, &status)
            #expect(code == 0 && status.st_uid == 4711 && status.st_gid == 4712, "\(path)")
        }
        try replica.close()
    }

    @Test func `are not there at all says so`() throws {
        let nowhere = store.folder / "nowhere"
        expectRefusal(.noStore, nowhere) { try Replica.open(existing: nowhere) }
        #expect(!FileManager.default.fileExists(atPath: nowhere))

        try FileManager.default.createDirectory(
            atPath: nowhere, withIntermediateDirectories: false)
        expectRefusal(.noStore, nowhere) { try Replica.open(existing: nowhere) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: nowhere) == [])
    }

    @Test(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    func `get no number of a standard stream that is closed, and leave it closed`() throws {
        let child = try #require(BuiltProgram.crashChild.path)
        let told = store.folder / "told"
        let line = "'\(child)' streams '\(store.path)' '\(told)' <&- >&- 2>&-"

        let ended = try Command.run("/bin/bash", ["-c", line])

        #expect(ended.code == 0)
        let text = try String(contentsOf: URL(filePath: told), encoding: .utf8)
        #expect(text == "before []\nmeanwhile []\nafter []")
    }

    @Test func `lack the data is a lost store, not a new one`() throws {
        try store.remove(OpeningStore.dataName)
        let before = try store.bytes(OpeningStore.identityName)

        expectRefusal(.lost, "data.mdb is missing", "@7") { try store.open() }
        expectReading(.lost)
        #expect(try store.bytes(OpeningStore.identityName) == before)
        #expect(!FileManager.default.fileExists(atPath: store.file(OpeningStore.dataName)))
    }

    @Test func `have no data in them are a lost store`() throws {
        try store.setLength(OpeningStore.dataName, 0)

        expectRefusal(.lost, "is empty") { try store.open() }
        expectReading(.lost)
        #expect(try store.bytes(OpeningStore.dataName) == [])
    }

    @Test func `were cut off are damaged`() throws {
        let replica = try store.open()
        try replica.write { tx in
            for number in 0..<400 {
                _ = try tx.put(EntityKey("tasks", "x\(number)"), Array("{}".utf8))
            }
        }
        try replica.close()
        let bytes = try store.bytes(OpeningStore.dataName).count
        for length in [bytes - 4096, bytes - 1, 8192, 4096, 8191, 1] {
            try store.setLength(OpeningStore.dataName, length)

            expectRefusal(.damaged, "data.mdb") { try store.open() }
            expectReading(.damaged)
        }
    }

    @Test(arguments: [[0], [1], [0, 1]])
    func `have a damaged meta page say which`(_ pages: [Int]) throws {
        for page in pages {
            try store.overwrite(
                OpeningStore.dataName, at: page * 4096 + 16, Array("damage".utf8))
        }

        let words =
            pages.count == 2
            ? "two damaged meta pages" : "damaged \(pages == [0] ? "first" : "second") meta page"
        expectRefusal(.damaged, words) { try store.open() }
        expectReading(.damaged)
    }

    @Test(arguments: ["data.mdb", "identity.json", "lock.mdb"])
    func `are links are refused, and nothing is followed`(_ name: String) throws {
        let moved = store.folder / name
        try FileManager.default.moveItem(atPath: store.file(name), toPath: moved)
        try FileManager.default.createSymbolicLink(
            atPath: store.file(name), withDestinationPath: moved)
        let before = try Data(contentsOf: URL(filePath: moved))

        expectRefusal(.invalidPath, name, "symbolic link") { try store.open() }
        #expect(try Data(contentsOf: URL(filePath: moved)) == before)
    }

    @Test func `have a second name are refused, because writing would change both`() throws {
        let other = store.folder / "second"
        try FileManager.default.linkItem(
            atPath: store.file(OpeningStore.dataName), toPath: other)

        expectRefusal(.invalidPath, "2 names") { try store.open() }

        try FileManager.default.removeItem(atPath: other)
        try store.open().close()
    }

    @Test func `others may touch are made private`() throws {
        let manager = FileManager.default
        for name in ["data.mdb", "identity.json", "lock.mdb"] {
            try manager.setAttributes(
                [.posixPermissions: 0o664], ofItemAtPath: store.file(name))
        }

        let replica = try store.open()

        for name in ["data.mdb", "identity.json", "lock.mdb"] {
            let attributes = try manager.attributesOfItem(atPath: store.file(name))
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        let attributes = try manager.attributesOfItem(atPath: store.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        try replica.close()
    }

    @Test func `may not be touched by this user says so`() async throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755], ofItemAtPath: store.folder.path)
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            if geteuid() == 0 { try #require(seteuid(65534) == 0) }
            expectRefusal(.notPermitted) { try OpeningStore.openExisting(path) }
        }
    }

    @Test func `may be read by this user but not written are read, and writing is refused`()
        async throws
    {
        let manager = FileManager.default
        for (path, mode) in [(store.folder.path, 0o755), (store.path, 0o555)] {
            try manager.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        for name in ["data.mdb", "identity.json", "lock.mdb"] {
            try manager.setAttributes(
                [.posixPermissions: 0o444], ofItemAtPath: store.file(name))
        }
        let before = try store.trace()

        await #expect(processExitsWith: .success) { [path = store.path as String] in
            if geteuid() == 0 { try #require(seteuid(65534) == 0) }
            expectRefusal(.notPermitted) { try OpeningStore.openExisting(path) }
            let journal = try Journal.open(at: path, readOnly: true)
            #expect(try journal.read { $0.last } == Position(7))
            try journal.close()
        }
        #expect(try store.trace() == before)
        try manager.setAttributes([.posixPermissions: 0o755], ofItemAtPath: store.path)
    }

    @Test func `are only read stay as they are, also beside a writer`() async throws {
        let before = try store.trace()
        func readAll() throws {
            let reader = try Journal.open(at: store.path, readOnly: true)
            #expect(try reader.read { $0.last } == Position(7))
            #expect(try reader.verify().findings == [])
            try reader.close()
        }
        try readAll()
        #expect(try store.trace() == before)

        let writer = try store.open()
        let during = try store.trace()
        try readAll()
        if SyncTool.isThere {
            #expect(try await SyncTool.run("verify", store.path).code == 0)
            #expect(try await SyncTool.run("list", store.path).lines.count == 5)
        }
        #expect(try store.trace() == during)
        try await writer.close()
    }
}
