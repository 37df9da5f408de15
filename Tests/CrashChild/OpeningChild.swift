// OpeningChild.swift — a process whose disk fails once: `crash-child opening fault STORE`; and one
// that may not have more of it for a while: `crash-child opening quota STORE`.
//
// Prints what became of each step.

import Foundation
import Tidemark
import TidemarkEvents

enum OpeningChild {
    static func run(_ words: [String]) throws {
        guard words.count == 2 else { CrashChild.fail("fault or quota, and a store") }
        if words[0] == "quota" { try runOverQuota(words[1]) } else { try runFault(words[1]) }
    }

    private static func runOverQuota(_ store: String) throws {
        let replica = try Replica.open(existing: store)
        say(try "written \(put(replica, "a"))")
        try FaultArm.fail("pwrite", 1, -EDQUOT)
        for id in ["b", "c"] { sayEnd(replica, id) }
        try FaultArm.fail("", 0, EIO)
        say(try "written \(put(replica, "d"))")
        try replica.close()
    }

    private static func runFault(_ store: String) throws {
        var replica = try Replica.open(existing: store)
        say(try "written \(put(replica, "a"))")
        try FaultArm.fail("fdatasync", 1, EIO)
        for id in ["b", "c"] { sayEnd(replica, id) }
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

    private static func sayEnd(_ replica: Replica, _ id: String) {
        do { say(try "written \(put(replica, id))") } catch {
            say((error as? TidemarkError).map { "failed \($0.code)" } ?? "\(error)")
        }
    }

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
