// ChaosTests.swift — whatever happens: bad network, edits meanwhile, killed processes. Hundreds of
// episodes on the same two stores, each ending with all sides compared.
//
// A run is repeated by its seed, and made longer or shorter by its number of episodes:
//   TIDEMARK_CHAOS_SEED=7 TIDEMARK_CHAOS_EPISODES=1000 Tools/test --filter chaos

import TestSupport
import Testing
import Tidemark

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    struct `chaos` {
        @Test func `ends with all sides equal and every outcome what the server's history says`()
            async throws
        {
            try await KintoWorld.run(.todo(pageSize: 10), writers: "basicauth:nobody") { world in
                guard try await world.client.keepsHistory else {
                    Issue.record("the server keeps no history: start it with Tools/kinto --history")
                    return
                }
                let plan = ChaosPlan(episodes: 200)
                let server = try await ChaosKinto(world, users: plan.users)
                let (tally, kills) = try await plan.run(server)
                guard plan.isWhole else { return }
                for count in [
                    tally.conflicts, tally.tombstones, tally.merges, tally.readBacks,
                    tally.turnedAway, tally.forbidden,
                ] {
                    #expect(count >= 20, "too little happened: \(plan)")
                }
                #expect(kills >= 50, "too little happened: \(plan)")
            }
        }
    }
}

extension `with a real CalDAV server` {
    @Suite(.enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)"))
    struct `chaos` {
        @Test func `ends with all sides equal and every outcome what everybody wrote down says`()
            async throws
        {
            try await RadicaleWorld.run { world in
                let plan = ChaosPlan(episodes: 40)
                let server = try ChaosRadicale(world, users: plan.users)
                let (tally, kills) = try await plan.run(server)
                guard plan.isWhole else { return }
                for count in [
                    tally.conflicts, tally.tombstones, tally.readBacks, tally.turnedAway, kills,
                ] {
                    #expect(count >= 5, "too little happened: \(plan)")
                }
            }
        }
    }
}

extension ChaosPlan {
    /// Runs all episodes.
    ///
    /// - Returns: what happened, and how often a process was killed.
    fileprivate func run(_ server: some ChaosServer) async throws -> (ChaosTally, kills: Int) {
        print("chaos: \(self)")
        var run = ChaosRun(server, users: users, seed: seed)
        for number in 1...episodes { try await run.episode(number) }
        try await run.finish()
        print("  kills: \(ChaosTally.list(run.kills)); drops \(run.drops)\n\(run.tally)")
        return (run.tally, run.kills.values.reduce(0, +))
    }
}
