// CrashChild.swift — a process that syncs a store and dies in the middle of it, for crash tests.
//
// `crash-child STORE CHECKPOINT` syncs the store with the remote that its log names, and kills
// itself the first time that the checkpoint is reached: no clean-up, no flush, signal 9. When it is
// never reached, the process ends with status 0. The credentials are in TIDEMARK_CREDENTIALS.

import Foundation
import Tidemark
import TidemarkHTTP
import TidemarkSync

@main
struct CrashChild {
    static func main() async throws {
        if CommandLine.arguments.dropLast().suffix(2) == ["opening", "fault"] {
            return try OpeningChild.run(CommandLine.arguments[3])
        }
        guard CommandLine.arguments.count == 3,
            let place = Checkpoint(rawValue: CommandLine.arguments[2])
        else {
            say("usage: crash-child STORE CHECKPOINT")
            exit(2)
        }
        var dependencies = Dependencies.live
        dependencies.reach = { checkpoint in
            guard checkpoint == place else { return }
            say("reached \(place.rawValue)")
            kill(getpid(), SIGKILL)
        }
        let replica = try Replica.open(
            existing: CommandLine.arguments[1], dependencies: dependencies)
        guard let remote = try replica.registration?.remote else {
            say("the store names no remote")
            exit(2)
        }
        let credentials = ProcessInfo.processInfo.environment[remote.credentialsVariable] ?? ""
        let engine = try SyncEngine(replica, remote: remote) { .authorization(credentials) }
        let outcome = try await engine.sync()
        try replica.close()
        say("ended: \(outcome)")
    }

    /// Writes a line at once: what is buffered would die with the process.
    private static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
