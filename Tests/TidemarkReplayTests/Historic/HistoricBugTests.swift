// HistoricBugTests.swift — bugs of other engines, planted, recorded, and found again: a replay
// names the commit, bisect finds it, shrink leaves what it takes.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

@Suite struct `a historic bug` {
    private static let folding = HistoricBug.all.filter { $0.found == .folding }
    private static let deciding = HistoricBug.all.filter { $0.found == .deciding }

    @Test(.enabled(if: TestRun.isWhole), arguments: HistoricBug.all)
    func `is recorded alike each time`(_ bug: HistoricBug) async throws {
        let (one, other) = try await (bug.record(), bug.record())

        #expect(one == other)
        #expect(one.commits.count > 12)
        #expect(one.commits.contains { $0.entries.contains { bug.isCulprit($0.event) } })
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: HistoricBug.all)
    func `leaves a log that today's engine folds without a fault`(_ bug: HistoricBug) async throws {
        let log = try await bug.record().refolded()

        #expect(try FoldReplay(log).report.isSame)
    }

    @Test(arguments: folding)
    func `is named by a replay`(_ bug: HistoricBug) async throws {
        let log = try await bug.record()

        let found = try #require(try FoldReplay(log).report.divergence)

        #expect(found.kind == .digest)
        #expect(bug.isToBlame(found.position, in: log), "\(found)")
    }

    @Test(arguments: folding)
    func `is found by halves`(_ bug: HistoricBug) async throws {
        let log = try await bug.record()

        let outcome = try inScratch { folder in
            let journal = try log.unpacked(in: folder)
            defer { try? journal.close() }
            return try Bisect(of: journal).run { position in
                try FoldReplay(log, through: position).report.isSame ? .no : .yes
            }
        }

        guard case .turn(let turn) = outcome else {
            Issue.record("nothing turns: \(outcome)")
            return
        }
        #expect(bug.isToBlame(turn.commit.upperBound, in: log))
    }

    @Test(arguments: deciding)
    func `that did something else is named when today's engine decides`(
        _ bug: HistoricBug
    ) async throws {
        let log = try await bug.record()

        let found = try #require(try await bug.divergence(log))

        #expect(found.kind == .different)
        #expect(bug.isToBlame(found.position, in: log), "\(found)")
    }

    @Test(arguments: deciding)
    func `that did something else takes the one run that did it`(_ bug: HistoricBug) async throws {
        let log = try await bug.record()

        let cut = try await bug.cut(log)

        let (found, before) = try await (bug.divergence(cut), bug.divergence(log))
        #expect(found?.position == before?.position)
        #expect(found?.field == before?.field)
        #expect(cut.commits.count <= 10)
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: folding)
    func `takes ten commits at most`(_ bug: HistoricBug) async throws {
        let result = try bug.shrunk(try await bug.record())

        #expect(result.isMinimal)
        #expect(result.capsule.commits.count <= 10)
        let shrunk = try bug.recorded(result.capsule)
        let found = try #require(try FoldReplay(shrunk).report.divergence)
        #expect(bug.isToBlame(found.position, in: shrunk), "\(found)")
    }
}

extension HistoricBug {
    /// Whether the event of the bug is in the commit that ends at a position.
    func isToBlame(_ position: Position, in log: Capsule) -> Bool {
        log.commits.first { $0.last >= position }?.entries.contains { isCulprit($0.event) } == true
    }

    /// The shortest log in which the engine with the bug still makes something else.
    func shrunk(_ log: Capsule) throws -> ShrinkResult {
        try log.shrunk(
            to: .found { log in
                try FoldReplay(try recorded(log)).report.divergence.map(FailureSignature.init)
            })
    }

    /// Where today's engine decides otherwise.
    func divergence(_ log: Capsule) async throws -> Divergence? {
        try await Replay(.capsule(log), mode: .redecide).reports().compactMap(\.divergence).first
    }

    /// The log of the run in which today's engine decides otherwise.
    func cut(_ log: Capsule) async throws -> Capsule {
        let position = try #require(try await divergence(log)).position
        var log = log
        let start = try #require(
            log.commits.flatMap(\.entries).first { $0.position == position }?.event.sync)
        let end = try #require(
            log.commits.lastIndex { $0.entries.contains { $0.event.sync == start } })
        log.commits.removeSubrange((end + 1)...)
        let entries = log.commits.flatMap(\.entries)
        return try inScratch { folder in
            let journal = try log.unpacked(in: folder + "/store")
            defer { try? journal.close() }
            var cut = try Capsule(
                of: journal, last: UInt64(entries.count { $0.position >= start }),
                build: log.provenance.build, scratch: folder + "/past")
            cut.provenance = log.provenance
            return cut
        }
    }
}
