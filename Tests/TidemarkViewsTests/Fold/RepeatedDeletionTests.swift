// RepeatedDeletionTests.swift — a deletion that a transport may have sent twice, and a server that
// tells the second one to ask later.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a deletion that is told to ask later` {
    private func outcome(_ answer: String) throws -> MutationOutcome? {
        let fold = MemoryFold()
        try fold.apply([
            .model(.serverWins),
            .about(.serverUpserted, "tasks/1", #"{"a":1}"#, asOf: 1, revision: "1"),
            .about(.localDeleted, "tasks/1"),
            .about(.requestSent, "tasks/1", "{}", mutation: 3),
            .about(.requestAnswered, "tasks/1", answer, call: 4),
            .about(.serverDeleted, "tasks/1", asOf: 5),
        ])
        return try fold.mutation(3)?.outcome
    }

    @Test func `and may have been sent twice was carried out, when the entity is gone`() throws {
        #expect(try outcome(#"{"status":429,"mayHaveArrived":true}"#) == .accepted)
    }

    @Test func `and was sent once had no effect: someone else deleted the entity`() throws {
        #expect(try outcome(#"{"status":429}"#) == .merged)
    }
}
