// SyncTicketTests.swift — when a run asks for an answer that the server promised.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync

@testable import TidemarkViews

@Suite struct `an answer that the server promised` {
    private static let task = EntityKey("tasks", "1")
    private static let call = ServerCall.create(
        CollectionModel("tasks"), id: "1", body: Array("{}".utf8))

    private static func ticket(
        _ seconds: Int64 = 0, call: UInt64 = 50, _ word: String = "j"
    ) -> OpenTicket {
        OpenTicket(
            call: Position(call), ticket: word,
            since: MachineScript.begun.now.adding(seconds: -seconds),
            items: [PushItem(task, Self.call, covers: [Position(3)])], calls: [Position(51)])
    }

    private static let answered = ServerAnswer.batch([
        BatchedAnswer(status: 200, .stored(id: "1", nil))
    ])
    private static let done = MachineScript.Reply.answer(answered)

    /// What earlier runs left, with an attempt that only the promise will settle.
    private func earlier(_ seconds: Int64 = 0, scope: SyncScope = .push) -> MachineScript {
        var run = MachineScript(scope: scope)
        let begun = MachineScript.begun
        var clock = ServerClock()
        clock.believed = ClockCourse(time: begun.now, seen: begun, since: Position(1))
        run.clock = clock
        run.earlier.tickets = [Self.ticket(seconds)]
        run.earlier.unanswered = [Self.task]
        run.entities[Self.task] = EntityFacts(
            serverID: "1", .absent, attempt: .init(call: Position(51), covers: Position(3)))
        return run
    }

