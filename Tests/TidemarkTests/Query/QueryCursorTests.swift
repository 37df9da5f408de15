// QueryCursorTests.swift — pages of a query that begin or end at the place of an entity.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Chore = QueryChore
private typealias ID = Tidemark.ID

private let indexSets: [[IndexModel]] = [[], [["points"], ["done", "points"]]]

extension EntityReading {
    fileprivate func cursor(_ id: String) throws -> EntityQuery<QueryChore>.Cursor {
        try #require(try cursor(at: ID<QueryChore>(id)))
    }
}

@Suite struct `a page of a query` {
    private static let points: [(id: String, points: Int?)] = [
        ("a", 1), ("b", nil), ("c", 2), ("d", 1), ("e", nil), ("f", 1), ("g", 3),
    ]
    private static let byPoints = Chore.all.order(by: \.points)
    private static let nullsLast = Chore.all.order(by: \.points, nulls: .last)

    private static func chore(_ id: String, _ points: Int?) -> Chore {
        var chore = Chore(id)
        chore.points = points
        return chore
    }

    private func withChores(
        _ indexes: [IndexModel], _ body: (Replica) throws -> Void
    ) throws {
        let replica = try QueryStore.make(
            indexes, Self.points.map { Self.chore($0.id, $0.points) })
        defer { try? replica.deleteTemporary() }
        try body(replica)
    }

    private func cursor(_ replica: Replica, _ id: String) throws -> EntityQuery<Chore>.Cursor {
        try replica.read { try $0.cursor(id) }
    }

    @Test(arguments: indexSets)
    func `begins behind the one before it, forwards and backwards`(
        indexes: [IndexModel]
    ) throws {
        try withChores(indexes) { replica throws in
            let queries: [(EntityQuery<Chore>, String)] = [
                (Self.byPoints, "beadfcg"),
                (Chore.all.order(by: \.points, .descending), "gcfdaeb"),
                (Self.nullsLast, "adfcgbe"),
                (Chore.all.order(by: \.points, .descending, nulls: .first), "ebgcfda"),
                (Chore.all.order(by: \.points, nulls: .first), "beadfcg"),
                (Chore.all.order(by: \.points, .descending, nulls: .last), "gcfdaeb"),
                (Chore.where(\.isDone == false).order(by: \.points, nulls: .last), "adfcgbe"),
                (Chore.where(\.points > 1).order(by: \.points, nulls: .last), "cg"),
                (Chore.all, "abcdefg"), (Chore.all.order(by: \.id, .descending), "gfedcba"),
                (Self.byPoints.order(by: \.id, .descending), "ebfdacg"),
                (Chore.where(\.isDone == false).order(by: \.points), "beadfcg"),
                (Chore.where(\.points == 1), "adf"),
                (Chore.where(.in(\.points, [1, 3])).order(by: \.points), "adfg"),
                (Chore.where(\.points > 0).order(by: \.points, .descending), "gcfda"),
            ]
            for (query, whole) in queries {
                for count in 1...3 {
                    var page = try replica.ids(query.limit(count))
                    var forwards = page
                    while let last = page.last {
                        page = try replica.ids(query.after(cursor(replica, last)).limit(count))
                        forwards += page
                    }
                    #expect(forwards.joined() == whole)

                    var backwards = whole.suffix(1).map { String($0) }
                    while let first = backwards.first {
                        page = try replica.ids(query.before(cursor(replica, first)).limit(count))
                        guard !page.isEmpty else { break }
                        backwards = page + backwards
                    }
                    #expect(backwards.joined() == whole)
                }
            }
        }
    }

    @Test(arguments: indexSets)
    func `stays where it was when others come, and its own is moved or deleted`(
        indexes: [IndexModel]
    ) throws {
        try withChores(indexes) { replica throws in
            let place = try cursor(replica, "c")
            let (next, previous) = (Self.byPoints.after(place), Self.byPoints.before(place))
            #expect(try replica.found(next.limit(2)) == "g")
            #expect(try replica.found(previous.limit(2)) == "d f")

            try replica.write { tx in
                try tx.create(Self.chore("h", 1))
                try tx.create(Self.chore("i", 2))
                try tx.update(Chore.self, ID("c")) { $0.points = 9 }
            }
            #expect(try replica.found(next.limit(2)) == "i g")
            #expect(try replica.found(next) == "i g c")
            #expect(try replica.found(previous.limit(2)) == "f h")

            try replica.write { tx in try tx.delete(Chore.self, ID("c")) }
            #expect(try replica.found(next) == "i g")
            #expect(try replica.found(previous) == "b e a d f h")
            let gone = try replica.read { try $0.cursor(at: ID<Chore>("c")) }
            #expect(gone == nil)
        }
    }

