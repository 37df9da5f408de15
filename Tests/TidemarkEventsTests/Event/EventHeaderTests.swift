// EventHeaderTests.swift — a header reads back as it was written, and from newer versions as well.

import TestSupport
import Testing
import TidemarkEvents

extension SplitMix64 {
    /// An event with about half of its fields set.
    mutating func event() -> Event {
        func maybe<T>(_ value: T) -> T? { below(2) == 0 ? value : nil }
        func position() -> Position? { maybe(Position(max(1, next() >> UInt64(below(64))))) }
        var event = Event(
            below(4) == 0
                ? EventKind(rawValue: UInt32(1 + below(1 << 20))) : pick(EventKind.all),
            recordedAt: Timestamp(rawValue: Int64(bitPattern: next())))
        event.collection = maybe(CollectionName("c" + string()))
        event.entity = maybe(string() + "e")
        event.cause = position()
        event.sync = position()
        event.mutation = position()
        event.call = position()
        event.asOf = position()
        event.serverTime = maybe(Timestamp(rawValue: Int64(bitPattern: next() | 1)))
        event.revision = maybe(Revision(rawValue: (0...below(40)).map { _ in UInt8(below(256)) }))
        event.payloadType = pick(PayloadType.allCases)
        event.schemaVersion = below(2) == 0 ? 0 : UInt32(below(1 << 30))
        event.idempotencyKey = maybe((0...below(20)).map { _ in UInt8(below(256)) })
        event.uptime = maybe(Int64(bitPattern: next() | 1))
        event.bootID = maybe("b" + string())
        event.payload = (0..<below(30)).map { _ in UInt8(below(256)) }
        return event
    }
}

@Suite struct `event headers` {
    @Test(arguments: [0x5EED_0104] as [UInt64])
    func `five thousand random events read back as they were`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<5_000 {
            let event = random.event()
            let header = event.headerBytes

            let read = try Event(header: header, payload: event.payload)

            #expect(read == event, "seed \(seed), round \(round)")
            #expect(read.headerBytes == header, "seed \(seed), round \(round)")
        }
    }

    @Test func `the bytes of a header are fixed for ever`() {
        var event = Event(
            .serverUpserted, recordedAt: Timestamp(rawValue: 1), key: EntityKey("t", "7"),
            cause: Position(2), sync: Position(3), mutation: Position(4), call: Position(5),
            asOf: Position(300), serverTime: Timestamp(rawValue: 8), revision: Revision("r"),
            json: [])
        event.schemaVersion = 6
        event.idempotencyKey = [0xFF, 0]

        #expect(
            event.headerBytes == [
                0x08, 50, 0x10, 1, 0x1A, 1, 0x74, 0x22, 1, 0x37, 0x28, 2, 0x30, 3, 0x38, 4, 0x40, 5,
                0x48, 0xAC, 0x02, 0x50, 8, 0x5A, 1, 0x72, 0x60, 1, 0x68, 6, 0x72, 2, 0xFF, 0,
            ])
        #expect(Event(EventKind(rawValue: 0), recordedAt: Timestamp(rawValue: 0)).headerBytes == [])
    }

    @Test func `fields of newer versions are passed over`() throws {
        let event = Event(.localDeleted, recordedAt: Timestamp(rawValue: 9), key: EntityKey("t/1"))
        var newer = ProtoWriter()
        newer.varint(17, 77)
        newer.string(18, "later")
        newer.bytes(536_870_911, [1, 2, 3])

        let read = try Event(header: event.headerBytes + newer.bytes, payload: [])

        #expect(read == event)
    }

    @Test func `an event of a newer kind keeps its number`() throws {
        let event = Event(EventKind(rawValue: 4_000), recordedAt: Timestamp(rawValue: 1))

        let read = try Event(header: event.headerBytes, payload: [7])

        #expect(read.kind.rawValue == 4_000)
        #expect(read.kind.description == "kind-4000")
        #expect(read.payload == [7])
    }

    @Test func `a field that is there twice is refused`() {
        #expect(throws: ProtoError.fieldOrder(1)) {
            try Event(header: [0x08, 1, 0x08, 2], payload: [])
        }
    }

    @Test func `a field that says nothing is refused`() {
        #expect(throws: ProtoError.defaultWritten(3)) {
            try Event(header: [0x08, 1, 0x1A, 0], payload: [])
        }
        #expect(throws: ProtoError.defaultWritten(2)) {
            try Event(header: [0x08, 1, 0x10, 0], payload: [])
        }
    }

    @Test func `a field of another type is refused`() {
        #expect(throws: ProtoError.wireType(1)) {
            try Event(header: [0x0A, 1, 0x61], payload: [])
        }
        #expect(throws: ProtoError.wireType(3)) {
            try Event(header: [0x08, 1, 0x18, 1], payload: [])
        }
    }

    @Test func `every shortened header is refused or says less`() throws {
        var random = SplitMix64(seed: 0x5EED_0105)
        for _ in 0..<200 {
            let event = random.event()
            let header = event.headerBytes
            for count in 0..<header.count {
                let read = try? Event(header: Array(header.prefix(count)), payload: event.payload)
                #expect(read != event)
            }
        }
    }

    @Test func `collection and entity together are the key`() {
        var event = Event(.localDeleted, recordedAt: Timestamp(rawValue: 1), key: EntityKey("t/1"))
        #expect(event.key == EntityKey("t", "1"))

        event.entity = nil
        #expect(event.key == nil)
    }
}
