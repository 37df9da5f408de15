// Observing.swift — the code of the article of that name.

import Observation
import Tidemark

enum Observing {
    @MainActor @Observable final class TodoScreen {
        let open: LiveQuery<Todo>

        init(_ replica: Replica) {
            open = LiveQuery(replica, Todo.where(\.done == nil))
        }
    }

    static func follow(_ replica: Replica) async throws {
        for try await todos in replica.observe(Todo.where(\.done == nil)) {
            print(todos.count)
        }
    }

    static func followRows(_ replica: Replica) async throws {
        for try await rows in replica.observe(rows: Todo.where(\.done == nil)) {
            for row in rows { print(row.title, row.status, row.lastError?.message ?? "") }
        }
    }
}
