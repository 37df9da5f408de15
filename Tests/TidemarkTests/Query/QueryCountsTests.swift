// QueryCountsTests.swift — how many entities of a query have each value of a property.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Chore = QueryChore
private typealias ID = Tidemark.ID

private let indexSets: [[IndexModel]] = [
    [], [["room"]], [["done", "room"]], [["room", "done"], ["title"]],
]

@Suite struct `counts by a property` {
    private let chores: [Chore] = [("a", "hall", false), ("b", "hall", true), ("c", nil, false)]
        .map { id, room, isDone in
            var chore = Chore(id)
            (chore.room, chore.isDone) = (room.map { ID($0) }, isDone)
            chore.title = String(repeating: "long ", count: 200) + (isDone ? "b" : "a")
            return chore
        }

    @Test(arguments: indexSets)
    func `are of the values that the query's entities have`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }

        try replica.read { store throws in
            #expect(try store.counts(Chore.all, by: \.room) == [ID("hall"): 2, nil: 1])
            #expect(
                try store.counts(Chore.where(\.isDone == false), by: \.room)
                    == [ID("hall"): 1, nil: 1])
            #expect(try store.counts(Chore.where(\.room == ID("attic")), by: \.room) == [:])
            #expect(try store.counts(Chore.where(.in(\.room, [])), by: \.isDone) == [:])
            #expect(
                try store.counts(Chore.all.order(by: \.room).limit(2), by: \.room)
                    == [nil: 1, ID("hall"): 1])
            #expect(
                try store.counts(Chore.all.order(by: \.room).offset(1), by: \.room)
                    == [ID("hall"): 2])
            #expect(Set(try store.counts(Chore.all, by: \.title).values) == [2, 1])
        }
    }

    @Test func `have the changes of a write`() throws {
        let replica = try QueryStore.make([["room"]], chores)
        defer { try? replica.deleteTemporary() }

        try replica.write { tx in
            try tx.update(Chore.self, ID("c")) { $0.room = ID("hall") }
            #expect(try tx.counts(Chore.all, by: \.room) == [ID("hall"): 3])
        }
    }

    @Test func `read no document where an index has the property and all conditions`() throws {
        let replica = try QueryStore.make([["done", "room"], ["title"]], chores)
        defer { try? replica.deleteTemporary() }

        try replica.read { store throws in
            func isIndexed(_ query: EntityQuery<Chore>, _ field: String) throws -> Bool {
                let documents = try store.documentQuery(query)
                let indexes = try store.views.indexes(of: documents.collection)
                return QueryPlan(counting: documents, by: IndexField(field), indexes: indexes)
                    != nil
            }
            #expect(try isIndexed(Chore.all, "room"))
            #expect(try isIndexed(Chore.where(\.isDone == false), "room"))
            #expect(try isIndexed(Chore.where(\.isDone == false), "colour") == false)
            #expect(try isIndexed(Chore.where(\.points == 1), "room") == false)
            #expect(try isIndexed(Chore.all.limit(1), "room") == false)
        }
    }

    @Test func `fail for a value that can't be read, unless such are left out`() throws {
        let replica = try QueryStore.make([["room"]], chores)
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            let wrong = Patch.Field("points", Array(#""many""#.utf8))
            _ = try tx.patch(EntityKey("chores", "c"), Patch(set: [wrong]))
        }

        try replica.read { store throws in
            let error = #expect(throws: TidemarkError.self) {
                try store.counts(Chore.all, by: \.room)
            }
            #expect(error?.code == .undecodable)
            #expect(try store.counts(Chore.all.decodable(), by: \.room) == [ID("hall"): 2])
        }
    }

    @Test func `are observed`() async throws {
        let replica = try QueryStore.make([["done", "room"]], chores)
        defer { try? replica.deleteTemporary() }
        var counts = replica.observe(counts: Chore.where(\.isDone == false), by: \.room)
            .makeAsyncIterator()
        #expect(try await counts.next() == [ID("hall"): 1, nil: 1])

        try await replica.write { tx in
            try tx.update(Chore.self, ID("b")) { $0.title = "Sweep" }
            try tx.update(Chore.self, ID("c")) { $0.isDone = true }
        }

        #expect(try await counts.next() == [ID("hall"): 1])
    }
}
