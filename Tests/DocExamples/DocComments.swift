// DocComments.swift — the code that doc comments in Sources show.

import Foundation
package import HTTPTypes
import Tidemark
package import TidemarkSync
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

/// Speaks to a server that takes several writes in one request, around what speaks of each.
package struct BatchingAdapter: ServerAdapter {
    private let one: any ServerAdapter

    package init(_ one: any ServerAdapter) { self.one = one }

    package var traits: ServerTraits {
        var traits = one.traits
        traits.writesPerRequestMax = 20
        return traits
    }

    package func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard case .batch(let calls) = call else { return try one.request(for: call) }
        var writes: [String] = []
        for call in calls {
            let write = try one.request(for: call)
            let body = write.body.map { String(decoding: $0, as: UTF8.self) } ?? "null"
            writes.append(
                #"{"method":"\#(write.method)","path":"\#(write.path)","body":\#(body)}"#)
        }
        let list = writes.joined(separator: ",")
        return ServerRequest(
            method: .post, path: "/batch/", headers: [.contentType: "application/json"],
            body: Array(#"{"operations":[\#(list)]}"#.utf8))
    }

    package func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        guard case .batch(let calls) = call else {
            return one.answer(to: call, response, body: body)
        }
        guard response.status.code == 200,
            let results = try? JSON.arrayElements(of: body, at: "results"),
            results.count == calls.count
        else {
            return .failure(
                SyncFailure(
                    status: response.status.code, headerFields: response.headerFields))
        }
        var parts: [BatchedAnswer] = []
        for (call, range) in zip(calls, results) {
            let result = Array(body[range])
            guard let status = JSON.value("status", of: result)?.int64Value,
                (200..<600).contains(status)
            else { return .failure(.malformed("a result without a status")) }
            let own = JSON.member("body", of: result).map { Array(result[$0]) } ?? []
            let head = HTTPResponse(status: .init(code: Int(status)))
            parts.append(
                BatchedAnswer(status: Int(status), one.answer(to: call, head, body: own)))
        }
        return .batch(parts)
    }
}
