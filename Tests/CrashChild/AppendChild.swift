// AppendChild.swift — appends batches of known events from several threads, says a line for each
// that was acknowledged, and is killed in the middle of it.

import Dispatch
import Foundation
import TestSupport
import TidemarkEvents
import TidemarkViews

enum AppendChild {
    /// `STORE SEED WRITERS BATCHES DELAY`: how many threads write, and when the process dies.
    ///
    /// That is when so many batches were acknowledged, and as many thousandths of the time that
    /// one of them took have passed; where the delay is negative, so many microseconds from before
    /// the store is opened.
    ///
    /// With no writers two threads write one event at a time, at a measured pace, until there is
    /// a file `stop` in the store, or enough is written.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "SEED", "WRITERS", "BATCHES", "DELAY")
        let (seed, writers, delay) = (
            arguments.numbers[0], arguments.numbers[1], arguments.numbers[3]
        )
        if delay < 0 { CrashChild.die(after: -delay) }
        let pace = CrashPace(steps: arguments.numbers[2], thousandths: delay)
        let journal = try Journal.open(at: arguments.store, create: true)
        if writers == 0 {
            writeAtPace(to: journal, seed: seed, until: "\(arguments.store)/stop")
        } else {
            if delay >= 0 { pace.begin() }
            for writer in 1..<writers {
                Thread.detachNewThread {
                    Self.write(to: journal, seed: seed + writer) { pace.stepDone() }
                }
            }
            write(to: journal, seed: seed) { pace.stepDone() }
        }
        try journal.close()
    }

    private static func writeAtPace(to journal: Journal, seed: Int, until stop: String) {
        DispatchQueue.concurrentPerform(iterations: 2) { writer in
            var batches = 0
            write(to: journal, seed: seed + writer, atOnceMax: 1) {
                batches += 1
            } until: {
                // After a while slowly: else a log grows faster than a busy machine verifies it.
                usleep(batches < 1_500 ? 2_000 : 50_000)
                return batches > 100_000 || FileManager.default.fileExists(atPath: stop)
            }
        }
    }

    /// Writes batches of known events, and says a line for each that was acknowledged.
    ///
    /// Edits wait in the outbox for ever.
    static func write(
        to journal: Journal, seed: Int, atOnceMax: Int = 12, hasEdits: Bool = true,
        acknowledged: () -> Void, until isEnough: () -> Bool = { false }
    ) {
        var random = SplitMix64(seed: UInt64(seed))
        while !isEnough() {
            let count = UInt64(random.once(in: 3) ? 1 + random.below(atOnceMax) : 1)
            do {
                let batch = try journal.write(at: Timestamp(rawValue: 1)) { draft in
                    let batch = NumberedBatch(first: draft.nextPosition.rawValue, count: count)
                    for position in batch.positions {
                        try draft.append(
                            Event(
                                hasEdits && position % 3 == 0 ? .localUpdated : .serverUpserted,
                                recordedAt: draft.now,
                                key: EntityKey("tasks", "\(position % 41)"),
                                asOf: Position(position), json: batch.payload(position)))
                    }
                    return batch
                }
                CrashChild.say("\(batch.first) \(batch.count)")
                acknowledged()
            } catch { CrashChild.fail("\(error)") }
        }
    }
}
