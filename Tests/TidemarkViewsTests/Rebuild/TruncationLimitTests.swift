// TruncationLimitTests.swift — which events of a log have to stay, as something needs them.

import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkViews

@testable import ViewsSupport

@Suite struct `the first event that is needed` {
    private static let time = Timestamp(rawValue: 1)
    private let store: ScratchStore

    init() throws {
        store = try ScratchStore()
        try store.write(.model(.serverWins))
        try store.write(.about(.serverUpserted, "tasks/1", "{}", asOf: 1, revision: "1"))
    }

    private func limit() throws -> TruncationLimit {
        try store.journal.truncationLimit(withRuns: false)
    }

    @Test func `is none where nothing is open`() throws {
        #expect(try limit().first == Position(3))
        #expect(try limit().reason == "")
    }

    @Test func `is the base of an open conflict, before both sides of it`() throws {
        // Event 3 is the base, 5 and 6 are the sides.
        try store.write(
            .about(.serverUpserted, "lists/1", #"{"a":1}"#, asOf: 2, revision: "1"))
        try store.write(.about(.serverUpserted, "tasks/2", "{}", asOf: 3, revision: "1"))
        try store.write(.about(.localUpdated, "lists/1", #"{"set":{"a":2},"unset":[]}"#))
        try store.write(
            .about(.serverUpserted, "lists/1", #"{"a":3}"#, asOf: 5, revision: "2"))
        let issue = try #require(try store.journal.read { try $0.issues() }.first)
        #expect(issue.kind == .conflict && issue.position == Position(6))

        #expect(try limit().first == Position(3))
        #expect(try limit().reason.hasPrefix("an issue is open: "))
    }

    @Test func `is the list by which entities are held`() throws {
        var completed = PullCompleted()
        completed.isFull = true
        (completed.held, completed.knownCount) = (["1"], 30)
        try store.write(
            Event(
                .pullCompleted, recordedAt: Self.time, collection: "tasks",
                revision: Revision("8"), json: completed.encoded))
        try store.write(.about(.serverUpserted, "tasks/2", "{}", asOf: 3, revision: "1"))
        #expect(try store.journal.read { try $0.issues() }.map(\.kind) == [.absent])

        #expect(try limit().first == Position(3))
        #expect(try limit().reason.hasPrefix("an issue is open: "))
    }

    @Test(arguments: [(9_999, 0), (11, 7)] as [(UInt32, UInt32)])
    func `is one that a newer version wrote, of a kind or a shape that is not known here`(
        _ kind: UInt32, _ shape: UInt32
    ) throws {
        var newer = Event(
            EventKind(rawValue: kind), recordedAt: Self.time, key: EntityKey("tasks", "1"),
            json: Array("{}".utf8))
        newer.schemaVersion = shape
        try store.write(newer)
        for number in 4...12 {
            try store.write(.about(.serverUpserted, "tasks/\(number)", "{}", asOf: 3))
        }
        try store.journal.seal(keeping: 1)

        let error = #expect(throws: LogError.self) { try store.truncate(through: Position(8)) }

        #expect(error?.code == .needed && error?.position == Position(3))
        #expect(try limit().first == Position(3))
        #expect(try limit().reason.hasPrefix("a newer version wrote it"))
        try store.truncate(through: Position(2))
        let kept = try store.journal.read { try $0.event(at: Position(3)) }
        #expect(kept?.kind == newer.kind && kept?.schemaVersion == shape)
    }
}
