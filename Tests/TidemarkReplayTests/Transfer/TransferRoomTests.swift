// TransferRoomTests.swift — a disk without room for what is fetched: nothing more is fetched, all
// else goes on.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension TransferWorld {
    /// Files are fetched and sent by the same field.
    fileprivate static func filling() throws -> TransferWorld {
        let world = try TransferWorld(
            ContentRule("photo", when: .all, upload: "/files/{sha256}"))
        world.files.takeFiles(below: Self.origin + "/files")
        return world
    }

    /// From now on there is no room for what is fetched.
    fileprivate func fill() {
        files.fault = { request, answer throws(TransportError) in
            guard request.method == .get else { return answer }
            throw TransportError(.diskFull, detail: "no space left on device")
        }
    }

    /// The files in the making.
    fileprivate var parts: [String] { get throws { try ContentFiles(of: path).partNames() } }

    fileprivate func count(_ method: HTTPRequest.Method) -> Int {
        files.requests.count { $0.method == method }
    }
}

@Suite struct `a disk that is full` {
    @Test func `ends what is fetched, and not what is sent, and is said in the outcome`()
        async throws
    {
        let world = try TransferWorld.filling()
        try world.serve(20)
        world.fill()

        let outcome = try await world.engine.transfer()

        #expect(outcome.failure == .diskFull("no space left on device"))
        #expect(outcome.failed == 1 && outcome.stored == 0 && world.count(.get) == 1)
        #expect(outcome.nextAt == world.world.clock.now.adding(seconds: 5))
        #expect(try world.events == ["diskFull"])

        try world.attach("tea", to: "own")
        let second = try await world.engine.transfer()
        #expect(second.sent == 1 && second.failure?.name == "diskFull")

        world.files.fault = nil
        world.world.clock.advance(by: .seconds(20))
        let last = try await world.engine.transfer()
        #expect(last.stored == 20 && last.failure == nil)
        try await world.expectSound()
    }

    @Test func `is tried again after longer and longer pauses, in which files are sent`()
        async throws
    {
        let world = try TransferWorld.filling()
        try world.serve(20)
        world.fill()
        await world.engine.start(.none)
        for (number, seconds) in [5, 10, 20].enumerated() {
            #expect(await world.world.clock.firstSleep() == .seconds(seconds))
            #expect(world.count(.get) == number + 1)
            if seconds < 20 { world.world.clock.advance(by: .seconds(seconds)) }
        }

        try world.attach("tea", to: "own")
        while world.count(.put) == 0 { await Task.yield() }
        #expect(try await world.engine.sync().failure == nil)
        #expect(world.count(.get) == 3)

        world.files.fault = nil
        world.world.clock.advance(by: .seconds(20))
        while try world.text("20") == nil { await Task.yield() }
        await world.engine.stop()
    }
}

@Suite struct `a log that has no room for a request` {
    @Test func `has nothing of it in use, so that its file can be dropped once it came`() async {
        await #expect(processExitsWith: .success) {
            let world = try TransferWorld(ContentRule("photo"))
            let key = EntityKey("tasks", "1")
            world.serve("/files/1", "tea")
            // The remote is logged.
            _ = try await world.engine.transfer()
            try world.name("/files/1")
            try await world.replica.write { tx in _ = try tx.wantFiles(of: key) }

            // Less than comes before the first page of data.
            let most = limitFiles(to: 8_192)
            let error = await #expect(throws: TidemarkError.self) {
                try await world.engine.transfer()
            }
            #expect(error?.code == .fileTooLarge && world.asked == [])
            limitFiles(to: most)

            #expect(try await world.engine.transfer().stored == 1)
            #expect(try await world.replica.dropFiles(of: key) == 1)
            #expect(try world.text() == nil)
        }
    }
}

/// Writes some bytes of each file's rest, for which there is no room.
private struct Filling: Transport {
    let files: InMemoryFiles

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try await files.send(request, body: body, limits: limits)
    }

    func transfer(
        _ request: HTTPRequest, body: TransportBody?, into file: TransportFile?,
        limits: TransportLimits
    ) async throws(TransportError) -> TransportTransfer {
        var receiver = try TransportReceiver(into: file)
        let answer = try await files.send(request, body: nil, limits: limits)
        try receiver.begin(answer.response)
        guard request.headerFields[.range] == "bytes=0-3" else {
            try receiver.take(Array(answer.body.dropLast()))
            throw TransportError(.diskFull)
        }
        try receiver.take(answer.body)
        return receiver.transfer(answer.response)
    }
}

