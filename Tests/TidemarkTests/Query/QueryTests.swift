// QueryTests.swift — what a query finds, in which order.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

private typealias Chore = QueryChore
private typealias ID = Tidemark.ID

private let indexSets: [[IndexModel]] = [
    [], [["title"], ["points"], [.date("due")], ["done", "colour", .date("due")]],
]

@Suite struct `a query` {
    private let chores: [Chore] = {
        var tea = Chore("tea")
        (tea.title, tea.room, tea.due, tea.points) = ("Buy tea", ID("kitchen"), date(1000), 3)
        (tea.isDone, tea.colour) = (true, .green)
        var mop = Chore("mop")
        (mop.title, mop.room, mop.due, mop.points) = ("Mop", ID("kitchen"), date(2000.25), 1)
        var ants = Chore("ants")
        (ants.title, ants.due, ants.colour) = ("Buy ant bait", date(500), .red)
        return [tea, mop, ants, Chore("zzz")]
    }()

    @Test(arguments: indexSets)
    func `finds by equality, and takes unset for nil`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        #expect(try replica.found(Chore.where(\.points == 3)) == "tea")
        #expect(try replica.found(Chore.where(\.points == nil)) == "ants zzz")
        #expect(try replica.found(Chore.where(\.points != nil)) == "mop tea")
        #expect(try replica.found(Chore.where(\.points != 3)) == "ants mop zzz")
        #expect(try replica.found(Chore.where(\.isDone == true)) == "tea")
        #expect(try replica.found(Chore.where(\.colour == .red)) == "ants")
        #expect(try replica.found(Chore.where(\.id == ID("mop"))) == "mop")
        #expect(try replica.found(Chore.where(\.id != ID("mop"))) == "ants tea zzz")
        #expect(try replica.found(Chore.where(\.due == date(2000.25))) == "mop")
    }

    @Test(arguments: indexSets)
    func `compares what has a value, and nothing else`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        #expect(try replica.found(Chore.where(\.points < 3)) == "mop")
        #expect(try replica.found(Chore.where(\.points <= 3)) == "mop tea")
        #expect(try replica.found(Chore.where(\.points > 1)) == "tea")
        #expect(try replica.found(Chore.where(\.points >= 1)) == "mop tea")
        #expect(try replica.found(Chore.where(!(\.points >= 1))) == "ants zzz")
        #expect(try replica.found(Chore.where(\.points < nil)) == "")
        #expect(try replica.found(Chore.where(\.points >= nil)) == "")
        #expect(try replica.found(Chore.where(\.due > date(500))) == "mop tea")
        #expect(try replica.found(Chore.where(\.title < "M")) == "ants tea zzz")
    }

    @Test(arguments: indexSets)
    func `finds one of several, ranges and prefixes`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        #expect(try replica.found(Chore.where(.in(\.points, [3, 1, 9]))) == "mop tea")
        #expect(try replica.found(Chore.where(.in(\.points, [3, nil]))) == "ants tea zzz")
        #expect(try replica.found(Chore.where(.in(\.points, [Int]()))) == "")
        #expect(
            try replica.found(Chore.where(.in(\.id, ["tea", "no", "ants"].map { ID($0) })))
                == "ants tea")
        #expect(try replica.found(Chore.where(.in(\.points, 1..<3))) == "mop")
        #expect(try replica.found(Chore.where(.in(\.points, 1...3))) == "mop tea")
        #expect(
            try replica.found(Chore.where(.in(\.due, date(500)..<date(2000)))) == "ants tea")
        #expect(try replica.found(Chore.where(.hasPrefix(\.title, "Buy "))) == "ants tea")
        #expect(try replica.found(Chore.where(.hasPrefix(\.title, ""))) == "ants mop tea zzz")
    }

    @Test(arguments: indexSets)
    func `joins conditions`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        let kitchen: EntityCondition<Chore> = \.room == ID("kitchen")
        #expect(try replica.found(Chore.where(kitchen && \.isDone == false)) == "mop")
        #expect(try replica.found(Chore.where(kitchen).where(\.points > 1)) == "tea")
        #expect(try replica.found(Chore.where(kitchen || \.colour == .red)) == "ants mop tea")
        #expect(try replica.found(Chore.where(!kitchen)) == "ants zzz")
        #expect(try replica.found(Chore.where(!(kitchen && \.points == 3))) == "ants mop zzz")
        #expect(try replica.found(Chore.where(\.points == 3 && \.points == 1)) == "")
        #expect(try replica.found(Chore.where(\.points > 3 && \.points < 3)) == "")
        #expect(try replica.found(Chore.where(\.points >= 3 && \.points <= 3)) == "tea")
    }

    @Test(arguments: indexSets)
    func `orders, ending in the id in the direction of the last order`(indexes: [IndexModel]) throws
    {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        #expect(try replica.found(Chore.all) == "ants mop tea zzz")
        #expect(try replica.found(Chore.all.order(by: \.due)) == "zzz ants tea mop")
        #expect(
            try replica.found(Chore.all.order(by: \.due, .descending)) == "mop tea ants zzz")
        #expect(try replica.found(Chore.all.order(by: \.isDone)) == "ants mop zzz tea")
        #expect(
            try replica.found(Chore.all.order(by: \.isDone, .descending)) == "tea zzz mop ants")
        #expect(
            try replica.found(Chore.all.order(by: \.isDone).order(by: \.points, .descending))
                == "mop zzz ants tea")
        #expect(try replica.found(Chore.all.order(by: \.id, .descending)) == "zzz tea mop ants")
        #expect(
            try replica.found(Chore.all.order(by: \.id).order(by: \.due, .descending))
                == "ants mop tea zzz")
    }

    @Test(arguments: indexSets)
    func `limits, skips, and counts what is left`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        let byDue = Chore.all.order(by: \.due)
        #expect(try replica.found(byDue.limit(2)) == "zzz ants")
        #expect(try replica.found(byDue.offset(1).limit(2)) == "ants tea")
        #expect(try replica.found(byDue.offset(3)) == "mop")
        #expect(try replica.found(byDue.offset(9)) == "")
        #expect(try replica.found(byDue.limit(0)) == "")
        #expect(try replica.first(byDue.order(by: \.points))?.id.rawValue == "zzz")
        #expect(try replica.first(byDue.where(\.points == 3))?.id.rawValue == "tea")
        #expect(try replica.first(byDue.where(\.points == 8)) == nil)
        #expect(try replica.first(byDue.limit(0)) == nil)
        #expect(try replica.count(Chore.all) == 4)
        #expect(try replica.count(Chore.where(\.points != 3)) == 3)
        #expect(try replica.count(Chore.where(\.due >= date(500)).limit(2)) == 2)
        #expect(try replica.count(Chore.where(\.due >= date(500)).offset(2)) == 1)
        #expect(try replica.count(Chore.where(\.due >= date(500)).offset(9)) == 0)
    }

    @Test(arguments: indexSets)
    func `fails with a sentence on a key path without a name`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        let sentence = "QueryChore lists no name for \\.note; add it to QueryChore.fields"
        let queries = [
            Chore.where(\.note == "x"), Chore.where(\.points == 1 || !(\.note == nil)),
            Chore.all.order(by: \.note),
        ]
        for query in queries {
            #expect(throws: TidemarkError(.unknownField, sentence)) {
                try replica.ids(query)
            }
        }
        #expect(throws: TidemarkError.self) { try replica.ids(Chore.where(\.twin == ID("x"))) }
    }

    @Test(arguments: indexSets)
    func `fails on a collection that the model does not have`(indexes: [IndexModel]) throws {
        struct Other: Entity {
            static let collection: CollectionName = "others"
            let id: Tidemark.ID<Other>
        }
        let replica = try QueryStore.make(indexes, chores)
        defer { try? replica.deleteTemporary() }
        #expect(
            throws: TidemarkError(
                .noModel, "the model has no collection others; it has rooms, chores")
        ) {
            try replica.read { try $0.all(Other.where(\.id == ID("x"))) }
        }
    }

    @Test(arguments: indexSets)
    func `takes texts byte by byte, and numbers by value`(indexes: [IndexModel]) throws {
        let replica = try QueryStore.make(indexes)
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            for (id, json) in [
                ("a", #"{"title":"\u00e9","points":1.0}"#),
                ("b", #"{"title":"e\u0301","points":10e-1}"#),
                ("c", #"{"title":"\ud83d\ude00","points":1.5}"#),
                ("d", #"{"title":7,"points":"1"}"#),
            ] {
                try tx.create(EntityKey("chores", id), Array(json.utf8))
            }
        }
        func keys(_ query: EntityQuery<Chore>) throws -> String {
            try replica.read { context in
                var ids: [String] = []
                try context.views.forEachFound(try context.documentQuery(query)) { found in
                    ids.append(found.key.id)
                    return true
                }
                return ids.joined(separator: " ")
            }
        }
        #expect(try keys(Chore.where(\.title == "\u{e9}")) == "a")
        #expect(try keys(Chore.where(.hasPrefix(\.title, "e"))) == "b")
        #expect(try keys(Chore.where(\.points == 1)) == "a b")
        #expect(try keys(Chore.where(\.points > 1)) == "c")
        #expect(try keys(Chore.where(\.title > "")) == "a b c")
        #expect(try keys(Chore.all.order(by: \.title)) == "d b a c")
    }
}
