// CheckedTableTests.swift — tables whose records carry a checksum, and walks that a damaged page
// leads astray.

import TestSupport
import Testing
import TidemarkStore

@Suite struct `a checked table` {
    private static let options = Environment.Options.small.with { $0.checkedTables = ["rows"] }
    let scratch: Scratch
    let environment: Environment

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open(Self.options)
    }

    private func all(reversed: Bool = false) throws -> [[UInt8]] {
        try environment.read { transaction in
            var values: [[UInt8]] = []
            try transaction.scan(environment.rows, from: nil, prefix: [], reversed: reversed) {
                values.append($1.copied())
                return true
            }
            return values
        }
    }

    /// Where the bytes lie in the data file.
    private func places(of bytes: [UInt8]) throws -> [Int] {
        let data = try scratch.dataBytes()
        return data.indices.dropLast(bytes.count - 1).filter {
            data[$0] == bytes[0] && data[$0..<$0 + bytes.count].elementsEqual(bytes)
        }
    }

    private func flip(_ place: Int, bit: Int) throws {
        try scratch.overwriteData(at: place, [try scratch.dataBytes()[place] ^ 1 << UInt8(bit)])
    }

    @Test func `gives values back as they were put, whatever their size`() throws {
        let values = [0, 1, 3, 4, 5, 100, 2_000, 2_030, 4_076, 4_077, 4_080, 4_081, 70_000].map {
            pattern($0, salt: $0)
        }
        try environment.write { transaction in
            for (number, value) in values.enumerated() {
                try transaction.put(environment.rows, bigEndian(number), value)
            }
            #expect(try transaction.get(environment.rows, bigEndian(3)) == values[3])
        }
        try environment.write { transaction in
            try transaction.withSorted(environment.rows) { writer in
                try writer.write(bigEndian(3), pattern(9))
                try writer.write(bigEndian(100), pattern(10))
                try writer.write(bigEndian(4), nil)
            }
        }
        var expected = values + [pattern(10)]
        expected[3] = pattern(9)
        expected.remove(at: 4)

        #expect(try all() == expected)
        #expect(try all(reversed: true) == expected.reversed())
        #expect(try environment.read { try $0.last(environment.rows)?.value } == pattern(10))
        #expect(
            try environment.read {
                try $0.withValue(environment.rows, bigEndian(12)) { $0.count }
            } == 70_000)
    }

    @Test func `gives nothing back of which one bit is not what was written`() throws {
        let key = Array("flipped-key".utf8)
        let value = Array("and its value".utf8)
        try environment.store(environment.rows, key, value)
        let places = try places(of: key + value)
        try #require(places.count == 1)
        for byte in 0..<key.count + value.count + 4 {
            for bit in 0..<8 {
                try flip(places[0] + byte, bit: bit)
                let scanned = #expect(throws: StoreError.self) { try all() }
                #expect(scanned?.code == .damagedTable)
                #expect(throws: StoreError.self) {
                    try environment.read { try $0.first(environment.rows) }
                }
                let found = #expect(throws: StoreError.self) {
                    try environment.value(environment.rows, key)
                }
                #expect(found?.code == .damagedTable)
                if byte >= key.count {
                    #expect(found?.detail.contains("rows the record flipped-key") == true)
                }
                try flip(places[0] + byte, bit: bit)
            }
        }
        #expect(try all() == [value])
    }

    @Test func `has a long record beside keys that are missing gone through once a read`() throws {
        let value = pattern(5_000, salt: 7)
        try environment.store(environment.rows, Array("m".utf8), value)
        let places = try places(of: value)
        try #require(places.count == 1)

        try environment.read { transaction in
            let before = try transaction.get(environment.rows, Array("a".utf8))
            #expect(before == nil)
            // Whoever reads it now would see damage.
            try flip(places[0] + 3_000, bit: 3)
            for key in ["a", "b", "n", "z"] {
                let value = try transaction.get(environment.rows, Array(key.utf8))
                #expect(value == nil, "\(key)")
                for reversed in [false, true] {
                    try transaction.scan(
                        environment.rows, from: nil, prefix: Array(key.utf8), reversed: reversed
                    ) { _, _ in true }
                }
            }
            #expect(throws: StoreError.self) {
                try transaction.get(environment.rows, Array("m".utf8))
            }
        }
        for key in ["a", "z"] {
            let error = #expect(throws: StoreError.self) {
                try environment.value(environment.rows, Array(key.utf8))
            }
            #expect(error?.code == .damagedTable)
        }
    }

    @Test func `takes no page of another table for one of its own`() throws {
        let both = Environment.Options.small.with { $0.checkedTables = ["rows", "events"] }
        let scratch = try Scratch()
        let environment = try scratch.open(both)
        try environment.store(environment.rows, Array("a row".utf8), pattern(40))
        try environment.store(environment.events, Array("an event".utf8), pattern(40))
        let bytes = try scratch.dataBytes()
        func pages(of key: String) -> [Int] {
            bytes.indices.filter { bytes[$0...].starts(with: key.utf8) }.map { $0 & ~4095 }
        }
        // All but the first bytes, in which a page names its own number.
        let foreign = try #require(pages(of: "an event").last)
        for page in pages(of: "a row") {
            try scratch.overwriteData(at: page + 8, Array(bytes[foreign + 8..<foreign + 4096]))
        }

        for key in ["a row", "an event", "b"] {
            let error = #expect(throws: StoreError.self) {
                try environment.value(environment.rows, Array(key.utf8))
            }
            #expect(error?.code == .damagedTable, "\(key)")
        }
        for prefix in ["", "a row", "b"] {
            #expect(throws: StoreError.self) {
                try environment.read {
                    try $0.scan(
                        environment.rows, from: nil, prefix: Array(prefix.utf8), reversed: false
                    ) { _, _ in true }
                }
            }
        }
    }

    @Test func `is not written to where a page is another one`() throws {
        try environment.write { transaction in
            for number in 100..<400 {
                try transaction.put(environment.rows, Array("\(number)".utf8), pattern(100))
                try transaction.put(environment.events, Array("\(number)".utf8), pattern(100))
            }
        }
        let bytes = try scratch.dataBytes()
        let pages = try places(of: Array("250".utf8)).map { $0 & ~4095 }
        let (first, second) = (try #require(pages.first), try #require(pages.last))
        try scratch.overwriteData(at: first, Array(bytes[second..<second + 4096]))
        let isRows = try environment.value(environment.events, Array("251".utf8)) == pattern(100)
        let table = isRows ? environment.rows : environment.events

        let writes: [(borrowing WriteTransaction) throws -> Void] = [
            { try $0.put(table, Array("250x".utf8), [1]) },
            { try $0.put(table, Array("250".utf8), [1]) },
            { try $0.delete(table, Array("250".utf8)) },
            { try $0.withSorted(table) { try $0.write(Array("250x".utf8), [1]) } },
            { try $0.withSorted(table) { try $0.write(Array("250".utf8), nil) } },
        ]
        for write in writes {
            #expect(throws: StoreError.self) { try environment.write(write) }
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: [false, true])
    func `ends no walk over a prefix at a key that was not written`(_ reversed: Bool) throws {
        // Some pages full, so that each has a last key.
        let names = (100..<300).map { "a\u{0}\($0)" }
        try environment.write { transaction in
            for name in names {
                try transaction.put(environment.rows, Array(name.utf8), pattern(100))
            }
            try transaction.put(environment.rows, Array("z".utf8), [1])
        }
        for name in names {
            let places = try places(of: Array(name.utf8))
            for place in places { try flip(place + 1, bit: reversed ? 6 : 4) }
            #expect(throws: StoreError.self, "\(name)") {
                try environment.read {
                    try $0.scan(
                        environment.rows, from: nil, prefix: Array("a\u{0}".utf8),
                        reversed: reversed
                    ) { _, _ in true }
                }
            }
            for place in places { try flip(place + 1, bit: reversed ? 6 : 4) }
        }
    }

    @Test(arguments: [0x00, 0x01, 0x04, 0xFD], [0, 1, 2, 3, 40])
    func `whose only page is no leaf any more has damage, not nothing`(
        _ flags: Int, _ bytes: Int
    ) throws {
        // Of a branch page, the length of a value would be the number of a page.
        for name in ["a key", "another"] {
            try environment.store(environment.rows, Array(name.utf8), pattern(bytes))
        }
        for place in try places(of: Array("another".utf8)) {
            try scratch.overwriteData(at: place & ~4095 | 10, [UInt8(flags)])
        }

        #expect(throws: StoreError.self) {
            try environment.value(environment.rows, Array("b".utf8))
        }
        #expect(throws: StoreError.self) { try all() }
        #expect(throws: StoreError.self) {
            try environment.read {
                try $0.scan(
                    environment.rows, from: nil, prefix: Array("a".utf8), reversed: true
                ) { _, _ in true }
            }
        }
    }

    @Test func `with a page that is no leaf any more is damaged, and the read goes on`() throws {
        try environment.write { transaction in
            for number in 100..<400 {
                try transaction.put(environment.rows, Array("\(number)".utf8), pattern(100))
            }
        }
        let page = try #require(try places(of: Array("250".utf8)).first) & ~4095
        try scratch.overwriteData(at: page + 10, [0])

        try environment.read { transaction in
            let error = #expect(throws: StoreError.self) {
                try transaction.get(environment.rows, Array("250".utf8))
            }
            #expect(error?.code == .damagedTable)
            let other = try transaction.get(environment.rows, Array("100".utf8))
            #expect(other == pattern(100))
        }
        let error = #expect(throws: StoreError.self) {
            try environment.store(environment.rows, Array("250".utf8), [1])
        }
        #expect(error?.code == .damagedTable)
    }

    @Test func `ends the transaction that reads damage, whatever is made of the error`() throws {
        try environment.store(environment.rows, Array("key".utf8), Array("some value".utf8))
        try flip(try #require(try places(of: Array("some value".utf8)).first), bit: 3)

        let error = #expect(throws: StoreError.self) {
            try environment.write { transaction in
                _ = try? transaction.get(environment.rows, Array("key".utf8))
                try transaction.put(environment.rows, [1], [1])
            }
        }

        #expect(error?.code == .damagedTable)
        #expect(try environment.read { try $0.count(environment.rows) } == 1)
    }
}