    @Test(arguments: indexSets)
    func `is counted, skipped in and asked for its first as its list says`(
        indexes: [IndexModel]
    ) throws {
        try withChores(indexes) { replica throws in
            let place = try cursor(replica, "f")
            let (next, previous) = (Self.byPoints.after(place), Self.byPoints.before(place))
            let cases: [(EntityQuery<Chore>, String)] = [
                (next, "c g"), (next.offset(1), "g"), (next.where(\.points > 2), "g"),
                (previous, "b e a d"), (previous.limit(2), "a d"), (previous.limit(9), "b e a d"),
                (previous.offset(1).limit(2), "e a"), (previous.where(\.points == nil), "b e"),
                (previous.limit(0), ""), (next.before(place).limit(1), "d"),
                (previous.after(place).limit(1), "c"), (previous.limit(2).decodable(), "a d"),
            ]
            for (query, expected) in cases {
                let ids = expected.split(separator: " ").map(String.init)
                #expect(try replica.ids(query) == ids)
                #expect(try replica.count(query) == ids.count)
                #expect(try replica.first(query)?.id.rawValue == ids.first)
                #expect(try replica.read { try $0.rows(query).map(\.id.rawValue) } == ids)
            }
        }
    }

    @Test(arguments: indexSets)
    func `may begin at one that the query does not find`(indexes: [IndexModel]) throws {
        try withChores(indexes) { replica throws in
            try replica.write { tx in
                try tx.update(Chore.self, ID("d")) { $0.isDone = true }
            }
            let place = try cursor(replica, "d")
            let open = Chore.where(\.isDone == false)
            let byPoints = open.order(by: \.points)
            #expect(try replica.found(byPoints.after(place).limit(2)) == "f c")
            #expect(try replica.found(byPoints.before(place).limit(2)) == "e a")
            let byBoth = open.order(by: \.isDone).order(by: \.points)
            #expect(try replica.found(byBoth.after(place).limit(9)) == "")
            #expect(try replica.found(byBoth.before(place).limit(2)) == "c g")
            let other = open.order(by: \.points).order(by: \.isDone)
            #expect(try replica.found(other.after(place).limit(2)) == "c g")
            #expect(try replica.found(other.before(place).limit(2)) == "a f")
        }
    }

    @Test func `in a write begins at what the commit made`() throws {
        try withChores([]) { replica throws in
            let found = try replica.write { tx in
                try tx.create(Self.chore("dd", 1))
                let place = try tx.cursor("dd")
                let next = try tx.all(Self.byPoints.after(place))
                let previous = try tx.all(Self.byPoints.before(place).limit(2))
                return (previous + next).map(\.id.rawValue)
            }
            #expect(found == ["a", "d", "f", "c", "g"])
        }
    }

    @Test func `is looked up where an index has the order, and where that is by ids`() throws {
        try withChores([["points"]]) { replica throws in
            let place = try cursor(replica, "d")
            let (byPoints, byTitle) = (Self.byPoints.limit(2), Chore.all.order(by: \.title))
            let titles = "an index [title] would be looked up"
            let cases: [(EntityQuery<Chore>, String)] = [
                (
                    byPoints.after(place),
                    "index [points] of chores: after a cursor; order by the index"
                ),
                (
                    byPoints.before(place),
                    "index [points] of chores: before a cursor; order by the index, from its end"
                ),
                (
                    Self.nullsLast.limit(2).after(place),
                    "index [points] of chores: after a cursor; order by the index"
                ),
                (
                    Self.byPoints.after(place),
                    "index [points] of chores: after a cursor; order by the index"
                ),
                (
                    Chore.where(\.points == 1).after(place),
                    "index [points] of chores: points = 1, after a cursor"
                ),
                (
                    Chore.where(\.points > 1).after(place),
                    "index [points] of chores: points > 1; checked: after a cursor; sorted by id"
                ),
                (
                    byTitle.limit(2).after(place),
                    "scan of chores; checked: after a cursor; sorted by title; \(titles)"
                ),
                (
                    byTitle.limit(2).before(place),
                    "scan of chores; checked: before a cursor; sorted by title; \(titles)"
                ),
                (
                    byTitle.after(place),
                    "scan of chores; checked: after a cursor; sorted by title; \(titles)"
                ),
                (Chore.all.after(place), "scan of chores: after a cursor"),
                (Chore.all.before(place), "scan of chores: before a cursor"),
            ]
            for (query, words) in cases { #expect(try replica.explained(query) == words) }
            // Among equal ones, too, only from the entity on.
            let ranges = try replica.read { context -> [KeyRange] in
                let plan = try context.views.plan(context.documentQuery(byPoints.after(place)))
                guard case .index(_, let ranges) = plan.access else { return [] }
                return ranges
            }
            #expect(ranges.map(\.lower.last) == [UInt8(ascii: "d")])
        }
    }

    @Test func `wakes who observes it for what comes behind its beginning alone`() throws {
        try withReplica { replica throws in
            try replica.put(Errand("m", "m"))
            let place = try #require(try replica.read { try $0.cursor(at: ID<Errand>("m")) })
            let wakes = try Wakes(replica, Errand.all.order(by: \.title).after(place))
            try replica.put(Errand("a", "a"))
            #expect(wakes.taken() == 0)
            try replica.put(Errand("z", "z"))
            #expect(wakes.taken() == 1)
        }
    }
}
