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

    @MainActor protocol DiscoverScreen: AnyObject {
        var isRefreshing: Bool { get set }
        var isBusy: Bool { get set }
        func reload(_ collection: CollectionName)
    }

    @MainActor static func follow(_ engine: SyncEngine, _ screen: any DiscoverScreen) async {
        for await activity in engine.activities {
            switch activity {
            case .started(let triggers): screen.isRefreshing = triggers.contains(.userRequested)
            case .requestBegan(let open), .requestEnded(let open): screen.isBusy = open > 0
            case .pageApplied(let page): screen.reload(page.collection)
            case .finished: screen.isRefreshing = false
            }
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