@Suite struct `a walk over damaged pages` {
    let scratch: Scratch
    let environment: Environment

    init() throws {
        scratch = try Scratch()
        environment = try scratch.open()
        try environment.write { transaction in
            for number in 1...60 {
                try transaction.append(environment.events, bigEndian(number), pattern(100))
            }
        }
    }

    private func walk(reversed: Bool) throws -> Int {
        try environment.read { transaction in
            var count = 0
            try transaction.scan(environment.events, from: nil, prefix: [], reversed: reversed) {
                _, _ in
                count += 1
                return count < 10_000
            }
            return count
        }
    }

    /// The leaf that holds the first events, in the newest version of it.
    private func leaf() throws -> Int {
        let data = try scratch.dataBytes()
        let pages = Array(stride(from: 0, to: data.count - 4095, by: 4096))
        return try #require(
            pages.last { page in
                let image = PageImage(Array(data[page..<page + 4096]))
                guard image.kind == .leaf, let count = image.nodeCount, count > 5,
                    let node = image.node(0, of: .leaf)
                else { return false }
                return Array(image.bytes[node.key]) == bigEndian(1)
            })
    }

    @Test(arguments: [false, true])
    func `ends where the keys of a page are out of order`(reversed: Bool) throws {
        let page = try leaf()
        let data = try scratch.dataBytes()
        // Two nodes change places.
        try scratch.overwriteData(
            at: page + 18, Array(data[page + 20..<page + 22] + data[page + 18..<page + 20]))

        let error = #expect(throws: StoreError.self) { try walk(reversed: reversed) }
        #expect(error?.code == .damaged && error?.detail.contains("not whole") == true)
    }

    @Test(arguments: [false, true])
    func `ends with an error where it does not find what is counted`(reversed: Bool) throws {
        let page = try leaf()
        let lower = Int(try scratch.dataBytes()[page + 12])
        // The last node is forgotten.
        try scratch.overwriteData(at: page + 12, [UInt8(lower - 2)])

        let error = #expect(throws: StoreError.self) { try walk(reversed: reversed) }
        #expect(error?.code == .damaged)
        #expect(error?.detail.contains("60 records are counted, and a walk finds 59") == true)
    }
}
