// HistoricBugTests.swift — bugs of other engines, planted, recorded, and found again by a replay.

import Testing
import TidemarkEvents
import TidemarkReplay
import TidemarkViews

@Suite struct `a historic bug` {
    @Test(arguments: HistoricBug.all)
    func `is in the log of the engine that had it`(_ bug: HistoricBug) async throws {
        let log = try await bug.record()

        #expect(log.commits.count > 12)
        #expect(log.commits.contains { $0.entries.contains { bug.isCulprit($0.event) } })
    }

    @Test(arguments: HistoricBug.all.filter { $0.found == .folding })
    func `that made other rows is at the commit where it happened`(_ bug: HistoricBug) async throws
    {
        let log = try await bug.record()
        let today = try log.refolded()
        let first = try #require(
            zip(log.commits, today.commits).first { $0.views != $1.views }?.0)

        #expect(first.entries.contains { bug.isCulprit($0.event) })
    }

    @Test(arguments: HistoricBug.all)
    func `is recorded alike each time`(_ bug: HistoricBug) async throws {
        let (one, other) = try await (bug.record(), bug.record())

        #expect(one == other)
    }
}
