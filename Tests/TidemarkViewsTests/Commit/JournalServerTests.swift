// JournalServerTests.swift — which logs tell anything of a server, so that a store is held to it.

import Testing
import TidemarkEvents
import TidemarkViews

@testable import ViewsSupport

@Suite struct `a log tells of a server` {
    private static let time = Timestamp(rawValue: 1)
    private static let key = EntityKey("tasks", "1")

    /// Whether it does once an event stands behind a model and an edit.
    private func tells(_ event: Event) throws -> Bool {
        let store = try ScratchStore()
        try store.write(
            .registered(SyncModel(name: "m", collections: [CollectionModel("tasks")])),
            .about(.localCreated, "tasks/1", "{}"))
        #expect(try !store.journal.tellsOfServer())
        try store.write(event)
        return try store.journal.tellsOfServer()
    }

    private static func sent(_ change: (inout RequestSent) -> Void = { _ in }) -> Event {
        var request = RequestSent()
        request.method = "PUT"
        change(&request)
        return Event(.requestSent, recordedAt: time, key: key, json: request.encoded)
    }

    private static func finished(_ outcome: RunOutcome, requests: Int64) -> Event {
        var run = SyncFinished()
        (run.outcome, run.requests) = (outcome, requests)
        return Event(.syncFinished, recordedAt: time, json: run.encoded)
    }

    @Test func `by a request that may have changed something there, also where no answer came`()
        throws
    {
        #expect(try tells(Self.sent { $0.covers = [Position(2)] }))
        #expect(try tells(Self.sent { $0.writes = 2 }))
        #expect(try tells(Self.sent { $0.file.sentDigest = String(repeating: "a", count: 64) }))
        #expect(try !tells(Self.sent()))
    }

    @Test func `by an answer, and by none that did not come`() throws {
        #expect(try tells(.about(.requestAnswered, "tasks/1", #"{"status":404}"#)))
        #expect(try !tells(.about(.requestFailed, "tasks/1", #"{"error":"offline"}"#)))
    }

    @Test func `by a run whose answers brought nothing new, which are no events`() throws {
        #expect(try tells(Self.finished(.synced, requests: 2)))
        #expect(try !tells(Self.finished(.synced, requests: 0)))
        let offline = RunOutcome.failed(FailureName(rawValue: "offline"))
        #expect(try !tells(Self.finished(offline, requests: 1)))
    }

    @Test func `where its first events were dropped, which may have told of one`() throws {
        let store = try ScratchStore()
        for _ in 1...150 {
            try store.write(
                .about(.localCreated, "tasks/1", "{}"), .about(.localDiscarded, "tasks/1"))
        }
        try store.journal.seal(keeping: 10)
        #expect(try !store.journal.tellsOfServer())

        try store.truncate(through: Position(200))

        #expect(try store.journal.tellsOfServer())
    }
}
