// SealedSalvageTests.swift — what is salvaged of a log of which a part is sealed.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkStore

@testable import TidemarkLog

@Suite struct `a salvaged log with sealed events` {
    private let log: DamagedLog
    private let first: Position

    init() throws {
        log = try DamagedLog(commits: 400, bodyEvery: 40, unsealed: 100)
        first = Position(log.last.rawValue - 99)
    }

    @Test func `is all of it where nothing is damaged`() throws {
        let salvaged = try log.salvage { log.removeFreed(&$0, before: first) }

        #expect(log.sealedData.count >= 4)
        #expect(salvaged.isWhole && salvaged.root == log.edge.root)
        #expect(salvaged.gaps.isEmpty && salvaged.mended.isEmpty && salvaged.unrecorded == 0)
        #expect(salvaged.commits(withUnproven: false).map(\.last) == log.ends)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `is all of it without meta pages, and without the heads of leaves`() throws {
        let salvaged = try log.salvage { bytes in
            log.removeFreed(&bytes, before: first)
            for index in 0..<2 * DamagedLog.pageBytes { bytes[index] = 0 }
            for page in 2..<bytes.count / DamagedLog.pageBytes {
                let start = page * DamagedLog.pageBytes
                let image = PageImage(Array(bytes[start..<start + DamagedLog.pageBytes]))
                guard image.kind == .leaf else { continue }
                for index in 0..<PageImage.headerBytes { bytes[start + index] = 0xFF }
            }
        }

        #expect(salvaged.proven == log.last)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `has a block with one turned bit, and says of which events`() throws {
        var random = SplitMix64(seed: 0x5EA1_0C01)
        let salvaged = try log.salvage { bytes in
            log.removeFreed(&bytes, before: first)
            // Behind what tells a block from other things.
            bytes[log.sealedData[1][0] + 12 + random.below(2000)] ^= 1 << UInt8(random.below(8))
        }

        #expect(salvaged.isWhole)
        #expect(salvaged.mended == (257...512).map { Position($0) })
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `ends before the first block that is gone, and names what is missing`() throws {
        let salvaged = try log.salvage { bytes in
            log.removeFreed(&bytes, before: first)
            for data in log.sealedData[1] { for index in 0..<200 { bytes[data + index] = 0 } }
        }

        let end = log.ends.last { $0 <= Position(256) }
        #expect(salvaged.proven == end)
        #expect(salvaged.end == .known(log.last))
        #expect(try salvaged.isBeginning(of: log))
        #expect(salvaged.gaps.contains { $0.reason == .missing && $0.last == Position(512) })
        #expect(salvaged.gaps.last?.reason == .unproven && salvaged.gaps.last?.last == log.last)
    }

    @Test func `is all of it where most events of large commits stay beside their block`() throws {
        // As rows name them, but for one in seven that changed since.
        let log = try DamagedLog(commits: 5, eventsMax: 400, unsealed: 10) { $0.rawValue % 7 != 0 }

        let sound = try log.salvage { _ in }
        let damaged = try log.salvage { bytes in
            for index in 0..<2 * DamagedLog.pageBytes { bytes[index] = 0 }
        }

        for salvaged in [sound, damaged] {
            #expect(salvaged.proven == log.last && salvaged.root == log.edge.root)
            #expect(salvaged.mended.isEmpty)
            #expect(try salvaged.isBeginning(of: log))
        }
    }
}
