// StrangerRowTests.swift — numbers in rows and payloads, as a stranger's capsule may have them: all
// that is counted on from them goes on.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import TidemarkViews
@testable import ViewsSupport

@Suite struct `numbers from a stranger` {
    private let fold = MemoryFold()

    private func row(_ fields: [UInt32], _ value: UInt64 = .max) -> [UInt8] {
        var writer = ProtoWriter()
        for field in fields { writer.varint(field, value) }
        return writer.bytes
    }

    @Test func `say how far a list is`() throws {
        let listed = try ListedRow(parsing: row([4, 6, 16, 17, 18, 19]))
        let state = try #require(listed.state)

        #expect(state.page > 1 && state.pass > 1 && state.found > 1 && state.knownCount > 1)
        #expect(try ListedRow(parsing: listed.encoded).state == state)
    }

    @Test func `say of a page which pass it is of`() throws {
        let page = #"{"list":{"page":1,"asOf":1,"of":-1,"found":-1,"pass":-9223372036854775808}}"#
        try fold.apply([
            Event(
                .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "tasks",
                json: Array(page.utf8))
        ])

        let row = try #require(fold.rows[.listed(PullTarget("tasks"))])
        #expect(try ListedRow(parsing: row).state?.pass == 1)
    }

    @Test(arguments: [1 << 63, UInt64.max >> 1, UInt64.max] as [UInt64])
    func `say what a server's clock shows`(_ number: UInt64) throws {
        let now = Timestamp(rawValue: 1_800_000_000_000_000)
        var course = ProtoWriter()
        course.signed(1, now.rawValue)
        course.signed(2, now.rawValue)
        course.string(3, "boot")
        for field: UInt32 in [4, 6, 7] { course.varint(field, number) }
        for field: UInt32 in [6, 7, 8, 12] {
            var writer = ProtoWriter()
            writer.message(field, course.bytes)
            var clock = try ServerClock(parsing: writer.bytes)
            for uptime: Int64 in [0, 5, .max] {
                let moment = Moment(now: now, bootID: "boot", uptime: uptime)
                _ = clock.see(ClockSighting(now, at: moment), at: Position(2))
            }
            #expect(clock.course != nil)
            #expect(try ServerClock(parsing: clock.encoded) == clock)
        }
    }

    @Test func `count what is below an entity`() throws {
        var below = ProtoWriter()
        below.varint(1, UInt64(RollUpClass.pending.rawValue) + 1)
        below.varint(2, .max)
        var writer = ProtoWriter()
        writer.message(3, below.bytes)
        var row = try RollUpRow(parsing: writer.bytes)
        let other = row

        row.add(RollUpClasses(.pending), 1)
        for _ in 0..<3 { row.add(other) }
        let count = row.below[.pending] ?? 0
        #expect(count > 1)
        row.add(RollUpClasses(.pending), -1)
        #expect(try RollUpRow(parsing: row.encoded).belowClasses == RollUpClasses(.pending))
    }

    @Test func `count what is hidden`() throws {
        fold.set(.hiddenCount, Position(.max).bigEndianBytes)
        let current = fold.fold

        try current.countHidden(1)
        #expect(try current.hidesAny())
    }

    @Test func `count the keys of writes, and how often something was sent`() throws {
        fold.set(.keyQueue, row([1, 2]))
        let key = IdempotencyKey(at: Timestamp(rawValue: 1), (1, 2))
        var event = Event.about(.localCreated, "tasks/1", "{}")
        event.idempotencyKey = key.bytes
        try fold.apply([event])
        #expect(fold.rows[.writeKey(key.bytes)] != nil)

        var sent = ProtoWriter()
        sent.bytes(1, EntityKey("tasks", "1").bytes)
        sent.varint(5, .max)
        var mutation = try MutationRow(parsing: sent.bytes)
        mutation.attempts += 1
        #expect(mutation.attempts > 1)
    }

    @Test func `name requests and events`() throws {
        #expect(try TicketRow(Position(.max), parsing: row([2], 5)).calls.count == 5)
        #expect(Position(.max).next == Position(.max))
    }

    @Test func `say how many entities a list asked for`() throws {
        var mark = WatermarkRow(
            cursor: nil, position: Position(1), recordedAt: Timestamp(rawValue: 1))
        mark.limit = -1
        #expect(try WatermarkRow(parsing: mark.encoded).limit == nil)
    }
}
