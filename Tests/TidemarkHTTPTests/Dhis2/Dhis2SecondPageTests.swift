// Dhis2SecondPageTests.swift — where a later list of a program goes on whose first page DHIS2 left
// empty.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `a list of DHIS2 whose first page was left empty` {
    private func page(_ number: String?, _ items: String) throws -> ListPage {
        let adapter = try #require(Dhis2Adapter(version: "2.41"))
        let entities = CollectionModel(
            "trackedEntities", idField: "trackedEntity", pageSize: 50)
        let part: ListParameters = [
            "program": "P1", "orgUnit": "O1", "orgUnitMode": "DESCENDANTS",
        ]
        let answer = adapter.answer(
            to: .listPart(entities, part, after: nil, page: number),
            HTTPResponse(
                status: .ok, headerFields: [.date: "Thu, 01 Jan 2026 10:00:00 GMT"]),
            body: Array(#"{"instances":[\#(items)]}"#.utf8))
        guard case .page(let page) = answer else {
            Issue.record("\(answer)")
            return ListPage(records: [], next: nil, cursor: nil)
        }
        return page
    }

    @Test func `goes on from its second page`() throws {
        let changed = "2026-01-01T09:59:00.000"
        let item = #"{"trackedEntity":"T1","updatedAt":"\#(changed)"}"#

        let first = try page(nil, "")
        #expect(first.next == "+2" && !first.movesCursor)

        let second = try page("+2", item)
        #expect(second.cursor == Revision(changed) && second.movesCursor)

        // Any other page says nothing of that.
        #expect(try !page("3", item).movesCursor)
        #expect(try !page("+2", "").movesCursor)
    }
}
