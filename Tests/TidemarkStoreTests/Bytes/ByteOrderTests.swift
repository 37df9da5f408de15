// ByteOrderTests.swift — byte strings are ordered byte by byte, whatever compares them.

import TestSupport
import Testing
import TidemarkStore

@Suite struct `the order of byte strings` {
    @Test func `is that of their bytes, of ten thousand random pairs`() {
        let seed: UInt64 = 0x5EED_0310
        var random = SplitMix64(seed: seed)
        for round in 0..<10_000 {
            let left = random.bytes(random.below(12))
            var right = random.bytes(random.below(12))
            // Often with a beginning in common, now and then equal.
            if random.once(in: 2) { right = left.prefix(random.below(13)) + right }
            if random.once(in: 20) { right = left }

            #expect(
                ByteOrder.precedes(left, right) == left.lexicographicallyPrecedes(right),
                "\(left) \(right), seed \(seed), round \(round)")
            #expect(
                ByteOrder.precedes(right, left) == right.lexicographicallyPrecedes(left),
                "\(left) \(right), seed \(seed), round \(round)")
        }
    }

    @Test func `of many keys is that of sorting them, equal ones as they came`() {
        let seed: UInt64 = 0x5EED_0311
        var random = SplitMix64(seed: seed)
        for round in 0..<500 {
            let common = random.bytes(random.below(20))
            let keys = (0..<random.below(60)).map { _ in
                // Zero bytes at the end, and keys that are the beginning of others.
                let tail = random.bytes(random.below(14)).map { random.once(in: 2) ? $0 : 0 }
                return random.once(in: 30) ? [] : common + tail
            }
            let sorted = keys.indices.sorted {
                keys[$0] == keys[$1] ? $0 < $1 : keys[$0].lexicographicallyPrecedes(keys[$1])
            }

            #expect(ByteOrder.order(of: keys) == sorted, "seed \(seed), round \(round)")
            let again = sorted.map { keys[$0] }
            #expect(ByteOrder.order(of: again) == Array(keys.indices), "seed \(seed), \(round)")
        }
    }

    @Test func `has nothing before itself, and a beginning before what it begins`() {
        #expect(!ByteOrder.precedes([], []))
        #expect(!ByteOrder.precedes([1, 2], [1, 2]))
        #expect(ByteOrder.precedes([], [0]))
        #expect(ByteOrder.precedes([1], [1, 0]))
        #expect(!ByteOrder.precedes([1, 0], [1]))
        #expect(ByteOrder.precedes([0x7F], [0x80]))
    }

    @Test func `hashes equal strings alike`() {
        func hash(_ bytes: [UInt8]) -> Int {
            var hasher = Hasher()
            ByteOrder.hash(bytes, into: &hasher)
            return hasher.finalize()
        }

        #expect(hash([1, 2, 3]) == hash(Array([0, 1, 2, 3].dropFirst())))
        #expect(Set((0..<256).map { hash([UInt8($0)]) }).count == 256)
    }
}
