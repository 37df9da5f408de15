// OnceChild.swift — writes under keys, one after another, and is killed in the middle of it.
//
// Says `asks KEY NUMBER` before each write and `wrote NUMBER POSITION` after: of the last key that
// it asked with, only the log knows whether its write was made.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents

enum OnceChild {
    /// `STORE FIRST MICROSECONDS`: the number of the first write, and when the process dies,
    /// counted from before it; with 0 just after its commit, with -1 just before.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "FIRST", "MICROSECONDS")
        let replica = try Replica.open(existing: arguments.store)
        let delay = arguments.numbers[1]
        if delay > 0 { CrashChild.die(after: delay) }
        for number in arguments.numbers[0]... {
            let key = replica.makeIdempotencyKey()
            CrashChild.say("asks \(key) \(number)")
            if delay == -1 { kill(getpid(), SIGKILL) }
            let receipt = try replica.write(once: key) { tx in
                let write = NumberedWrite(number)
                for id in write.ids { try tx.create(EntityKey("tasks", id), write.document) }
            }
            guard let receipt, !receipt.isRepeated else {
                CrashChild.fail("\(number) was made before it was asked for")
            }
            if delay == 0 { kill(getpid(), SIGKILL) }
            CrashChild.say("wrote \(number) \(receipt.first.rawValue)")
        }
    }
}
