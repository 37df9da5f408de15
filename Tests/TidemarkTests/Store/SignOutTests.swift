// SignOutTests.swift — the end of an account: what is refused, kept, removed, and never lost.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `signing out` {
    @Test func `refuses while changes are pending, and changes nothing`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            let replica = device.replica
            try device.put("tasks/t1", "{}")
            await device.engine.start(.none)
            let error = await #expect(throws: TidemarkError.self) {
                try await replica.signOut(ifPending: .refuse)
            }
            #expect(error?.code == .pendingChanges)
            #expect(error?.message.hasPrefix("1 change is not on the server; sync ") == true)

            try device.put("tasks/t2", "{}")
            #expect(try await device.sync().pending == 0)
            await device.engine.stop()
        }
    }

    @Test func `counts what the server refused as pending`() async throws {
        let world = SyncWorld()
        world.server.faults = FaultPlan([FaultRule(.answer(status: 400), method: .put)])
        try await SyncDevice.with(world) { device in
            try device.put("tasks/t1", "{}")
            try await device.sync()
            #expect(try device.status("tasks/t1") == .error)
            let error = await #expect(throws: TidemarkError.self) {
                try await device.replica.signOut(ifPending: .refuse)
            }
            #expect(error?.message.contains("1 of them refused by it") == true)
        }
    }

    @Test func `refuses while a file is only on this device, though nothing is pending`()
        async throws
    {
        var tasks = CollectionModel("tasks")
        tasks.contents = [ContentRule("photo")]
        let world = SyncWorld(model: SyncModel(name: "m", collections: [tasks]))
        let device = try SyncDevice.make(world)
        let replica = device.replica
        let path = replica.directory + ".source"
        try Data("tea".utf8).write(to: URL(filePath: path))
        let photo = try await replica.importFile(at: path)
        try FileManager.default.removeItem(atPath: path)
        for id in ["t1", "t2"] { try device.put("tasks/\(id)", #"{"photo":\#(photo.json)}"#) }
        #expect(try await device.sync().pending == 0)
        func refusal() async -> TidemarkError? {
            await #expect(throws: TidemarkError.self) {
                try await replica.signOut(ifPending: .refuse)
            }
        }
        let alone = await refusal()
        #expect(alone?.code == .pendingChanges)
        #expect(
            alone?.message == "1 file is only on this device; sign out with .keep or .discard")
        try device.put("tasks/t3", "{}")
        let both = "1 change is not on the server, and 1 file is only on this device; sync "
        let refused = await refusal()
        #expect(refused?.message.hasPrefix(both) == true)

        for id in ["t1", "t2", "t3"] { try replica.delete(id) }
        #expect(try await device.sync().pending == 0)
        try await replica.signOut(ifPending: .refuse)
        #expect(!FileManager.default.fileExists(atPath: replica.directory))
    }

    @Test func `removes the store when nothing is pending`() async throws {
        let root = AccountRoot()
        let replica = try root.open("me")
        try replica.serverSays("a", #"{"id":"a","title":"t"}"#)
        try await replica.signOut(ifPending: .refuse)

        #expect(try root.names == [])
        #expect(try Replica.accounts(in: root.path) == [])
        #expect(code { try replica.read { $0.position } } == .closed)
        #expect(code { try replica.put(Errand("a")) } == .closed)
        let again = try root.open("me")
        #expect(try again.read { try $0.all(Errand.self) } == [])
        try await again.close()
    }

    @Test func `discards what is pending when it is told to`() async throws {
        let root = AccountRoot()
        let replica = try root.open("me")
        try replica.put(Errand("a"))
        try await replica.signOut(ifPending: .discard)
        #expect(try root.names == [])
    }

    @Test func `keeps the store when it is told to`() async throws {
        let root = AccountRoot()
        let replica = try root.open("me")
        try replica.put(Errand("a"))
        try await replica.signOut(ifPending: .keep)

        #expect(code { try replica.put(Errand("b")) } == .closed)
        let again = try root.open("me")
        #expect(try again.read { try $0.outboxCount() } == 1)
        try await again.close()
    }

    @Test func `is refused while another replica has the store open`() async throws {
        let root = AccountRoot()
        let (replica, other) = (try root.open("me"), try root.open("me"))
        let error = await #expect(throws: TidemarkError.self) {
            try await replica.signOut(ifPending: .discard)
        }
        #expect(error?.code == .busy)
        try replica.put(Errand("a"))
        try await other.close()
        try await replica.signOut(ifPending: .discard)
        #expect(try root.names == [])
    }

    @Test func `is refused while somebody reads the store by another replica`() async throws {
        let root = AccountRoot()
        let replica = try root.open("me")
        try replica.put(Errand("a"))
        let reader = try Replica.open(reading: replica.directory)
        let error = await #expect(throws: TidemarkError.self) {
            try await replica.signOut(ifPending: .discard)
        }
        #expect(error?.code == .busy)
        #expect(try reader.read { try $0.all(Errand.self) }.count == 1)
        try await reader.close()
        try await replica.signOut(ifPending: .discard)
        #expect(try root.names == [])
    }

    @Test func `of one that reads beside a writer nothing is written, nor is its store shrunk`()
        async throws
    {
        let root = AccountRoot()
        let replica = try root.open("me")
        try replica.put(Errand("a"))
        let reader = try Replica.open(reading: replica.directory)
        let key = IdempotencyKey(at: Timestamp(rawValue: 1), (1, 2))
        let codes = [
            #expect(throws: TidemarkError.self) {
                try reader.write(once: key) { tx in
                    _ = try tx.create(EntityKey("errands", "b"), Array("{}".utf8))
                }
            },
            await #expect(throws: TidemarkError.self) {
                try await reader.write(once: key) { tx in
                    _ = try tx.create(EntityKey("errands", "b"), Array("{}".utf8))
                }
            },
        ].map { $0?.code }
        #expect(codes == [.readOnly, .readOnly])
        let directory = replica.directory
        try await replica.close()
        let busy = #expect(throws: TidemarkError.self) { try Replica.shrink(at: directory) }
        #expect(busy?.code == .busy)
        try await reader.close()
        try await Replica.shrink(at: directory)
    }

    @Test func `is seen by who read beside a writer that was closed before`() async throws {
        let root = AccountRoot()
        let replica = try root.open("me")
        try replica.put(Errand("a"))
        let reader = try Replica.open(reading: replica.directory)
        try await replica.close()
        // As another process does once nobody has the store open for writing.
        try FileManager.default.removeItem(atPath: replica.directory)
        #expect(throws: TidemarkError.self) { try reader.read { try $0.all(Errand.self) } }
        try await reader.close()
    }

    @Test func `works again and again where files of others lie in the folder`() async throws {
        let root = AccountRoot()
        for round in 0..<3 {
            let replica = try root.open("me")
            #expect(try replica.read { try $0.all(Errand.self) } == [])
            try replica.put(Errand("a"))
            let foreign = replica.directory + "/.DS_Store"
            try Data("\(round)".utf8).write(to: URL(filePath: foreign))
            try await replica.signOut(ifPending: .discard)
            #expect(try Replica.accounts(in: root.path) == [])
            #expect(try root.names.count == round + 1)
        }
        let left = try root.names.map {
            try String(contentsOfFile: "\(root.path)/\($0)/.DS_Store", encoding: .utf8)
        }
        #expect(left.sorted() == ["0", "1", "2"])
    }

    @Test func `in the middle of a sync leaves nothing behind`() async throws {
        // In each round another request is on its way, until there is none with that number.
        var (number, isOver) = (0, false)
        while !isOver {
            number += 1
            let device = try SyncDevice.make(SyncWorld())
            for id in 1...5 { try device.put("tasks/t\(id)", "{}") }
            let isHeld = SyncBox<Bool>()
            let held = number
            device.wire.tap { _, count, pass in
                let answer = await pass()
                guard count == held else { return answer }
                isHeld.value = true
                while !Task.isCancelled { await Task.yield() }
                return answer
            }
            let sync = Task {
                _ = try? await device.sync()
                if isHeld.value == nil { isHeld.value = false }
            }
            while isHeld.value == nil { await Task.yield() }
            isOver = isHeld.value == false
            try await device.replica.signOut(ifPending: .discard)
            await sync.value

            #expect(!FileManager.default.fileExists(atPath: device.replica.directory))
            #expect(
                !FileManager.default.fileExists(
                    atPath: device.replica.directory + ".tidemark-removed"))
        }
        // Five changes are sent one by one, after the lists.
        #expect(number > 6)
    }

    @Test func `stops the engines`() async throws {
        let world = SyncWorld()
        let device = try SyncDevice.make(world)
        await device.engine.start()
        try await device.replica.signOut(ifPending: .refuse)

        #expect(!FileManager.default.fileExists(atPath: device.replica.directory))
        var status = device.engine.statuses.makeAsyncIterator()
        #expect(await status.next()?.activity == .stopped(nil))
        await #expect(throws: TidemarkError.self) { _ = try await device.sync() }
    }

    @Test func `loses no write that was acknowledged`() async throws {
        for round in 0..<20 {
            let root = AccountRoot()
            let replica = try root.open("me")
            let written = Lock(0)
            let writers = (0..<4).map { writer in
                Task {
                    for index in 0..<(writer == 0 ? round / 4 : round) {
                        try await replica.write { tx in try tx.create(Errand("\(writer)-\(index)"))
                        }
                        written.withLock { $0 += 1 }
                    }
                }
            }
            do {
                try await replica.signOut(ifPending: .refuse)
                for writer in writers { _ = await writer.result }
                #expect(written.withLock(\.self) == 0)
                #expect(try root.names == [])
            } catch let error as TidemarkError {
                #expect(error.code == .pendingChanges)
                for writer in writers { try await writer.value }
                #expect(try replica.read { try $0.outboxCount() } == written.withLock(\.self))
                try await replica.close()
            }
        }
    }

    private func code<R>(_ body: () throws -> R) -> TidemarkError.Code? {
        do { _ = try body() } catch { return (error as? TidemarkError)?.code }
        return nil
    }
}

