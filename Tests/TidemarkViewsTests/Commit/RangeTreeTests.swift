// RangeTreeTests.swift — ranges are found by what they contain, as if each was asked.

import TestSupport
import Testing
import TidemarkStore

@testable import TidemarkViews

@Suite struct `a tree of ranges` {
    private struct Held {
        var number: Int
        var range: KeyRange
    }

    /// Bounds of few bytes, so that many ranges share some, and some are empty.
    private static func bytes(_ random: inout SplitMix64) -> [UInt8] {
        (0..<random.below(4)).map { _ in random.pick([0, 1, 7, 0x80, 0xFF]) }
    }

    private static func found(_ tree: RangeTree<Int>, _ value: [UInt8]) -> [Int] {
        var found: [Int] = []
        tree.forEach(containing: value) { found.append($0) }
        return found
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `finds what asking each range finds, while ranges come and go`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tree = RangeTree<Int>()
        var held: [Held] = []
        var copies: [(tree: RangeTree<Int>, held: [Held])] = []
        for number in 0..<300 {
            if !held.isEmpty, random.once(in: 3) {
                let gone = held.remove(at: random.below(held.count))
                tree.remove(gone.number, gone.range)
            } else {
                let range = KeyRange(Self.bytes(&random), Self.bytes(&random))
                held.append(Held(number: number, range: range))
                tree.insert(number, number, range)
            }
            if random.once(in: 30) { copies.append((tree, held)) }
            let value = Self.bytes(&random)
            let expected = held.filter { $0.range.contains(value) }.map(\.number)
            #expect(Self.found(tree, value).sorted() == expected.sorted(), "seed \(seed): \(value)")
        }
        // A copy holds what it held.
        for (tree, held) in copies {
            var all: [Int] = []
            tree.forEach { all.append($0) }
            #expect(all.sorted() == held.map(\.number).sorted(), "seed \(seed)")
        }
        for item in held { tree.remove(item.number, item.range) }
        #expect(tree.isEmpty, "seed \(seed)")
    }

    @Test func `looks at few of many that are elsewhere, in whatever order they came`() {
        for isReversed in [false, true] {
            var tree = RangeTree<Int>()
            let numbers = isReversed ? Array((0..<4096).reversed()) : Array(0..<4096)
            for (number, place) in numbers.enumerated() {
                let bytes = [UInt8(place >> 8), UInt8(place & 255)]
                tree.insert(place, number, KeyRange(beginning: bytes))
            }
            #expect(tree.height < 48)
            #expect(Self.found(tree, [3, 9, 1]) == [3 << 8 | 9])
        }
    }

    @Test func `does not mind to be told to remove what it does not hold`() {
        var tree = RangeTree<Int>()
        tree.insert(1, 1, KeyRange([1], [5]))
        tree.remove(2, KeyRange([1], [5]))
        tree.remove(3, KeyRange([9], [10]))

        #expect(Self.found(tree, [1]) == [1])
        #expect(Self.found(tree, [5]).isEmpty)
    }
}
