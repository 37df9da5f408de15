// HistoricRecording.swift — writes the capsules of Tests/Replays anew: what has to be done whenever
// the rows of a view are made by other rules than before.
//
//   TIDEMARK_RECORD_REPLAYS=Tests/Replays swift test --filter 'records the historic bugs'

import Foundation
import Testing
import TidemarkReplay
import TidemarkTesting

@Suite struct `the corpus` {
    private static var folder: String? {
        ProcessInfo.processInfo.environment["TIDEMARK_RECORD_REPLAYS"]
    }

    @Test(.enabled(if: folder != nil), arguments: HistoricBug.all)
    func `records the historic bugs`(_ bug: HistoricBug) async throws {
        let folder = URL(filePath: try #require(Self.folder)).appending(path: bug.name)
        let log = try await bug.record()
        let kept = bug.found == .folding ? try bug.recorded(bug.shrunk(log).capsule) : log
        try kept.write(to: folder.appending(path: "bug.capsule").path(percentEncoded: false))
    }
}
