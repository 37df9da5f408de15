// PreparedEventsTests.swift — events prepared on two threads are those prepared one by one.

import Testing
import TidemarkEvents

@testable import TidemarkLog

@Suite struct `preparing events` {
    /// Now and then one whose payload is stored beside the log.
    private static func events(_ count: Int) -> [Event] {
        (1...count).map { number in
            var event = sampleEvent(number)
            if number % 50 == 0 {
                event.payload = Array(
                    #"{"text":"\#(String(repeating: "\(number) ", count: 900))"}"#.utf8)
            }
            return event
        }
    }

    @Test(arguments: [1, 127, 128, 129, 1000], [0, 5, 63, 64, 128])
    func `many at once gives the frames, leaves and edge that one by one gives`(
        _ count: Int, _ before: Int
    ) throws {
        var edge = MerkleEdge()
        for number in 0..<before {
            edge.append(leaf: [UInt8](repeating: UInt8(number), count: 32))
        }
        let events = Self.events(count)

        let together = PreparedEvents(events, after: edge)

        var single: [PreparedEvents.Item] = []
        var frames: [[UInt8]] = []
        for event in events {
            let prepared = PreparedEvents([event], after: edge)
            single += prepared.items
            frames.append(prepared.frames)
            #expect(prepared.frames == EventFrame(event).encoded)
            edge = prepared.edge
        }
        #expect(together.edge == edge)
        #expect(together.edge.size == UInt64(before + count))
        #expect(together.items.map { Array(together.frames[$0.frame]) } == frames)
        #expect(together.items.map(\.headerBytes) == single.map(\.headerBytes))
        #expect(together.items.map { $0.body?.reference } == single.map { $0.body?.reference })
        #expect(together.items.map { $0.body?.bytes } == single.map { $0.body?.bytes })
        #expect(together.items.count { $0.body != nil } == count / 50)
    }
}
