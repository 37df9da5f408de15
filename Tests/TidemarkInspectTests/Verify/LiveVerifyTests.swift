// LiveVerifyTests.swift — verifying a store while somebody writes to it: no false alarm, and no
// growth of the file beyond what the writer needs.

import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport
@testable import TidemarkInspect
@testable import ViewsSupport

@Suite(.serialized) struct `verifying beside a writer` {
    private let store: ScratchStore

    init() throws { store = try ScratchStore() }

    @Test func `commits that come between the steps are left to the next time`() throws {
        var maker = LogMaker(seed: 0x5EED_0B01, isHostile: false)
        try maker.write(about: 80, to: store.journal)
        let log = store.journal.log
        var check = try store.journal.environment.read { transaction in
            try LogCheck(log, .events, transaction)
        }
        let last = try store.journal.read { $0.last }
        var steps = 0
        while try store.journal.environment.read({ transaction in
            try check.step(bytesMax: 300, transaction)
        }) {
            try maker.write(about: 3, to: store.journal)
            steps += 1
        }

        let result = check.finished()
        #expect(result.findings == [])
        #expect(result.events == last.rawValue && steps >= 10, "\(steps) \(result)")
    }

    @Test(arguments: VerifyLevel.allCases)
    func `rows that change after the log was read are fine`(_ level: VerifyLevel) throws {
        var maker = LogMaker(seed: 0x5EED_0B02, isHostile: false)
        try maker.write(about: 50, to: store.journal)
        var written = 0
        let result = try store.journal.verify(level) { progress in
            try maker.write(about: 20, to: store.journal)
            written += 1
        }

        #expect(result.findings == [])
        #expect(written > 0 || level == .quick)
    }

    @Test func `a rebuild that ends between the steps is fine`() throws {
        var maker = LogMaker(seed: 0x5EED_0B03, isHostile: false)
        try maker.write(about: 50, to: store.journal)

        let result = try store.journal.verify(.deep) { _ in try store.journal.rebuild() }

        #expect(result.findings == [])
    }

