// BackoffRule.swift — how long to wait after runs that failed one after another.

import TidemarkEvents

/// The wait after failed runs: doubled with each, and spread, so that devices that failed together
/// don't come back together.
package enum BackoffRule {
    /// The wait in microseconds: min(`secondsMax`, `secondsMin`·2^(failures−1)) × (0.5 … 1).
    ///
    /// - Parameters:
    ///   - failures: how many runs failed in a row, the last one included; at least 1.
    ///   - seed: of the last run; the same seed gives the same wait.
    package static func microseconds(
        failures: Int, seed: UInt64, secondsMin: Int, secondsMax: Int
    ) -> Int64 {
        let full = longest(failures: failures, secondsMin: secondsMin, secondsMax: secondsMax)
        let half = full / 2
        // The upper half of the seed's bits, as a fraction of 2^20.
        let fraction = Int64(seed >> 44)
        return full - half + half / (1 << 20) * fraction + half % (1 << 20) * fraction / (1 << 20)
    }

    /// The same without the spread: min(`secondsMax`, `secondsMin`·2^(failures−1)).
    static func longest(failures: Int, secondsMin: Int, secondsMax: Int) -> Int64 {
        let most = Int64(min(max(secondsMax, 0), wholeSecondsMax)) * 1_000_000
        var full = min(Int64(min(max(secondsMin, 0), wholeSecondsMax)) * 1_000_000, most)
        var doublings = failures - 1
        while doublings > 0, full > 0, full < most {
            full = min(full * 2, most)
            doublings -= 1
        }
        return full
    }

    /// The same of a model's backoff, a second at least.
    static func longest(failures: Int, _ backoff: BackoffSpan) -> Int64 {
        longest(
            failures: failures, secondsMin: max(1, backoff.min.seconds),
            secondsMax: max(1, backoff.max.seconds))
    }

    /// A year: more makes no sense, and might not fit.
    private static let wholeSecondsMax = 31_536_000
}
