// WhatIfTests.swift — what would have come out under another policy, or without an event.

import Testing
import TidemarkEvents
import TidemarkReplay
import TidemarkTesting

@testable import CapsuleSupport

@Suite struct `a what-if` {
    @Test func `shows what another policy would have made of a conflict`() throws {
        let replay = Replay(.capsule(try ReplayLog.conflict(.serverWins).capsule()))
        let outcome = try replay.whatIf(policy: .localWins, of: "tasks")

        #expect(outcome.leftOut == [])
        #expect(
            outcome.difference.description == """
                ~ tasks/t1                 synced → updated
                    title  "beer" → "milk"
                ~ @3     local.updated  tasks/t1               superseded by @4 → pending  (title)
                """)
        #expect(outcome.difference.hiddenRows == 3)
        let entity = try #require(outcome.difference.entities.first)
        #expect(entity.fields.map(\.after) == ["\"milk\""])
        #expect(outcome.difference.mutations.map(\.before) == [.superseded])
    }

    @Test func `under the same policy makes no difference`() throws {
        let replay = Replay(.capsule(try ReplayLog.conflict(.serverWins).capsule()))
        let outcome = try replay.whatIf(policy: .serverWins, of: "tasks")

        #expect(outcome.difference.isEmpty)
        #expect(outcome.difference.hiddenRows == 0)
    }

    @Test func `leaves out an event, and what follows from it`() throws {
        let replay = Replay(.capsule(try ReplayLog.editDuringPush().capsule()))
        let outcome = try replay.whatIf(WhatIf(without: [Position(4)]))

        #expect(
            outcome.leftOut.map(\.description) == [
                "@4 request.sent tasks/t1 PUT /tasks/t1", "@6 request.answered tasks/t1 200",
                "@7 push.accepted tasks/t1",
            ])
        #expect(outcome.difference.mutations.map(\.before) == [.accepted])
        #expect(outcome.difference.mutations.map(\.after) == [nil])
    }

    @Test func `shows an entity that would never have been there`() throws {
        let replay = Replay(.capsule(try ReplayLog.conflict().capsule()))
        let outcome = try replay.whatIf(WhatIf(without: [Position(2), Position(3), Position(4)]))

        #expect(
            outcome.difference.description.hasPrefix("- tasks/t1                 synced "),
            "\(outcome.difference)")
    }

    @Test func `says which collections and events there are`() throws {
        let replay = Replay(.capsule(try ReplayLog.conflict().capsule()))
        let collection = #expect(throws: ReplayMistake.self) {
            try replay.whatIf(policy: .localWins, of: "lists")
        }
        #expect(collection?.description == "the model has no collection lists; it has tasks")
        #expect(throws: ReplayMistake.self) {
            try replay.whatIf(WhatIf(without: [Position(77)]))
        }
    }

    @Test(
        arguments: [
            ("serverWins", .serverWins), ("localWins", .localWins),
            ("overwriteAlways", .overwriteAlways), ("ask", .ask), ("keepBoth", .keepBoth),
            ("mergeFields:localWins", .mergeFields(.localWins)),
            ("preferNewer:at", .preferNewer(field: "at", margin: .zero)),
            ("preferNewer:at:5", .preferNewer(field: "at", margin: .seconds(5))),
            (#"{"mergeFields":"serverWins"}"#, .mergeFields(.serverWins)),
            ("custom:mine", .custom("mine")),
        ] as [(String, ConflictPolicy)])
    func `reads a policy as a command names it`(_ text: String, _ policy: ConflictPolicy) throws {
        #expect(try ConflictPolicy(named: text) == policy)
    }

    @Test(arguments: ["", "never", "mergeFields", "mergeFields:x", "preferNewer:at:x", "{", "a:b"])
    func `refuses what is no policy`(_ text: String) {
        let error = #expect(throws: ReplayMistake.self) { try ConflictPolicy(named: text) }
        #expect(error?.description.hasPrefix("\"\(text)\" is no conflict policy: ") == true)
    }

    @Test(arguments: ["preferNewer:at:-5", "preferNewer:at:86401"])
    func `says which margins there are`(_ text: String) {
        let error = #expect(throws: ReplayMistake.self) { try ConflictPolicy(named: text) }
        #expect(error?.description.hasSuffix("in seconds, from 0 up to 86400") == true)
    }
}
