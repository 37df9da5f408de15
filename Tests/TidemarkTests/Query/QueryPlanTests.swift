// QueryPlanTests.swift — which index a query takes, and the words that say so.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

private typealias Chore = QueryChore
private typealias ID = Tidemark.ID

@Suite struct `the plan of a query` {
    struct Case: CustomTestStringConvertible, Sendable {
        let query: EntityQuery<QueryChore>
        let indexes: [IndexModel]
        let words: String
        var testDescription: String { words }

        init(_ query: EntityQuery<QueryChore>, _ indexes: [IndexModel], _ words: String) {
            (self.query, self.indexes, self.words) = (query, indexes, words)
        }
    }

    static let due: IndexModel = [.date("due")]
    static let byRoom: EntityCondition<QueryChore> = \.room == ID("kitchen")

    static let cases: [Case] = [
        // Nothing to look up.
        Case(Chore.all, [due], "scan of chores"),
        Case(Chore.all.order(by: \.due), [due], "scan of chores; sorted by due"),
        Case(
            Chore.where(\.points == 3), [due],
            "scan of chores; checked: points = 3; an index [points] would be looked up"),
        Case(
            Chore.where(\.isDone == false && \.due < date(0)).order(by: \.due), [],
            "scan of chores; checked: done = false, due < \"1970-01-01T00:00:00Z\"; sorted by due; "
                + "an index [done, date due] would be looked up"),
        Case(
            Chore.where(byRoom || \.points == 3), [["points"]],
            "scan of chores; checked: (room = \"kitchen\" or points = 3)"),
        Case(Chore.where(\.points != 3), [["points"]], "scan of chores; checked: points != 3"),
        // An index of the wrong kind is of no use.
        Case(
            Chore.where(\.due == date(0)), [["due"]],
            "scan of chores; checked: due = \"1970-01-01T00:00:00Z\"; "
                + "an index [date due] would be looked up"),
        // Equality, ranges, prefixes.
        Case(Chore.where(byRoom), [], "index [room] of chores: room = \"kitchen\""),
        Case(Chore.where(\.points == nil), [["points"]], "index [points] of chores: points = null"),
        Case(
            Chore.where(\.points >= 2 && \.points < 5), [["points"]],
            "index [points] of chores: points >= 2, points < 5; sorted by id"),
        Case(
            Chore.where(.hasPrefix(\.title, "Bu")), [["title"]],
            "index [title] of chores: title begins with \"Bu\"; sorted by id"),
        Case(
            Chore.where(.in(\.points, [5, 1, 2, 7])), [["points"]],
            "index [points] of chores: points in [5, 1, 2, …]; sorted by id"),
        Case(
            Chore.where(\.id == ID("a") && \.points == 2), [["points"]],
            "ids of chores: id = \"a\"; checked: points = 2"),
        Case(
            Chore.where(\.points < nil), [["points"]],
            "nothing of chores: no entity can meet the conditions"),
        // The longest run of equalities, then a range, then the order; then what is declared first.
        Case(
            Chore.where(byRoom && \.points == 3), [["points"], ["points", "room"]],
            "index [points, room] of chores: room = \"kitchen\", points = 3"),
        Case(
            Chore.where(byRoom && \.points > 3), [["points"]],
            "index [room] of chores: room = \"kitchen\"; checked: points > 3"),
        Case(
            Chore.where(byRoom && \.due > date(0)), [["room", .date("due")]],
            "index [room, date due] of chores: room = \"kitchen\", "
                + "due > \"1970-01-01T00:00:00Z\"; sorted by id"),
        Case(
            Chore.where(\.points == 3).order(by: \.title),
            [["points", "room"], ["points", "title"]],
            "index [points, title] of chores: points = 3; order by the index"),
        Case(
            Chore.where(\.points == 3 && \.isDone == true), [["points"], ["done"]],
            "index [points] of chores: points = 3; checked: done = true"),
        // Order.
        Case(
            Chore.where(byRoom).order(by: \.due, .descending), [["room", .date("due")]],
            "index [room, date due] of chores: room = \"kitchen\"; "
                + "order by the index, from its end"),
        Case(
            Chore.where(byRoom).order(by: \.due).order(by: \.points, .descending),
            [["room", .date("due"), "points"]],
            "index [room, date due, points] of chores: room = \"kitchen\"; "
                + "sorted by due, points descending"),
        Case(
            Chore.where(byRoom).order(by: \.room).order(by: \.due), [["room", .date("due")]],
            "index [room, date due] of chores: room = \"kitchen\"; order by the index"),
        // An id that may be a number is looked up as both, and merged in the order.
        Case(
            Chore.where(\.room == ID("17")).order(by: \.due).limit(3), [["room", .date("due")]],
            "index [room, date due] of chores: room = \"17\"; order by the index"),
        Case(
            Chore.where(.in(\.room, ["17", "18"])).order(by: \.due),
            [["room", .date("due")]],
            "index [room, date due] of chores: room in [\"17\", \"18\"]; sorted by due"),
        Case(
            Chore.where(.in(\.points, [1, 2])).order(by: \.points).order(by: \.title),
            [["points", "title"]],
            "index [points, title] of chores: points in [1, 2]; order by the index"),
        Case(
            Chore.where(.in(\.points, [1, 2])).order(by: \.title), [["points", "title"]],
            "index [points, title] of chores: points in [1, 2]; sorted by title"),
        Case(
            Chore.all.order(by: \.due).limit(3), [due],
            "index [date due] of chores; order by the index"
        ),
        Case(
            Chore.all.order(by: \.due, .descending).limit(3), [],
            "scan of chores; sorted by due descending; an index [date due] would be looked up"),
        // No index is in an order of two directions, or of more than four fields.
        Case(
            Chore.all.order(by: \.points, .descending).order(by: \.title).limit(3), [],
            "scan of chores; sorted by points descending, title"),
        Case(
            Chore.where(\.points == 3).order(by: \.due, .descending).order(by: \.title), [],
            "scan of chores; checked: points = 3; sorted by due descending, title; "
                + "an index [points] would be looked up"),
        Case(
            Chore.all.order(by: \.colour).order(by: \.isDone).order(by: \.points)
                .order(by: \.title).order(by: \.due).limit(3), [],
            "scan of chores; sorted by colour, done, points, title, due"),
    ]

    @Test(arguments: cases)
    func `is said in words`(_ case: Case) throws {
        let replica = try QueryStore.make(`case`.indexes)
        defer { try? replica.deleteTemporary() }
        #expect(try replica.explained(`case`.query) == `case`.words)
    }

    @Test func `looks up many values one by one, and very many as a range`() throws {
        let replica = try QueryStore.make([["points"]])
        defer { try? replica.deleteTemporary() }
        func ranges(_ count: Int) throws -> Int {
            try replica.read { context in
                let query = try context.documentQuery(Chore.where(.in(\.points, Array(0..<count))))
                guard case .index(_, let ranges) = try context.views.plan(query).access else {
                    return 0
                }
                return ranges.count
            }
        }
        #expect(try ranges(QueryPlan.rangesMax) == QueryPlan.rangesMax)
        #expect(try ranges(QueryPlan.rangesMax + 1) == 1)
    }
}
