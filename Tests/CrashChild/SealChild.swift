// SealChild.swift — appends batches of known events, seals what is before the last ones after each,
// and is killed in the middle of it.

import TestSupport
import TidemarkViews

enum SealChild {
    /// `STORE SEED BATCHES DELAY`: dies as `append` does; a step is a batch, or what is sealed
    /// after it.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "SEED", "BATCHES", "DELAY")
        let delay = arguments.numbers[2]
        if delay < 0 { CrashChild.die(after: -delay) }
        let pace = CrashPace(steps: arguments.numbers[1], thousandths: delay)
        let journal = try Journal.open(at: arguments.store, create: true)
        if delay >= 0 { pace.begin() }
        var random = SplitMix64(seed: UInt64(arguments.numbers[0]))
        AppendChild.write(to: journal, seed: arguments.numbers[0]) {
            pace.stepDone()
            do { try journal.seal(keeping: UInt64(1 + random.below(30))) } catch {
                CrashChild.fail("\(error)")
            }
            pace.stepDone()
        }
    }
}
