// PoolFoldTests.swift — what is left of reserved values, by a log.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

extension Event {
    fileprivate static func pools(_ pools: SyncModel.Pool...) -> Event {
        let model = SyncModel(name: "m", collections: [CollectionModel("a")], pools: pools)
        return .registered(model, at: Timestamp(rawValue: 0))
    }

    /// Values, each with the second at which it ends.
    fileprivate static func added(
        _ key: PoolKey, _ values: [(String, Int64?)], pattern: String? = nil,
        replaces: Bool = false, at second: Int64 = 1
    ) -> Event {
        var added = ReservedAdded(key, pattern: pattern)
        added.values = values.map(\.0)
        added.until = values.map { $0.1.map(time) }
        added.replaces = replaces
        return Event(.reservedAdded, recordedAt: time(second), json: added.encoded)
    }

    fileprivate static func taken(_ key: PoolKey, _ value: String) -> Event {
        Event(
            .reservedTaken, recordedAt: time(2), json: ReservedTaken(value, of: key).encoded)
    }

    fileprivate static func time(_ second: Int64) -> Timestamp {
        Timestamp(rawValue: second * 1_000_000)
    }
}

@Suite struct `what is left of reserved values` {
    private let key = PoolKey("numbers", ["A1"])

    private func store(_ events: Event...) throws -> MemoryFold {
        let memory = MemoryFold()
        try memory.apply([.pools(SyncModel.Pool("numbers"))])
        for event in events { try memory.apply([event]) }
        return memory
    }

    private func left(_ memory: MemoryFold, _ key: PoolKey, at second: Int64) throws -> [String] {
        var values: [String] = []
        try memory.fold.forEachValue(of: key, from: Event.time(second)) { value in
            values.append(value.value)
            return true
        }
        return values
    }

    @Test func `is handed out by its end, one without an end last`() throws {
        let memory = try store(
            .added(key, [("never", nil), ("late", 90), ("soon", 30), ("early", 30)]))

        #expect(try left(memory, key, at: 5) == ["early", "soon", "late", "never"])
        #expect(try memory.fold.nextValue(of: key, at: Event.time(5))?.value == "early")
        // From the moment itself on it is over.
        #expect(try left(memory, key, at: 30) == ["late", "never"])
        #expect(try memory.fold.countValues(of: key, at: Event.time(29)) == 4)
        #expect(try left(memory, key, at: 91) == ["never"])
    }

    @Test func `is never again what was taken, whoever says that it is there`() throws {
        let memory = try store(
            .added(key, [("1", 90), ("2", 90)]), .taken(key, "1"), .taken(key, "9"),
            .added(key, [("1", 95), ("9", 95), ("3", 95)]))

        #expect(try left(memory, key, at: 5) == ["2", "3"])
        // Nor of another key that begins with the same.
        let unit = PoolKey("numbers", ["A1", "U"])
        try memory.apply([.added(unit, [("1", 95), ("2", 95), ("4", 95)])])
        #expect(try left(memory, unit, at: 5) == ["4"])
        // What another attribute has is its own.
        let other = PoolKey("numbers", ["A2"])
        try memory.apply([.added(other, [("1", 95)])])
        #expect(try left(memory, other, at: 5) == ["1"])
        #expect(try left(memory, key, at: 5) == ["2", "3"])
    }

    @Test func `goes where another device goes on with the log`() throws {
        func opening(_ device: String) -> Event {
            var opened = StoreOpened()
            opened.device = device
            return Event(.storeOpened, recordedAt: Event.time(3), json: opened.encoded)
        }
        let memory = try store(
            opening("one"), .added(key, [("1", 90), ("2", 90)]), .taken(key, "1"), opening("one"))
        #expect(try left(memory, key, at: 5) == ["2"])

        try memory.apply([opening("other")])
        #expect(try left(memory, key, at: 5) == [])

        try memory.apply([.added(key, [("1", 95), ("3", 95)])])
        #expect(try left(memory, key, at: 5) == ["3"])
    }

    @Test func `lets go of another pattern where that is replaced, and of what is over`() throws {
        let memory = try store(
            .added(key, [("over", 3), ("old", 90)], pattern: "A"),
            .added(key, [("new", 90)], pattern: "B", at: 4))
        #expect(try left(memory, key, at: 0) == ["new", "old"])
        #expect(try memory.fold.countValues(of: key, at: Event.time(4), pattern: "B") == 1)

        try memory.apply([.added(key, [("newer", 95)], pattern: "B", replaces: true, at: 5)])
        #expect(try left(memory, key, at: 0) == ["new", "newer"])
        // What went unused may come again.
        try memory.apply([.added(key, [("old", 99)], pattern: "B", at: 6)])
        #expect(try left(memory, key, at: 0) == ["new", "newer", "old"])
    }

