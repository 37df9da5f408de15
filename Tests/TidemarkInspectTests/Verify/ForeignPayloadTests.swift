// ForeignPayloadTests.swift — payloads that are not what this version writes: no view reads the
// event, and verifying names it.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import ViewsSupport

@Suite struct `an event whose payload is of another shape` {
    private let store: ScratchStore

    init() throws { store = try ScratchStore() }

    private func append(_ kind: EventKind, _ payload: String, shape: UInt32 = 0) throws {
        var event = Event(
            kind, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
            revision: Revision("5"), json: Array(payload.utf8))
        event.schemaVersion = shape
        try store.write(event)
    }

    @Test func `is named with the member that is wrong, and is no damage`() throws {
        try append(.requestAnswered, #"{"status":200}"#)
        try append(.requestAnswered, #"{"status":"200"}"#)
        try append(.pullCompleted, #"["scope"]"#)

        let result = try store.journal.verify(.full)

        #expect(result.isFine)
        #expect(
            result.notes == [
                "@2 request.answered: payload.status is not an integer; no view reads the event",
                "@3 pull.completed: the payload is not a JSON object; no view reads the event",
            ])
    }

    @Test func `is found also where the payload lies beside the log`() throws {
        let ids = (0..<2_000).map { #""\#($0)-\#(String(repeating: "x", count: 40))""# }
        try append(.pullPage, #"{"scope":7,"ids":[\#(ids.joined(separator: ","))],"at":[]}"#)

        let notes = try store.journal.verify(.full).notes

        #expect(
            notes == ["@1 pull.page: payload.scope is not a text; no view reads the event"])
    }

    @Test func `is as it has to be where a newer version gave the kind another shape`() throws {
        try append(.pullPage, "[]", shape: 1)

        #expect(try store.journal.verify(.full).notes.isEmpty)
    }

    @Test func `is one of the first ten that are told, and the others are counted`() throws {
        for _ in 0..<12 { try append(.timerFired, "1") }

        let notes = try store.journal.verify(.full).notes
        #expect(notes.count == 11 && notes.last == "2 more events have such payloads")
    }

    @Test func `brings about nothing`() throws {
        try append(.pullCompleted, #"{"scope":"","full":true,"epoch":12}"#)

        #expect(try store.journal.read { try $0.watermark("tasks") } == nil)

        try append(.pullCompleted, #"{"scope":"","full":true,"epoch":"12"}"#)
        #expect(try store.journal.read { try $0.watermark("tasks") }?.position == Position(2))
    }
}
