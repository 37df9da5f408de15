// Accounts.swift — the code of the article of that name.

import Tidemark

enum Accounts {
    static func open(
        _ folder: String, _ user: String, _ model: SyncModel
    ) async throws -> Replica {
        let replica = try await Replica.open(in: folder, account: user, model: model)
        return replica
    }

    static func signOut(_ replica: Replica) async throws {
        try await replica.signOut(ifPending: .refuse)
    }

    static func beginAnew(_ replica: Replica) async throws {
        try await replica.wipe(keeping: ["programs", "units"])
    }
}