    @Test func `is not what can't be named, nor of a place that can't`() throws {
        let long = String(repeating: "x", count: PoolKey.valueBytesMax + 1)
        let values: [(String, Int64?)] = [
            ("", 90), (long, 90), ("a\u{0}b", 90), ("zero", 0), ("ok", 90),
        ]
        let memory = try store(
            .added(key, values),
            .added(PoolKey("numbers", []), [("1", 90)]),
            .added(PoolKey("", ["A1"]), [("1", 90)]))

        #expect(try left(memory, key, at: 5) == ["ok"])
        #expect(memory.rows.keys.count { $0.view == View.pools } == 3)
    }

    @Test func `a run's number is remembered until another is asked for`() throws {
        func asked(_ count: Int?, _ pool: String = "numbers") -> Event {
            var start = SyncStarted()
            start.run.scope = .reserve([.init(pool, ["A1"], count: count)])
            var event = Event(.syncStarted, recordedAt: Event.time(1), json: start.encoded)
            event.schemaVersion = 3
            return event
        }
        let memory = try store(asked(20))
        #expect(try memory.fold.pool(key)?.fill == 20)
        #expect(try memory.fold.poolKeys() == [key])
        try memory.apply([asked(nil)])
        #expect(try memory.fold.pool(key)?.fill == 20)
        try memory.apply([asked(0)])
        try memory.apply([asked(1001)])
        try memory.apply([asked(5, "others")])
        #expect(try memory.fold.pool(key)?.fill == 20)
        #expect(try memory.fold.poolKeys() == [key])
        try memory.apply([asked(7)])
        #expect(try memory.fold.pool(key)?.fill == 7)
    }

    @Test func `a key that the model names no more is kept filled where a run was asked to`()
        throws
    {
        func asked(_ texts: [String]) -> Event {
            var start = SyncStarted()
            start.run.scope = .reserve([.init("numbers", texts)])
            var event = Event(.syncStarted, recordedAt: Event.time(1), json: start.encoded)
            event.schemaVersion = 3
            return event
        }
        let (named, unit) = (PoolKey("numbers", ["A2"]), PoolKey("numbers", ["A3"]))
        let memory = try store(
            .pools(.init("numbers", keys: [["A1"], ["A2"]])), .added(key, [("1", 90)]),
            .added(named, [("1", 90)]), asked(["A2"]), asked(["A3"]), .added(unit, [("1", 90)]))
        #expect(try memory.fold.poolKeys() == [key, named, unit])
        #expect(try memory.fold.askedPoolKeys() == [named, unit])

        try memory.apply([asked(["A1"])])
        #expect(try memory.fold.askedPoolKeys() == [key, named, unit])
    }

    @Test func `a call that failed waits, twice as long after the second, until one works`() throws
    {
        func failed() -> Event {
            var failed = RequestFailed()
            failed.error = "timeout"
            failed.mayHaveArrived = true
            failed.concern = .pool
            failed.place = PoolPlace(key)
            return Event(
                .requestFailed, recordedAt: Event.time(1), call: Position(1), json: failed.encoded)
        }
        let memory = try store(failed())
        let first = try #require(try memory.fold.pool(key)?.gate)
        #expect(first.failures == 1 && first.reason == "timeout" && first.microseconds > 0)
        try memory.apply([failed()])
        #expect(try memory.fold.pool(key)?.gate?.failures == 2)
        try memory.apply([.added(key, [("1", 90)])])
        #expect(try memory.fold.pool(key)?.gate == nil)
    }

    @Test(arguments: [0x5EED_0080, 0x5EED_0081, 0x5EED_0082, 0x5EED_0083] as [UInt64])
    func `no log hands a value out twice, and a fold in one go makes the same rows`(
        _ seed: UInt64
    ) throws {
        var random = SplitMix64(seed: seed)
        let keys = [key, PoolKey("numbers", ["A1", "U"]), PoolKey("numbers", ["A2"])]
        let memory = try store()
        let whole = MemoryFold()
        var events: [Event] = [.pools(SyncModel.Pool("numbers"))]
        var handedOut: Set<String> = []
        var now: Int64 = 1
        for _ in 0..<400 {
            now += Int64(random.below(3))
            let key = keys[random.below(3)]
            let event: Event
            if random.once(in: 3) {
                let values = (0..<random.below(8)).map { _ -> (String, Int64?) in
                    let end = now + Int64(random.below(40))
                    return ("\(random.below(60))", random.once(in: 4) ? nil : end)
                }
                event = .added(
                    key, values, pattern: random.once(in: 2) ? "A" : "B",
                    replaces: random.once(in: 5), at: now)
            } else {
                guard let next = try memory.fold.nextValue(of: key, at: Event.time(now)) else {
                    continue
                }
                let isFirst = handedOut.insert("\(key.texts[0]) \(next.value)").inserted
                #expect(isFirst, "\(next.value) of \(key), seed \(seed)")
                #expect(next.until > Event.time(now), "seed \(seed)")
                event = .taken(key, next.value)
            }
            events.append(event)
            try memory.apply([event])
        }
        try whole.apply(events)
        #expect(whole.rows == memory.rows, "seed \(seed)")
        #expect(handedOut.count > 20, "seed \(seed)")
    }
}
