// DocComments.swift — the code that doc comments in Sources show.

import Foundation
import Tidemark
import TidemarkTesting

enum DocComments {
    typealias Note = Conflicts.Note

    struct Todo: Entity {
        static let collection: CollectionName = "tasks"
        let id: ID<Todo>
        var title: String
        var list: ID<TodoList>?
        var startedAt: Date?
        var priority: Priority
        var labels: [String]?
        var custom: JSONValue?
    }

    enum Priority: RawRepresentable, Codable, Hashable, Sendable {
        case low, high, other(String)
        init(rawValue: String) {
            self =
                switch rawValue {
                case "low": .low
                case "high": .high
                default: .other(rawValue)
                }
        }
        var rawValue: String {
            switch self {
            case .low: "low"
            case .high: "high"
            case .other(let value): value
            }
        }
    }

    struct TimeEntry: Entity {
        static let collection: CollectionName = "time_entries"
        static let fields: FieldNames<TimeEntry> = [\.duration: "duration", \.start: "start"]
        let id: ID<TimeEntry>
        var duration: Int?
        var start: Date
    }

    static func query(_ monday: Date) -> EntityQuery<TimeEntry> {
        TimeEntry.where(\.duration == nil && \.start >= monday).order(by: \.start).limit(20)
    }

    static func rule() -> ConflictRule {
        ConflictRule(name: "allTags", for: Note.self) { conflict in
            guard var note = conflict.merged, let mine = conflict.mine else { return .theirs }
            note.tags += mine.tags.filter { !note.tags.contains($0) }
            return .entity(note)
        }
    }

    static func replay() async throws {
        try await Replay(.fixture("bug-1234.capsule")).run()
    }

    static func holds() throws -> Bool {
        let replay = Replay(.fixture("min.capsule"))
        let isRefused = try replay.holds("tasks/x is error")
        return isRefused
    }

    static func corpus() async throws {
        for bug in try Replay.corpus(in: "Replays") { try await bug.run() }
    }
}

extension Queries {
    static func badge(_ replica: Replica, _ home: ID<TodoList>) throws {
        let perList = try replica.read { try $0.counts(Todo.where(\.done == nil), by: \.list) }
        print(perList[home] ?? 0, "open at home")
    }
}
