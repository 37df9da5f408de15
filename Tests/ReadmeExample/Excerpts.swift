// Excerpts.swift — what the README shows beside its program, as code that is built.

import Observation
import Tidemark

@MainActor @Observable final class TodoScreen {
    let todos: LiveQuery<Todo>  // SwiftUI redraws when `todos.entities` has changed

    init(_ replica: Replica) {
        todos = LiveQuery(replica, Todo.where(\.done != true).order(by: \.title).limit(50))
    }
}

enum Excerpts {
    static func inAnApp(
        _ engine: SyncEngine, _ replica: Replica, _ open: EntityQuery<Todo>
    ) async throws {
        await engine.start(SyncTriggers(every: .seconds(900)))
        await engine.trigger(.reachability)
        for await status in engine.statuses { show(status) }
        for try await todos in replica.observe(open) { show(todos) }
        for issue in try replica.issues() {
            print(issue.id, issue.kind, issue.message)
            try await replica.answer(issue.id, .keepMine)
        }
        try await replica.signOut(ifPending: .refuse)
    }

    private static func show(_ value: some Sendable) { print(value) }
}
