// PoolChild.swift — takes reserved values, with writes and alone, and is killed meanwhile.
//
// Says `took VALUE` for each that was handed out to it. Where few are left it adds others, and with
// them some that were there before, as a server that repeats itself would.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkViews

enum PoolChild {
    static let key = ["A1"]

    /// `STORE SEED MICROSECONDS`: when the process dies, counted from before the first one.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "SEED", "MICROSECONDS")
        var random = SplitMix64(seed: UInt64(arguments.numbers[0]))
        let replica = try Replica.open(existing: arguments.store)
        CrashChild.die(after: arguments.numbers[1])
        while true {
            if try replica.valuesLeft(in: "numbers", key: key) < 5 { try add(to: replica) }
            let value: String
            if random.once(in: 2) {
                value = try replica.take(from: "numbers", key: key)
            } else {
                value = try replica.write { tx in
                    let value = try tx.take(from: "numbers", key: key)
                    let document = Array(#"{"number":"\#(value)"}"#.utf8)
                    try tx.create(EntityKey("people", tx.makeID()), document)
                    return value
                }
            }
            CrashChild.say("took \(value)")
        }
    }

    /// Adds twenty values, of which the first ten were there before.
    private static func add(to replica: Replica) throws {
        try replica.write { tx in
            let first = Int(tx.draft.nextPosition.rawValue)
            var added = ReservedAdded(PoolKey("numbers", key), pattern: nil)
            added.values = (max(0, first - 10)..<first + 10).map { "\($0)" }
            added.until = added.values.map { _ in nil }
            _ = try tx.draft.append(
                Event(.reservedAdded, recordedAt: tx.draft.now, json: added.encoded))
        }
    }
}
