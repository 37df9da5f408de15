// SplitMix64.swift — chance from a seed, so that a failure can be repeated.

/// The generator of Steele, Lea and Flood: the same numbers from the same seed, everywhere.
package struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 to below `bound`.
    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[below(elements.count)]
    }

    /// True once in so many times.
    package mutating func once(in count: Int) -> Bool { below(count) == 0 }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
