// FoldSinceTests.swift — how the fold comes by the date from which changes are listed.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

private func time(_ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0) -> Timestamp {
    Timestamp(year: year, month: month, day: day, hour: hour, minute: 0, second: 0)
        ?? Timestamp(rawValue: 0)
}

@Suite struct `the fold of lists by date` {
    private let memory = MemoryFold()
    private static let run = Position(2)

    init() throws {
        var tags = CollectionModel("tags", lastChangeField: "at")
        tags.since = SinceRule(ageMax: .months(2))
        let model = SyncModel(name: "test", collections: [tags, CollectionModel("plain")])
        try memory.apply([
            .registered(model),
            Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: Array("{}".utf8)),
        ])
    }

    private func event(
        _ kind: EventKind, _ json: String, _ collection: CollectionName = "tags",
        sync: Position = run
    ) -> Event {
        Event(
            kind, recordedAt: Timestamp(rawValue: 1), collection: collection, sync: sync,
            json: Array(json.utf8))
    }

    private func says(_ id: String, at: Timestamp, isDeleted: Bool = false) -> Event {
        Event(
            isDeleted ? .serverDeleted : .serverUpserted, recordedAt: Timestamp(rawValue: 1),
            key: EntityKey("tags", id), sync: Self.run, serverTime: at,
            json: isDeleted ? nil : Array("{}".utf8))
    }

    /// A page with one entity, which stands at a position.
    private func list(_ id: String, at time: Timestamp, as position: Int) throws {
        try memory.apply([
            says(id, at: time),
            event(.pullPage, #"{"scope":"","ids":["\#(id)"],"at":[\#(position)]}"#),
        ])
    }

    private var mark: WatermarkRow? {
        get throws {
            try memory.rows[.watermark("tags")].map { try WatermarkRow(parsing: $0) }
        }
    }

    private func complete(
        full: Bool = true, asked: Timestamp? = time(2017, 9, 10), sync: Position = run
    ) throws {
        let asked = asked.map { #","asked":\#($0.rawValue)"# } ?? ""
        try memory.apply([
            event(
                .pullCompleted, #"{"scope":"","complete":true,"full":\#(full)\#(asked)}"#,
                sync: sync)
        ])
    }

    @Test func `SD-05: take the last change, tombstones included, also of what was never here`()
        throws
    {
        let latest = time(2017, 9, 1)
        try memory.apply([
            says("1", at: time(2017, 8, 31)), says("2", at: time(2017, 8, 29)),
            says("2", at: time(2017, 8, 30), isDeleted: true),
            event(.pullPage, #"{"scope":"","ids":["1","2"],"at":[3,5]}"#),
        ])
        #expect(try mark == nil, "not before the list is complete")
        try memory.apply([
            event(
                .pullPage,
                #"{"scope":"","ids":["9"],"at":["="],"times":{"9":\#(latest.rawValue)}}"#)
        ])
        try complete()

        #expect(try mark?.since == latest && mark?.checkedAt == time(2017, 9, 10))
        #expect(try mark?.cursor == nil)
        #expect(memory.rows[.listed("tags")] == nil)
    }

    @Test func `SD-06: keep the date after an empty list`() throws {
        try list("1", at: time(2017, 9, 1), as: 3)
        try complete()
        try complete()
        #expect(try mark?.since == time(2017, 9, 1))
    }

    @Test func `SD-09: forget what a list named that was never completed`() throws {
        try list("1", at: time(2017, 9, 1), as: 3)
        try complete()
        try memory.apply([
            says("2", at: time(2017, 9, 9)),
            event(.pullPage, #"{"scope":"","ids":["2"],"at":[6]}"#),
            event(.syncStarted, "{}"),
            says("3", at: time(2017, 9, 5)),
            event(.pullPage, #"{"scope":"","ids":["3"],"at":[9]}"#, sync: Position(8)),
        ])
        #expect(try mark?.since == time(2017, 9, 1))
        try complete(full: false, sync: Position(8))
        #expect(try mark?.since == time(2017, 9, 5))
    }

    @Test func `take no change that is later than the list`() throws {
        try memory.apply([
            says("1", at: time(2017, 9, 9)), says("2", at: time(2030, 1, 1)),
            event(.pullPage, #"{"scope":"","ids":["1","2"],"at":[3,4]}"#),
        ])
        try complete()
        #expect(try mark?.since == time(2017, 9, 10))
        try memory.apply([event(.pullPage, #"{"scope":"","ids":["2"],"at":["="]}"#)])
        try complete(asked: time(2017, 9, 12))
        #expect(try mark?.since == time(2017, 9, 12), "the list named it again")
    }

    @Test func `take none of a list of which the server's time is not known`() throws {
        try list("1", at: time(2017, 9, 1), as: 3)
        try complete()
        try list("2", at: time(2017, 9, 9), as: 6)
        try complete(asked: nil)
        #expect(try mark?.since == time(2017, 9, 1) && mark?.checkedAt == time(2017, 9, 10))
    }

    @Test func `leave other collections alone`() throws {
        try memory.apply([
            event(.pullPage, #"{"scope":"","ids":["1"],"at":[3],"times":{"1":5}}"#, "plain"),
            event(.pullCompleted, #"{"scope":"","complete":true,"full":true}"#, "plain"),
        ])
        #expect(memory.rows[.watermark("plain")] == nil)
        #expect(memory.rows[.listed("plain")] == nil)
    }

    @Test(arguments: [
        "", "[]", #"{"ids":7}"#, #"{"ids":[1,null,""],"times":[]}"#,
        #"{"ids":[],"at":[],"list":{"page":1,"asOf":0,"of":-1}}"#,
    ])
    func `understand no page that makes no sense`(_ payload: String) throws {
        try memory.apply([event(.pullPage, payload)])
        try complete()
        #expect(try mark?.since == nil)
    }
}
