// VerifyTests.swift — whatever is changed in a log is found, and its place is named.

import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `verifying a log` {
    /// Eight events in commits of one, three, two and two.
    let scratch: ScratchLog
    var log: EventLog { scratch.log }

    init() throws {
        scratch = try ScratchLog()
        let digest = ViewDigest(
            view: 1, fingerprint: [1, 2, 3, 4], digest: [5], rows: [UInt8](repeating: 6, count: 8))
        for numbers in [1...1, 2...4, 5...6, 7...8] {
            try scratch.append(numbers.map(sampleEvent), views: [digest])
        }
        #expect(try scratch.verify().findings == [])
    }

    private func key(_ number: UInt64) -> [UInt8] { Position(number).bigEndianBytes }

    @Test func `a flipped byte anywhere in any event is found at its position`() throws {
        for number in 1...8 as ClosedRange<UInt64> {
            let frame = try scratch.value(log.log, key(number))
            for index in frame.indices {
                for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                    var changed = frame
                    changed[index] ^= mask
                    let findings = try scratch.findings { transaction in
                        try transaction.put(log.log, key(number), changed)
                    }
                    guard findings.count == 1, findings[0].code == .corruptEvent,
                        findings[0].position == Position(number)
                    else {
                        Issue.record("byte \(index) of @\(number): \(findings)")
                        return
                    }
                }
            }
        }
    }

    @Test func `an event made anew with a right checksum breaks its commit's root`() throws {
        for number in 1...8 as ClosedRange<UInt64> {
            var event = sampleEvent(Int(number))
            event.payload[0] ^= 1
            let findings = try scratch.findings { transaction in
                try transaction.put(log.log, key(number), EventFrame(event).encoded)
            }

            let commit = [1, 4, 4, 4, 6, 6, 8, 8][Int(number) - 1]
            #expect(findings.map(\.code) == [.rootMismatch])
            #expect(findings.first?.position == Position(UInt64(commit)))
        }
    }

    @Test func `an event whose header can't be read is found although its checksum holds`() throws {
        var frame = EventFrame(sampleEvent(5))
        frame.header = [0x10, 0x01, 0x08, 0x01]
        let bytes = frame.encoded

        let findings = try scratch.findings { transaction in
            try transaction.put(log.log, key(5), bytes)
        }

        #expect(findings.first?.code == .corruptEvent)
        #expect(findings.first?.position == Position(5))
    }

    @Test func `an event that is gone is missed at its position`() throws {
        for number in 1...8 as ClosedRange<UInt64> {
            let findings = try scratch.findings { transaction in
                try transaction.delete(log.log, key(number))
            }

            #expect(
                findings.contains { $0.code == .missingEvent && $0.position == Position(number) })
        }
    }

    @Test func `two events that changed places are found in their first commit`() throws {
        let (third, fifth) = (
            try scratch.value(log.log, key(3)), try scratch.value(log.log, key(5))
        )

        let findings = try scratch.findings { transaction in
            try transaction.put(log.log, key(3), fifth)
            try transaction.put(log.log, key(5), third)
        }

        #expect(findings.map(\.code) == [.rootMismatch])
        #expect(findings.first?.position == Position(4))
    }

    @Test(arguments: 0...7)
    func `a tail that was cut off is missed`(_ left: Int) throws {
        let findings = try scratch.findings { transaction in
            for number in UInt64(left + 1)...8 { try transaction.delete(log.log, key(number)) }
        }
        #expect(
            findings.contains {
                $0.code == .missingEvent && $0.position == Position(UInt64(left + 1))
            })

        let withCommits = try scratch.findings { transaction in
            for number in UInt64(left + 1)...8 {
                try transaction.delete(log.log, key(number))
                try transaction.delete(log.log, CommitRecord.key(Position(number)))
            }
        }
        #expect(
            withCommits.contains {
                $0.code == .missingEvent && $0.position == Position(UInt64(left + 1))
            })
    }

    @Test func `an event that was never appended is found`() throws {
        let findings = try scratch.findings { transaction in
            try transaction.put(log.log, key(9), EventFrame(sampleEvent(9)).encoded)
        }

        #expect(findings.contains { $0.position == Position(9) })
    }

    @Test(arguments: [1, 4, 6, 8] as [UInt64])
    func `a commit whose root was changed is found`(_ last: UInt64) throws {
        let bytes = try scratch.value(log.log, CommitRecord.key(Position(last)))
        var record = try CommitRecord(framed: bytes.span, last: Position(last))
        for index in record.root.indices {
            record.root[index] ^= 0x10
            let encoded = record.framed
            record.root[index] ^= 0x10

            let findings = try scratch.findings { transaction in
                try transaction.put(log.log, CommitRecord.key(Position(last)), encoded)
            }

            #expect(findings.map(\.code) == [.rootMismatch])
            #expect(findings.first?.position == Position(last))
        }
    }

    @Test(arguments: [1, 4, 6, 8] as [UInt64])
    func `a commit that begins elsewhere, is gone or can't be read is found`(
        _ last: UInt64
    ) throws {
        let bytes = try scratch.value(log.log, CommitRecord.key(Position(last)))
        var record = try CommitRecord(framed: bytes.span, last: Position(last))
        record.first = Position(record.first.rawValue + 1)
        let moved = record.framed

        let elsewhere = try scratch.findings { transaction in
            try transaction.put(log.log, CommitRecord.key(Position(last)), moved)
        }
        let gone = try scratch.findings { transaction in
            try transaction.delete(log.log, CommitRecord.key(Position(last)))
        }
        let cut = try scratch.findings { transaction in
            try transaction.put(log.log, CommitRecord.key(Position(last)), Array(bytes.dropLast()))
        }

        #expect(elsewhere.map(\.code) == [.corruptCommit])
        #expect(elsewhere.first?.position == Position(last))
        #expect(gone.map(\.code) == [.corruptCommit])
        #expect(cut.first?.code == .corruptCommit)
        #expect(cut.first?.position == Position(last))
    }

    @Test func `a changed byte anywhere in the right edge is found`() throws {
        let (catalog, edgeKey) = (log.catalog.table, CatalogKey.edge.bytes)
        let edge = try scratch.value(catalog, edgeKey)
        for index in edge.indices {
            for mask in [0x01, 0x80, 0xFF] as [UInt8] {
                var changed = edge
                changed[index] ^= mask
                let findings = try scratch.findings { transaction in
                    try transaction.put(catalog, edgeKey, changed)
                }
                #expect(!findings.isEmpty, "byte \(index), \(mask)")
            }
        }
        let gone = try scratch.findings { transaction in
            try transaction.delete(catalog, edgeKey)
        }
        #expect(!gone.isEmpty)
    }

    @Test func `it goes on after damage, and stops at as many findings as were asked for`() throws {
        try scratch.environment.write { transaction in
            for number in [2, 5, 7] as [UInt64] {
                try transaction.put(log.log, key(number), [1, 2, 3])
            }
        }

        #expect(try scratch.verify().findings.map(\.position.rawValue) == [2, 5, 7])
        #expect(try scratch.verify(findingsMax: 2).findings.map(\.position.rawValue) == [2, 5])
    }
}
