// InjectionTests.swift — mishaps that a replay plays: how they are named, and what they change.

import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkTesting

@testable import CapsuleSupport
@testable import SyncSupport

@Suite struct `an injection` {
    @Test func `is read from a list, and written so again`() throws {
        let list = try Injection.list(parsing: "restart@12,drop@30,duplicate@7")

        #expect(list.map(\.description) == ["restart@12", "drop@30", "duplicate@7"])
        #expect(list.first == Injection(.restart, at: Position(12)))
    }

    @Test(arguments: ["", "restart", "restart@", "restart@x", "stop@3", "drop@3,", "drop@3;drop@4"])
    func `that makes no sense is refused with what would`(_ text: String) {
        let error = #expect(throws: ReplayMistake.self) { try Injection.list(parsing: text) }
        #expect(
            error?.description.hasSuffix(
                "is none of restart@P, duplicate@P, drop@P; write restart@12") == true)
    }

    @Test func `at an event that is not there is refused with those that are`() throws {
        let capsule = try ReplayLog.editDuringPush().capsule()
        let error = #expect(throws: ReplayMistake.self) {
            try capsule.outcome(injecting: [Injection(.drop, at: Position(9))])
        }
        #expect(
            error?.description == "there is no event @9 in it; it has events from @1 to @8")
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `of a restart makes no difference, wherever it is`(_ position: UInt64) throws {
        let capsule = try ReplayLog.editDuringPush().capsule()
        let outcome = try capsule.outcome(injecting: [Injection(.restart, at: Position(position))])
        #expect(outcome.isSame)
    }

    @Test(arguments: 2...8 as ClosedRange<UInt64>)
    func `that drops or doubles an answer loses no edit`(_ position: UInt64) throws {
        let capsule = try ReplayLog.editDuringPush().capsule()
        for kind in [Injection.Kind.drop, .duplicate] {
            // An edit that is there twice is no answer.
            if kind == .duplicate, [2, 5].contains(position) { continue }
            let outcome = try capsule.outcome(injecting: [Injection(kind, at: Position(position))])
            #expect(outcome.faults == [], "\(kind)@\(position)")
        }
    }

    @Test func `that drops an answer says what is otherwise in the end`() throws {
        let capsule = try ReplayLog.editDuringPush().capsule()
        let outcome = try capsule.outcome(injecting: [Injection(.drop, at: Position(7))])

        #expect(
            outcome.difference.lines() == [
                "~ tasks/t1                 updated → uploading",
                "~ @2     local.created  tasks/t1               "
                    + "accepted by @7 → unknown, sent once",
            ])
        #expect(!outcome.isSame)
    }

    @Test func `is played by a replay in a test, and told`() async throws {
        let capsule = try ReplayLog.editDuringPush().capsule()
        let restart = try await Replay(
            .capsule(capsule), mode: .fold, inject: [Injection(.restart, at: Position(5))]
        ).run()
        #expect(restart.map(\.notes) == [["restart@5: no difference"]])

        let drop = try await Replay(
            .capsule(capsule), mode: .fold, inject: [Injection(.drop, at: Position(8))]
        ).run()
        #expect(drop.first?.notes.first?.hasPrefix("drop@8: ") == true)
    }

    @Test func `of a restart makes no difference in a log of a device and a server`() async throws {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule()
            let positions = capsule.commits.map(\.last)
            let restarts = positions.map { Injection(.restart, at: $0) }
            let outcome = try capsule.outcome(injecting: restarts)

            #expect(positions.count > 20)
            #expect(outcome.isSame)
        }
    }

    @Test func `of a lost or doubled answer loses no edit of a device`() async throws {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule()
            for commit in capsule.commits where !commit.entries.contains(where: isEdit) {
                for kind in [Injection.Kind.drop, .duplicate] {
                    let outcome = try capsule.outcome(injecting: [Injection(kind, at: commit.last)])
                    #expect(outcome.faults == [], "\(kind)\(commit.last)")
                }
            }
        }
    }

    private func isEdit(_ entry: Capsule.Entry) -> Bool {
        [.localCreated, .localUpdated, .localDeleted].contains(entry.event.kind)
    }
}
