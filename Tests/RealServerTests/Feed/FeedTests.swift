// FeedTests.swift — a feed of a real Kinto: others write, answers are lost and processes killed
// while its blocks come, and after each round the table is what the server has.
//
// It is repeated by its seed, and made longer by its number of rounds:
//   TIDEMARK_CHAOS_SEED=7 TIDEMARK_CHAOS_EPISODES=500 Tools/test --filter 'feed in chaos'

import Foundation
import TestSupport
import Testing
import Tidemark

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    struct `a feed in chaos` {
        @Test func `is the server's table after each round, and no version is logged twice`()
            async throws
        {
            try await KintoWorld.run(FeedRun.model) { world in
                let plan = ChaosPlan(episodes: 10, filter: "feed in chaos")
                print("feed: \(plan)")
                var run = try FeedRun(world, seed: plan.seed)
                try await run.begin()
                for number in 1...plan.episodes {
                    try await run.round(number)
                    if number % 25 == 0 { Self.say("feed: \(number) rounds are done") }
                }
                try run.finish()
                print("  \(try await run.tally())")
                guard plan.isWhole else { return }
                #expect(run.kills > 0 && run.losses > 0, "too little happened: \(plan)")
            }
        }

        /// Prints a line at once: a run that says nothing for long is taken for one that hangs.
        private static func say(_ line: String) {
            FileHandle.standardOutput.write(Data((line + "\n").utf8))
        }
    }
}
