// WholeEntityTests.swift — entities that stay whole as they are here, and what is sent of them.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `an entity that is kept whole` {
    private static let policies = [ConflictPolicy.overwriteUnlessDirty, .overwriteIfSynced]
    private let old = Base.live(#"{"id":"7","last_modified":1,"a":1,"b":1}"#)
    private let new = #"{"id":"7","last_modified":2,"a":1,"b":9,"c":9}"#

    private func document(_ rebase: Rebase) throws -> JSONValue? {
        guard case .document(let bytes) = try Current(rebase.kept, on: .live(new)) else {
            return nil
        }
        return try JSONValue(parsing: bytes)
    }

    @Test(arguments: policies)
    func `stays as it was while something is pending on it, and the last change carries all`(
        _ policy: ConflictPolicy
    ) throws {
        let pending: [PendingChange] = [.update(1, #"{"a":2}"#), .update(2, #"{"d":2}"#)]

        let rebase = Rebase(pending, from: old, to: .live(new), policy)

        #expect(rebase.verdicts == [.stays, .stays])
        #expect(
            try document(rebase) == ["id": "7", "last_modified": 2, "a": 2, "b": 1, "d": 2])
        #expect(rebase.kept[0].change == .carried && rebase.kept[1].change != .carried)
        // What of the server's is overwritten can be found in the log.
        #expect(
            rebase.conflicts
                == [Conflict(position: Position(2), fields: ["b", "c"], result: .localWins)])
    }

    @Test func `that the server refused is overwritten, or stays, by the policy`() throws {
        var refused = PendingChange.update(1, #"{"a":2}"#)
        refused.isRefused = true

        let dirty = Rebase([refused], from: old, to: .live(new), .overwriteUnlessDirty)
        let synced = Rebase([refused], from: old, to: .live(new), .overwriteIfSynced)
        let same = Rebase([refused], from: old, to: old, .overwriteUnlessDirty)

        #expect(dirty.verdicts == [.superseded])
        #expect(
            dirty.conflicts
                == [Conflict(position: Position(1), fields: ["a"], result: .serverWins)])
        #expect(synced.verdicts == [.stays] && synced.kept[0].isRefused)
        #expect(try document(synced)?["b"] == 1)
        #expect(same.verdicts == [.stays] && same.conflicts == [])
    }

    @Test(arguments: policies)
    func `is gone when the server deleted it`(_ policy: ConflictPolicy) {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#)], from: old, to: .deleted(last: nil), policy)

        #expect(rebase.verdicts == [.superseded])
    }

    @Test(arguments: policies)
    func `stays deleted when it was deleted here`(_ policy: ConflictPolicy) {
        let rebase = Rebase(
            [.update(1, #"{"a":2}"#), .delete(2)], from: old, to: .live(new), policy)

        #expect(rebase.verdicts == [.stays, .stays])
        #expect(
            rebase.conflicts == [Conflict(position: Position(2), fields: [], result: .localWins)])
        #expect(rebase.kept.last?.isDeletion == true)
    }

    @Test(arguments: policies)
    func `that was made on both sides stays as it was made here`(_ policy: ConflictPolicy) throws {
        let rebase = Rebase(
            [.create(1, #"{"id":"7","a":5}"#)], from: .absent, to: .live(new), policy)

        #expect(rebase.verdicts == [.stays])
        #expect(try document(rebase) == ["id": "7", "last_modified": 2, "a": 5])
    }

    @Test(arguments: policies)
    func `that is equal on both sides is there, and arrived only if it was sent`(
        _ policy: ConflictPolicy
    ) {
        for (isSent, verdict) in [(false, Verdict.present), (true, .arrived)] {
            let pending: [PendingChange] = [
                .update(1, #"{"b":9}"#, sent: isSent), .update(2, #"{"c":9}"#, sent: isSent),
            ]

            let rebase = Rebase(pending, from: old, to: .live(new), policy)

            #expect(rebase.verdicts == [verdict, verdict])
            #expect(rebase.conflicts == [])
        }
    }

    @Test func `that a rule made of both sides has all of its changes there once it is there`() {
        let title = PendingChange.update(1, #"{"a":2}"#)
        let note = PendingChange.update(2, #"{"b":2}"#)
        let answer = ConflictAnswer.document(Array(#"{"a":2,"b":2,"c":9}"#.utf8))
        let met = Base.live(#"{"id":"7","a":3,"b":1,"c":9}"#)

        let made = Rebase([title, note], from: old, to: met, .custom("rule"), answer: answer)
        let there = Rebase(
            made.kept, from: met, to: .live(#"{"id":"7","a":2,"b":2,"c":9}"#), .custom("rule"))

        #expect(made.kept.map { $0.change == .carried } == [true, false])
        #expect(there.verdicts == [.present, .present])
        #expect(there.conflicts == [])
    }
}
