// TruncationPolicyTests.swift — what a store drops by itself, where its model says so.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `what a model wants kept of the log` {
    private static let day: Int64 = 86_400_000_000

    /// A store of 15,000 events, two snapshots among them; an event a minute.
    private func makeStore(_ keep: SyncSettings.KeptLog) throws -> ScratchStore {
        let store = try ScratchStore()
        let model = SyncModel(
            name: "m", collections: [CollectionModel("tasks")], settings: SyncSettings(keep: keep))
        let registration = ModelRegistration(model: model)
        try store.write(
            Event(
                .modelRegistered, recordedAt: Timestamp(microseconds: 0),
                json: registration.encoded))
        var number: Int64 = 0
        for piece in 0..<150 {
            let at = Timestamp(microseconds: number * 60_000_000)
            try store.journal.write(at: at) { draft in
                for index in 0..<100 {
                    try draft.append(
                        Event(
                            .serverUpserted, recordedAt: at,
                            key: EntityKey("tasks", "t\(index)"),
                            json: Array(#"{"number":\#(number + Int64(index))}"#.utf8)))
                }
            }
            number += 100
            if piece == 49 || piece == 59 { try store.journal.takeSnapshot() }
        }
        return store
    }

    private func base(_ store: ScratchStore) throws -> Position {
        try store.journal.environment.read { try store.journal.log.base($0)?.position ?? .start }
    }

    private static let now = Timestamp(microseconds: 99 * day)

    @Test func `is all of it unless it says something else`() throws {
        let store = try makeStore(.all)

        store.journal.keepTidy(at: Self.now)

        #expect(try base(store) == .start)
    }

    @Test(
        arguments: [
            // The last event is of minute 14,900, the snapshots of minutes 4,900 and 5,900.
            (SyncSettings.KeptLog.span(.minutes(9_000)), 6_001), (.span(.minutes(9_500)), 5_001),
            (.span(.minutes(10_001)), 0), (.bytes(1 << 30), 0),
        ] as [(SyncSettings.KeptLog, UInt64)])
    func `is at least what was recorded in a time, from a snapshot on`(
        _ keep: SyncSettings.KeptLog, _ last: UInt64
    ) throws {
        let store = try makeStore(keep)
        let rows = try store.rows()

        store.journal.keepTidy(at: Self.now)

        #expect(try base(store) == Position(last))
        #expect(try store.rows() == rows)
        let end = try store.journal.read { $0.last }
        store.journal.keepTidy(at: Self.now)
        #expect(try store.journal.read { $0.last } == end)
        let verified = try store.journal.environment.read { try store.journal.log.verify($0) }
        #expect(verified.findings == [])
    }

    @Test func `is what belongs to the last runs, too`() throws {
        let store = try makeStore(.span(.days(1)))
        let run = try store.journal.write(at: Self.now) { draft in
            try draft.append(
                Event(.syncStarted, recordedAt: Self.now, json: Array("{}".utf8)))
        }
        let limit = try store.journal.truncationLimit(withRuns: true)
        #expect(limit.first == run && limit.reason.contains("20 sync runs"))
        #expect(try store.journal.truncationLimit(withRuns: false).reason == "")
    }

    @Test(
        arguments: [
            (#""never""#, SyncSettings.KeptLog.all), (#""P90D""#, .span(.days(90))),
            (#""P2M""#, .span(.months(2))), ("2097152", .bytes(2 << 20)),
        ] as [(String, SyncSettings.KeptLog)])
    func `stands in it as a word, a duration or a number`(
        _ json: String, _ keep: SyncSettings.KeptLog
    ) throws {
        let text = #"{"name":"m","collections":[{"name":"tasks"}],"settings":{"keep":\#(json)}}"#
        let registration = try ModelRegistration(parsing: Array(text.utf8))
        #expect(registration.model.settings.keep == keep)
        let again = try ModelRegistration(parsing: registration.encoded)
        #expect(again.model == registration.model)
    }

    @Test(arguments: ["1", "\"soon\"", "\"PT1H\"", "true", "-1", "\"\""])
    func `is nothing else`(_ json: String) {
        let text = #"{"name":"m","collections":[{"name":"tasks"}],"settings":{"keep":\#(json)}}"#
        #expect(throws: ModelError.self) { try ModelRegistration(parsing: Array(text.utf8)) }
    }
}
