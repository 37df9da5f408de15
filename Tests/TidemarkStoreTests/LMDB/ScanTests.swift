// ScanTests.swift — walking over a table, both ways, compared with a sorted array.

import TestSupport
import Testing
import TidemarkStore

@Suite struct `scans` {
    let scratch: Scratch
    let environment: Environment

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
    }

    private func keys(
        from start: [UInt8]? = nil, prefix: [UInt8] = [], reversed: Bool = false, most: Int = .max
    ) throws -> [[UInt8]] {
        try environment.read { transaction in
            var found: [[UInt8]] = []
            try transaction.scan(
                environment.rows, from: start, prefix: prefix, reversed: reversed
            ) { key, value in
                found.append(key.copied())
                #expect(value.copied() == Array(key.copied().reversed()))
                return found.count < most
            }
            return found
        }
    }

    private func fill(_ keys: [[UInt8]]) throws {
        try environment.write { transaction in
            for key in keys { try transaction.put(environment.rows, key, Array(key.reversed())) }
        }
    }

    @Test func `an empty table has nothing to walk over`() throws {
        #expect(try keys() == [])
        #expect(try keys(reversed: true) == [])
        #expect(try keys(from: [1], prefix: [1], reversed: true) == [])
    }

    @Test func `a prefix bounds the walk in both directions`() throws {
        try fill([[1], [1, 0], [1, 0xFF], [1, 0xFF, 0xFF], [2], [2, 5], [3]])

        #expect(try keys(prefix: [1]) == [[1], [1, 0], [1, 0xFF], [1, 0xFF, 0xFF]])
        #expect(
            try keys(prefix: [1], reversed: true) == [[1, 0xFF, 0xFF], [1, 0xFF], [1, 0], [1]])
        #expect(try keys(prefix: [1, 0xFF], reversed: true) == [[1, 0xFF, 0xFF], [1, 0xFF]])
        #expect(try keys(prefix: [3], reversed: true) == [[3]])
        #expect(try keys(prefix: [4]) == [])
        #expect(try keys(prefix: [0], reversed: true) == [])
    }

    @Test func `a prefix of all ones has no end but the table's`() throws {
        try fill([[0xFE], [0xFF], [0xFF, 0xFF], [0xFF, 0xFF, 1]])

        #expect(
            try keys(prefix: [0xFF, 0xFF], reversed: true) == [[0xFF, 0xFF, 1], [0xFF, 0xFF]])
        #expect(try keys(prefix: [0xFF]) == [[0xFF], [0xFF, 0xFF], [0xFF, 0xFF, 1]])
    }

    @Test func `start is inclusive, whether it exists or not`() throws {
        try fill([[2], [4], [6]])

        #expect(try keys(from: [4]) == [[4], [6]])
        #expect(try keys(from: [3]) == [[4], [6]])
        #expect(try keys(from: [7]) == [])
        #expect(try keys(from: [4], reversed: true) == [[4], [2]])
        #expect(try keys(from: [5], reversed: true) == [[4], [2]])
        #expect(try keys(from: [9], reversed: true) == [[6], [4], [2]])
        #expect(try keys(from: [1], reversed: true) == [])
    }

    @Test func `the walk ends when the closure says so, or throws`() throws {
        struct Enough: Error {}
        try fill((1...9).map { [$0] })

        #expect(try keys(most: 3) == [[1], [2], [3]])
        #expect(try keys(reversed: true, most: 2) == [[9], [8]])
        var seen = 0
        #expect(throws: Enough.self) {
            try environment.read { transaction in
                try transaction.scan(environment.rows, from: nil, prefix: [], reversed: false) {
                    _, _ in
                    seen += 1
                    if seen == 4 { throw Enough() }
                    return true
                }
            }
        }
        #expect(seen == 4)
        #expect(try keys().count == 9)
    }

    @Test func `first and last are the ends`() throws {
        #expect(try environment.read { try $0.last(environment.rows) } == nil)
        try fill([[5], [1, 2], [9, 9]])

        let ends = try environment.read { transaction in
            [try transaction.first(environment.rows), try transaction.last(environment.rows)]
        }
        #expect(ends.map { $0?.key } == [[1, 2], [9, 9]])
        #expect(ends.map { $0?.value } == [[2, 1], [9, 9]])
        #expect(try environment.read { try $0.count(environment.rows) } == 3)
    }

    @Test(arguments: [0x5EED_0001, 0x5EED_0002, 0x5EED_0003] as [UInt64])
    func `random keys are walked as a sorted array would be`(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        func randomKey(_ bytesMax: Int) -> [UInt8] {
            let bytes = Int.random(in: 1...bytesMax, using: &random)
            return (0..<bytes).map { _ in
                [0, 1, 0x7F, 0xFE, 0xFF].randomElement(using: &random) ?? 0
            }
        }
        var model = Set<[UInt8]>()
        for _ in 0..<2000 { model.insert(randomKey(5)) }
        let sorted = model.sorted { $0.lexicographicallyPrecedes($1) }
        try fill(sorted)

        for round in 0..<300 {
            let prefix = Bool.random(using: &random) ? randomKey(3) : []
            let start = Bool.random(using: &random) ? randomKey(4) : nil
            let inRange = sorted.filter { $0.starts(with: prefix) }
            let upwards = inRange.filter { key in
                start.map { !key.lexicographicallyPrecedes($0) } ?? true
            }
            let downwards = inRange.reversed().filter { key in
                start.map { !$0.lexicographicallyPrecedes(key) } ?? true
            }
            let comment: Comment = "seed \(seed), round \(round), \(prefix), \(start ?? [])"
            #expect(try keys(from: start, prefix: prefix) == upwards, comment)
            #expect(try keys(from: start, prefix: prefix, reversed: true) == downwards, comment)
        }
    }
}
