// AsyncFormTests.swift — what takes long suspends its task in async code, and holds no actor.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// Holds a thread until it is opened, for a minute at most: other tests may keep all cores busy.
private final class Latch: Sendable {
    private let state = Lock(false)

    var isOpen: Bool { state.withLock(\.self) }

    func open() { state.withLock { $0 = true } }

    /// Whether it was opened in time.
    func wait() -> Bool {
        for _ in 0..<6000 where !isOpen { Thread.sleep(forTimeInterval: 0.01) }
        return isOpen
    }
}

/// Has the main actor begin something, and returns once that actor is free again.
@MainActor private func begin<R: Sendable>(
    _ body: @escaping @MainActor () async throws -> R
) async -> Task<R, any Error> {
    let isBegun = Latch()
    let task = Task<R, any Error> {
        isBegun.open()
        return try await body()
    }
    while !isBegun.isOpen { await Task.yield() }
    return task
}

@Suite(.serialized) struct `in async code, the caller's actor goes on` {
    private let model = SyncWorld.usualModel

    @Test func `while a store is opened that somebody else has open`() async throws {
        let (folder, model) = (try SyncFolder(), model)
        defer { folder.delete() }
        let path = try Replica.directory(in: folder.path, account: "ann")
        try await Replica.open(in: folder.path, account: "ann", model: model).close()
        var lock = try DirectoryLock(path)
        let opening = await begin {
            try await Replica.open(at: path, model: model, waiting: .seconds(60))
        }
        lock.release()
        try await opening.value.close()

        lock = try DirectoryLock(path)
        let ofAccount = await begin {
            try await Replica.open(
                in: folder.path, account: "ann", model: model, waiting: .seconds(60))
        }
        lock.release()
        try await ofAccount.value.close()

        lock = try DirectoryLock(path)
        let ofOwnModel = await begin {
            try await Replica.open(existing: path, waiting: .seconds(60))
        }
        lock.release()
        let replica = try await ofOwnModel.value
        #expect(try replica.registration?.model == model)
        try await replica.close()
    }

    @Test func `while one is closed that is read`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try await Replica.open(at: folder / "store", model: model)
        let (isReading, latch) = (Latch(), Latch())
        let reading = Background<Bool?> {
            try? replica.read { _ in
                isReading.open()
                return latch.wait()
            }
        }
        while !isReading.isOpen { await Task.yield() }

        let closing = await begin { try await replica.close() }
        latch.open()
        try await closing.value

        #expect(reading.value == true)
    }

    @Test(arguments: [Replica.PendingChanges.keep, .discard])
    func `while one is signed out that is read`(pending: Replica.PendingChanges) async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try await Replica.open(at: folder / "store", model: model)
        let (isReading, latch) = (Latch(), Latch())
        let reading = Background<Bool?> {
            try? replica.read { _ in
                isReading.open()
                return latch.wait()
            }
        }
        while !isReading.isOpen { await Task.yield() }

        let leaving = await begin { try await replica.signOut(ifPending: pending) }
        // From then on it waits for the read.
        while !replica.journal.isClosed { await Task.yield() }
        await MainActor.run {}
        latch.open()
        try await leaving.value

        #expect(reading.value == true)
    }

    @Test func `while an answer waits for another write, also where its task is cancelled`()
        async throws
    {
        let world = SyncWorld.notes(.serverWins)
        world.server.faults = FaultPlan([FaultRule(.answer(status: 400), method: .put)])
        try await SyncDevice.with(world) { device in
            let replica = device.replica
            try await replica.write { tx in
                _ = try tx.create(EntityKey("notes", "a"), Array("{}".utf8))
            }
            try await device.sync()
            let issue = try #require(try replica.issues().first?.id)
            let (isWriting, latch) = (Latch(), Latch())
            let writing = Background<Bool?> {
                try? replica.write { _ in
                    isWriting.open()
                    return latch.wait()
                }
            }
            while !isWriting.isOpen { await Task.yield() }

            let answering = await begin { try await replica.answer(issue, .discard) }
            answering.cancel()
            latch.open()
            try await answering.value

            #expect(writing.value == true)
            #expect(try replica.issues() == [])
        }
    }

    @Test func `while a store is copied, also where the task is cancelled`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try await Replica.open(at: folder / "store", model: model)
        let (latch, isHeld) = (Latch(), Latch())

        let copying = await begin {
            try await replica.copy(to: folder / "copy") { _ in
                if !latch.wait() { isHeld.open() }
            }
        }
        copying.cancel()
        latch.open()

        let last = try replica.read(\.position)
        #expect(try await copying.value == last)
        #expect(!isHeld.isOpen)
        try await replica.close()
        #expect(try await Replica.adopt(at: folder / "copy", isDryRun: true).position == last)
        #expect(try await Replica.shrink(at: folder / "copy").bytesAfter > 0)
    }

    @Test func `and a file is taken in where the task is cancelled`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        try Data("tea".utf8).write(to: URL(filePath: folder / "file"))
        let replica = try await Replica.open(at: folder / "store", model: model)
        func importBlocking() throws -> ContentName {
            try replica.importFile(at: folder / "file")
        }

        let importing = Task {
            while !Task.isCancelled { await Task.yield() }
            return try await replica.importFile(at: folder / "file")
        }
        importing.cancel()

        let name = try await importing.value
        #expect(try importBlocking() == name)
        try await replica.close()
    }

    @Test func `and who opens, uses a file and closes waits for none that is hashed`()
        async throws
    {
        let (folder, clock, key) = (try SyncFolder(), ManualClock(), EntityKey("tasks", "1"))
        defer { folder.delete() }
        var tasks = CollectionModel("tasks")
        // Uses are noted where they decide what is removed.
        tasks.contents = [ContentRule("photo", quotaBytes: 100)]
        let model = SyncModel(name: "m", collections: [tasks])
        func open() async throws -> Replica {
            try await Replica.open(
                at: folder / "store", model: model, dependencies: .seeded(1, clock: clock))
        }
        try Data("tea".utf8).write(to: URL(filePath: folder / "file"))
        let first = try await open()
        let photo = try await first.importFile(at: folder / "file")
        try await first.write { tx in
            _ = try tx.put(key, Array(#"{"photo":\#(photo.json)}"#.utf8))
        }
        try await first.close()
        clock.advance(by: .seconds(90_000))
        let (latch, begun) = (Latch(), Lock(0))
        let hashing = (1...4).map { _ in
            Task {
                try await BlockingWork.run {
                    begun.withLock { $0 += 1 }
                    return latch.wait()
                }
            }
        }
        while begun.withLock(\.self) < 4 { await Task.yield() }

        let replica = try await open()
        let position = try replica.read(\.position)
        #expect(try await replica.useFiles(of: key).count == 1)
        #expect(try replica.read(\.position) > position)
        try await replica.close()
        latch.open()

        for task in hashing { #expect(try await task.value) }
    }
}
