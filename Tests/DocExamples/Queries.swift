// Queries.swift — the code of the article of that name.

import Foundation
package import Tidemark

package enum Queries {
    struct Todo: Entity {
        static let collection: CollectionName = "tasks"
        static let fields: FieldNames<Todo> = [
            \.title: "title", \.list: "list", \.done: "done", \.due: "due", \.tags: "tags",
        ]
        let id: ID<Todo>
        var title: String
        var list: ID<TodoList>?
        var done: Bool?
        var due: Date?
        var tags: [ID<Tag>]?
    }

    struct Tag: Entity {
        static let collection: CollectionName = "tags"
        let id: ID<Tag>
        var name: String
    }

    static func ask(_ replica: Replica, _ tomorrow: Date) throws -> [Todo] {
        let open = Todo.where(\.done == nil && \.due < tomorrow).order(by: \.due).limit(20)
        let todos = try replica.read { try $0.all(open) }

        let urgent = open.where(\.title != "Sweep").order(by: \.title, .descending)
        return try todos + replica.read { try $0.all(urgent) }
    }

    static func pages(_ replica: Replica, _ open: EntityQuery<Todo>) throws -> [Todo] {
        let (page, last) = try replica.read { store in
            let page = try store.all(open)
            return (page, try page.last.flatMap { try store.cursor(at: $0.id) })
        }
        guard let last else { return page }
        let next = try replica.read { try $0.all(open.after(last)) }
        return page + next
    }

    package static func count(_ replica: Replica, _ home: ID<TodoList>) throws {
        let perList = try replica.read { try $0.counts(Todo.where(\.done == nil), by: \.list) }
        print(perList[home] ?? 0, "open at home")
    }

    static func leaveOut(_ replica: Replica, _ urgent: EntityQuery<Todo>) throws {
        let shown = urgent.decodable()
        let (todos, problems) = try replica.read { store in
            (try store.all(shown), try store.undecodable(shown))
        }
        print(todos.count, problems)
    }

    static func follow(_ replica: Replica, _ tea: Todo, _ home: ID<TodoList>) throws {
        let (list, todos) = try replica.read { store in
            (try store.get(tea.list), try store.all(Todo.where(\.list == home)))
        }
        print(list?.title ?? "", todos.count)
    }

    static func tagged(_ replica: Replica, _ tag: ID<Tag>) throws -> [Todo] {
        let tagged = Todo.where(.contains(\.tags, tag)).where(\.done == nil)
        let referrers = try replica.read { try $0.referrers(of: tag, \Todo.tags) }
        return try referrers + replica.read { try $0.all(tagged) }
    }

    /// How the first query of the article is answered, and one without an index.
    package static func plans(_ replica: Replica) throws -> [String] {
        let tomorrow = Date(timeIntervalSince1970: 1_795_305_600)
        let open = Todo.where(\.done == nil && \.due < tomorrow).order(by: \.due).limit(20)
        return try replica.read { store in
            [
                try store.explain(open).description,
                try store.explain(Todo.where(.hasPrefix(\.title, "Buy"))).description,
            ]
        }
    }

    static func explain(_ replica: Replica, _ open: EntityQuery<Todo>) throws {
        print(try replica.read { try $0.explain(open) })
    }
}
