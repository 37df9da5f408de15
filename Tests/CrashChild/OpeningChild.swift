// OpeningChild.swift — a process whose disk fails once: `crash-child opening fault STORE`.
//
// Prints what became of each step.

import Foundation
import Tidemark
import TidemarkEvents

enum OpeningChild {
    static func run(_ store: String) throws {
        var replica = try Replica.open(existing: store)
        say(try "written \(put(replica, "a"))")
        try FaultArm.fail("fdatasync", 1, EIO)
        for id in ["b", "c"] {
            do { say(try "written \(put(replica, id))") } catch let error as TidemarkError {
                say("failed \(error.code)")
            }
        }
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

    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
