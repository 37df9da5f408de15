// DropChild.swift — appends batches of known events, seals what is before the last ones and drops
// some that were there when it began, after each batch, and is killed in the middle of it.

import Foundation
import TestSupport
import TidemarkEvents
import TidemarkViews

enum DropChild {
    /// `STORE SEED BATCHES DELAY`: dies as `append` does; a step is a batch, what is sealed after
    /// it, or what is dropped.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "SEED", "BATCHES", "DELAY")
        let delay = arguments.numbers[2]
        if delay < 0 { CrashChild.die(after: -delay) }
        let pace = CrashPace(steps: arguments.numbers[1], thousandths: delay)
        let journal = try Journal.open(at: arguments.store, create: true)
        let begun = try journal.read { $0.last }
        if delay >= 0 { pace.begin() }
        var random = SplitMix64(seed: UInt64(arguments.numbers[0]))
        AppendChild.write(to: journal, seed: arguments.numbers[0], hasEdits: false) {
            pace.stepDone()
            do {
                let kept = UInt64(1 + random.below(30))
                try journal.seal(keeping: kept)
                pace.stepDone()
                if random.once(in: 4) { try journal.takeSnapshot() }
                try drop(before: begun, journal, &random, in: arguments.store + ".scratch")
            } catch { CrashChild.fail("\(error)") }
            pace.stepDone()
        }
    }

    private static func drop(
        before begun: Position, _ journal: Journal, _ random: inout SplitMix64,
        in scratch: String
    ) throws {
        let wanted = Position(UInt64(random.below(Int(begun.rawValue) + 1)))
        let limit = try journal.truncationLimit(withRuns: false)
        guard let end = try journal.truncationEnd(upTo: wanted, limit, keeping: .max) else {
            return
        }
        try? FileManager.default.removeItem(atPath: scratch)
        try journal.truncate(through: end, at: Timestamp(rawValue: 1), in: { scratch })
    }
}
