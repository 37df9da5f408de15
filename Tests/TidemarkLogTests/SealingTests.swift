// SealingTests.swift — a log of which a part is sealed reads as if it were not.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `sealing` {
    /// All that can be read of a log.
    private struct Reading: Equatable {
        var events: [Event] = []
        var backwards: [Position] = []
        var commits: [CommitRecord] = []
        var ends: [[Position?]] = []
        var count: UInt64 = 0
        var first: Position?
        var last = Position.start

        init(_ scratch: ScratchLog, from start: Position? = nil) throws {
            let log = scratch.log
            try scratch.environment.read { transaction in
                try log.forEachFrame(from: start, transaction) { position, frame in
                    let event = try log.event(try frame.get(), at: position, transaction)
                    #expect(try log.event(at: position, transaction) == event)
                    events.append(event)
                    return true
                }
                try log.forEachFrame(from: start, reversed: true, transaction) { position, _ in
                    backwards.append(position)
                    return true
                }
                try log.forEachCommit(from: start, transaction) {
                    commits.append($0)
                    return true
                }
                last = try log.lastPosition(transaction)
                for number in 0...last.rawValue + 1 where start == nil {
                    let position = Position(number)
                    ends.append([
                        try log.commitEnd(from: position, reversed: false, transaction),
                        try log.commitEnd(from: position, reversed: true, transaction),
                    ])
                }
                count = try log.commitCount(transaction)
                first = try log.firstPosition(transaction)
                try log.checkTail(transaction)
            }
        }
    }

    private static let seed: UInt64 = 0x5EA1_0001

    /// A log of commits of some sizes, with payloads of some lengths.
    private func makeLog(events: Int, seed: UInt64 = Self.seed) throws -> ScratchLog {
        let scratch = try ScratchLog()
        var random = SplitMix64(seed: seed)
        var number = 0
        while number < events {
            let count = min(
                events - number,
                Int(random.next(upperBound: UInt64(40))) == 0
                    ? 300 : 1 + Int(random.next(upperBound: UInt64(4))))
            let commit = (number..<number + count).map { number in
                var event = sampleEvent(number)
                if Int(random.next(upperBound: UInt64(50))) == 0 {
                    event.payload = random.bytes(3_000)
                    event.payloadType = .opaque
                }
                return event
            }
            let digest = ViewDigest(
                view: 1, fingerprint: [1, 2, 3, 4], digest: random.bytes(16),
                rows: random.bytes(8 * count))
            try scratch.append(commit, views: [digest])
            number += count
        }
        return scratch
    }

    @discardableResult
    private func seal(_ scratch: ScratchLog, through last: UInt64 = .max) throws -> Sealing? {
        var whole: Sealing?
        while let sealing = try scratch.environment.write({ transaction in
            try scratch.log.seal(through: Position(last), transaction)
        }) {
            if whole == nil { whole = sealing } else { whole?.add(sealing) }
        }
        return whole
    }

    @Test(arguments: [1, 2, 255, 256, 257, 700, 1_150])
    func `nothing of what can be read differs`(_ last: UInt64) throws {
        let scratch = try makeLog(events: 1_200)
        let before = try Reading(scratch)
        let starts = [1, 2, last - 1, last, last + 1, 1_199, 1_200, 1_300].map { Position($0) }
        let parts = try starts.map { try Reading(scratch, from: $0) }
        let verified = try scratch.verify()
        #expect(verified.findings.isEmpty)

        let sealing = try #require(try seal(scratch, through: last))

        #expect(sealing.first == Position(1) && sealing.last == Position(last))
        #expect(try Reading(scratch) == before)
        for (start, part) in zip(starts, parts) {
            #expect(try Reading(scratch, from: start) == part, "from \(start)")
        }
        let after = try scratch.verify()
        #expect(after.findings.isEmpty)
        #expect(after.root == verified.root)
        #expect(after.events == verified.events && after.commits == verified.commits)
    }

    @Test func `the last event is never sealed, and the log goes on`() throws {
        let scratch = try makeLog(events: 600)
        let twin = try makeLog(events: 600)

        #expect(try seal(scratch)?.last == Position(599))
        #expect(try seal(scratch) == nil)
        for number in 600..<900 {
            try scratch.append([sampleEvent(number)])
            try twin.append([sampleEvent(number)])
            if number == 700 { try #expect(seal(scratch)?.first == Position(600)) }
        }

        #expect(try Reading(scratch) == Reading(twin))
        #expect(try scratch.verify() == twin.verify())
    }

    @Test func `a sealed log is a fraction of its size`() throws {
        let scratch = try ScratchLog()
        try scratch.append((0..<2_000).map(sampleEvent))

        let sealing = try #require(try seal(scratch))

        #expect(sealing.blocks == 8)
        #expect(sealing.events == 1_999 && sealing.commits == 0)
        #expect(sealing.storedBytes * 3 < sealing.recordBytes)
    }

    @Test(arguments: [false, true])
    func `both threads of a verification find what one finds`(_ isDamaged: Bool) throws {
        let scratch = try makeLog(events: 12_000)
        try seal(scratch, through: 9_000)
        if isDamaged { try scratch.damageBlock(endingAt: 1_024) }
        let one = try scratch.verify()
        var check = try scratch.environment.read { transaction in
            try LogCheck(scratch.log, .events, transaction)
        }

        while try check.step(in: scratch.environment) {}

        #expect(check.finished() == one)
        #expect(one.findings.isEmpty == !isDamaged && one.events == 12_000)
    }

    // MARK: Damage

    private func key(_ last: UInt64, _ number: UInt8 = 0) -> [UInt8] {
        Position(last).bigEndianBytes + [0, 0, 0, number]
    }

    @Test func `of a damaged block each event is told, and the others are read`() throws {
        let scratch = try makeLog(events: 1_000)
        try seal(scratch)
        try scratch.damageBlock(endingAt: 512)

        let verified = try scratch.verify()
        var (read, damaged): ([UInt64], [UInt64]) = ([], [])
        try scratch.environment.read { transaction in
            try scratch.log.forEachFrame(transaction) { position, frame in
                if case .success = frame {
                    read.append(position.rawValue)
                } else {
                    damaged.append(position.rawValue)
                }
                return true
            }
            #expect(throws: LogError.self) {
                try scratch.log.event(at: Position(300), transaction)
            }
            #expect(try scratch.log.event(at: Position(513), transaction) != nil)
        }

        #expect(verified.findings.first?.code == .corruptEvent)
        #expect(verified.findings.first?.position == Position(257))
        #expect(damaged == Array(257...512))
        #expect(read == Array(1...256) + Array(513...1_000))
    }

    @Test func `a block that is gone, cut short or of a newer version is a finding`() throws {
        let scratch = try makeLog(events: 1_000)
        try seal(scratch)
        let log = scratch.log
        let table = scratch.environment.table("sealed")
        let stored = try scratch.value(table, key(512))
        let cases: [(LogError.Code, UInt64, (borrowing WriteTransaction) throws -> Void)] = [
            (
                .missingEvent, 257,
                { transaction in
                    for number in 0..<9 {
                        _ = try transaction.delete(table, key(512, UInt8(number)))
                    }
                }
            ),
            (
                .missingEvent, 769,
                { transaction in
                    for number in 0..<9 {
                        _ = try transaction.delete(table, key(999, UInt8(number)))
                    }
                }
            ),
            (
                .corruptEvent, 257,
                { transaction in
                    try transaction.put(table, key(512), Array(stored.dropLast()))
                }
            ),
            (
                .newerFormat, 257,
                { transaction in
                    try transaction.put(table, key(512), [9] + stored.dropFirst())
                }
            ),
            (
                .missingEvent, 1_000,
                { transaction in
                    _ = try transaction.delete(log.log, Position(1_000).bigEndianBytes)
                }
            ),
        ]
        for (code, position, damage) in cases {
            let findings = try scratch.findings(after: damage)
            #expect(
                findings.contains { $0.code == code && $0.position == Position(position) },
                "\(findings.map(\.description))")
        }
    }

    @Test func `a damaged event is not sealed, and stays as it is`() throws {
        let scratch = try makeLog(events: 700)
        let key = Position(300).bigEndianBytes
        var frame = try scratch.value(scratch.log.log, key)
        frame[frame.count - 1] ^= 1
        try scratch.environment.write { [frame] in try $0.put(scratch.log.log, key, frame) }

        #expect(throws: LogError.self) { _ = try seal(scratch) }

        let findings = try scratch.verify().findings
        #expect(findings.first?.position == Position(300))
        let last = try scratch.environment.read { try scratch.log.sealed.last($0) }
        #expect(last == Position(256))
    }

    @Test(arguments: [31, 40, 61] as [UInt64])
    func `a block whose key is another one is damaged, however far it seems to reach`(
        _ bit: UInt64
    ) throws {
        let scratch = try makeLog(events: 600)
        while try scratch.environment.write({ try scratch.log.seal(through: Position(600), $0) })
            != nil
        {}
        let table = scratch.environment.table("sealed")
        let key = try scratch.environment.read { transaction in
            try #require(try transaction.last(table)?.key)
        }
        let value = try scratch.value(table, key)
        let last = try #require(Position(bigEndianBytes: key.prefix(8)))
        try scratch.environment.write { transaction in
            try transaction.delete(table, key)
            let other = Position(last.rawValue | 1 << bit)
            try transaction.put(table, other.bigEndianBytes + key.dropFirst(8), value)
        }
        #expect(throws: LogError.self) {
            try scratch.environment.read { try scratch.log.forEach($0) { _, _ in true } }
        }
    }
}
