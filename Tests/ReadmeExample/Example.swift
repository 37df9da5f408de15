import Tidemark
import TidemarkHTTP

struct Todo: Entity {
    static let collection: CollectionName = "tasks"
    static let fields: FieldNames<Todo> = [\.title: "title", \.done: "done"]
    let id: ID<Todo>
    var title: String
    var done: Bool?
}

@main struct Example {
    static func main() async throws {
        let tasks = CollectionModel("tasks", conflict: .localWins, indexes: [["title"]])
        let model = SyncModel(name: "todo", collections: [tasks])
        let replica = try await Replica.open(at: "todo.store", model: model)

        try await replica.write { tx in  // one commit; on disk when it returns
            try tx.save(Todo(id: "t1", title: "Buy tea"))
            try tx.update(Todo.self, "t1") { $0.title = "Buy green tea" }
        }
        let open = Todo.where(\.done != true).order(by: \.title).limit(20)
        let todos = try replica.read { try $0.all(open) }

        let remote = Remote.kinto(origin: "http://127.0.0.1:8888", bucket: "todo")
        let engine = try SyncEngine(replica, remote: remote) { .basic(user: "me", password: "pw") }
        let outcome = try await engine.sync()  // read back, pull, push; failures are in the outcome
        print(todos[0].title, outcome)
    }
}
