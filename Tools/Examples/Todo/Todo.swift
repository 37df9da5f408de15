// Todo.swift — a to-do list on the command line: works offline, syncs with Kinto. Read it from top
// to bottom.
//
//   Tools/kinto                          in another terminal: a server to sync with
//   swift run todo add "Buy tea" Home    on this device
//   TODO_STORE=phone swift run todo sync and on another one

import Foundation
import Tidemark
import TidemarkHTTP

// MARK: The data

/// A list of todos; the coding keys are the field names of the server.
struct TodoList: Entity {
    static let collection: CollectionName = "lists"
    static let fields: FieldNames<TodoList> = [\.title: "title"]
    let id: ID<TodoList>
    var title: String
}

/// Something to do.
struct Todo: Entity {
    static let collection: CollectionName = "tasks"
    static let fields: FieldNames<Todo> = [\.done: "done", \.list: "list", \.created: "created"]
    let id: ID<Todo>
    var title: String
    var list: ID<TodoList>?
    var done: Bool?
    var created: Date

    /// The oldest hundred todos that are not done: read in the order of the model's index.
    static let open = Todo.where(\.done != true).order(by: \.created).limit(100)
}

/// What is synced, and how a conflict is decided when the server changed the same field.
let model = SyncModel(
    name: "todo",
    collections: [
        CollectionModel("lists", conflict: .serverWins),
        CollectionModel(
            "tasks", conflict: .mergeFields(.localWins),
            references: [Reference("list", to: "lists")], indexes: [[.date("created")]]),
    ])

// MARK: The commands

@main struct TodoApp {
    static let usage = """
        todo add TITLE [LIST]   todo list [LIST]   todo done ID     todo rename ID TITLE
        todo remove ID          todo sync          todo watch       todo issues [ID ANSWER]
        """

    static func main() async {
        do { try await TodoApp().run(Array(CommandLine.arguments.dropFirst())) } catch {
            FileHandle.standardError.write(Data("todo: \(error)\n".utf8))
            exit(1)
        }
    }

    func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    let environment = ProcessInfo.processInfo.environment
    let replica: Replica

    /// Opens the store, or creates it; no other process can use it until this one ends.
    init() throws {
        let folder = ProcessInfo.processInfo.environment["TODO_STORE"] ?? "todo.store"
        replica = try Replica.open(at: folder, model: model)
    }

    func run(_ words: [String]) async throws {
        switch (words.first, words.dropFirst().first, words.dropFirst(2).first) {
        case ("add", let title?, let list): try await add(title, to: list)
        case ("list", let list, nil): try show(list)
        case ("done", let id?, nil): try await change(id) { $0.done = true }
        case ("rename", let id?, let title?): try await change(id) { $0.title = title }
        case ("remove", let id?, nil): try await remove(id)
        case ("sync", nil, nil): try await sync()
        case ("watch", nil, nil): try await watch()
        case ("issues", let id, let answer): try await settle(id, answer)
        default: throw Complaint("that is none of these:\n" + Self.usage)
        }
    }

    // MARK: Editing: each `write` is one commit, on disk when it returns

    func add(_ title: String, to name: String?) async throws {
        let todo = try await replica.write { tx in
            var list: TodoList.ID?
            if let name {
                let known = try tx.first(TodoList.where(\.title == name))
                let home = known ?? TodoList(id: tx.makeID(), title: name)
                try tx.save(home)  // nothing is logged of one that is there
                list = home.id
            }
            let todo = Todo(id: tx.makeID(), title: title, list: list, created: Date())
            try tx.create(todo)
            return todo
        }
        say("added \(short(todo.id))")
    }

    func change(_ prefix: String, _ edit: @escaping @Sendable (inout Todo) -> Void) async throws {
        let id = try find(prefix)
        try await replica.write { tx in try tx.update(Todo.self, id, edit) }
    }

    func remove(_ prefix: String) async throws {
        let id = try find(prefix)
        try await replica.write { tx in try tx.delete(Todo.self, id) }
    }

    // MARK: Reading

    func show(_ name: String?) throws {
        try replica.read { store in
            var query = Todo.open
            if let name {
                guard let list = try store.first(TodoList.where(\.title == name)) else {
                    throw Complaint("there is no list \(name)")
                }
                query = query.where(\.list == list.id)
            }
            for todo in try store.rows(query) {
                let list = try store.get(todo.list)
                let mark = todo.status == .synced ? " " : "*"  // not on the server yet
                let name = list.map { " (\($0.title))" } ?? ""
                say("\(mark) \(short(todo.id)) \(todo.title)\(name)")
            }
        }
    }

    func find(_ prefix: String) throws -> Todo.ID {
        let found = try replica.read { try $0.all(Todo.self) }
            .filter { $0.id.rawValue.hasPrefix(prefix) }
        guard let todo = found.first, found.count == 1 else {
            throw Complaint("\(found.count) todos begin with \(prefix)")
        }
        return todo.id
    }

    func short(_ id: Todo.ID) -> String { String(id.rawValue.prefix(6)) }

    // MARK: Syncing

    func makeEngine() throws -> SyncEngine {
        let origin = environment["TODO_SERVER"] ?? "http://127.0.0.1:8888"
        return try SyncEngine(replica, remote: .kinto(origin: origin, bucket: "todo")) {
            .basic(user: "me", password: "secret")
        }
    }

    func sync() async throws {
        let outcome = try await makeEngine().sync()
        say("\(outcome)")  // synced: 2 pulled, 1 pushed
    }

    /// Syncs automatically, and shows the oldest open todos whenever they change, until Control-C.
    func watch() async throws {
        let engine = try makeEngine()
        await engine.start(SyncTriggers(every: .seconds(5)))
        for try await todos in replica.observe(Todo.open) {
            say("to do first:")
            for todo in todos { say("  \(short(todo.id)) \(todo.title)") }
        }
    }

    /// Lists or answers the issues that only a person can decide: refused edits, lost conflicts.
    func settle(_ id: String?, _ answer: String?) async throws {
        if let id, let answer = answer.flatMap(IssueAnswer.init(rawValue:)) {
            guard let issue = try replica.issues().first(where: { "\($0.id)" == id }) else {
                throw Complaint("there is no issue \(id)")
            }
            return try await replica.answer(issue.id, answer)
        }
        for issue in try replica.issues() {
            let key = issue.key.map { "\($0)" } ?? ""
            say("\(issue.id) \(issue.kind) \(key): \(issue.message)")
        }
    }
}

/// An error message for the user.
struct Complaint: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
