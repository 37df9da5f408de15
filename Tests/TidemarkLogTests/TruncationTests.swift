// TruncationTests.swift — a log whose first events were dropped: what is left reads as before, and
// is proven by the edge of what is gone.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `truncating` {
    private static let views: [UInt8] = [7, 7, 7]

    /// A log of commits of some sizes, sealed up to an event; some payloads are bodies, and the
    /// same bodies come again.
    private func makeLog(
        events: Int, sealed: UInt64, seed: UInt64 = 0x7_2C47E
    ) throws -> (log: ScratchLog, ends: [UInt64], roots: [UInt64: Hash]) {
        let scratch = try ScratchLog()
        var random = SplitMix64(seed: seed)
        let shared = (0..<4).map { _ in random.bytes(3_000) }
        var (number, ends, roots): (Int, [UInt64], [UInt64: Hash]) = (0, [], [:])
        while number < events {
            let count = min(events - number, 1 + Int(random.next(upperBound: UInt64(5))))
            let commit = (number..<number + count).map { number in
                var event = sampleEvent(number)
                switch random.next(upperBound: UInt64(20)) {
                case 0: (event.payload, event.payloadType) = (random.bytes(2_500), .opaque)
                case 1:
                    let place = Int(random.next(upperBound: UInt64(4)))
                    (event.payload, event.payloadType) = (shared[place], .opaque)
                default: break
                }
                return event
            }
            let record = try scratch.append(commit)
            number += count
            ends.append(UInt64(number))
            roots[UInt64(number)] = record.root
        }
        while try scratch.environment.write({ transaction in
            try scratch.log.seal(through: Position(sealed), transaction)
        }) != nil {}
        return (scratch, ends, roots)
    }

    @discardableResult
    private func truncate(
        _ scratch: ScratchLog, at last: UInt64, named: Set<Position> = [],
        views: [UInt8] = Self.views
    ) throws -> Truncation {
        let plan = try scratch.log.planTruncation(at: Position(last), in: scratch.environment)
        return try scratch.environment.write { transaction in
            var edge = try scratch.log.edge(transaction)
            return try scratch.log.truncate(
                plan, views: views, named: named, edge: &edge, transaction)
        }
    }

    private func events(_ scratch: ScratchLog) throws -> [Position: Event] {
        var events: [Position: Event] = [:]
        try scratch.environment.read { transaction in
            try scratch.log.forEach(transaction) { position, event in
                events[position] = event
                return true
            }
        }
        return events
    }

    private func bodyCount(_ scratch: ScratchLog) throws -> Int {
        var hashes: Set<[UInt8]> = []
        try scratch.environment.read { transaction in
            try transaction.scan(scratch.log.bodies, from: nil, prefix: [], reversed: false) {
                key, _ in
                hashes.insert(Array(key.copied().prefix(32)))
                return true
            }
        }
        return hashes.count
    }

    @Test(arguments: [1, 90, 256, 300, 511, 512, 513, 899] as [UInt64])
    func `what is left reads as it did, with its roots, and goes on`(_ about: UInt64) throws {
        let (scratch, ends, roots) = try makeLog(events: 1_200, sealed: 1_000)
        let last = try #require(ends.first { $0 >= about })
        let before = try events(scratch)
        let whole = try scratch.verify()

        let made = try truncate(scratch, at: last)

        #expect(made.first == Position(1) && made.last == Position(last))
        #expect(made.commits == UInt64(ends.count { $0 <= last }))
        let left = try events(scratch)
        #expect(left == before.filter { $0.key > Position(last) })
        let named = Set(left.values.filter { $0.payload.count > 2_000 }.map(\.payload))
        #expect(try bodyCount(scratch) == named.count)
        let verified = try scratch.verify()
        #expect(verified.findings == [] && verified.root == whole.root)
        #expect(verified.base == Position(last) && verified.events == 1_200 - last)
        #expect(verified.commits == UInt64(ends.count) - made.commits)
        try scratch.environment.read { transaction in
            let log = scratch.log
            try log.checkTail(transaction)
            let base = try #require(try log.base(transaction))
            #expect(base.edge.root == roots[last] && base.views == Self.views)
            #expect(try log.firstPosition(transaction) == Position(last + 1))
            #expect(try log.event(at: Position(last), transaction) == nil)
            #expect(try log.event(at: Position(1), transaction) == nil)
            #expect(try log.event(at: Position(last + 1), transaction) != nil)
            #expect(try log.commitCount(transaction) == verified.commits)
            let none = try log.commitEnd(from: Position(last), reversed: true, transaction)
            #expect(none == nil)
        }

        for number in 1_200..<1_300 { try scratch.append([sampleEvent(number)]) }
        _ = try scratch.environment.write { try scratch.log.seal(through: Position(1_100), $0) }
        let next = try #require(ends.first { $0 > last + 20 })
        let second = try truncate(scratch, at: next)
        #expect(second.first == Position(last + 1))
        #expect(try scratch.verify().findings == [])
        #expect(try scratch.verify().events == 1_300 - next)
    }

    @Test func `both threads of a verification find what one finds`() throws {
        let (scratch, ends, _) = try makeLog(events: 12_000, sealed: 9_000)
        try truncate(scratch, at: try #require(ends.first { $0 >= 3_000 }))
        let one = try scratch.verify()
        var check = try scratch.environment.read { try LogCheck(scratch.log, .events, $0) }

        while try check.step(in: scratch.environment) {}

        #expect(check.finished() == one)
        #expect(one.findings == [])
    }

    @Test func `a checkpoint is proven where its size is at or behind what was dropped`() throws {
        let (scratch, ends, roots) = try makeLog(events: 1_000, sealed: 900)
        let places = [ends[20], ends[60], ends[61], ends[200]]
        let checkpoints = places.map {
            LogCheckpoint(origin: "tidemark/x", size: $0, root: roots[$0] ?? [])
        }
        try truncate(scratch, at: ends[60])
        func findings(_ checkpoints: [LogCheckpoint]) throws -> [LogError] {
            try scratch.environment.read { transaction in
                var check = try LogCheck(scratch.log, checkpoints: checkpoints, transaction)
                while try check.step(transaction) {}
                return check.finished().findings
            }
        }

        #expect(try findings(Array(checkpoints[1...])) == [])
        let lost = try findings(checkpoints)
        #expect(lost.map(\.code) == [.droppedCheckpoint])
        #expect(lost.first?.position == Position(ends[20]))
        var other = checkpoints[1]
        other.root[0] ^= 1
        #expect(try findings([other]).map(\.code) == [.otherCheckpoint])
    }

    @Test func `only sealed events go, whole commits of them, and not twice`() throws {
        let (scratch, ends, _) = try makeLog(events: 600, sealed: 500)
        let inside = try #require((1...400 as ClosedRange<UInt64>).first { !ends.contains($0) })

        for last in [inside, 500, 550, 600, 9_000] {
            #expect(throws: LogError.self, "\(last)") { try truncate(scratch, at: last) }
        }
        try truncate(scratch, at: ends[30])
        for last in [ends[30], ends[10]] {
            let error = #expect(throws: LogError.self) { try truncate(scratch, at: last) }
            #expect(error?.code == .dropped)
        }
        #expect(try scratch.verify().findings == [])
    }

    @Test func `what rows name of it stays at hand, and nothing else`() throws {
        let (scratch, ends, _) = try makeLog(events: 600, sealed: 500)
        let short = try events(scratch).filter { $0.value.payload.count < 100 }.keys.sorted()
        let named = Set([short[2], short[30], short[31]])

        try truncate(scratch, at: ends[60], named: named)

        try scratch.environment.read { transaction in
            var found: Set<Position> = []
            try transaction.scan(scratch.log.log, from: nil, prefix: [], reversed: false) {
                key, _ in
                guard let position = Position(key), position < Position(500) else { return false }
                found.insert(position)
                return true
            }
            #expect(found == named)
            #expect(try scratch.log.edge(transaction).keptEvents == 3)
            for position in named {
                let read = try scratch.log.inlinePayload(at: position, transaction)
                #expect(read != nil)
                #expect(try scratch.log.event(at: position, transaction) == nil)
            }
        }
        #expect(try scratch.verify().findings == [])
    }

    @Test func `a base that is another one, or none, is a finding`() throws {
        let (scratch, ends, _) = try makeLog(events: 600, sealed: 500)
        let last = ends[60]
        try truncate(scratch, at: last)
        let catalog = scratch.log.catalog
        let whole = try scratch.environment.read { try catalog.value(.base, $0) } ?? []
        var otherRoot = whole
        otherRoot[10] ^= 1

        let findings = try scratch.findings(after: { try catalog.set(.base, otherRoot, $0) })
        #expect(findings.first?.code == .rootMismatch, "\(findings)")
        #expect(throws: LogError.self) {
            try scratch.findings(after: { try catalog.set(.base, [1, 2], $0) })
        }
        let bare = try scratch.findings(after: {
            _ = try $0.delete(catalog.table, CatalogKey.base.bytes)
        })
        #expect(bare.first?.code == .missingEvent)
        #expect(bare.first?.position == Position(1))
    }

    @Test func `is not taken for a log from the first event where its base is gone`() throws {
        let (scratch, ends, _) = try makeLog(events: 600, sealed: 500)
        let log = scratch.log
        try scratch.environment.read { try log.checkTail($0) }
        try truncate(scratch, at: ends[60])
        try scratch.environment.read { try log.checkTail($0) }

        try scratch.environment.write { transaction in
            _ = try transaction.delete(log.catalog.table, CatalogKey.base.bytes)
        }

        let error = #expect(throws: LogError.self) {
            try scratch.environment.read { try log.checkTail($0) }
        }
        #expect(error?.code == .corruptBase)
        #expect(error?.position == Position(1))
    }

    @Test(arguments: [3, 5_000], [false, true])
    func `is not salvaged, however long the base is, and without a meta page`(
        _ viewBytes: Int, hasLostMeta: Bool
    ) throws {
        let (scratch, ends, _) = try makeLog(events: 600, sealed: 500)
        try truncate(scratch, at: ends[60], views: [UInt8](repeating: 7, count: viewBytes))
        try scratch.append([sampleEvent(600)])
        try scratch.environment.close()
        if hasLostMeta {
            var bytes = Array(try Data(contentsOf: scratch.file))
            bytes.replaceSubrange(0..<256, with: [UInt8](repeating: 0, count: 256))
            try Data(bytes).write(to: scratch.file)
        }
        let error = #expect(throws: LogError.self) {
            _ = try SalvagedLog(in: scratch.file.deletingLastPathComponent().path)
        }
        #expect(error?.code == .dropped)
    }

    @Test func `the bytes that are kept are also those of bodies, each counted once`() throws {
        let scratch = try ScratchLog()
        var random = SplitMix64(seed: 0xB0D1)
        let shared = random.bytes(3_000)
        for batch in 0..<20 {
            let commit = (0..<100).map { number in
                var event = sampleEvent(100 * batch + number)
                event.payload = number.isMultiple(of: 2) ? random.bytes(3_000) : shared
                event.payloadType = .opaque
                return event
            }
            try scratch.append(commit)
        }
        while try scratch.environment.write({ transaction in
            try scratch.log.seal(through: Position(1_999), transaction)
        }) != nil {}
        func lastBeyond(_ bytes: Int) throws -> Position? {
            try scratch.environment.read { try scratch.log.lastBeyond(bytes: bytes, $0) }
        }

        let found = try #require(try lastBeyond(1 << 20))
        let kept = 2_000 - Int(found.rawValue)
        // Every other event has 3,000 bytes of its own, and a block holds 256 events.
        #expect(kept * 1_700 >= 1 << 20)
        #expect((kept - 257) * 1_500 < 1 << 20)
        #expect(try lastBeyond(4 << 20) == nil)
    }

    @Test func `a key of the log that is none ends the count of what is kept`() throws {
        let (scratch, _, _) = try makeLog(events: 600, sealed: 300)
        try scratch.environment.write { try $0.put(scratch.log.log, [0xFF], [1]) }

        let found = try scratch.environment.read {
            try scratch.log.lastBeyond(bytes: 1 << 30, $0)
        }
        #expect(found == nil)
    }

    @Test func `a damaged event keeps what is before it from being dropped`() throws {
        let (scratch, ends, _) = try makeLog(events: 1_000, sealed: 900)
        try scratch.damageBlock(endingAt: 256)

        let last = try #require(ends.first { $0 > 300 })
        #expect(throws: LogError.self) { try truncate(scratch, at: last) }
        #expect(try scratch.environment.read { try scratch.log.base($0) } == nil)
    }
}
