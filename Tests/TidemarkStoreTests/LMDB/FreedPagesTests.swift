// FreedPagesTests.swift — LMDB frees pages by the numbers that it finds in a table: none of them is
// another one's, whatever became of the table.

import Testing
import TidemarkStore

@Suite struct `pages that are freed` {
    private static let options = Environment.Options.small.with { $0.checkedTables = ["rows"] }
    let scratch: Scratch

    /// A store whose records lie on pages of their own, those of two tables in turn.
    init() throws {
        scratch = try Scratch()
        let environment = try scratch.open(Self.options)
        for number in 1...40 {
            try environment.write { transaction in
                try transaction.put(environment.rows, Self.key(number), pattern(3000))
                try transaction.put(
                    environment.events, bigEndian(number), pattern(3000, salt: number))
            }
        }
        try environment.close()
    }

    private static func key(_ number: Int) -> [UInt8] { Array("row-\(100 + number)".utf8) }

    private func flip(_ offset: Int, _ bit: Int) throws {
        try scratch.overwriteData(
            at: offset, [try scratch.dataBytes()[offset] ^ 1 << UInt8(bit)])
    }

    /// Where the number lies of the page that holds a row, in each page that was its leaf.
    private func places(of key: [UInt8]) throws -> [Int] {
        let data = try scratch.dataBytes()
        return (2..<data.count / 4096).flatMap { page in
            let image = PageImage(Array(data[page * 4096..<(page + 1) * 4096]))
            guard image.kind == .leaf, let nodes = image.nodes(of: .leaf) else { return [Int]() }
            return nodes.filter { $0.page != nil && image.bytes[$0.key].elementsEqual(key) }
                .map { page * 4096 + $0.key.upperBound }
        }
    }

    private func checkEvents(_ environment: Environment) throws {
        for number in 1...40 {
            let value = try environment.value(environment.events, bigEndian(number))
            #expect(value == pattern(3000, salt: number))
        }
    }

    @Test(arguments: [0, 1, 2, 5, 20, 61])
    func `are not those that a damaged record names when its table is cleared`(
        _ bit: Int
    ) throws {
        for place in try places(of: Self.key(20)) { try flip(place + bit / 8, bit % 8) }
        let environment = try scratch.open(Self.options)

        try environment.write { try $0.clear(environment.rows) }

        #expect(try environment.read { try $0.count(environment.rows) } == 0)
        try environment.write { transaction in
            for number in 1...60 {
                try transaction.put(environment.rows, Self.key(number), pattern(2500))
            }
        }
        try checkEvents(environment)
        try environment.write { try $0.clear(environment.rows) }
        try checkEvents(environment)
        try environment.close()
        let result = try PageAudit.run(at: scratch.store)
        #expect(result.findings == [])
        #expect(result.lost > 40 && result.free > 60)
    }

    @Test(arguments: [0, 1, 2, 5, 20, 61])
    func `are not those that a damaged record names when it is changed or removed`(
        _ bit: Int
    ) throws {
        for place in try places(of: Self.key(20)) { try flip(place + bit / 8, bit % 8) }
        let environment = try scratch.open(Self.options)
        let writes: [(borrowing WriteTransaction) throws -> Void] = [
            { try $0.put(environment.rows, Self.key(20), [1]) },
            { try $0.put(environment.rows, Self.key(20), pattern(9000)) },
            { try $0.delete(environment.rows, Self.key(20)) },
            { try $0.withSorted(environment.rows) { try $0.write(Self.key(20), [1]) } },
            { try $0.withSorted(environment.rows) { try $0.write(Self.key(20), nil) } },
        ]

        for write in writes {
            let error = #expect(throws: StoreError.self) { try environment.write(write) }
            #expect(error?.code == .damagedTable)
        }
        try environment.write { _ = try $0.delete(environment.rows, Self.key(21)) }
        try checkEvents(environment)
    }

    @Test func `are a table's own where nothing is damaged, and none is lost`() throws {
        let environment = try scratch.open(Self.options)
        try environment.write { transaction in
            try transaction.put(environment.rows, Self.key(20), pattern(9000))
            try transaction.put(environment.rows, Self.key(20), pattern(3000))
        }
        try environment.write { transaction in
            try transaction.put(environment.rows, Self.key(20), pattern(2100))
            try transaction.clear(environment.rows)
            try transaction.put(environment.rows, Self.key(20), pattern(2100))
            try transaction.clear(environment.rows)
        }
        try environment.write { try $0.clear(environment.events) }
        try environment.close()

        let result = try PageAudit.run(at: scratch.store)
        #expect(result.findings == [] && result.lost == 0)
    }
}
