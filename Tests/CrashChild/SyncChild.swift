// SyncChild.swift — syncs a store and dies in the middle of it.
//
// `crash-child STORE CHECKPOINT` syncs the store with the remote that its log names, and kills
// itself the first time that the checkpoint is reached: no clean-up, no flush, signal 9. When it is
// never reached, the process ends with status 0. The credentials are in TIDEMARK_CREDENTIALS.

import Foundation
import Tidemark
import TidemarkHTTP
import TidemarkSync

enum SyncChild {
    static func run(_ words: [String]) async throws {
        guard words.count == 2, let place = Checkpoint(rawValue: words[1]) else {
            CrashChild.fail("usage: crash-child STORE CHECKPOINT")
        }
        var dependencies = Dependencies.live
        dependencies.reach = { checkpoint in
            guard checkpoint == place else { return }
            CrashChild.say("reached \(place.rawValue)")
            kill(getpid(), SIGKILL)
        }
        try await sync(words[0], dependencies)
    }

    /// Syncs a store with the remote that its log names.
    static func sync(
        _ store: String, _ dependencies: Dependencies = .live,
        transport: any Transport = .urlSession
    ) async throws {
        let replica = try await Replica.open(existing: store, dependencies: dependencies)
        guard let remote = try replica.registration?.remote else {
            CrashChild.fail("the store names no remote")
        }
        let credentials = ProcessInfo.processInfo.environment[remote.credentialsVariable] ?? ""
        let engine = try SyncEngine(replica, remote: remote, transport: transport) {
            .authorization(credentials)
        }
        let outcome = try await engine.sync()
        try await replica.close()
        CrashChild.say("ended: \(outcome)")
    }
}
