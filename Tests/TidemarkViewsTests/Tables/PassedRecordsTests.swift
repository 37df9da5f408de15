// PassedRecordsTests.swift — which records of an index walks need not pass over again.

import TestSupport
import Testing

@testable import TidemarkViews

@Suite struct `passed records` {
    private static func key(_ number: Int) -> [UInt8] {
        [UInt8(number >> 8), UInt8(number & 0xFF)]
    }

    private static func number(_ key: [UInt8]) -> Int { Int(key[0]) << 8 | Int(key[1]) }

    private static func numbers(_ stretch: PassedRecords.Stretch?) -> ClosedRange<Int>? {
        stretch.map { number($0.first)...number($0.last) }
    }

    @Test(arguments: (0..<4).map { 0x9A_0001 + UInt64($0) })
    func `are those of the stretches that were inserted, whole, and no others`(seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var (records, inserted) = (PassedRecords(), [ClosedRange<Int>]())
        for step in 0..<60 {
            let first = random.below(900)
            let new = first...first + random.below(40)
            inserted.append(new)
            records.insert(
                PassedRecords.Stretch(first: Self.key(first), last: Self.key(new.upperBound)))

            let place: Comment = "seed \(seed), step \(step)"
            let passed = inserted.reduce(into: Set<Int>()) { $0.formUnion($1) }
            for _ in 0..<50 {
                let number = random.below(1_000)
                let found = Self.numbers(records.stretch(around: Self.key(number)))
                #expect((found != nil) == passed.contains(number), place)
                #expect(found.map { $0.contains(number) } ?? true, place)
                #expect(found.map { passed.isSuperset(of: $0) } ?? true, place)
            }
            for own in inserted {
                let found = Self.numbers(records.stretch(around: Self.key(own.lowerBound)))
                #expect(found?.contains(own.upperBound) ?? false, place)
            }
        }
    }

    @Test(arguments: [false, true]) func `are leapt over once many follow on one another`(
        reversed: Bool
    ) {
        var known = PassedRecords()
        func keys(_ numbers: Range<Int>) -> [[UInt8]] {
            let keys = numbers.map(Self.key)
            return reversed ? keys.reversed() : keys
        }
        /// Where a walk over some of them goes on behind the first.
        func pass(_ numbers: Range<Int>) -> Int? {
            var passing = PassingRecords()
            var leap: [UInt8]?
            for key in keys(numbers) {
                leap = passing.pass(key, knowing: known, reversed: reversed)
                if leap != nil { break }
            }
            passing.end(noting: &known)
            return leap.map(Self.number)
        }

        #expect(pass(100..<105) == nil)
        #expect(pass(100..<105) == nil)
        #expect(pass(100..<150) == nil)
        #expect(pass(100..<150) == (reversed ? 100 : 149))
        #expect(pass(120..<130) == (reversed ? 100 : 149))
        // Of what lies between two of them, and touches neither key, nothing is known.
        #expect(pass(200..<250) == nil)
        #expect(pass(140..<210) == (reversed ? 200 : 149))
        #expect(pass(150..<200) == nil)
        #expect(pass(160..<170) == (reversed ? 150 : 199))
    }
}