    /// Writes commits of a hundred events each, which are sealed.
    private func writeHundreds(_ count: Int) throws {
        for hundred in 0..<count {
            try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
                for number in 0..<100 {
                    try draft.append(
                        Event(
                            .serverUpserted, recordedAt: Timestamp(rawValue: 1),
                            key: EntityKey("tasks", "t\(number)"),
                            json: Array(#"{"n":\#(hundred)}"#.utf8)))
                }
            }
        }
        try store.journal.seal(keeping: 10)
    }

    private func truncate(through last: Position) throws {
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-truncated-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        try store.journal.truncate(
            through: last, at: Timestamp(rawValue: 1), in: { scratch.path })
    }

    @Test(arguments: [false, true])
    func `events that are dropped while the log is folded again are no finding`(
        _ hasScratch: Bool
    ) throws {
        try writeHundreds(22)
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-folded-\(UUID().uuidString)")
        if hasScratch {
            try FileManager.default.createDirectory(
                at: scratch, withIntermediateDirectories: false)
        }
        defer { try? FileManager.default.removeItem(at: scratch) }
        var isDropped = false

        let (problems, _) = try Journal.checkRebuild(
            at: store.path, scratch: hasScratch ? scratch.path : nil
        ) { progress in
            guard !isDropped else { return }
            #expect(progress.done < Position(1_500))
            isDropped = true
            try truncate(through: Position(1_500))
        }

        #expect(isDropped && problems == [])
    }

    @Test func `what looks damaged is looked at again where events were dropped meanwhile`() throws
    {
        try writeHundreds(3)
        let gone = LogError(.missingEvent, at: Position(7), "the log lacks it")
        var looks = 0
        let found = try store.journal.lookAgain { () throws -> Int in
            looks += 1
            guard looks == 1 else { return looks }
            try truncate(through: Position(100))
            throw gone
        }
        #expect(found == 2)

        let error = #expect(throws: LogError.self) {
            try store.journal.lookAgain { () throws -> Int in
                looks += 1
                throw gone
            }
        }
        #expect(error == gone && looks == 3)
        let checkpoint = try store.journal.checkpoint(at: Position(200))
        #expect(checkpoint.size == 200)
    }

    @Test func `a data file that is replaced meanwhile is opened again`() throws {
        var maker = LogMaker(seed: 0x5EED_0B04, isHostile: false)
        try maker.write(about: 50, to: store.journal)
        try store.journal.close()
        let (data, copy) = (store.path + "/data.mdb", store.path + "/data.copy")
        func replace() throws {
            try FileManager.default.copyItem(atPath: data, toPath: copy)
            try FileManager.default.removeItem(atPath: data)
            try FileManager.default.moveItem(atPath: copy, toPath: data)
        }
        var replacements = 0
        let result = try Journal.verifyStore(at: store.path) { progress in
            guard progress == .rows, replacements == 0 else { return }
            replacements += 1
            try replace()
        }
        #expect(result.findings == [] && replacements == 1)

        // One that is replaced again and again is damaged.
        let other = try Journal.verifyStore(at: store.path) { progress in
            if progress == .rows { try replace() }
        }
        #expect(other.problems.map(\.code) == [.corruptTable])
        try store.reopen(isClosed: true)
    }

    @Test func `a map that grows meanwhile is waited for by nobody who waits for it`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-growing-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let journal = Journal(
            try Environment.open(at: folder.path, Journal.options(mapBytes: 1 << 20)))
        let put: @Sendable (Int) throws -> Void = { number in
            let text = String(repeating: "x", count: 20_000)
            let event = Event(
                .serverUpserted, recordedAt: Timestamp(rawValue: 1),
                key: EntityKey("tasks", "t\(number % 50)"),
                json: Array(#"{"n":\#(number),"text":"\#(text)"}"#.utf8))
            _ = try journal.write(at: Timestamp(rawValue: 1)) { draft in try draft.append(event) }
        }
        try put(0)
        let writer = ConcurrentResult { for number in 1...300 { try put(number) } }
        repeat {
            #expect(try journal.verify(.full).findings == [])
        } while !writer.hasEnded
        try writer.value()
        try journal.close()
    }

    @Test(.enabled(if: CrashChild.isThere, CrashChild.missing))
    func `fifty times beside a process that writes all the time raises no alarm`() throws {
        try store.journal.close()
        let path = store.path
        let writer = ConcurrentResult { try CrashChild.run("append", path, 1, 0, 0, 0) }
        while !writer.hasEnded, try Journal.verifyStore(at: path, .quick).events < 10 {}

        var positions: [UInt64] = []
        while !writer.hasEnded, positions.count < 50 || positions[positions.count - 1] < 2010 {
            let level = VerifyLevel.allCases[positions.count % 3]
            let result = try Journal.verifyStore(at: path, level)
            #expect(result.findings == [])
            positions.append(result.events)
        }
        try Data().write(to: URL(filePath: "\(path)/stop"))
        let ended = try writer.value()

        #expect(ended.code == 0, "\(ended.complaints)")
        #expect(Set(positions).count > 20, "nothing was written meanwhile: \(positions)")
        try store.reopen(isClosed: true)
        let commits = try store.commits().count { $0.last.rawValue > positions[0] }
        #expect(commits >= 2000)
        let stats = try store.journal.stats()
        print(
            "\(positions.count) verifications beside a writer: \(commits) commits meanwhile, "
                + "\(stats.events) events, "
                + "\(stats.logBytes) bytes of log, \(stats.fileBytes) bytes of file")
        // A commit writes some ten pages; with none used again there would be as many for each.
        #expect(stats.fileBytes < commits * 4 * 4096 + 1 << 20)
    }

    @Test func `a read that is over a thousand commits behind is told with the sizes`() throws {
        var stats = try store.journal.stats()
        #expect(stats.readerLag == 0)

        stats.readerLag = 1_000
        #expect(stats.readerWords == nil)
        stats.readerLag = 1_001
        let words = try #require(stats.readerWords)
        #expect(words.hasPrefix("a read that goes on is 1001 commits behind"))
    }
}

/// Work on another thread, and its result.
private final class ConcurrentResult<Value: Sendable>: Sendable {
    private let group = DispatchGroup()
    private let result = Box<Result<Value, any Error>?>(nil)

    init(_ work: @escaping @Sendable () throws -> Value) {
        let (group, result) = (group, result)
        DispatchQueue.global().async(group: group) {
            let value = Result { try work() }
            result.lock.withLock { $0 = value }
        }
    }

    var hasEnded: Bool { result.lock.withLock { $0 != nil } }

    func value() throws -> Value {
        group.wait()
        return try #require(result.lock.withLock { $0 }).get()
    }
}

private final class Box<Value: Sendable>: Sendable {
    let lock: Mutex<Value>

    init(_ value: Value) { lock = Mutex(value) }
}
