// BodyTests.swift — long payloads lie beside the log, once each, and come back byte for byte.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `bodies` {
    private func event(_ payload: [UInt8], _ number: Int = 1) -> Event {
        var event = sampleEvent(number)
        event.payload = payload
        event.payloadType = .opaque
        return event
    }

    /// A JSON text of that many bytes.
    private func text(_ count: Int) -> [UInt8] {
        let middle = (0..<count).map { UInt8(ascii: "a") + UInt8($0 % 23) }
        return Array((Array("{\"a\":\"".utf8) + middle).prefix(count - 2)) + Array("\"}".utf8)
    }

    private func read(_ scratch: ScratchLog, _ position: UInt64) throws -> Event? {
        try scratch.environment.read { transaction in
            try scratch.log.event(at: Position(position), transaction)
        }
    }

    private func frame(_ scratch: ScratchLog, _ position: UInt64) throws -> EventFrame {
        let bytes = try scratch.value(scratch.log.log, Position(position).bigEndianBytes)
        return try EventFrame(parsing: bytes.span)
    }

    private func records(_ scratch: ScratchLog) throws -> [(key: [UInt8], value: [UInt8])] {
        try scratch.environment.read { transaction in
            var records: [(key: [UInt8], value: [UInt8])] = []
            try transaction.scan(scratch.log.bodies, from: nil, prefix: [], reversed: false) {
                records.append(($0.copied(), $1.copied()))
                return true
            }
            return records
        }
    }

    @Test func `a payload of any length comes back byte for byte`() throws {
        let scratch = try ScratchLog()
        var random = SplitMix64(seed: 0x5EED_0501)
        let counts = [
            0, 1, 2_000, 2_001, 2_020, 2_030, 3_882, 3_883, 4_080, 4_081, 7_782, 7_783, 1 << 20,
            (1 << 20) + 1,
        ]
        let events = counts.flatMap { count in
            [event(random.bytes(count)), event(count < 9 ? [] : text(count))]
        }
        try scratch.append(events)

        for (index, event) in events.enumerated() {
            let position = UInt64(index + 1)
            #expect(try read(scratch, position) == event)
            guard case .body(let reference) = try frame(scratch, position).payload else {
                #expect(event.payload.count <= 2_000)
                continue
            }
            #expect(event.payload.count > 2_000)
            #expect(reference == BodyReference(to: event.payload))
        }
        var walked: [Event] = []
        try scratch.environment.read { transaction in
            try scratch.log.forEach(transaction) { _, event in
                walked.append(event)
                return true
            }
        }
        #expect(walked == events)
        #expect(try scratch.verify().findings == [])
        #expect(try records(scratch).allSatisfy { $0.value.count <= 3_900 })
    }

    @Test func `a reference does not change the root`() throws {
        let scratch = try ScratchLog()
        let long = event(text(5_000))
        var edge = MerkleEdge()
        edge.append(
            leaf: MerkleEdge.leaf(
                position: Position(1), header: long.headerBytes, payload: long.payload))

        #expect(try scratch.append([long]).root == edge.root)
    }

    @Test func `an equal body is stored once, whoever refers to it`() throws {
        let scratch = try ScratchLog()
        try scratch.append([event(text(9_000), 1), event(text(9_000), 2)])
        let once = try records(scratch).count
        try scratch.append([event(text(9_000), 3)])
        try scratch.environment.write { transaction in
            var edge = try scratch.log.edge(transaction)
            _ = try scratch.log.append(
                [sampleEvent(4)], bodies: [text(9_000)], views: [], edge: &edge, transaction)
        }

        #expect(try records(scratch).count == once)
        #expect(try read(scratch, 3)?.payload == text(9_000))
        #expect(try scratch.verify().findings == [])
    }

    @Test func `text is compressed, and noise stays as it is`() throws {
        var random = SplitMix64(seed: 0x5EED_0502)
        for (payload, encoding) in [(text(50_000), 1), (random.bytes(50_000), 0)] {
            let scratch = try ScratchLog()
            try scratch.append([event(payload)])

            let records = try records(scratch)
            let joined = records.flatMap(\.value)

            #expect(joined[0] == 1)
            #expect(joined[1] == encoding)
            #expect(encoding == 1 ? records.count == 1 : joined.count == 50_018)
            #expect(
                records.map(\.key)
                    == records.indices.map {
                        BodyReference(to: payload).hash + [0, 0, 0, UInt8($0)]
                    })
            #expect(records.dropLast().allSatisfy { $0.value.count == 3_900 })
        }
    }

    @Test func `headers are read without any body`() throws {
        let scratch = try ScratchLog()
        try scratch.append((1...3).map { event(text(3_000 + $0), $0) })
        try scratch.environment.write { transaction in try transaction.clear(scratch.log.bodies) }

        try scratch.environment.read { transaction in
            var bytes: [UInt64] = []
            try scratch.log.forEachFrame(transaction) { _, frame in
                bytes.append(try frame.get().payload.bytes)
                return true
            }
            #expect(bytes == [3_001, 3_002, 3_003])
        }
    }

    @Test func `the end of the log is checked without any body`() throws {
        let scratch = try ScratchLog()
        try scratch.append((1...3).map { event(text(3_000 + $0), $0) })
        try scratch.environment.write { transaction in try transaction.clear(scratch.log.bodies) }
        let key = Position(3).bigEndianBytes
        var frame = try scratch.value(scratch.log.log, key)
        frame[frame.count - 1] ^= 1

        try scratch.environment.read { try scratch.log.checkTail($0) }

        try scratch.environment.write { [frame] in try $0.put(scratch.log.log, key, frame) }
        let error = #expect(throws: LogError.self) {
            try scratch.environment.read { try scratch.log.checkTail($0) }
        }
        #expect(error?.code == .corruptEvent && error?.position == Position(3))
    }

    @Test func `a body that is gone is missed at its event`() throws {
        let scratch = try ScratchLog()
        try scratch.append([sampleEvent(1), event(text(3_000)), sampleEvent(3)])

        let findings = try scratch.findings { transaction in
            try transaction.clear(scratch.log.bodies)
        }

        #expect(findings.map(\.code) == [.missingBody])
        #expect(findings.first?.position == Position(2))
        #expect(
            findings.first?.description
                == "@2: missingBody: body \(BodyReference(to: text(3_000)).digits) of 3000 bytes "
                + "is not in the store")
    }

    @Test func `a damaged body is stored anew with the next event that has it`() throws {
        var random = SplitMix64(seed: 0x5EED_0504)
        let scratch = try ScratchLog()
        let payload = random.bytes(9_000)
        try scratch.append([event(payload)])
        let second = try records(scratch)[1]
        var changed = second.value
        changed[100] ^= 4
        try scratch.environment.write { [changed] transaction in
            try transaction.put(scratch.log.bodies, second.key, changed)
        }
        #expect(throws: LogError.self) { try read(scratch, 1) }

        try scratch.append([event(payload, 2)])
        #expect(try read(scratch, 1)?.payload == payload)
        #expect(try read(scratch, 2)?.payload == payload)
    }

    @Test func `an answer's body that is only named is missed too, and checked`() throws {
        let scratch = try ScratchLog()
        let body = text(2_500)
        let reference = BodyReference(to: body)
        var answer = Event(.requestAnswered, recordedAt: Timestamp(microseconds: 1))
        answer.payload = Array(
            #"{"status":500,"bodyBytes":2500,"bodySHA256":"\#(reference.digits)"}"#.utf8)
        try scratch.environment.write { transaction in
            var edge = try scratch.log.edge(transaction)
            _ = try scratch.log.append(
                [answer], bodies: [body], views: [], edge: &edge, transaction)
        }

        let gone = try scratch.findings { transaction in
            try transaction.clear(scratch.log.bodies)
        }

        #expect(answer.namedBody == reference)
        #expect(try scratch.verify().findings == [])
        #expect(gone.map(\.code) == [.missingBody])
        try scratch.environment.read { transaction in
            let read = try scratch.log.body(reference, at: Position(1), transaction)
            #expect(read == body)
        }
    }

    @Test func `a changed byte anywhere in a body is found at its event`() throws {
        var random = SplitMix64(seed: 0x5EED_0503)
        for payload in [text(2_300), random.bytes(4_500)] {
            let scratch = try ScratchLog()
            try scratch.append([event(payload)])
            for record in try records(scratch) {
                for index in record.value.indices {
                    var changed = record.value
                    changed[index] ^= 1 << UInt8(random.below(8))
                    let findings = try scratch.findings { transaction in
                        try transaction.put(scratch.log.bodies, record.key, changed)
                    }
                    let isHeadOfNewer = findings.map(\.code) == [.newerFormat] && index < 2
                    guard findings.map(\.code) == [.corruptBody] || isHeadOfNewer,
                        findings[0].position == Position(1)
                    else {
                        // One bit of a zstd frame's header means nothing.
                        #expect(findings.isEmpty && index == 22, "byte \(index): \(findings)")
                        continue
                    }
                }
            }
        }
    }

    @Test func `a body cut short, too long or with a record too many or too few is found`() throws {
        var random = SplitMix64(seed: 0x5EED_0504)
        let scratch = try ScratchLog()
        try scratch.append([event(random.bytes(12_000))])
        let all = try records(scratch)
        try #require(all.count == 4)
        let bodies = scratch.log.bodies
        let another = Array(all[0].key.dropLast()) + [4]

        let damages: [(borrowing WriteTransaction) throws -> Void] = [
            { try $0.put(bodies, all[3].key, Array(all[3].value.dropLast())) },
            { try $0.put(bodies, all[3].key, all[3].value + [0]) },
            { try $0.put(bodies, another, [0]) },
            { try $0.delete(bodies, all[1].key) },
            { try $0.delete(bodies, all[3].key) },
            { try $0.put(bodies, all[1].key, all[2].value) },
        ]
        for damage in damages {
            let findings = try scratch.findings(after: damage)

            #expect(findings.map(\.code) == [.corruptBody])
            #expect(findings.first?.position == Position(1))
        }
        let withoutFirst = try scratch.findings { try $0.delete(bodies, all[0].key) }
        #expect(withoutFirst.map(\.code) == [.missingBody])
    }

    @Test func `a reference that lies about the length takes no memory`() throws {
        let scratch = try ScratchLog()
        let body = text(3_000)
        try scratch.append([event(body)])
        var reference = BodyReference(to: body)

        for bytes in [0, 2_999, 3_001, 1 << 40, .max] as [UInt64] {
            reference.bytes = bytes
            var frame = EventFrame(sampleEvent(1))
            frame.payload = .body(reference)
            let changed = frame.encoded
            let findings = try scratch.findings { transaction in
                try transaction.put(scratch.log.log, Position(1).bigEndianBytes, changed)
            }
            #expect(findings.first?.code == .corruptBody)
        }
    }

    @Test(.enabled(if: TestRun.isWhole))
    func `a server's record of 100 MB is stored and read back`() throws {
        let scratch = try ScratchLog(mapBytes: 1 << 30)
        var random = SplitMix64(seed: 0x5EED_0505)
        let (noise, words) = (random.bytes(1 << 20), text(1 << 20))
        // Half noise, half text, so that some of it is left when it is compressed.
        var payload: [UInt8] = []
        for number in 0..<50 { payload += [UInt8(number)] + noise + words }
        let event = event(payload)
        try scratch.append([event])

        #expect(payload.count > 100_000_000)
        #expect(try read(scratch, 1) == event)
        #expect(try scratch.verify().findings == [])
    }
}
