// TimeTravel.swift — the code of the article of that name.

import Tidemark
import TidemarkSync

enum TimeTravel {
    static func read(_ replica: Replica, _ position: Position) throws -> [Todo] {
        let then = try replica.read(asOf: position) { store in
            try store.all(Todo.where(\.done == nil))
        }
        return then
    }

    static func find(_ replica: Replica, _ id: ID<Todo>, _ lunch: Timestamp) throws -> String? {
        let title = try replica.read(asOf: lunch) { try $0.get(Todo.self, id)?.title }
        let position = try replica.position(asOf: lunch)
        return position == nil ? nil : title
    }
}