    @Test func `of an earlier run is asked for first, twice at most, and nothing is read back`() {
        var run = earlier(scope: .all)
        #expect(
            run.run() == [
                "poll j after 0 s", "poll j after 2 s", "list lists", "list tasks", "end",
            ])
    }

    @Test func `that is there settles everything that it is about`() {
        var run = earlier()
        run.replies["poll j after 0 s"] = [Self.done]
        #expect(run.run() == ["poll j after 0 s", "end"])
        #expect(run.machine.outcome.counts.pushed == 1)
    }

    @Test func `by another word is asked for at once, also after the last try`() {
        var run = earlier()
        run.replies["poll j after 2 s"] = [.answer(.deferred("k"))]
        run.replies["poll k after 0 s"] = [Self.done]
        #expect(run.run() == ["poll j after 0 s", "poll j after 2 s", "poll k after 0 s", "end"])
    }

    @Test func `by ever other words is left alone after some`() {
        var run = earlier()
        run.replies["poll j after 0 s"] = Array(repeating: .answer(.deferred("j")), count: 50)
        #expect(run.run().count(where: { $0.hasPrefix("poll") }) == 10)
    }

    @Test func `of which the server knows nothing is read back`() {
        var run = earlier()
        run.replies["poll j after 0 s"] = [.answer(.absent)]
        #expect(run.run() == ["poll j after 0 s", "read tasks/1 sent", "end"])
    }

    @Test func `about what the server changed since has it read back, and counts for nothing`() {
        var run = earlier()
        run.replies["poll j after 0 s"] = [.overtook(Self.answered, [Self.task])]
        #expect(run.run() == ["poll j after 0 s", "read tasks/1 sent", "end"])
        #expect(run.machine.outcome.counts.pushed == 0)

        var own = MachineScript(scope: .push)
        own.pending = [PendingWrite(Self.task, .create)]
        own.entities = run.entities
        own.tickets = [Self.ticket()]
        own.replies["push tasks/1"] = [.answer(.deferred("j"))]
        own.replies["poll j after 1 s"] = [.overtook(Self.answered, [Self.task])]
        #expect(
            own.run() == ["push tasks/1", "poll j after 1 s", "read tasks/1 sent", "end"])
    }

    @Test func `is not awaited for longer than a day of the server's time`() {
        var day = earlier(86_400)
        #expect(day.run().first == "poll j after 0 s")
        var more = earlier(86_401)
        #expect(more.run() == ["read tasks/1 sent", "end"])
        // Where it is in doubt nothing is given up.
        var doubtful = earlier(86_401)
        let (begun, beside) = (MachineScript.begun, MachineScript.begun.now.adding(seconds: 9_999))
        doubtful.clock?.doubted = ClockCourse(time: beside, seen: begun, since: Position(2))
        #expect(doubtful.run().first == "poll j after 0 s")
    }

    @Test func `is awaited for a day of the device's time where the server tells none`() {
        var day = earlier(86_400)
        day.clock = nil
        #expect(day.run().first == "poll j after 0 s")
        var more = earlier(86_401)
        more.clock = nil
        #expect(more.run() == ["read tasks/1 sent", "end"])
    }

    @Test(arguments: [true, false])
    func `is not awaited where it was promised at a time more than a day ahead`(
        _ isKnown: Bool
    ) {
        var day = earlier(-86_400)
        var more = earlier(-86_401)
        if !isKnown { (day.clock, more.clock) = (nil, nil) }
        #expect(day.run().first == "poll j after 0 s")
        #expect(more.run() == ["read tasks/1 sent", "end"])
    }

    @Test func `that can't be asked for is left to the next run, and the rest goes on`() {
        var run = earlier(scope: .all)
        run.replies["poll j after 0 s"] = [.answer(.failure(.client(status: 400, "no")))]
        #expect(run.run() == ["poll j after 0 s", "list lists", "list tasks", "end"])
        var offline = earlier(scope: .all)
        offline.replies["poll j after 0 s"] = [.answer(.failure(.offline("")))]
        #expect(offline.run() == ["poll j after 0 s", "end offline"])
    }

    /// What a server's failure is told as.
    private static let fails = MachineScript.Reply.answer(
        .failure(.server(status: 502, retryAfterSeconds: nil)))

    @Test func `for which the server failed once is asked for again`() {
        var run = earlier(scope: .all)
        run.replies["poll j after 0 s"] = [Self.fails]
        run.replies["poll j after 2 s"] = [Self.done]
        #expect(
            run.run() == [
                "poll j after 0 s", "poll j after 2 s", "list lists", "list tasks", "end",
            ])
        #expect(run.machine.outcome.counts.pushed == 1)
    }

    @Test func `in whose place something else answers stops no list`() {
        var run = earlier(scope: .all)
        run.replies["poll j after 0 s"] = [.answer(.failure(.foreign("page")))]
        #expect(run.run() == ["poll j after 0 s", "list lists", "list tasks", "end"])
    }

    @Test func `in this run is left to the next one where the server fails three times in a row`() {
        var run = MachineScript(scope: .push)
        run.pending = [PendingWrite(Self.task, .create)]
        run.tickets = [Self.ticket()]
        run.replies["push tasks/1"] = [.answer(.deferred("j"))]
        run.replies["poll j after 1 s"] = [Self.fails]
        run.replies["poll j after 2 s"] = [
            Self.fails, .answer(.waiting), Self.fails, Self.fails, Self.fails, Self.done,
        ]
        let polls = Array(repeating: "poll j after 2 s", count: 5)
        #expect(run.run() == ["push tasks/1", "poll j after 1 s"] + polls + ["end"])
    }

    @Test func `in this run is asked for once all is sent, after a second, then every two`() {
        var run = MachineScript(scope: .push)
        run.pending = [
            PendingWrite(Self.task, .create), PendingWrite(EntityKey("lists", "1"), .create),
        ]
        run.tickets = [Self.ticket()]
        run.replies["push tasks/1"] = [.answer(.deferred("j"))]
        run.replies["poll j after 2 s"] = [.answer(.waiting), Self.done]
        #expect(
            run.run() == [
                "push tasks/1", "push lists/1", "poll j after 1 s", "poll j after 2 s",
                "poll j after 2 s", "end",
            ])
    }

    @Test func `in this run is asked for so often as the server's kind wants it`() {
        var traits = ServerTraits()
        traits.polling = ServerTraits.Polling(first: 3, every: 5, tries: 4)
        var run = MachineScript(traits: traits, scope: .push)
        run.pending = [PendingWrite(Self.task, .create)]
        run.tickets = [Self.ticket()]
        run.replies["push tasks/1"] = [.answer(.deferred("j"))]
        #expect(
            run.run() == [
                "push tasks/1", "poll j after 3 s", "poll j after 5 s", "poll j after 5 s",
                "poll j after 5 s", "end",
            ])
    }

    @Test func `in this run is asked for together with others, after one pause for all`() {
        var traits = ServerTraits()
        traits.polling = ServerTraits.Polling(tries: 3)
        var run = MachineScript(traits: traits, scope: .push)
        run.pending = [
            PendingWrite(Self.task, .create), PendingWrite(EntityKey("lists", "1"), .create),
        ]
        run.tickets = [Self.ticket(), Self.ticket(call: 60, "k")]
        run.replies["push tasks/1"] = [.answer(.deferred("j"))]
        run.replies["push lists/1"] = [.answer(.deferred("k"))]
        let round = ["poll j after 2 s", "poll k after 0 s"]
        #expect(
            run.run() == [
                "push tasks/1", "push lists/1", "poll j after 1 s", "poll k after 0 s",
            ] + round + round + ["end"])
    }

    // MARK: Many at a time

    /// Three entities whose writes have no known outcome.
    private func unanswered(scope: SyncScope = .push) -> MachineScript {
        var traits = ServerTraits()
        traits.readBacksPerFetchMax = 2
        var run = MachineScript(traits: traits, scope: scope)
        run.earlier.unanswered = ["1", "2", "3"].map { EntityKey("tasks", $0) }
        for key in run.earlier.unanswered {
            run.entities[key] = EntityFacts(
                serverID: key.id, .live, attempt: .init(call: Position(51), covers: Position(3)))
        }
        return run
    }

    private static func found(_ ids: String...) -> MachineScript.Reply {
        .answer(
            .records(
                ids.map { ServerRecord(id: $0, revision: nil, document: Array("{}".utf8)) }))
    }

    @Test func `entities whose writes have no known outcome are read together`() {
        var run = unanswered()
        run.replies["read tasks/1,2 sent"] = [Self.found("1", "2")]
        #expect(run.run() == ["read tasks/1,2 sent", "read tasks/3 sent", "end"])
        #expect(run.machine.outcome.counts.readBack == 3)
    }

    @Test func `what an answer leaves out is read by itself`() {
        var run = unanswered()
        run.replies["read tasks/1,2 sent"] = [Self.found("1")]
        #expect(
            run.run() == ["read tasks/1,2 sent", "read tasks/2 sent", "read tasks/3 sent", "end"])
    }

    @Test func `what can't be read together is read one by one`() {
        var run = unanswered()
        run.replies["read tasks/1,2 sent"] = [.answer(.failure(.client(status: 414, "long")))]
        #expect(
            run.run() == [
                "read tasks/1,2 sent", "read tasks/1 sent", "read tasks/2 sent",
                "read tasks/3 sent", "end",
            ])
        var unsent = unanswered()
        unsent.replies["read tasks/1,2 sent"] = [.unsent(.client(status: 0, "no"))]
        #expect(unsent.run().count == 5)
    }

    @Test func `of what can't be understood together each is read at once`() {
        var run = unanswered()
        run.replies["read tasks/1,2 sent"] = [.answer(.failure(.malformed("no record")))]
        #expect(
            run.run() == [
                "read tasks/1,2 sent", "read tasks/1 sent", "read tasks/2 sent",
                "read tasks/3 sent", "end",
            ])
    }

    @Test(arguments: [
        SyncFailure.server(status: 500, retryAfterSeconds: nil), .timeout("none"), .foreign("page"),
    ])
    func `what a server fails to tell together is read one by one, once all else is done`(
        _ failure: SyncFailure
    ) {
        var run = unanswered(scope: .all)
        run.replies["read tasks/1,2 sent"] = [.answer(.failure(failure))]
        run.replies["read tasks/1 sent"] = [.answer(.failure(failure))]
        #expect(
            run.run() == [
                "read tasks/1,2 sent", "read tasks/3 sent", "list lists", "list tasks",
                "read tasks/1 sent", "read tasks/2 sent", "end",
            ])
        #expect(run.machine.outcome.counts.readBack == 2)
    }

    @Test func `a server that fails with everything is not asked for each by itself`() {
        var run = unanswered(scope: .all)
        for step in ["read tasks/1,2 sent", "read tasks/3 sent", "list lists"] {
            run.replies[step] = [Self.fails]
        }
        #expect(
            run.run() == [
                "read tasks/1,2 sent", "read tasks/3 sent", "list lists", "end server",
            ])
    }
}
