// LiveVerifyTests.swift — verifying a store while somebody writes to it: no false alarm, and no
// growth of the file beyond what the writer needs.

import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport
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
