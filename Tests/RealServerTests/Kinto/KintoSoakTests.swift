// KintoSoakTests.swift — many random rounds against a real server, with requests and answers lost.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real Kinto server` {
    @Suite struct `a long run with a bad network` {
        /// Another seed is another run; a failure names its own.
        static let seeds: [UInt64] = [1, 2]

        @Test(arguments: seeds)
        func `ends with two replicas and a plain client equal, and every mutation accounted for`(
            _ seed: UInt64
        ) async throws {
            try await KintoWorld.run(.todo(pageSize: 3)) { world in
                var soak = try Soak(world, seed: seed)
                try await soak.run(rounds: 40)
            }
        }
    }
}

extension KintoWorld: SoakWorld {
    func device(_ name: String, in weather: Weather) throws -> RealDevice {
        let device = try device(name)
        weather.hook(device, lost: 7) { [weak device] random in
            guard let device else { return }
            try SoakEdit(&random, note: 0).carryOut(on: device)
        }
        if name == "b" { device.wire.compress() }
        return device
    }

    func edit(_ devices: [RealDevice], by random: inout SplitMix64, round: Int) async throws {
        let edit = SoakEdit(&random, note: round)
        switch random.below(3) {
        case 2:
            let isThere = try await record(edit.key) != nil
            try await edit.carryOut(by: client, isThere: isThere)
        case let side: try edit.carryOut(on: devices[side])
        }
    }
}

/// An edit of anything, by chance.
private struct SoakEdit {
    let key: String
    let patch: String
    let document: String
    let action: Int

    init(_ random: inout SplitMix64, note: Int) {
        key = "\(random.below(2) == 0 ? "lists" : "tasks")/i\(random.below(6))"
        let field = ["x", "y", "z"][random.below(3)]
        patch = #"{"\#(field)":\#(random.below(4))}"#
        document = #"{"\#(field)":\#(random.below(4)),"note":\#(note)}"#
        action = random.below(10)
    }

    func carryOut(on device: RealDevice) throws {
        let isThere = try device.has(key)
        switch action {
        case 0...2 where isThere: try device.delete(key)
        case 3...7 where isThere: try device.patch(key, patch)
        default: try device.put(key, document)
        }
    }

    func carryOut(by client: KintoClient, isThere: Bool) async throws {
        if action > 2 {
            try await client.put(key, document)
        } else if isThere {
            try await client.delete(key)
        }
    }
}
