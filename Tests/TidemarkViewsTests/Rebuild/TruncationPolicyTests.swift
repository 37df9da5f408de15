// TruncationPolicyTests.swift — what a store drops by itself, where its model says so.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

extension ScratchStore {
    /// A run in which the server answers in a minute since 1970.
    fileprivate func hears(minute: Int64) throws {
        let time = Timestamp(microseconds: minute * 60_000_000)
        let begun = #"{"begunAt":\#(time.rawValue),"bootID":"a","uptime":\#(time.rawValue + 1)}"#
        let start = try journal.write(at: time) { draft in
            try draft.append(Event(.syncStarted, recordedAt: time, json: Array(begun.utf8)))
        }
        var answer = Event(.requestAnswered, recordedAt: time, sync: start)
        answer.payload = Array(
            #"{"status":200,"Date":"\#(HTTPDate.text(time))","uptime":\#(time.rawValue + 1)}"#.utf8)
        answer.payloadType = .json
        try write(answer)
    }
}

@Suite struct `what a model wants kept of the log` {
    private static let day: Int64 = 86_400_000_000

    /// A store of 15,000 events, two snapshots among them; an event a minute.
    ///
    /// - Parameter isBehind: whether the device's clock shows 1970 after a run, until behind the
    ///   snapshots.
    private func makeStore(
        _ keep: SyncSettings.KeptLog, isBehind: Bool = false
    ) throws -> ScratchStore {
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
            if isBehind, piece == 47 { try store.hears(minute: number) }
            let isWrong = isBehind && (48...60).contains(piece)
            let at = Timestamp(microseconds: isWrong ? 1 : number * 60_000_000)
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

    @Test(
        arguments: [
            // An edit while the device's clock is years ahead: the last run began in minute 15,000.
            (9_500, 30_000_000, false, 5_001), (10_200, 30_000_000, false, 0),
            // The snapshots were taken while it was behind: the run before began in minute 4,700.
            (10_500, 15_100, true, 0), (10_000, 15_100, true, 6_003),
        ] as [(Int, Int64, Bool, UInt64)])
    func `is not less where the device's clock was wrong once`(
        _ span: Int, _ last: Int64, _ isBehind: Bool, _ dropped: UInt64
    ) throws {
        let store = try makeStore(.span(.minutes(span)), isBehind: isBehind)
        for _ in 1...20 { try store.hears(minute: 15_000) }
        try store.write(
            Event(
                .serverUpserted, recordedAt: Timestamp(microseconds: last * 60_000_000),
                key: EntityKey("tasks", "last"), json: Array("{}".utf8)))

        store.journal.keepTidy(at: Self.now)

        #expect(try base(store) == Position(dropped))
    }

    @Test func `is judged by the last run before what was dropped, too`() throws {
        let store = try makeStore(.all, isBehind: true)
        try store.journal.seal(keeping: 10)
        // Behind the run that began in minute 4,700; the device's clock shows 1970 from there on.
        try store.truncate(through: Position(4_803))
        try store.hears(minute: 15_000)

        #expect(try store.journal.lastBeyond(.span(.minutes(10_500))) == nil)
        #expect(try store.journal.lastBeyond(.span(.minutes(10_200))) != nil)
    }

    @Test func `is counted in bytes once in a while`() throws {
        let store = try makeStore(.bytes(2 << 20))
        store.journal.keepTidy(at: Self.now)
        #expect(try base(store) == .start)
        var random = SplitMix64(seed: 0xB17E)
        let texts = (0..<10).map { _ in
            String(decoding: random.bytes(600_000).map { 97 + $0 % 26 }, as: UTF8.self)
        }
        for text in texts {
            try store.write(
                Event(
                    .serverUpserted, recordedAt: Self.now, key: EntityKey("tasks", "long"),
                    json: Array(#"{"text":"\#(text)"}"#.utf8)))
        }
        let end = try store.journal.read { $0.last }
        let beyond = try #require(try store.journal.lastBeyond(.bytes(2 << 20)))
        #expect(beyond > Position(6_001))

        store.journal.keepTidy(at: Self.now)

        // It was all to be kept ten events before.
        #expect(try base(store) == .start)
        #expect(try store.journal.read { $0.last } == end)
        try store.journal.write(at: Self.now) { draft in
            for index in 0..<4_096 {
                try draft.append(
                    Event(
                        .serverUpserted, recordedAt: Self.now,
                        key: EntityKey("tasks", "t\(index % 100)"),
                        json: Array(#"{"number":\#(index)}"#.utf8)))
            }
        }
        store.journal.keepTidy(at: Self.now)
        #expect(try base(store) == Position(6_001))
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

    /// The bytes of each sealed block by its last event, the last one first.
    private func sealedBytes(_ store: ScratchStore) throws -> [(last: Position, records: [Int])] {
        let environment = store.journal.environment
        return try environment.read { transaction in
            var blocks: [(last: Position, records: [Int])] = []
            try transaction.scan(
                environment.table("sealed"), from: nil, prefix: [], reversed: true
            ) { key, part in
                let last = Position(bigEndianBytes: key.copied().prefix(8)) ?? .start
                if blocks.last?.last != last { blocks.append((last, [])) }
                blocks[blocks.count - 1].records.append(part.count)
                return true
            }
            return blocks
        }
    }

    @Test func `is no less than so many bytes, and no block more than that takes`() throws {
        let store = try ScratchStore()
        var random = SplitMix64(seed: 0xB10C)
        for batch in 0..<6 {
            let texts = (0..<60).map { _ in
                (0..<20).map { _ in String(random.next(), radix: 16) }.joined()
            }
            try store.journal.write(at: Self.now) { draft in
                for (number, text) in texts.enumerated() {
                    try draft.append(
                        Event(
                            .serverUpserted, recordedAt: Self.now,
                            key: EntityKey("tasks", "t\(batch)-\(number)"),
                            json: Array(#"{"text":"\#(text)"}"#.utf8)))
                }
            }
            try store.journal.seal(keeping: 1)
        }
        let blocks = try sealedBytes(store)
        #expect(blocks.count > 2 && blocks.allSatisfy { $0.records.count > 1 })
        let total = blocks.flatMap(\.records).reduce(0, +)

        for bytes in stride(from: 2_000, to: total, by: 700) {
            guard let found = try store.journal.lastBeyond(.bytes(bytes)) else { continue }
            let kept = blocks.filter { $0.last > found }.map { $0.records.reduce(0, +) }
            // Of the events that are not sealed there are fewer bytes than that.
            #expect(kept.reduce(0, +) + 2_000 >= bytes, "\(bytes)")
            #expect(kept.dropLast().reduce(0, +) < bytes, "\(bytes)")
            #expect(blocks.contains { $0.last == found }, "\(bytes)")
        }
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
