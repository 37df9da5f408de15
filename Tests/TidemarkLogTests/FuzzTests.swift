// FuzzTests.swift — whatever the bytes are, every decoder answers: a value, or an error of its own.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

extension SplitMix64 {
    /// The bytes with a few of them changed, cut off, doubled or put in.
    fileprivate mutating func mutated(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0...below(4) {
            let place = below(bytes.count + 1)
            switch below(6) {
            case 0: bytes.insert(UInt8(below(256)), at: place)
            case 1: bytes.removeSubrange(place..<min(place + below(9), bytes.count))
            case 2: bytes.removeSubrange(place...)
            case 3: bytes += bytes[place...]
            case _ where place < bytes.count: bytes[place] ^= 1 << UInt8(below(8))
            default: bytes.append(0)
            }
        }
        return bytes
    }
}

@Suite struct `bytes that nobody wrote` {
    static let rounds = 50_000

    private func event(_ random: inout SplitMix64, payloadBytes: Int) -> Event {
        var event = sampleEvent(random.below(1_000))
        event.payload = random.bytes(payloadBytes)
        event.idempotencyKey = [1, 2, 3]
        return event
    }

    /// The frame with a checksum that fits, so that what is behind it is reached.
    private func sealed(_ frame: [UInt8]) -> [UInt8] {
        guard frame.count >= 8 else { return frame }
        var frame = frame
        let crc = CRC32C.checksum(of: Array(frame[..<4]) + Array(frame[8...]))
        for index in 0..<4 { frame[4 + index] = UInt8(truncatingIfNeeded: crc >> (8 * index)) }
        return frame
    }

    @Test(arguments: [0x5EED_0701] as [UInt64])
    func `are a frame, or damaged`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let frames = [0, 30, 2_500].map {
            EventFrame(event(&random, payloadBytes: $0)).encoded
        }
        var whole = 0
        for round in 0..<Self.rounds {
            var bytes = round % 8 == 0 ? random.bytes(random.below(60)) : random.pick(frames)
            bytes = random.mutated(bytes)
            if round % 4 != 0 { bytes = sealed(bytes) }
            guard let frame = try? EventFrame(parsing: bytes.span) else { continue }
            whole += 1
            #expect(frame.encoded == bytes, "seed \(seed), round \(round)")
            guard let event = try? Event(header: frame.header, payload: []) else { continue }
            if event.payloadType.rawValue < 3 { _ = event.headerBytes }
        }
        #expect(whole > 1_000 && whole < Self.rounds)
    }

    @Test(arguments: [0x5EED_0702] as [UInt64])
    func `are a body, or damaged`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let bodies = [random.bytes(60), [UInt8](repeating: 5, count: 4_000), []]
        var counts: [String: Int] = [:]
        for round in 0..<Self.rounds {
            let body = random.pick(bodies)
            var reference = BodyReference(to: body)
            if random.once(in: 4) { reference.bytes = random.next() >> UInt64(random.below(64)) }
            var stored = random.mutated(StoredBody.encode(body))
            // A head that fits, so that what is behind it is reached.
            if round % 2 == 0, stored.count >= StoredBody.headBytes {
                stored.replaceSubrange(0..<1, with: [1])
                for index in 0..<8 {
                    stored[2 + index] = UInt8(truncatingIfNeeded: reference.bytes >> (8 * index))
                    stored[10 + index] = UInt8(
                        truncatingIfNeeded: (stored.count - 18) >> (8 * index))
                }
            }
            do throws(StoredBody.Damage) {
                let read = try StoredBody.decode(stored, as: reference)
                #expect(read == body, "seed \(seed), round \(round)")
                counts["read", default: 0] += 1
            } catch {
                counts["\(error)".prefix { !$0.isNumber }.description, default: 0] += 1
            }
        }
        #expect(counts.count >= 5, "\(counts)")
    }

    @Test(arguments: [0x5EED_0703] as [UInt64])
    func `are a commit or an edge, or refused`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let digest = ViewDigest(
            view: 2, fingerprint: [1, 2], digest: random.bytes(16), rows: random.bytes(16))
        let commit = CommitRecord(
            first: Position(3), last: Position(9), root: random.bytes(32), views: [digest, digest])
        var edge = MerkleEdge()
        for _ in 0..<5 { edge.append(leaf: random.bytes(32)) }
        var (commits, edges) = (0, 0)
        for round in 0..<Self.rounds {
            let wild = round % 8 == 0 ? random.bytes(random.below(60)) : nil
            let record = random.mutated(wild ?? commit.encoded)
            if let read = try? CommitRecord(parsing: record, last: Position(9)) {
                commits += 1
                let again = try CommitRecord(parsing: read.encoded, last: Position(9))
                #expect(again == read, "seed \(seed), round \(round)")
            }
            if let read = try? MerkleEdge(parsing: random.mutated(wild ?? edge.encoded)) {
                edges += 1
                #expect(read.peaks.count == read.size.nonzeroBitCount)
                _ = read.root
            }
        }
        #expect(commits > 1_000 && edges > 1_000)
    }

    @Test(arguments: [0x5EED_0704] as [UInt64])
    func `in the tables are findings of a verification`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let scratch = try ScratchLog()
        try scratch.append([event(&random, payloadBytes: 10), event(&random, payloadBytes: 9_000)])
        let frame = try scratch.value(scratch.log.log, Position(2).bigEndianBytes)
        let reference = BodyReference(
            to: try scratch.environment.read { transaction in
                try scratch.log.event(at: Position(2), transaction)?.payload ?? []
            })
        for round in 0..<500 {
            let number = UInt8(random.below(4))
            let findings = try scratch.findings { transaction in
                let key = reference.hash + [0, 0, 0, number]
                let record = try transaction.get(scratch.log.bodies, key) ?? [7]
                let changed = sealed(random.mutated(frame))
                if round % 2 == 0 {
                    try transaction.put(scratch.log.bodies, key, random.mutated(record))
                } else {
                    try transaction.put(scratch.log.log, Position(2).bigEndianBytes, changed)
                }
            }
            #expect(findings.allSatisfy { $0.position <= Position(2) })
        }
    }
}
