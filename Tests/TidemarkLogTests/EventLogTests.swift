// EventLogTests.swift — appending events and reading them back.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `the log` {
    @Test func `events come back at dense positions, in order and in reverse`() throws {
        let scratch = try ScratchLog()
        let events = (1...10).map(sampleEvent)
        let first = try scratch.append(Array(events[..<3]))
        let second = try scratch.append(Array(events[3...]))

        #expect((first.first, first.last) == (Position(1), Position(3)))
        #expect((second.first, second.last) == (Position(4), Position(10)))
        try scratch.environment.read { transaction in
            var read: [Event] = []
            var positions: [UInt64] = []
            try scratch.log.forEach(transaction) { position, event in
                positions.append(position.rawValue)
                read.append(event)
                return true
            }
            #expect(positions == Array(1...10))
            #expect(read == events)
            let last = try scratch.log.lastPosition(transaction)
            let some = try [7, 11, 0].map { number in
                try scratch.log.event(at: Position(number), transaction)
            }
            #expect(last == Position(10))
            #expect(some == [events[6], nil, nil])

            positions = []
            try scratch.log.forEach(from: Position(5), reversed: true, transaction) {
                position, _ in
                positions.append(position.rawValue)
                return position.rawValue > 3
            }
            #expect(positions == [5, 4, 3])
        }
    }

    @Test func `a payload comes back byte for byte, whatever it is`() throws {
        let scratch = try ScratchLog()
        var random = SplitMix64(seed: 0x5EED_0206)
        let events = (1...60).map { number in
            var event = sampleEvent(number)
            event.payload = random.bytes(random.below(number * 200))
            event.payloadType = .opaque
            return event
        }
        try scratch.append(events)

        try scratch.environment.read { transaction in
            for (index, event) in events.enumerated() {
                let read = try scratch.log.event(at: Position(UInt64(index + 1)), transaction)
                #expect(read == event)
            }
        }
        #expect(try scratch.verify().findings == [])
    }

    @Test func `an empty log has no last position and a sound edge`() throws {
        let scratch = try ScratchLog()

        let result = try scratch.verify()

        #expect(result.findings == [])
        #expect((result.events, result.commits) == (0, 0))
        #expect(result.root == MerkleEdge().root)
        try scratch.environment.read { transaction in
            let (last, edge) = (
                try scratch.log.lastPosition(transaction), try scratch.log.edge(transaction)
            )
            #expect(last == .start)
            #expect(edge == MerkleEdge())
        }
    }

    @Test func `every commit keeps its root and what the views made of it`() throws {
        let scratch = try ScratchLog()
        let digest = ViewDigest(
            view: 3, fingerprint: [1, 2, 3, 4], digest: [UInt8](repeating: 9, count: 16),
            rows: [UInt8](repeating: 7, count: 24))
        var edge = MerkleEdge()
        var expected: [CommitRecord] = []
        for (commit, count) in [1, 4, 2, 1].enumerated() {
            let events = (0..<count).map { sampleEvent(commit * 10 + $0) }
            for event in events {
                edge.append(
                    leaf: MerkleEdge.leaf(
                        position: Position(edge.size + 1), header: event.headerBytes,
                        payload: event.payload))
            }
            let record = try scratch.append(
                events, views: commit % 2 == 0 ? [] : [digest, digest])
            #expect(record.root == edge.root)
            #expect(record.last == Position(edge.size))
            expected.append(record)
        }

        try scratch.environment.read { transaction in
            var records: [CommitRecord] = []
            try scratch.log.forEachCommit(transaction) { record in
                records.append(record)
                return true
            }
            let stored = try scratch.log.edge(transaction)
            #expect(records == expected)
            #expect(stored.isSameTree(as: edge))
            #expect(stored.commits == 4)
        }
        let result = try scratch.verify()
        #expect(result.findings == [])
        #expect((result.events, result.commits) == (8, 4))
        #expect(result.root == edge.root)
    }

    @Test func `a throw inside of a write leaves no trace`() throws {
        struct Thrown: Error {}
        let scratch = try ScratchLog()
        try scratch.append([sampleEvent(1)])
        let before = try scratch.verify()

        #expect(throws: Thrown.self) {
            try scratch.environment.write { transaction in
                var edge = try scratch.log.edge(transaction)
                for _ in 0..<3 {
                    _ = try scratch.log.append(
                        [sampleEvent(2), sampleEvent(3)], views: [], edge: &edge, transaction)
                }
                throw Thrown()
            }
        }

        #expect(try scratch.verify() == before)
        #expect(try scratch.append([sampleEvent(2)]).last == Position(2))
        #expect(try scratch.verify().findings == [])
    }

    @Test func `an event is never written over another`() throws {
        let scratch = try ScratchLog()
        try scratch.append([sampleEvent(1), sampleEvent(2)])

        #expect(throws: StoreError.self) {
            try scratch.environment.write { transaction in
                var stale = MerkleEdge()
                _ = try scratch.log.append([sampleEvent(3)], views: [], edge: &stale, transaction)
            }
        }

        #expect(try scratch.verify().findings == [])
        #expect(try scratch.verify().events == 2)
    }

    @Test func `reading a damaged event says where it is`() throws {
        let scratch = try ScratchLog()
        try scratch.append((1...3).map(sampleEvent))
        let key = Position(2).bigEndianBytes
        try scratch.environment.write { transaction in
            var bytes = try transaction.get(scratch.log.log, key) ?? []
            bytes[20] ^= 1
            try transaction.put(scratch.log.log, key, bytes)
        }

        try scratch.environment.read { transaction in
            do {
                try scratch.log.forEach(transaction) { _, _ in true }
                Issue.record("it was read")
            } catch let error as LogError {
                #expect(error.code == .corruptEvent)
                #expect(error.position == Position(2))
                #expect(error.description.hasPrefix("@2: corruptEvent: checksum "))
            }
        }
    }
}
