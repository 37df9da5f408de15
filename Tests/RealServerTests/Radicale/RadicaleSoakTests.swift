// RadicaleSoakTests.swift — random rounds against a real CalDAV server and through a bad network.

import Testing

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
                var soak = try RadicaleSoak(world, seed: seed)
                for number in 1...30 {
                    try await soak.round(number)
                    if number.isMultiple(of: 10) {
                        try await soak.check("seed \(seed) round \(number)")
                    }
                }
            }
        }
    }
}
