// SalvageTests.swift — what is salvaged of a log, by what is wrong with its file.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkStore

@testable import TidemarkLog

@Suite struct `a turned bit of a frame` {
    @Test func `is found wherever it is, and two are not`() {
        let frame = EventFrame(sampleEvent(3)).encoded
        #expect(EventFrame.turnedBit(of: frame) == nil)
        for bit in 0..<8 * frame.count {
            var damaged = frame
            damaged.turn(bit: bit)
            #expect(EventFrame.turnedBit(of: damaged) == bit)
            damaged.turn(bit: (bit + 100) % (8 * frame.count))
            #expect(EventFrame.turnedBit(of: damaged) == nil)
        }
    }
}

@Suite struct `a salvaged log` {
    private let pageBytes = DamagedLog.pageBytes

    @Test func `is all of it where nothing is damaged`() throws {
        let log = try DamagedLog()
        let salvaged = try log.salvage { _ in }

        #expect(salvaged.isWhole)
        #expect(salvaged.proven == log.last)
        #expect(salvaged.root == log.edge.root)
        #expect(salvaged.storeID == "store")
        #expect(salvaged.gaps.isEmpty && salvaged.mended.isEmpty && salvaged.unrecorded == 0)
        #expect(salvaged.commits(withUnproven: false).map(\.last) == log.ends)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `is all of it without meta pages, but nothing says where it ended`() throws {
        let log = try DamagedLog()
        let salvaged = try log.salvage { bytes in
            for index in 0..<2 * pageBytes { bytes[index] = 0 }
        }

        #expect(salvaged.proven == log.last)
        #expect(salvaged.end == .atLeast(log.last))
        #expect(!salvaged.isWhole)
        #expect(salvaged.pageBytes == pageBytes)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `has events of pages whose headers are gone`() throws {
        let log = try DamagedLog()
        let pages = log.framePages
        #expect(pages.count >= 2)
        let salvaged = try log.salvage { bytes in
            for page in pages {
                for index in 0..<PageImage.headerBytes { bytes[page * pageBytes + index] = 0xFF }
            }
        }

        #expect(salvaged.isWhole)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `has events with one turned bit, in frame, position or offset`() throws {
        let log = try DamagedLog()
        var random = SplitMix64(seed: 0x5EED_0701)
        for _ in 0..<40 {
            let page = random.pick(log.framePages)
            let bit = 8 * (page * pageBytes + random.below(pageBytes)) + random.below(8)
            let salvaged = try log.salvage { $0.turn(bit: bit) }
            #expect(salvaged.isWhole, "bit \(bit)")
            #expect(try salvaged.isBeginning(of: log), "bit \(bit)")
        }
    }

    // On larger pages a record lies beside its key, and is gone with it.
    @Test(.enabled(if: DamagedLog.pageBytes == 4096))
    func `has bodies whose keys are gone`() throws {
        let log = try DamagedLog(bodyEvery: 2, bodyBytesMax: 3_800)
        let pages = log.bodyPages
        #expect(pages.count >= 1)
        let salvaged = try log.salvage { bytes in
            for page in pages {
                for index in 0..<pageBytes { bytes[page * pageBytes + index] = 0 }
            }
        }

        #expect(salvaged.isWhole, "\(salvaged.gaps)")
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `has a body with one turned bit`() throws {
        let log = try DamagedLog(bodyBytesMax: 3_000)
        let body = try #require(log.events.first { $0.payload.count > 2_000 }).payload
        let start = try #require(log.file.firstRange(of: body.prefix(64))).lowerBound
        let salvaged = try log.salvage { $0.turn(bit: 8 * (start + 1_000)) }

        #expect(salvaged.isWhole, "\(salvaged.gaps)")
        #expect(salvaged.mendedBodies == 1)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `ends before the commit of the first event that is gone`() throws {
        let log = try DamagedLog(bodyEvery: 1_000)
        // Of copies of an event's page the last one is the log's.
        let event = log.events[Int(log.last.rawValue) / 2]
        let header = event.headerBytes
        let salvaged = try log.salvage { bytes in
            while let range = bytes.firstRange(of: header) {
                for index in range { bytes[index] = 0 }
            }
        }

        let lost = Position(log.last.rawValue / 2 + 1)
        #expect(salvaged.proven == log.ends.last { $0 < lost })
        #expect(salvaged.unproven == Position(lost.rawValue - 1))
        #expect(!salvaged.isWhole)
        #expect(salvaged.end == .known(log.last))
        let missing = salvaged.gaps.filter { $0.reason == .missing }
        #expect(missing == [.init(first: lost, last: lost, reason: .missing)])
        #expect(salvaged.gaps.last?.last == log.last)
        #expect(salvaged.commits(withUnproven: true).last?.last == salvaged.unproven)
        #expect(try salvaged.isBeginning(of: log))
    }

    @Test func `names the body that is gone`() throws {
        let log = try DamagedLog()
        let event = try #require(log.events.lastIndex { $0.payload.count > 2_000 })
        let body = log.events[event].payload
        let salvaged = try log.salvage { bytes in
            let start = try #require(bytes.firstRange(of: body.prefix(64))).lowerBound
            for index in start..<start + 512 { bytes[index] = 0 }
        }

        let lost = Position(UInt64(event + 1))
        #expect(salvaged.proven < lost)
        #expect(
            salvaged.gaps.contains {
                $0.first == lost && $0.reason == .body(BodyReference(to: body))
            })
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: 0..<50)
    func `is never anything but a beginning of what was written`(
        _ number: Int
    ) throws {
        let seed = UInt64(0x5EED_0800 + number)
        var random = SplitMix64(seed: seed)
        let log = try DamagedLog(commits: 40, seed: seed)
        var words: [String] = []
        let salvaged = try log.salvage { bytes in
            for _ in 0..<1 + random.below(4) {
                words.append(Self.damage(&bytes, pageBytes, &random))
            }
        }

        let place: Comment = "seed \(seed): \(words.joined(separator: ", "))"
        #expect(try salvaged.isBeginning(of: log), place)
        #expect(salvaged.proven <= log.last, place)
        #expect(!salvaged.isWhole || salvaged.proven == log.last, place)
        for position in salvaged.proven.rawValue..<salvaged.unproven.rawValue {
            let isSame =
                try salvaged.event(at: Position(position + 1)).event == log.events[Int(position)]
            #expect(isSame, place)
        }
    }

    /// Damages a file at random; what it did, in words.
    private static func damage(
        _ bytes: inout [UInt8], _ pageBytes: Int, _ random: inout SplitMix64
    ) -> String {
        switch random.below(5) {
        case 0:
            let bit = random.below(8 * bytes.count)
            bytes.turn(bit: bit)
            return "bit \(bit)"
        case 1:
            let start = random.below(bytes.count / 512) * 512
            for index in start..<start + 512 { bytes[index] = 0 }
            return "sector at \(start)"
        case 2:
            let (from, to) = (
                random.below(bytes.count / pageBytes), random.below(bytes.count / pageBytes)
            )
            for index in 0..<pageBytes {
                bytes[to * pageBytes + index] = bytes[from * pageBytes + index]
            }
            return "page \(from) over \(to)"
        case 3:
            bytes.removeLast(random.below(bytes.count / 2))
            bytes.removeLast(bytes.count % 512)
            return "cut to \(bytes.count)"
        default:
            for page in 0...1 { bytes[page * pageBytes + 16] ^= 1 }
            return "meta pages"
        }
    }
}
