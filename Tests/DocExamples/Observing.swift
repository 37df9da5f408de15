// Observing.swift — the code of the article of that name.

import Observation
package import Tidemark
import TidemarkSync

package enum Observing {
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
            @unknown default: break
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
            for row in rows { print(row.title, row.status, row.refusal?.message ?? "") }
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

    /// A table of another database, with the position up to which it is in step.
    package protocol TodoTable: Sendable {
        func anchor() throws -> Position?
        func transaction(upTo anchor: Position, _ body: () throws -> Void) throws
        func put(_ todo: Todo) throws
        func remove(_ id: String) throws
        func removeAll() throws
    }

    package struct TodoIndex {
        let replica: Replica
        let table: any TodoTable

        func follow() async throws {
            for try await _ in replica.observe({ $0.position }) { try update() }
        }

        package func update() throws {
            do {
                guard let anchor = try table.anchor() else { return try readAll() }
                let changes = try replica.changes(since: anchor, in: .collection(Todo.collection))
                try replica.read { store in
                    try table.transaction(upTo: changes.position) {
                        for key in changes.appeared + changes.changed + changes.disappeared {
                            if let todo = try todo(key, store) {
                                try table.put(todo)
                            } else {
                                try table.remove(key.id)
                            }
                        }
                    }
                }
            } catch let error as TidemarkError where error.code == .anchorExpired {
                try readAll()
            }
        }

        func todo(_ key: EntityKey, _ store: ReadContext) throws -> Todo? {
            do {
                let todo = try store.get(Todo.self, ID(key.id))
                return todo?.id.rawValue == key.id ? todo : nil
            } catch let error as TidemarkError where error.code == .undecodable { return nil }
        }

        func readAll() throws {
            try replica.read { store in
                try table.transaction(upTo: store.position) {
                    try table.removeAll()
                    for todo in try store.decodable(Todo.self) { try table.put(todo) }
                }
            }
        }
    }
}

extension Observing.TodoIndex {
    package static func beside(
        _ replica: Replica, _ table: any Observing.TodoTable
    ) -> Observing.TodoIndex {
        Observing.TodoIndex(replica: replica, table: table)
    }
}
