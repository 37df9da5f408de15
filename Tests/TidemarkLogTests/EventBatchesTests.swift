// EventBatchesTests.swift — events that another thread reads ahead are those that are there.

import Testing
import TidemarkEvents
import TidemarkStore

@testable import TidemarkLog

@Suite struct `events read ahead` {
    private struct Enough: Error {}

    private static func read(
        _ scratch: ScratchLog, from first: UInt64 = 1, through last: UInt64, upTo count: Int = .max
    ) throws -> [Position: Event] {
        var found: [Position: Event] = [:]
        var before = Position.start
        try scratch.log.forEachAhead(
            from: Position(first), through: Position(last), in: scratch.environment
        ) { position, event in
            #expect(position > before)
            before = position
            found[position] = event
            return found.count < count
        }
        return found
    }

    private static func log(_ count: Int) throws -> ScratchLog {
        let scratch = try ScratchLog()
        for start in stride(from: 1, through: count, by: 500) {
            try scratch.append((start...min(start + 499, count)).map(sampleEvent))
        }
        return scratch
    }

    @Test func `are all events, sealed or not, from anywhere on`() throws {
        let scratch = try Self.log(5_000)
        let sealed = try scratch.environment.write { transaction in
            try scratch.log.seal(through: Position(200), transaction)
        }
        #expect(sealed != nil)

        #expect(try Self.read(scratch, through: 5_000).count == 5_000)
        #expect(try Self.read(scratch, from: 4_999, through: 5_000).count == 2)
        #expect(try Self.read(scratch, from: 100, through: 2_400).count == 2_301)
        #expect(try Self.read(scratch, from: 5_001, through: 5_000).isEmpty)
        #expect(try Self.read(scratch, through: 9_999).count == 5_000)
        let one = try Self.read(scratch, from: 1_025, through: 1_025)
        #expect(one == [Position(1_025): sampleEvent(1_025)])
    }

    @Test func `end where they are told to`() throws {
        let scratch = try Self.log(5_000)

        #expect(try Self.read(scratch, through: 5_000, upTo: 1).count == 1)
        #expect(try Self.read(scratch, through: 5_000, upTo: 1_024).count == 1_024)
        #expect(throws: Enough.self) {
            try scratch.log.forEachAhead(
                from: Position(1), through: Position(5_000), in: scratch.environment
            ) { _, _ in throw Enough() }
        }
    }

    @Test func `end with a damaged one, behind all that are before it`() throws {
        let scratch = try Self.log(3_000)
        let key = Position(2_500).bigEndianBytes
        var frame = try scratch.value(scratch.log.log, key)
        frame[frame.count - 1] ^= 1
        try scratch.environment.write { try $0.put(scratch.log.log, key, frame) }

        var count = 0
        #expect(throws: LogError.self) {
            try scratch.log.forEachAhead(
                from: Position(1), through: Position(3_000), in: scratch.environment
            ) { _, _ in
                count += 1
                return true
            }
        }
        #expect(count == 2_499)
    }
}