@Suite struct `two engines of one store` {
    @Test func `don't run at the same time, whichever replica they have`() async throws {
        let world = SyncWorld.live()
        try await SyncDevice.with(world) { device in
            let other = try await Replica.open(existing: device.replica.directory)
            let second = SyncDevice.engine(
                other, device.wire, adapter: try SyncWorld.remote.makeAdapter())
            await device.engine.start(.none)
            // From its first run on it has the store to itself.
            _ = try await device.engine.sync()
            let error = await #expect(throws: TidemarkError.self) {
                _ = try await second.sync()
            }
            #expect(error?.code == .engineRunning)
            var status = second.statuses.makeAsyncIterator()
            await second.start()
            while let next = await status.next() {
                if case .stopped(let error?) = next.activity {
                    #expect(error.code == .engineRunning)
                    break
                }
            }

            await device.engine.stop()
            #expect(try await second.sync().isSynced)
            try await other.close()
        }
    }

    @Test func `hear of edits through any replica`() async throws {
        let world = SyncWorld()
        try await SyncWatch.with(world, SyncTriggers()) { device, watch in
            let other = try await Replica.open(existing: device.replica.directory)
            try await watch.until { $0.activity == .idle }
            try other.put("tasks/t1", "{}")
            try await watch.until { $0.waitsFor == .quiet && $0.pending == 1 }
            try await other.close()
        }
    }
}
