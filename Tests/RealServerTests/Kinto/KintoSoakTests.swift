// KintoSoakTests.swift — many random rounds against a real server, with requests and answers lost.

import Testing

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
                var soak = try KintoSoak(world, seed: seed)
                for number in 1...40 {
                    try await soak.round(number)
                    if number.isMultiple(of: 10) {
                        try await soak.check("seed \(seed) round \(number)")
                    }
                }
            }
        }
    }
}
