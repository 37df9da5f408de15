// VerifyThreadsTests.swift — a log that two threads look at, in ranges: what they find is what one
// finds that reads it in one go.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `verifying a log on two threads` {
    /// More events than both threads look at in a step, in commits of a hundred.
    static let events = 17_000
    let scratch: ScratchLog

    init() throws {
        scratch = try ScratchLog(mapBytes: 64 << 20)
        for first in stride(from: 1, to: Self.events, by: 100) {
            try scratch.append((first..<first + 100).map(sampleEvent))
        }
    }

    private func onTwoThreads() throws -> (result: LogVerification, commits: [Position]) {
        var check = try scratch.environment.read { transaction in
            try LogCheck(scratch.log, .events, transaction)
        }
        var commits: [Position] = []
        while try check.step(in: scratch.environment, commit: { commits.append($0.last) }) {}
        return (check.finished(), commits)
    }

    @Test func `meets every commit once, and the same root`() throws {
        let (result, commits) = try onTwoThreads()

        #expect(result == (try scratch.verify()))
        #expect(result.events == UInt64(Self.events) && result.findings == [])
        #expect(commits == (1...170).map { Position($0 * 100) })
    }

    @Test(
        .enabled(if: TestRun.isWhole),
        arguments: [1, 2_560, 2_561, 8_192, 8_193, 10_752, 10_753, 16_384, 17_000] as [UInt64])
    func `finds a damaged event and one that is gone wherever a range begins or ends`(
        _ number: UInt64
    ) throws {
        let key = Position(number).bigEndianBytes
        let frame = try scratch.value(scratch.log.log, key)
        try scratch.environment.write { transaction in
            try transaction.put(scratch.log.log, key, frame.reversed())
        }
        let damaged = try onTwoThreads().result
        #expect(damaged == (try scratch.verify()))
        #expect(damaged.findings.map(\.position) == [Position(number)])

        try scratch.environment.write { transaction in
            _ = try transaction.delete(scratch.log.log, key)
        }
        let gone = try onTwoThreads().result
        #expect(gone == (try scratch.verify()))
        #expect(gone.findings.contains { $0.position == Position(number) })
    }

    @Test func `goes on behind a gap that is longer than a range`() throws {
        try scratch.environment.write { transaction in
            for number in 3_000..<16_000 as Range<UInt64> {
                _ = try transaction.delete(scratch.log.log, Position(number).bigEndianBytes)
            }
            let far = Position(UInt64.max - 1).bigEndianBytes
            try transaction.put(scratch.log.log, far, EventFrame(sampleEvent(1)).encoded)
        }

        let result = try onTwoThreads().result

        #expect(result == (try scratch.verify()))
        #expect(result.events == UInt64(Self.events - 13_000 + 1))
        #expect(
            result.findings.contains { "\($0)" == "@3000: missingEvent: the next event is @16000" })
    }
}
