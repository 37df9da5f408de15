// SyncRandom.swift — chance from a seed, so that a failure can be repeated.

import Synchronization

/// SplitMix64, shared by everything in one simulation.
final class SyncRandom: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) { state = Mutex(seed) }

    func next() -> UInt64 {
        state.withLock { state in
            state &+= 0x9E37_79B9_7F4A_7C15
            var z = state
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
    }

    /// A number from 0 to below `bound`.
    func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Whether a chance of `percent` came true.
    func chance(_ percent: Int) -> Bool { below(100) < percent }

    func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
