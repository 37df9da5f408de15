// SortedRecordsTests.swift — records that come and go, in the order of their keys.

import TestSupport
import Testing

@testable import TidemarkViews

@Suite struct `sorted records` {
    private static func record(_ number: Int) -> IndexEntry {
        IndexEntry(key: [UInt8(number >> 8), UInt8(number & 0xFF)], value: [UInt8(number & 0xFF)])
    }

    private static func expect(
        _ records: SortedRecords, toBe numbers: Set<Int>, from lower: Int, to upper: Int,
        _ place: Comment
    ) {
        let wanted = numbers.filter { $0 >= lower && $0 < upper }.sorted().map(record)
        for reversed in [false, true] {
            let found = records.walk(
                from: record(lower).key, to: record(upper).key, reversed: reversed
            ).map { IndexEntry(key: $0.key, value: $0.row) }
            #expect(found == (reversed ? wanted.reversed() : wanted), place)
        }
    }

    @Test(arguments: (0..<4).map { 0x50_0001 + UInt64($0) })
    func `are those that came and did not go, from any key to any other`(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var numbers = Set((0..<random.pick([0, 1, 700])).map { _ in random.below(9_000) })
        var records = SortedRecords(numbers.map(Self.record))
        // First more come than go, then more go, and at last all.
        for step in 0..<9_000 {
            let number = random.below(9_000)
            if random.once(in: 4) == (step < 5_000) {
                records.remove(Self.record(number))
                numbers.remove(number)
            } else if numbers.insert(number).inserted {
                records.insert(Self.record(number))
            }
            guard step.isMultiple(of: 100) else { continue }
            let (lower, upper) = (random.below(9_100), random.below(9_100))
            let place: Comment = "seed \(seed), step \(step)"
            Self.expect(records, toBe: numbers, from: lower, to: upper, place)
            Self.expect(records, toBe: numbers, from: 0, to: 9_100, place)
        }
        for number in numbers { records.remove(Self.record(number)) }
        Self.expect(records, toBe: [], from: 0, to: 9_100, "seed \(seed), all gone")
    }
}
