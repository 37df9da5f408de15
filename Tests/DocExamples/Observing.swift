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

    static func followAny(_ replica: Replica) async throws {
        let perList = replica.observe { store in
            let open = try store.all(Todo.where(\.done == nil))
            return Dictionary(grouping: open, by: \.list).mapValues(\.count)
        }
        for try await counts in perList {
            print(counts.count)
        }
    }

    @MainActor @Observable final class SyncScreen {
        let issues: LiveResult<Int>
        let waiting: LiveResult<[Replica.OutboxEntry]>

        init(_ replica: Replica) {
            issues = LiveResult(replica, orElse: 0) { try $0.issues().count }
            waiting = LiveResult(replica, orElse: []) { try $0.outbox() }
        }
    }
}