@Suite struct `parts of files on a disk that is full` {
    @Test func `have no bytes behind those that count, neither at once nor once it is opened`()
        async throws
    {
        let world = try TransferWorld()
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        let engine = try world.engine(over: Filling(files: world.files))
        #expect(try await engine.transfer().failure?.name == "diskFull")
        let part = try #require(try world.parts.first)
        let files = ContentFiles(of: world.path)
        #expect(try files.bytes(ofPart: part) == 4)

        // As a process that died leaves it.
        let path = try files.path(ofPart: part)
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("45".utf8))
        try handle.close()
        try world.reopen()
        #expect(try files.bytes(ofPart: part) == 4)

        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().stored == 1)
        #expect(try world.text() == "0123456789")
        #expect(world.asked.count { $0.hasPrefix("bytes=0-3") } == 1)
        try await world.expectSound()
    }

    /// A world with a part of each file, after which the server could not be had; then there is no
    /// room.
    private func world() async throws -> TransferWorld {
        let world = try TransferWorld()
        for id in ["1", "2", "3"] {
            world.serve("/files/\(id)", "0123456789", tag: "\"a\"")
            try world.name("/files/\(id)", by: id)
        }
        world.files.fault = { request, answer throws(TransportError) in
            guard request.headerFields[.range] == "bytes=0-3" else {
                throw TransportError(.file, detail: "a fault")
            }
            return answer
        }
        #expect(try await world.engine.transfer().failed == 3)
        #expect(try world.parts.count == 3)
        world.fill()
        world.world.clock.advance(by: .seconds(3600))
        return world
    }

    @Test func `go where nobody waits for the file, and it is begun anew once there is room`()
        async throws
    {
        let world = try await world()
        try await world.replica.write { tx in _ = try tx.wantFiles(of: EntityKey("tasks", "2")) }
        let before = world.asked.count
        await world.engine.start(.none)
        while world.asked.count == before { await Task.yield() }
        _ = await world.world.clock.firstSleep()
        await world.engine.stop()

        // The one that was asked for, and the one that somebody waits for.
        #expect(try world.parts.count <= 2)
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().stored == 3)
        #expect(world.asked.count { $0.hasPrefix("bytes=0-3") } > 3)
        try await world.expectSound()
    }

    @Test func `stay where somebody waits for all of them, but for files that nobody names`()
        async throws
    {
        let world = try await world()
        try await world.replica.write { tx in _ = try tx.delete(EntityKey("tasks", "3")) }
        #expect(try await world.engine.transfer().failure?.name == "diskFull")

        #expect(try world.parts.count == 2)
        world.files.fault = nil
        world.world.clock.advance(by: .seconds(3600))
        #expect(try await world.engine.transfer().stored == 2)
        #expect(world.asked.count { $0.hasPrefix("bytes=0-3") } == 3)
        try await world.expectSound()
    }
}

@Suite struct `a file that does not fit` {
    @Test(.enabled(if: TinyDisk.isPossible, "\(TinyDisk.reason)"))
    func `leaves room for the log, be its length told before or not`() throws {
        let disk = try #require(try TinyDisk())
        defer { withExtendedLifetime(disk) {} }
        let path = disk.path + "/part"
        try Data("1234".utf8).write(to: URL(filePath: path))
        var receiver = try TransportReceiver(into: TransportFile(path))
        try receiver.begin(HTTPResponse(status: .ok))

        let told = #expect(throws: TransportError.self) { try receiver.check(length: 2 << 20) }
        let error = #expect(throws: TransportError.self) {
            for _ in 0..<64 { try receiver.take([UInt8](repeating: 7, count: 1 << 15)) }
        }

