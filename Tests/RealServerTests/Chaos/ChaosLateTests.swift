// ChaosLateTests.swift — creations that arrive after they were given up for lost, and the record is
// gone again: what Kinto's preconditions can't prevent.
//
// Nor can the replica undo it. A record that comes back with the very fields of its own lost write
// looks no different from one that somebody else made since with the same fields, and to delete
// that again would lose their write. So it stays, on all sides alike.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `a creation that arrives too late` {
        private static let limit: Comment =
            "If-None-Match: * also holds for a record that was deleted since"

        @Test func `does not bring back what was deleted here meanwhile`() async throws {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                try await Self.giveUp("tasks/x", a)
                a.wire.hook(nil)
                // The read-back finds nothing, and the deletion leaves nothing to send.
                try a.delete("tasks/x")
                try await a.sync()
                try await a.wire.deliverDelayed()
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                let record = try await world.record("tasks/x")
                withKnownIssue(Self.limit) { #expect(record == nil) }
            }
        }

        @Test func `does not bring back what others deleted meanwhile`() async throws {
            try await KintoWorld.run { world in
                let (a, b) = (try world.device("a"), try world.device("b"))
                try await Self.giveUp("tasks/x", a)
                a.wire.hook(nil)
                try await a.sync()
                #expect(try a.mutations("tasks/x") == ["accepted"])
                try await world.client.delete("tasks/x")
                try await a.wire.deliverDelayed()
                try await world.settle(a, b)

                try await world.expectEqual(a, b)
                let record = try await world.record("tasks/x")
                withKnownIssue(Self.limit) { #expect(record == nil) }
            }
        }

        /// Makes an entity whose creation is delayed until somebody delivers it.
        private static func giveUp(_ key: String, _ device: RealDevice) async throws {
            try device.put(key, #"{"n":1}"#)
            let transport = device.wire
            transport.once(.leaving, where: \.isWrite) { [weak transport] in
                transport?.delayLast()
                throw TransportError(.timeout)
            }
            try await device.sync()
            #expect(try device.mutations(key) == ["unknown"])
        }
    }
}
