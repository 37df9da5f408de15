import Tidemark
import TidemarkHTTP

struct Todo: Entity {
    static let collection: CollectionName = "tasks"
    let id: ID<Todo>
    var title: String
    var done: Bool?
}

@main struct Example {
    static func main() async throws {
        let tasks = CollectionModel("tasks", conflict: .localWins)
        let model = SyncModel(name: "todo", collections: [tasks])
        let replica = try Replica.open(at: "todo.store", model: model)

        try await replica.write { tx in  // one commit; on disk when it returns
            try tx.create(Todo(id: ID("t1"), title: "Buy tea"))
            try tx.update(Todo.self, ID("t1")) { $0.title = "Buy green tea" }
        }
        let todos = try replica.read { try $0.all(Todo.self) }

        let remote = Remote.kinto(origin: "http://127.0.0.1:8888", bucket: "todo")
        let engine = try SyncEngine(replica, remote: remote) { .basic(user: "me", password: "pw") }
        let outcome = try await engine.sync()  // read back, pull, push; failures are in the outcome
        print(todos[0].title, outcome.isSynced)
    }
}
