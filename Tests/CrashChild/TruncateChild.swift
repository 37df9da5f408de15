// TruncateChild.swift — a process whose data file is cut off while it has the store open.
//
// Says `wrote POSITION` for each commit that is acknowledged. What it then reads or writes may be
// gone from under it, and end it with a signal.

import Foundation
import Tidemark
import TidemarkEvents

enum TruncateChild {
    /// `STORE COMMITS BYTES`: commits before the cut, and how many bytes the file keeps.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "COMMITS", "BYTES")
        let replica = try Replica.open(existing: arguments.store)
        for number in 0..<arguments.numbers[0] { try write(replica, "before-\(number)") }
        let file = try FileHandle(
            forUpdating: URL(filePath: "\(arguments.store)/data.mdb"))
        try file.truncate(atOffset: UInt64(arguments.numbers[1]))
        try file.close()
        do {
            for number in 0..<3 { try write(replica, "after-\(number)") }
            let count = try replica.read { reader in
                var count = 0
                try reader.forEachDocument { _, _, _ in
                    count += 1
                    return true
                }
                return count
            }
            CrashChild.say("read \(count)")
            try replica.close()
        } catch { CrashChild.say("failed \(error)") }
    }

    private static func write(_ replica: Replica, _ id: String) throws {
        let text = String(repeating: id, count: 40)
        let position = try replica.write { tx in
            try tx.create(EntityKey("tasks", id), Array(#"{"text":"\#(text)"}"#.utf8))
        }
        CrashChild.say("wrote \(position.rawValue) \(id)")
    }
}
