// ReadModelTests.swift — the table beside the store, as the article on observing shows it.

import DocExamples
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@Suite struct `a table beside the store` {
    private let replica: Replica
    private let rows = TodoRows()

    init() throws {
        var model = GettingStarted.model
        model.collections[1].ids = .serverText
        replica = try Replica.temporary(
            model: model, dependencies: .seeded(1, clock: ManualClock()))
    }

    @discardableResult
    private func log(
        _ kind: EventKind, _ id: String, _ json: String, mutation: Position? = nil,
        call: Position? = nil
    ) throws -> Position {
        try replica.write { tx in
            try tx.draft.append(
                Event(
                    kind, recordedAt: tx.draft.now, key: EntityKey("tasks", id),
                    mutation: mutation, call: call, json: Array(json.utf8)))
        }
    }

    @Test func `has a todo once, also where another id turned out to be its own`() throws {
        defer { try? replica.deleteTemporary() }
        let index = Observing.TodoIndex.beside(replica, rows)
        let made = try log(.localCreated, "L", #"{"title":"Tea"}"#)
        let call = try log(.requestSent, "L", "{}", mutation: made)
        // A list came before the answer.
        try log(.serverUpserted, "7", #"{"title":"Tea"}"#)
        try index.update()
        #expect(rows.titles == ["L": "Tea", "7": "Tea"])

        try log(.pushAccepted, "L", #"{"serverID":"7"}"#, mutation: made, call: call)
        try index.update()

        #expect(rows.titles == ["L": "Tea"])
    }

    @Test func `lacks what can't be read as a todo any more`() throws {
        defer { try? replica.deleteTemporary() }
        let index = Observing.TodoIndex.beside(replica, rows)
        for id in ["7", "8"] { try log(.serverUpserted, id, #"{"title":"Tea"}"#) }
        try index.update()

        try log(.serverUpserted, "8", #"{"title":5}"#)
        try index.update()

        #expect(rows.titles == ["7": "Tea"])
    }
}

private final class TodoRows: Observing.TodoTable {
    private struct State {
        var anchor: Position?
        var titles: [String: String] = [:]
    }
    private let state = Mutex(State())

    var titles: [String: String] { state.withLock(\.titles) }

    func anchor() throws -> Position? { state.withLock(\.anchor) }

    func transaction(upTo anchor: Position, _ body: () throws -> Void) throws {
        try body()
        state.withLock { $0.anchor = anchor }
    }

    func put(_ todo: DocExamples.Todo) throws {
        state.withLock { $0.titles[todo.id.rawValue] = todo.title }
    }

    func remove(_ id: String) throws { state.withLock { $0.titles[id] = nil } }

    func removeAll() throws { state.withLock { $0.titles = [:] } }
}
