// OpeningChild.swift — a process whose disk fails once: `crash-child opening fault STORE`; one that
// may not have more of it for a while: `crash-child opening quota STORE`; and one that has no room
// for the last page of a commit, which names the others: `crash-child opening meta STORE`.
//
// Prints what became of each step.

import Foundation
import Tidemark
import TidemarkEvents

enum OpeningChild {
    static func run(_ words: [String]) throws {
        guard words.count == 2 else { CrashChild.fail("fault, quota or meta, and a store") }
        switch words[0] {
        case "quota": try runOverQuota(words[1])
        case "meta": try runWithoutMeta(words[1])
        default: try runFault(words[1])
        }
    }

    private static func runWithoutMeta(_ store: String) throws {
        var replica = try Replica.open(existing: store)
        let other = try Replica.open(existing: store)
        say(try "written \(put(replica, "a"))")
        // One call after the other, until one is found that the reads don't survive.
        for number in 1...100 {
            try FaultArm.fail("pwrite", number, ENOSPC)
            sayEnd("written") { try put(replica, "b\(number)") }
            if (try? replica.read { $0.position }) == nil { break }
        }
        try FaultArm.fail("", 0, EIO)
        for one in [replica, other] {
            sayEnd("read") { try one.read { $0.position } }
            sayEnd("written") { try put(one, "c") }
        }
        try replica.close()
        sayEnd("reopened") { try Replica.open(existing: store).read { $0.position } }
        try other.close()
        replica = try Replica.open(existing: store)
        say(try "reopened \(replica.read { $0.position })")
        say(try "written \(put(replica, "d"))")
        try replica.close()
    }

    private static func runOverQuota(_ store: String) throws {
        let replica = try Replica.open(existing: store)
        say(try "written \(put(replica, "a"))")
        try FaultArm.fail("pwrite", 1, -EDQUOT)
        for id in ["b", "c"] { sayEnd("written") { try put(replica, id) } }
        try FaultArm.fail("", 0, EIO)
        say(try "written \(put(replica, "d"))")
        try replica.close()
    }

    private static func runFault(_ store: String) throws {
        var replica = try Replica.open(existing: store)
        say(try "written \(put(replica, "a"))")
        try FaultArm.fail("fdatasync", 1, EIO)
        for id in ["b", "c"] { sayEnd("written") { try put(replica, id) } }
        say(try "read \(replica.read { $0.position })")
        try replica.close()
        replica = try Replica.open(existing: store)
        say(try "reopened \(replica.read { $0.position })")
        say(try "written \(put(replica, "d"))")
        try replica.close()
    }

    private static func put(_ replica: Replica, _ id: String) throws -> Position {
        try replica.write { tx in try tx.create(EntityKey("tasks", id), Array("{}".utf8)) }
    }

    private static func sayEnd(_ done: String, _ step: () throws -> Position) {
        do { say(try "\(done) \(step())") } catch {
            say((error as? TidemarkError).map { "failed \($0.code)" } ?? "\(error)")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
