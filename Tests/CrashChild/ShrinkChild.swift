// ShrinkChild.swift — appends batches of known events, seals them and makes the file smaller, again
// and again, and is killed in the middle of it.

import TestSupport
import TidemarkLog
import TidemarkViews

enum ShrinkChild {
    /// `STORE SEED ROUNDS DELAY`: dies as `append` does; a step is some batches and what makes the
    /// file smaller after them.
    ///
    /// Says `smaller` behind each time that it is.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "SEED", "ROUNDS", "DELAY")
        let pace = CrashPace(steps: arguments.numbers[1], thousandths: arguments.numbers[2])
        var random = SplitMix64(seed: UInt64(arguments.numbers[0]))
        pace.begin()
        var round = 0
        while true {
            round += 1
            let journal = try Journal.open(at: arguments.store, create: true)
            let batchesMax = 1 + random.below(20)
            var batches = 0
            AppendChild.write(
                to: journal, seed: arguments.numbers[0] + round, acknowledged: { batches += 1 },
                until: { batches == batchesMax })
            try journal.seal(keeping: UInt64(1 + random.below(30)))
            try journal.close()
            let made = try StoreGuard.shrink(
                arguments.store, Journal.options(create: false), StoreOpening())
            if made.isSmaller { CrashChild.say("smaller") }
            pace.stepDone()
        }
    }
}
