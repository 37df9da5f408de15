// SyncDriver+Flight.swift — writes that are on their way at the same time: each is logged before it
// is sent, and its answer in the order of arrival.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What comes of the requests that are open at the same time.
enum Arrival: Sendable {
    case list(AnsweredList)
    case write(AnsweredWrite)
}

/// The answer to a write.
struct AnsweredWrite: Sendable {
    var items: [PushItem]
    var sent: SentPush
    var answer: ServerAnswer
    var record: AnswerRecord
    /// Whether it was cut off by the run's deadline.
    var isCut: Bool
}

extension SyncDriver {
    /// Tells the machine whether another write may be sent beside those that are on their way.
    func allowMore(_ run: inout SyncRun) {
        let open = run.machine.inFlight
        guard !open.isEmpty else { return }
        let isTimely =
            !run.pace.isHolding(at: run.moment) && !run.pace.isOver(at: run.moment)
        run.machine.allowMore(host.sendsMore(isTimely, beside: open))
    }

    /// Waits for the answer of a write beside other steps.
    func fly(
        _ items: [PushItem], _ sent: SentPush, _ question: SyncQuestion, _ reply: SyncReply,
        at moment: Moment, _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) {
        let driver = self
        let work: @AheadLane @Sendable () async -> Arrival = {
            let (answer, record) = await reply.answer()
            return .write(
                AnsweredWrite(
                    items: items, sent: sent, answer: answer, record: record,
                    isCut: driver.isCut(answer, record, to: question, since: moment)))
        }
        group.addTask(operation: work)
    }

    /// Takes the next answer of a write.
    func receive(
        _ run: inout SyncRun, _ group: inout ThrowingTaskGroup<Arrival, any Error>
    ) async throws -> SyncAction {
        dependencies.awaitAnswer()
        while let arrival = try await host.next(of: &group) {
            switch arrival {
            case .list(let answered): arrived(answered, &run)
            case .write(let write):
                run.moment = dependencies.moment
                return try await took(write, &run)
            }
        }
        preconditionFailure("a write is on its way that nobody waits for")
    }
}
