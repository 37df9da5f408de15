// GettingStarted.swift — the code of the article of that name, and the types of the others.

package import Foundation
package import Tidemark
import TidemarkHTTP

package struct TodoList: Entity {
    package static let collection: CollectionName = "lists"
    package let id: ID<TodoList>
    package var title: String
}

package struct Todo: Entity {
    package static let collection: CollectionName = "tasks"
    package static let fields: FieldNames<Todo> = [  // what queries may ask about
        \.title: "title", \.list: "list", \.done: "done", \.due: "due",
    ]
    package let id: ID<Todo>
    package var title: String
    package var list: ID<TodoList>?
    package var done: Bool?
    package var due: Date?
}

extension Todo {
    /// For the tests, in another module.
    package init(id: ID, title: String) {
        self.init(id: id, title: title, list: nil, done: nil, due: nil)
    }
}

package enum GettingStarted {
    package static let model = SyncModel(
        name: "todo",
        collections: [
            CollectionModel("lists"),
            CollectionModel(
                "tasks", conflict: .localWins, references: [Reference("list", to: "lists")]),
        ])

    package static func open(_ folder: String) async throws -> Replica {
        let replica = try await Replica.open(at: folder + "/todo.store", model: model)
        return replica
    }

    package static func write(_ replica: Replica) async throws -> ID<Todo> {
        let id = try await replica.write { tx in
            let home = TodoList(id: tx.makeID(), title: "Home")
            let tea = Todo(id: tx.makeID(), title: "Buy tea", list: home.id)
            try tx.create(home)
            try tx.create(tea)
            return tea.id
        }
        return id
    }

    package static func change(_ replica: Replica, _ id: ID<Todo>) async throws {
        try await replica.write { tx in
            try tx.update(Todo.self, id) { $0.title = "Buy green tea" }
        }
    }

    package static func read(_ replica: Replica, _ id: ID<Todo>) throws -> [Todo] {
        let (tea, todos) = try replica.read { store in
            (try store.get(Todo.self, id), try store.all(Todo.self))
        }
        return todos + [tea].compactMap(\.self)
    }

    static func sync(_ replica: Replica) async throws {
        let remote = Remote.kinto(origin: "https://kinto.example.org", bucket: "todo")
        let engine = try SyncEngine(replica, remote: remote) {
            .bearer(try await Keychain.token())  // asked once a run
        }
        let outcome = try await engine.sync()
        print(outcome.isSynced, outcome.pending)

        await engine.start(SyncTriggers(every: .seconds(900)))
        await engine.trigger(.reachability)
    }

    private enum Keychain {
        static func token() async throws -> String { "token" }
    }
}
