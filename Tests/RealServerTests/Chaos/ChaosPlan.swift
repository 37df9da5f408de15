// ChaosPlan.swift — how long a run of many episodes is: its seed and its number of episodes are in
// the environment.

import Foundation

/// How long a run is, and what it follows from.
struct ChaosPlan: CustomStringConvertible {
    let users = ["a", "b"]
    let seed: UInt64
    let episodes: Int
    /// Whether the run is long enough for everything to happen.
    let isWhole: Bool
    /// The words that pick the test.
    private let filter: String

    init(episodes usual: Int, filter: String = "chaos") {
        self.filter = filter
        func number(_ name: String) -> UInt64? {
            ProcessInfo.processInfo.environment[name].flatMap { UInt64($0) }
        }
        seed = number("TIDEMARK_CHAOS_SEED") ?? 1
        episodes = number("TIDEMARK_CHAOS_EPISODES").map { Int($0) } ?? usual
        isWhole = episodes >= usual
    }

    var description: String {
        "TIDEMARK_CHAOS_SEED=\(seed) TIDEMARK_CHAOS_EPISODES=\(episodes) "
            + "Tools/test --filter '\(filter)'"
    }
}
