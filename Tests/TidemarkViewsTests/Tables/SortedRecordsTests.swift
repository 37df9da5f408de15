// SortedRecordsTests.swift — records that come and go, in the order of their keys.

import TestSupport
import Testing

@testable import TidemarkViews

@Suite struct `sorted records` {
    private static func record(_ number: Int) -> IndexEntry {
        IndexEntry(key: [UInt8(number >> 8), UInt8(number & 0xFF)], value: [UInt8(number & 0xFF)])
    }

    private static func expect(
        _ records: SortedRecords, toBe numbers: Set<Int>, from start: Int?, _ place: Comment
    ) {
        for reversed in [false, true] {
            let inside = numbers.filter { number in
                start.map { reversed ? number <= $0 : number >= $0 } ?? true
            }
            let wanted = inside.sorted().map(record)
            let found = records.walk(from: start.map { record($0).key }, reversed: reversed)
                .map { IndexEntry(key: $0.key, value: $0.row) }
            #expect(found == (reversed ? wanted.reversed() : wanted), place)
        }
    }

    @Test(arguments: (0..<4).map { 0x50_0001 + UInt64($0) })
    func `are those that came and did not go, from any key on, up and down`(seed: UInt64) {
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
            let place: Comment = "seed \(seed), step \(step)"
            Self.expect(records, toBe: numbers, from: random.below(9_100), place)
            Self.expect(records, toBe: numbers, from: nil, place)
        }
        for number in numbers { records.remove(Self.record(number)) }
        Self.expect(records, toBe: [], from: nil, "seed \(seed), all gone")
    }
}
