// Excerpts.swift — what the README shows beside its program, as code that is built.

import Tidemark

/// The README's other examples, a function each.
enum Excerpts {
    static func syncByItself(_ engine: SyncEngine) async throws {
        await engine.start(SyncTriggers(every: .seconds(900)))
        await engine.trigger(.reachability)
        let outcome = try await engine.sync(.background, deadline: .seconds(25))
        for await status in engine.status { show(status) }
        await engine.stop()
        _ = outcome
    }

    static func answerIssues(_ replica: Replica) throws {
        for issue in try replica.issues() {
            print(issue.id, issue.kind, issue.key ?? "", issue.message)
            try replica.answer(issue.id, .keepMine)
        }
    }

    private static func show(_ status: EngineStatus) { print(status.pending) }
}
