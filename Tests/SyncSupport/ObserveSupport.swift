// ObserveSupport.swift — entities to observe, and those who count how often they are woken.

import Tidemark
import TidemarkStore
import TidemarkTesting
import TidemarkViews

struct Errand: Entity, Equatable {
    static let collection: CollectionName = "tasks"
    static let fields: FieldNames<Errand> = [\.list: "list", \.done: "done", \.title: "title"]

    let id: Tidemark.ID<Errand>
    var title: String
    var list: String?
    var done: Bool?

    init(_ id: String, _ title: String = "", list: String? = nil, done: Bool? = nil) {
        self.id = ID(id)
        self.title = title
        self.list = list
        self.done = done
    }
}

extension Replica {
    func put(_ todos: Errand...) throws {
        try write { tx in for todo in todos { try tx.put(todo) } }
    }

    func put(_ key: String, _ json: String) throws {
        try write { tx in
            if let key = EntityKey(key) { _ = try tx.put(key, Array(json.utf8)) }
        }
    }

    func delete(_ id: String) throws {
        try write { tx in _ = try tx.delete(EntityKey("tasks", id)) }
    }

    /// What a server says of a task, as a run would note it.
    func serverSays(_ id: String, _ json: String) throws {
        try write { tx in
            var event = Event(
                .serverUpserted, recordedAt: tx.draft.now, json: Array(json.utf8))
            (event.collection, event.entity) = ("tasks", id)
            try tx.draft.append(event)
        }
    }
}

extension WriteContext {
    func put(_ todo: Errand) throws {
        if try get(Errand.self, todo.id) == nil {
            try create(todo)
        } else {
            try update(Errand.self, todo.id) { $0 = todo }
        }
    }
}

/// Counts how often somebody who observes is woken.
final class Wakes: Sendable {
    private let replica: Replica
    private let count = Lock(0)
    private let number = Lock<Int?>(nil)

    init(_ replica: Replica, _ interest: Interest) {
        self.replica = replica
        let count = count
        let number = replica.journal.shared.feed.watch(interest, for: replica.journal) {
            count.withLock { $0 += 1 }
        }
        self.number.withLock { $0 = number }
    }

    convenience init(
        _ replica: Replica, _ query: EntityQuery<Errand>, includesStatus: Bool = false
    ) throws {
        self.init(
            replica,
            try replica.journal.read { try Interest(query, $0, includesStatus: includesStatus) })
    }

    convenience init(_ replica: Replica, _ id: String, includesStatus: Bool = false) {
        self.init(
            replica, Interest(EntityKey("tasks", id), includesStatus: includesStatus))
    }

    /// Who observes a read, as long as it reads the same.
    convenience init<R>(_ replica: Replica, reading body: (ReadContext) throws -> R) throws {
        let collections = try replica.read { store in
            let noted = store.views.noting { try body(store) }
            _ = try noted.result.get()
            return noted.collections
        }
        self.init(replica, collections.map { Interest(allIn: $0) } ?? .everyCommit)
    }

    deinit {
        if let number = number.withLock(\.self) { replica.journal.shared.feed.unwatch(number) }
    }

    /// How often since it was asked last.
    func taken() -> Int {
        count.withLock { count in
            defer { count = 0 }
            return count
        }
    }
}

/// A replica for the time of a test that awaits.
func withObserved<R>(_ body: (Replica) async throws -> R) async throws -> R {
    try await Replica.withTemporary(
        model: SyncWorld.usualModel, dependencies: .seeded(0, clock: ManualClock()), body)
}
