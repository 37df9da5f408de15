// NumberedPageTests.swift — the pages of a list with a limit, by the cases PG of the DHIS2 Android
// SDK (ApiPagingEngineShould) and by counting.

import Testing

@testable import TidemarkRules

@Suite("Pages with numbers")
struct NumberedPageTests {
    struct Plan: Sendable {
        var needed: Int
        var already: Int
        /// Number, size, and how many rows are skipped before and after.
        var pages: [[Int]]
    }

    /// PG02, PG03 and PG06, and two that were counted.
    static let plans = [
        Plan(needed: 33, already: 0, pages: [[1, 33, 0, 0]]),
        Plan(
            needed: 85, already: 94, pages: [[10, 10, 4, 0], [3, 50, 0, 0], [6, 30, 0, 1]]),
        Plan(
            needed: 125, already: 0, pages: [[1, 50, 0, 0], [2, 50, 0, 0], [5, 25, 0, 0]]),
        Plan(
            needed: 179, already: 0,
            pages: [[1, 50, 0, 0], [2, 50, 0, 0], [3, 50, 0, 0], [6, 30, 0, 1]]),
        Plan(needed: 4, already: 7, pages: [[2, 6, 1, 1]]),
    ]

    @Test("the last page is cut so that hardly more is fetched than needed", arguments: plans)
    func plan(_ plan: Plan) {
        let pages = Self.pages(needed: plan.needed, already: plan.already, usual: 50)
        #expect(pages.map { [$0.number, $0.size, $0.skipBefore, $0.skipAfter] } == plan.pages)
    }

    @Test("every needed row is fetched once, in order, and no page is larger than usual")
    func cover() {
        for usual in [1, 2, 7, 50] {
            for already in 0..<120 {
                for needed in 1...120 {
                    var row = already
                    for page in Self.pages(needed: needed, already: already, usual: usual) {
                        #expect(page.size <= usual && page.skipBefore >= 0 && page.skipAfter >= 0)
                        #expect((page.number - 1) * page.size + page.skipBefore == row)
                        row = page.number * page.size - page.skipAfter
                    }
                    #expect(row == already + needed)
                }
            }
        }
    }

    private static func pages(needed: Int, already: Int, usual: Int) -> [NumberedPage] {
        var pages: [NumberedPage] = []
        var (already, needed) = (already, needed)
        while needed > 0 {
            let page = NumberedPage(after: already, needed: needed, usual: usual)
            guard page.needed > 0 else { break }
            pages.append(page)
            (already, needed) = (already + page.needed, needed - page.needed)
        }
        return pages
    }
}
