// RadicaleSoakTests.swift — random rounds against a real CalDAV server and through a bad network.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real CalDAV server` {
    @Suite struct `a long run with tokens and a bad network` {
        /// Another seed is another run; a failure names its own.
        static let seeds: [UInt64] = [1, 2]

        @Test(arguments: seeds)
        func `ends with two replicas and a plain client equal, and every mutation accounted for`(
            _ seed: UInt64
        ) async throws {
            try await RadicaleWorld.run { world in
                var soak = try Soak(world, seed: seed)
                try await soak.run(rounds: 30)
            }
        }
    }
}

extension RadicaleWorld: SoakWorld {
    func device(_ name: String, in weather: Weather) throws -> RealDevice {
        let device = try device(name) { weather.refusing($0) }
        weather.hook(device, lost: 6)
        return device
    }

    func edit(_ devices: [RealDevice], by random: inout SplitMix64, round: Int) async throws {
        let key = "\(random.below(2) == 0 ? "lists" : "tasks")/i\(random.below(5))"
        // Few summaries, so that items come back to what they were.
        let text = "\(random.below(3))"
        let deletes = random.below(10) < 3
        switch random.below(3) {
        case 2:
            let isThere = try await summary(key) != nil
            if deletes, isThere {
                try await client.remove(key)
            } else {
                try await client.write(key, text)
            }
        case let side:
            let isThere = try devices[side].has(key)
            try devices[side].carryOut(deletes && isThere ? nil : text, on: key)
        }
    }
}
