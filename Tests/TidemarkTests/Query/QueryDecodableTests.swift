// QueryDecodableTests.swift — queries that leave out what their type can't read.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

private typealias Chore = QueryChore

private let indexSets: [[IndexModel]] = [[], [["points"]]]

@Suite struct `a query of what can be read` {
    /// Chores of which only some have a title that is a text, the last ones with the fewest points.
    private func withChores(
        _ indexes: [IndexModel], count: Int = 10, readable: Set<Int> = [1, 2, 4, 5, 7, 8],
        _ body: (Replica) throws -> Void
    ) throws {
        let replica = try QueryStore.make(indexes)
        defer { try? replica.deleteTemporary() }
        try replica.write { tx in
            for number in 0..<count {
                let title = readable.contains(number) ? "\"t\"" : "7"
                let json =
                    #"{"title":\#(title),"done":false,"twin":"","points":\#(count - 1 - number)}"#
                try tx.create(EntityKey("chores", "c\(number)"), Array(json.utf8))
            }
        }
        try body(replica)
    }

    @Test(arguments: indexSets)
    func `is without the rest, in any order and inside a write`(indexes: [IndexModel]) throws {
        try withChores(indexes) { replica throws in
            let query = Chore.all.decodable()
            let byPoints = query.order(by: \.points)
            let cases: [(EntityQuery<QueryChore>, String)] = [
                (query, "c1 c2 c4 c5 c7 c8"), (query.where(\.points > 5), "c1 c2"),
                (byPoints, "c8 c7 c5 c4 c2 c1"), (byPoints.limit(2), "c8 c7"),
                (byPoints.offset(1).limit(2), "c7 c5"), (byPoints.offset(5), "c1"),
                (query.order(by: \.points, .descending).limit(2), "c1 c2"), (query.limit(0), ""),
            ]
            for (query, expected) in cases {
                let count = expected.split(separator: " ").count
                #expect(try replica.found(query) == expected)
                #expect(try replica.count(query) == count)
                #expect(try replica.first(query)?.id.rawValue ?? "" == String(expected.prefix(2)))
                let rows = try replica.read { try $0.rows(query).map(\.id.rawValue) }
                #expect(rows.joined(separator: " ") == expected)
                let inWrite = try replica.write { tx in
                    (try tx.all(query).map(\.id.rawValue), try tx.count(query))
                }
                #expect(inWrite.0 == rows && inWrite.1 == count)
            }
            expect(.undecodable) { _ = try replica.found(Chore.where(\.points > 5)) }
        }
    }

    @Test(arguments: indexSets)
    func `fills its limit, however many are left out before`(indexes: [IndexModel]) throws {
        let readable = Set(stride(from: 7, to: 400, by: 50))
        try withChores(indexes, count: 400, readable: readable) { replica throws in
            let query = Chore.all.order(by: \.points).decodable()
            #expect(try replica.found(query.limit(3)) == "c357 c307 c257")
            #expect(try replica.found(query.offset(6).limit(3)) == "c57 c7")
        }
    }

    @Test(arguments: indexSets)
    func `has the rest listed with its errors, whatever its limit`(indexes: [IndexModel]) throws {
        try withChores(indexes) { replica throws in
            let query = Chore.where(\.points < 9).order(by: \.points).offset(1).limit(1).decodable()
            let errors = try replica.read { try $0.undecodable(query) }
            #expect(errors.map(\.key?.id) == ["c9", "c6", "c3"])
            #expect(errors.allSatisfy { $0.code == .undecodable && $0.position != nil })
            #expect(errors.first?.message.contains("\"title\" must be a text, but is 7") == true)
        }
    }

    @Test func `says so where it is explained`() throws {
        try withChores([["points"]]) { replica throws in
            #expect(
                try replica.explained(Chore.where(\.points == 3).decodable())
                    == "index [points] of chores: points = 3; left out: what can't be decoded")
            #expect(
                try replica.explained(Chore.all.order(by: \.title).decodable())
                    == "scan of chores; sorted by title; left out: what can't be decoded")
        }
    }
}
