// KeyNumbersTests.swift — the numbers of keys are those of a dictionary, and found after few looks.

import TestSupport
import Testing

@testable import TidemarkViews

@Suite struct `numbers of keys` {
    @Test(arguments: [0, 1, 7, 8, 1000] as [Int], [UInt32.max, 0xFF, 0xF000_0000, 0])
    func `are found under their hashes, also where many have one`(
        _ count: Int, _ mask: UInt32
    ) {
        let seed: UInt64 = 0x5EED_0D15
        var random = SplitMix64(seed: seed)
        var numbers = KeyNumbers()
        var hashes: [UInt32] = []
        for _ in 0..<count {
            let hash = UInt32(truncatingIfNeeded: random.next()) & mask
            numbers.add(hash)
            hashes.append(hash)
        }
        for (number, hash) in hashes.enumerated() {
            #expect(numbers.first(hash) { $0 == number } == number, "seed \(seed)")
            var asked: [Int] = []
            #expect(
                numbers.first(hash) {
                    asked.append($0); return false
                } == nil)
            #expect(Set(asked) == Set(hashes.indices.filter { hashes[$0] == hash }))
            #expect(Set(asked).count == asked.count)
        }
        let other = UInt32(truncatingIfNeeded: random.next())
        if !hashes.contains(other) { #expect(numbers.first(other) { _ in true } == nil) }
    }

    @Test func `are found after few looks`() {
        var numbers = KeyNumbers()
        var looks = 0
        for number in 0..<20_000 {
            let hash = KeyNumbers.hash(Array("time_entries\u{0}te-\(number)".utf8))
            looks += numbers.searchLength(hash)
            numbers.add(hash)
        }
        // Of two thirds of the places taken, a search looks at four on average.
        #expect(looks < 20_000 * 4, "\(looks) looks")
    }
}
