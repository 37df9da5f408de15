// DeletesFirstTests.swift — where deletions go first, what may need the place of one that failed
// waits for it, and not for ever.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync

@testable import TidemarkViews

@Suite struct `a deletion that goes first and fails` {
    private static let gone = EntityKey("tasks", "1")
    private static let fails = MachineScript.Reply.answer(
        .failure(.server(status: 502, retryAfterSeconds: nil)))

    /// One task is deleted, another one is to be made, and so is a list.
    private func script(
        failures: Int = 0, seconds: Int64 = 0, bundled: Set<CollectionName> = [],
        isFirst: Bool = true
    ) -> MachineScript {
        var run = MachineScript(
            traits: ServerTraits(bundled: bundled, deletesFirst: isFirst), scope: .push)
        run.pending = [
            PendingWrite(Self.gone, .delete), PendingWrite(EntityKey("tasks", "2"), .create),
            PendingWrite(EntityKey("lists", "1"), .create),
        ]
        run.replies["push tasks/1"] = [Self.fails]
        guard failures > 0 else { return run }
        var row = FailingRow(first: Position(3))
        row.gate = SyncGate(
            since: MachineScript.begun, microseconds: seconds * 1_000_000, failures: failures,
            position: Position(3))
        row.isWrite = true
        run.earlier.failing = [FailingCall(key: Self.gone, row: row)]
        return run
    }

    @Test func `has the others of its collection wait`() {
        var run = script()

        #expect(run.run() == ["push tasks/1", "push lists/1", "end"])
        #expect(run.pending.map(\.key.id) == ["1", "2"])
    }

    @Test func `has those wait that share requests with it`() {
        var run = script(bundled: ["lists", "tasks"])
        #expect(run.run() == ["push tasks/1", "end server"])
        var other = script(bundled: ["lists"])
        #expect(other.run() == ["push tasks/1", "push lists/1", "end"])
    }

    @Test func `keeps nobody waiting where it failed the third time`() {
        var second = script(failures: 1)
        #expect(second.run() == ["push tasks/1", "push lists/1", "end"])
        var third = script(failures: 2)
        #expect(third.run() == ["push tasks/1", "push tasks/2", "push lists/1", "end"])
    }

    @Test func `has them wait also while it is not due`() {
        var run = script(failures: 1, seconds: 60)
        run.awaited = [Self.gone]
        #expect(run.run() == ["push lists/1", "end"])
        // The queue tells of none that others wait for once one of them failed too often.
        var free = script(failures: 3, seconds: 60)
        #expect(free.run() == ["push tasks/2", "push lists/1", "end"])
    }

    @Test func `that is refused keeps nobody waiting`() {
        var run = script()
        let refusal = ServerRefusal(status: 409, message: "no")
        run.replies["push tasks/1"] = [.answer(.refused(refusal))]
        #expect(run.run() == ["push tasks/1", "push tasks/2", "push lists/1", "end"])
    }

    @Test func `keeps nobody waiting where deletions go last`() {
        var run = script(isFirst: false)
        #expect(run.run() == ["push tasks/1", "push tasks/2", "push lists/1", "end"])
    }
}
