// ChaosTests.swift — whatever happens: bad network, edits meanwhile, killed processes. Hundreds of
// episodes on the same two stores, each ending with all sides compared.
//
// A run is repeated by its seed, and made longer or shorter by its number of episodes:
//   TIDEMARK_CHAOS_SEED=7 TIDEMARK_CHAOS_EPISODES=1000 Tools/test --filter chaos

import Foundation
import Testing
import Tidemark

extension `with a real Kinto server` {
    @Suite(.enabled(if: KintoCrash.isThere, "\(KintoCrash.reason)"))
    struct `chaos` {
        private static func number(_ name: String, usually: UInt64) -> UInt64 {
            ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) } ?? usually
        }
        private static let seed = number("TIDEMARK_CHAOS_SEED", usually: 1)
        private static let episodes = Int(number("TIDEMARK_CHAOS_EPISODES", usually: 200))

        @Test func `ends with all sides equal and every outcome what the server's history says`()
            async throws
        {
            try await KintoWorld.run(.todo(pageSize: 10)) { world in
                guard try await world.client.keepsHistory else {
                    Issue.record("the server keeps no history: start it with Tools/kinto --history")
                    return
                }
                let again =
                    "TIDEMARK_CHAOS_SEED=\(Self.seed) TIDEMARK_CHAOS_EPISODES=\(Self.episodes) "
                    + "Tools/test --filter chaos"
                print("chaos: \(again)")
                var run = try await ChaosRun(world, seed: Self.seed)
                for number in 1...Self.episodes { try await run.episode(number) }
                try await run.finish()
                let tally = run.tally
                print("  kills: \(ChaosTally.list(run.kills)); drops \(run.drops)\n\(tally)")
                guard Self.episodes >= 200 else { return }
                for count in [
                    tally.conflicts, tally.tombstones, tally.merges, tally.readBacks,
                    tally.turnedAway,
                ] {
                    #expect(count >= 20, "too little happened: \(again)")
                }
                #expect(run.kills.values.reduce(0, +) >= 50, "too little happened: \(again)")
            }
        }
    }
}
