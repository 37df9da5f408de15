// EventNormalizedTests.swift — an event before it is stored is what will be read back.

import TestSupport
import Testing
import TidemarkEvents

extension Event {
    fileprivate var normalized: Event {
        var event = self
        event.normalize()
        return event
    }
}

@Suite struct `an event as it will be read back` {
    /// Takes some fields' values away by what is written as nothing.
    private static func empty(_ event: Event, _ random: inout SplitMix64) -> Event {
        var event = event
        if random.once(in: 3) { event.collection = "" }
        if random.once(in: 3) { event.entity = "" }
        if random.once(in: 3) { event.cause = .start }
        if random.once(in: 3) { event.sync = .start }
        if random.once(in: 3) { event.mutation = .start }
        if random.once(in: 3) { event.call = .start }
        if random.once(in: 3) { event.asOf = .start }
        if random.once(in: 3) { event.serverTime = Timestamp(rawValue: 0) }
        if random.once(in: 3) { event.revision = Revision(rawValue: []) }
        if random.once(in: 3) { event.idempotencyKey = [] }
        if random.once(in: 3) { event.uptime = 0 }
        if random.once(in: 3) { event.bootID = "" }
        if random.once(in: 9) { event.recordedAt = Timestamp(rawValue: 0) }
        return event
    }

    @Test func `is what its header's bytes say, for two thousand random events`() throws {
        let seed: UInt64 = 0x5EED_0110
        var random = SplitMix64(seed: seed)
        var changed = 0
        for round in 0..<2000 {
            let event = Self.empty(random.event(), &random)
            let read = try Event(header: event.headerBytes, payload: event.payload)

            #expect(event.normalized == read, "seed \(seed), round \(round)")
            #expect(read.normalized == read, "seed \(seed), round \(round)")
            #expect(
                event.normalized.headerBytes == event.headerBytes, "seed \(seed), round \(round)")
            if event.normalized != event { changed += 1 }
        }
        #expect(changed > 1000)
    }
}

@Suite struct `the type of a payload` {
    private func checked(_ type: PayloadType, _ payload: String) -> PayloadType {
        var event = Event(.serverUpserted, recordedAt: Timestamp(rawValue: 1), key: nil)
        event.payloadType = type
        event.payload = Array(payload.utf8)
        let checked = event.checked
        #expect(checked.payload == event.payload)
        return checked.payloadType
    }

    @Test(arguments: PayloadType.allCases)
    func `is none when there is no payload, whatever was said`(_ said: PayloadType) {
        #expect(checked(said, "") == .none)
    }

    @Test(arguments: [PayloadType.none, .json])
    func `is JSON when the payload is one JSON value, and else opaque`(_ said: PayloadType) {
        for text in ["{}", " [1] ", "null", #"{"a":{"b":"é"}}"#] {
            #expect(checked(said, text) == .json, "\(text)")
        }
        for text in ["{", " ", "{}{}", #"{"a":1,"a":2}"#, #""\ud800""#, "01"] {
            #expect(checked(said, text) == .opaque, "\(text)")
        }
    }

    @Test func `stays opaque when that was said`() {
        #expect(checked(.opaque, "{}") == .opaque)
        #expect(checked(.opaque, "{") == .opaque)
    }
}
