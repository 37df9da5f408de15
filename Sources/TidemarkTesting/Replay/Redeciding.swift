// Redeciding.swift — the one place at which a replay drives the engine.

import TidemarkEvents
import TidemarkReplay

/// A replay that drives the engine by what was recorded.
struct Redeciding {
    /// What came of it.
    enum Result {
        case report(ReplayReport)
        /// It can't be done, for a reason.
        case impossible(String)
    }

    let model: SyncModel?
    let through: Position?
    let inject: [Injection]
    let rules: [ConflictRule]

    func report(of capsule: Capsule) async throws -> Result {
        .impossible("this version only folds")
    }
}