        #expect(told?.code == .diskFull && error?.code == .diskFull)
        let free = try disk.freeBytes
        #expect((1 << 16..<1 << 17).contains(free), "\(free)")
    }

    @Test func `may be said to have any length`() throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let path = folder / "part"
        try Data().write(to: URL(filePath: path))
        var receiver = try TransportReceiver(into: TransportFile(path))
        try receiver.begin(HTTPResponse(status: .ok))

        // Darwin tells only while the bytes come that there is no room.
        _ = try? receiver.check(length: .max)
        try receiver.take([7])

        #expect(receiver.count == 1)
    }

    @Test func `comes unasked by as little as 64 others may take of the room as well`() {
        for room: Int in [0, 1, 65_536, 2 << 20, 64 << 20, 1 << 40, .max] {
            let unasked = TransportReceiver.unasked(of: room)
            #expect(unasked <= 1 << 20 && 64 * unasked <= room, "\(room)")
        }
        #expect(TransportReceiver.unasked(of: 64 << 20) == 1 << 20)
    }

    @Test func `is one that leaves less than 16 MiB, or a sixteenth of a small disk`() {
        func fits(_ bytes: Int, _ free: Int, _ size: Int) -> Bool {
            bytes << 20 <= PartFile.room(free: free << 20, of: size << 20)
        }

        #expect(fits(84, 100, 100_000) && !fits(85, 100, 100_000))
        #expect(fits(98, 100, 32) && !fits(99, 100, 32))
        #expect(!fits(0, 15, 100_000) && !fits(4_000, 3_000, 100_000))
    }
}

@Suite struct `a tree of files on a disk that is full` {
    private static let model: SyncModel = {
        var files = CollectionModel(
            "files", references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, content: "content"))
        files.contents = [.init("content")]
        return SyncModel(
            name: "files", collections: [files],
            settings: SyncSettings(budgets: .init(actions: 4, partBytes: 1 << 16)))
    }()

    @Test(.enabled(if: TinyDisk.isPossible, "\(TinyDisk.reason)"))
    func `is listed, edited and sent, and files come once there is room`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let clock = ManualClock()
        let server = WebDAVServer(WebDAVServerModel(WebDAVOptions()), clock: clock)
        let large = Array(repeating: UInt8(7), count: 2 << 20)
        server.put("P/large", large)
        server.put("P/tea", "tea")
        server.put("gone", "gone")
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        let replica = try await Replica.open(
            at: folder / "store", model: Self.model, remote: remote,
            dependencies: .seeded(0, clock: clock))
        // What is fetched has a file system of its own, the log does not.
        let disk = try #require(try TinyDisk(at: folder / "store/contents"))
        defer { withExtendedLifetime(disk) {} }
        let engine = try SyncEngine(replica, remote: remote, transport: server) {
            .basic(user: "me", password: "secret")
        }
        @Sendable func key(_ path: String) throws -> EntityKey {
            try replica.read { store in
                var found: EntityKey?
                try store.forEachDocument(in: "files") { key, _, _ in
                    if try store.path(of: key)?.joined(separator: "/") == path { found = key }
                    return found == nil
                }
                return try #require(found, "\(path)")
            }
        }
        #expect(try await engine.sync().isSynced)
        try Data("mine".utf8).write(to: URL(filePath: folder / "mine"))
        let content = try await replica.importFile(at: folder / "mine").json
        try await replica.write { tx in _ = try tx.wantFiles(of: try key("P/large")) }
        #expect(try await engine.transfer().failure?.name == "diskFull")

        // All but that goes on.
        server.put("theirs", "theirs")
        try await replica.write { tx in
            let name = Patch(set: [.init("name", Array(#""green""#.utf8))])
            _ = try tx.patch(try key("P/tea"), name)
            _ = try tx.delete(try key("gone"))
            let document: JSONObject = ["kind": "file", "name": "mine", "content": content]
            _ = try tx.create(EntityKey("files", "m"), JSONValue.object(document).encoded())
        }
        #expect(try await engine.sync().isSynced)
        #expect(
            server.entries.map(\.path).sorted() == ["P", "P/green", "P/large", "mine", "theirs"])
        #expect(server.entry("mine")?.text == "mine")
        #expect(try key("theirs").collection == "files")
        clock.advance(by: .seconds(3600))
        let outcome = try await engine.transfer()
        #expect(outcome.failure?.name == "diskFull" && outcome.stored == 0)

        #expect(disk.grow())
        clock.advance(by: .seconds(3600))
        #expect(try await engine.transfer().stored == 1)
        let stored = try replica.read { try $0.files(of: key("P/large")).first?.stored }
        let path = try #require(stored?.path)
        #expect(try Array(Data(contentsOf: URL(filePath: path))) == large)
        #expect(try replica.journal.verify(.deep).findings == [])
        try await replica.close()
        #expect(try Journal.verifyStore(at: folder / "store", .deep).findings == [])
    }
}
