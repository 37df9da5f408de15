// RemedyMachineTests.swift — what a run does about writes that the server did not take.

import Testing
import TidemarkEvents

@testable import TidemarkSync

@Suite struct `a run whose writes are not taken` {
    private static let tasks: CollectionModel = {
        var tasks = CollectionModel("tasks")
        tasks.actions = [ActionRule("open")]
        return tasks
    }()
    private let keys = (EntityKey("tasks", "1"), EntityKey("tasks", "2"))
    private let refused = ServerAnswer.refused(ServerRefusal(status: 409, message: "no access"))

    /// Every write asks for the same action of one entity.
    private func script(
        _ count: Int, _ collection: CollectionModel = Self.tasks, ids: [String] = ["L"]
    ) -> MachineScript {
        var script = MachineScript([collection], scope: .push)
        script.pending = [keys.0, keys.1].prefix(count).map { PendingWrite($0, .update) }
        script.remedies = { writes in
            zip(writes, ids).map { write, id in
                Remedy(
                    .perform(collection, id: id, action: "open", parameters: [:]),
                    of: EntityKey("tasks", id), for: [write], refusals: [Position(7)])
            }
        }
        return script
    }

    @Test func `has the action done, and sends the write again`() {
        var script = script(1)
        script.replies["push tasks/1"] = [.answer(refused)]

        #expect(
            script.run() == ["push tasks/1", "open of tasks/L", "push tasks/1", "end"])
        #expect(script.machine.outcome.counts.rejected == 1)
        #expect(script.machine.outcome.counts.pushed == 1)
    }

    @Test func `does the same for what was left alone`() {
        var script = script(1)
        script.replies["push tasks/1"] = [.answer(.ignored())]

        #expect(
            script.run() == ["push tasks/1", "open of tasks/L", "push tasks/1", "end"])
    }

    @Test func `does nothing about a write that is refused again`() {
        var script = script(1)
        script.replies["push tasks/1"] = [.answer(refused), .answer(refused)]

        #expect(
            script.run() == ["push tasks/1", "open of tasks/L", "push tasks/1", "end"])
        #expect(script.machine.outcome.counts.rejected == 2)
    }

    @Test func `does not send the write again where the action is refused, or fails`() {
        for answer in [refused, .ignored(), .failure(.timeout(""))] {
            var script = script(1)
            script.replies["push tasks/1"] = [.answer(refused)]
            script.replies["open of tasks/L"] = [.answer(answer)]

            #expect(script.run() == ["push tasks/1", "open of tasks/L", "end"])
        }
    }

    @Test func `does the same action once`() {
        var script = script(2)
        script.replies["push tasks/1"] = [.answer(refused)]
        script.replies["push tasks/2"] = [.answer(refused)]

        #expect(
            script.run() == [
                "push tasks/1", "open of tasks/L", "push tasks/2", "push tasks/1", "end",
            ])
    }

    @Test func `asks with other credentials where the action was not allowed by the first`() {
        var script = script(1)
        script.replies["push tasks/1"] = [.answer(refused)]
        script.replies["open of tasks/L"] = [.answer(.failure(.unauthorized))]

        #expect(
            script.run() == [
                "push tasks/1", "open of tasks/L", "renew", "open of tasks/L", "push tasks/1",
                "end",
            ])
    }

    @Test func `looks for nothing in a model without actions`() {
        var script = script(1, CollectionModel("tasks"))
        script.replies["push tasks/1"] = [.answer(refused)]

        #expect(script.run() == ["push tasks/1", "end"])
    }
}
