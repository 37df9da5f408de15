// SyncRandom.swift — chance from a seed, so that a failure can be repeated.

import Synchronization
import TestSupport

/// SplitMix64, shared by everything in one simulation.
final class SyncRandom: Sendable {
    private let state: Mutex<SplitMix64>

    init(seed: UInt64) { state = Mutex(SplitMix64(seed: seed)) }

    func next() -> UInt64 { state.withLock { $0.next() } }

    /// A number from 0 to below `bound`.
    func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Whether a chance of `percent` came true.
    func chance(_ percent: Int) -> Bool { below(100) < percent }

    func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
}
