// KintoCrash.swift — a child process that syncs a store and is killed at a checkpoint.

import TestSupport
import TidemarkSync

@testable import SyncSupport

/// What became of a `crash-child`.
struct KintoCrash: Sendable, Equatable {
    var output: String
    /// The signal it died of, or nil when it ended by itself.
    var signal: Int32?

    /// Killed where it was meant to be.
    static func at(_ checkpoint: Checkpoint) -> KintoCrash {
        KintoCrash(output: "reached \(checkpoint.rawValue)\n", signal: 9)
    }

    /// Syncs the store in a process of its own until that reaches a checkpoint or the end.
    static func run(_ store: String, _ checkpoint: Checkpoint, user: String) async throws -> Self {
        try await run([store, checkpoint.rawValue], user)
    }

    /// Syncs the store in a process of its own until so long after an answer, or the end.
    static func run(
        _ store: String, after answer: Int, microseconds: Int, user: String
    ) async throws -> Self {
        try await run(["pull", store, "\(answer)", "\(microseconds)"], user)
    }

    private static func run(_ arguments: [String], _ user: String) async throws -> Self {
        let credentials = KintoClient(origin: "", bucket: "", user: user).credentials
        let ended = try await Command.running(
            BuiltProgram.crashChild.path ?? "", arguments,
            environment: ["TIDEMARK_CREDENTIALS": credentials])
        return KintoCrash(output: ended.text, signal: ended.signal)
    }
}
