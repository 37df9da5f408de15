// OutboxReadingTests.swift — what waits is listed for the price of what waits.

import Testing
import TidemarkEvents

@testable import TidemarkViews
@testable import ViewsSupport

@Suite struct `the list of what waits` {
    private func edit(_ number: Int) -> Event {
        .about(.localUpdated, "tasks/1", #"{"set":{"body":\#(number)},"unset":[]}"#)
    }

    @Test func `reads an entity as often, however many of its edits wait`() throws {
        let fold = MemoryFold()
        try fold.apply([
            .tasks([]),
            .about(.serverUpserted, "tasks/1", #"{"id":"1","body":0}"#, asOf: 1, revision: "1"),
        ])
        for number in 1...30 { try fold.apply([edit(number)]) }
        let sent = fold.last
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: sent.rawValue)])
        for number in 31...50 { try fold.apply([edit(number)]) }
        let reader = ViewReader(fold.source, ModelCache(), last: fold.last, event: { _ in nil })

        let before = fold.entityReads
        let entries = try reader.outbox(all: false)

        #expect(entries.count == 50)
        #expect(entries.allSatisfy { ($0.state == .unknown) == ($0.position <= sent) })
        #expect(entries.allSatisfy { $0.state != .blocked && $0.blockers.isEmpty })
        #expect(fold.entityReads - before <= 2)
    }
}
