// HistoricRecording.swift — writes the capsules of Tests/Replays anew: what has to be done whenever
// the rows of a view are made by other rules than before.
//
//   TIDEMARK_RECORD_REPLAYS=Tests/Replays swift test --filter 'records the historic bugs'

import Foundation
import Testing
import TidemarkCapsule
import TidemarkReplay
import TidemarkTesting

@testable import CapsuleSupport

@Suite struct `the corpus` {
    private static var folder: String? {
        ProcessInfo.processInfo.environment["TIDEMARK_RECORD_REPLAYS"]
    }

    @Test(.enabled(if: folder != nil), arguments: HistoricBug.all)
    func `records the historic bugs`(_ bug: HistoricBug) async throws {
        let folder = URL(filePath: try #require(Self.folder)).appending(path: bug.name)
        let log = try await bug.record()
        let kept: Capsule
        let found: Divergence?
        switch bug.found {
        case .folding:
            kept = try bug.recorded(bug.shrunk(log).capsule)
            found = try FoldReplay(kept).report.divergence
        case .deciding:
            kept = try await bug.cut(log)
            found = try await bug.divergence(kept)
        }
        let divergence = try #require(found)
        try kept.write(to: folder.appending(path: "bug.capsule").path(percentEncoded: false))
        // The story says where it is found.
        let story = folder.appending(path: "STORY.md")
        let lines = try String(contentsOf: story, encoding: .utf8).components(separatedBy: "\n")
            .filter { !$0.hasPrefix("Mode:") }
            .flatMap { line in
                guard line.hasPrefix("Expected:") else { return [line] }
                let mode = bug.found == .folding ? "fold" : "redecide"
                let kind = divergence.kind.rawValue
                return [
                    "Expected: diverges at \(divergence.position) (\(kind))", "Mode: \(mode)",
                ]
            }
        try lines.joined(separator: "\n").write(to: story, atomically: true, encoding: .utf8)
    }
}
