// QueryChores.swift — an app's types and stores for tests of queries.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

struct QueryRoom: Entity, Equatable {
    static let collection: CollectionName = "rooms"
    let id: Tidemark.ID<QueryRoom>
    var title: String
}

enum QueryColour: String, Codable, QueryValue, CaseIterable {
    case red, green, blue
}

struct QueryChore: Entity, Equatable {
    static let collection: CollectionName = "chores"
    static let fields: FieldNames<QueryChore> = [
        \.title: "title", \.room: "room", \.due: "due", \.points: "points", \.isDone: "done",
        \.colour: "colour",
    ]
    let id: Tidemark.ID<QueryChore>
    var title = ""
    var room: Tidemark.ID<QueryRoom>?
    var due: Date?
    var points: Int?
    var isDone = false
    var colour: QueryColour?
    /// Has no name in ``fields``.
    var note: String?
    /// Nor has this one, which could be taken for the id.
    var twin = Tidemark.ID<QueryChore>("")

    enum CodingKeys: String, CodingKey {
        case id, title, room, due, points
        case isDone = "done"
        case colour, note, twin
    }

    init(_ id: String) { self.id = Tidemark.ID(id) }
}

enum QueryStore {
    static func model(_ indexes: [IndexModel] = []) -> SyncModel {
        SyncModel(
            name: "queries",
            collections: [
                CollectionModel("rooms"),
                CollectionModel(
                    "chores", references: [Reference("room", to: "rooms")], indexes: indexes),
            ])
    }

    /// A store with indexes and chores; to be deleted with `deleteTemporary()`.
    static func make(_ indexes: [IndexModel] = [], _ chores: [QueryChore] = []) throws -> Replica {
        let replica = try Replica.temporary(
            model: model(indexes), dependencies: .seeded(0, clock: ManualClock()))
        try replica.write { tx in for chore in chores { try tx.create(chore) } }
        return replica
    }
}

extension Replica {
    /// The ids of a query's entities, in its order.
    func ids(_ query: EntityQuery<QueryChore>) throws -> [String] {
        try read { try $0.all(query).map(\.id.rawValue) }
    }

    /// The ids of a query's entities as one text.
    func found(_ query: EntityQuery<QueryChore>) throws -> String {
        try ids(query).joined(separator: " ")
    }

    func first(_ query: EntityQuery<QueryChore>) throws -> QueryChore? {
        try read { try $0.first(query) }
    }

    func count(_ query: EntityQuery<QueryChore>) throws -> Int {
        try read { try $0.count(query) }
    }

    func explained(_ query: EntityQuery<QueryChore>) throws -> String {
        try read { try $0.explain(query).description }
    }
}

/// How many chores there are of each value of some properties.
struct QueryCounts: Equatable {
    var rooms: [Tidemark.ID<QueryRoom>?: Int] = [:]
    var titles: [String: Int] = [:]
    var dues: [Date?: Int] = [:]
    var points: [Int?: Int] = [:]
    var done: [Bool: Int] = [:]
    var ids: [Tidemark.ID<QueryChore>: Int] = [:]

    init(_ query: EntityQuery<QueryChore>, in store: some EntityReading) throws {
        rooms = try store.counts(query, by: \.room)
        titles = try store.counts(query, by: \.title)
        dues = try store.counts(query, by: \.due)
        points = try store.counts(query, by: \.points)
        done = try store.counts(query, by: \.isDone)
        ids = try store.counts(query, by: \.id)
    }

    init(_ chores: [QueryChore]) {
        for chore in chores {
            rooms[chore.room, default: 0] += 1
            titles[chore.title, default: 0] += 1
            dues[chore.due, default: 0] += 1
            points[chore.points, default: 0] += 1
            done[chore.isDone, default: 0] += 1
            ids[chore.id, default: 0] += 1
        }
    }
}

func date(_ seconds: Double) -> Date { Date(timeIntervalSince1970: seconds) }
