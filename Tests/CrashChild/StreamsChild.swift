// StreamsChild.swift — works with a store where standard input, output and error are closed:
// `crash-child streams STORE FILE`.
//
// Writes into the file which of them were open before, meanwhile and after.

import Foundation
import Tidemark
import TidemarkEvents
import TidemarkTesting

enum StreamsChild {
    static func run(_ words: [String]) throws {
        guard words.count == 2 else { CrashChild.fail("usage: STORE FILE") }
        var lines = ["before \(open)"]
        // On a device that can't be told: another one made the store.
        let replica = try Replica.open(
            existing: words[0], dependencies: .seeded(0, clock: ManualClock()))
        try replica.write { tx in try tx.put(EntityKey("tasks", "a"), Array("{}".utf8)) }
        lines.append("meanwhile \(open)")
        try replica.close()
        lines.append("after \(open)")
        try Data(lines.joined(separator: "\n").utf8).write(to: URL(filePath: words[1]))
    }

    /// The numbers of those that are open.
    private static var open: [Int32] { (0...2).filter { fcntl($0, F_GETFD) >= 0 } }
}
