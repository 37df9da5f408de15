// HistoricToolTests.swift — a bug in what an engine did, found and made small by the tool alone.

import Foundation
import TestSupport
import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay

@testable import CapsuleSupport

@Suite(.enabled(if: BuiltTool.isThere, BuiltTool.missing))
struct `the tool, given a historic bug` {
    @Test(
        .enabled(if: TestRun.isWhole), arguments: HistoricBug.all.filter { $0.found == .deciding })
    func `finds the commit and leaves ten at most`(_ bug: HistoricBug) async throws {
        let tool = try HistoryTool()
        defer { tool.delete() }
        let log = try await bug.record()
        let found = try #require(try await bug.divergence(log)).position
        let entries = log.commits.flatMap(\.entries)
        let start = try #require(entries.first { $0.position == found }?.event.sync)
        try log.write(to: tool.folder.path + "/bug.capsule")
        let replay = #""$tidemark" replay "$TIDEMARK_CAPSULE" --mode redecide"#

        let turn = try tool.run(["bisect", "bug.capsule", "--check", replay])
        let position = try #require(Position(String(turn.text.prefix { $0 != " " })), "\(turn)")
        // Of a run that is cut off not everything can be decided again: it turns in the same run.
        let turned = entries.first { $0.position == position }?.event
        #expect(turned?.sync == start, "\(turn.text)")

        // What came before the run is in the rows that the capsule begins with.
        let rest = entries.count { $0.position >= start }
        _ = try tool.run(["capsule", "bug.capsule", "-o", "cut.capsule", "--last", "\(rest)"])
        let check = "! \(replay) | grep -q 'differs at \(found)'"
        let shrunk = try tool.run(
            ["shrink", "cut.capsule", "--check", check, "-o", "min.capsule"])
        #expect(shrunk.code == 0, "\(shrunk.complaints)")
        let least = try Capsule(file: tool.folder.path + "/min.capsule")
        #expect(least.commits.count <= 10)
        #expect(try await bug.divergence(least)?.position == found)
    }
}
