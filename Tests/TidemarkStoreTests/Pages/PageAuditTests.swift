// PageAuditTests.swift — what is wrong with the pages of a data file, before LMDB reads them.

import Foundation
import Testing
import TidemarkStore

@Suite struct `the pages of a data file` {
    private static let tables = ["events", "rows", "parts"]
    private static let options = Environment.Options(tables: tables, mapBytes: 64 << 20)
    let scratch: Scratch

    /// A store with trees of two levels, records on pages of their own, and free pages.
    init() throws {
        scratch = try Scratch()
        let environment = try scratch.open(Self.options)
        for round in 0..<6 {
            try environment.write { transaction in
                for number in 1...30 {
                    let key = bigEndian(round * 1000 + number)
                    try transaction.put(environment.events, key, pattern(150, salt: number))
                    try transaction.put(environment.rows, bigEndian(number), pattern(60 * round))
                }
                try transaction.put(
                    environment.table("parts"), bigEndian(round % 4), pattern(3000 + 2500 * round))
            }
        }
        try environment.write { transaction in
            for number in 1...20 { try transaction.delete(environment.rows, bigEndian(number)) }
        }
        try environment.close()
    }

    private func audit(_ extent: PageAudit.Extent = .all) throws -> PageAudit.Result {
        try PageAudit.run(at: scratch.store, extent)
    }

    /// Runs `body` with a bit of the file turned.
    private func flipped<R>(_ offset: Int, _ bit: Int, _ body: () throws -> R) throws -> R {
        let byte = try scratch.dataBytes()[offset]
        try scratch.overwriteData(at: offset, [byte ^ 1 << UInt8(bit)])
        defer { try? scratch.overwriteData(at: offset, [byte]) }
        return try body()
    }

    private func isFine(_ offset: Int, _ bit: Int) throws -> Bool {
        try flipped(offset, bit) { try audit().isFine }
    }

    private func image(_ page: Int) throws -> PageImage {
        PageImage(Array(try scratch.dataBytes()[page * 4096..<(page + 1) * 4096]))
    }

    /// The pages that are in use, found as those whose loss is noticed.
    private func usedPages() throws -> [Int] {
        let pages = try scratch.dataBytes().count / 4096
        return try (2..<pages).filter { page in
            try !isFine(page * 4096 + 3, 7)
        }
    }

    @Test func `are fine after any writes, and all accounted for`() throws {
        let result = try audit()
        let pages = UInt64(try scratch.dataBytes().count / 4096)

        #expect(result.findings == [] && result.lost == 0)
        #expect(result.used + result.free + 2 >= pages && result.free > 0)
        #expect(try audit(.tables([])).isFine)
        #expect(try audit(.tables(["events", "parts"])).isFine)
    }

    @Test func `each say their own number, kind and bounds, in every bit`() throws {
        var checked = 0
        for page in try usedPages() {
            // But for two bytes that nothing uses.
            for byte in Array(0..<8) + Array(10..<16) {
                for bit in [0, 3, 7] {
                    let offset = page * 4096 + byte
                    #expect(try !isFine(offset, bit), "byte \(byte) of page \(page), bit \(bit)")
                    checked += 1
                }
            }
        }
        #expect(checked > 400)
    }

    @Test func `hold nodes within their bounds, in every bit of where these lie`() throws {
        var checked = 0
        for page in try usedPages() {
            let image = try image(page)
            guard let kind = image.kind, kind != .overflow, let count = image.nodeCount else {
                continue
            }
            for index in [0, count / 2, count - 1] {
                for bit in 0..<16 {
                    let offset = page * 4096 + 16 + 2 * index + bit / 8
                    let isFine = try isFine(offset, bit % 8)
                    #expect(!isFine, "node \(index) of page \(page), bit \(bit)")
                    checked += 1
                }
            }
        }
        #expect(checked > 200)
    }

    @Test func `hold keys in order, also between branch and leaf`() throws {
        var branches = 0
        for page in try usedPages() {
            let image = try image(page)
            guard let kind = image.kind, kind != .overflow, let nodes = image.nodes(of: kind),
                nodes.count > 3
            else { continue }
            if kind == .branch { branches += 1 }
            // The highest bits of a key in the middle.
            #expect(try !isFine(page * 4096 + nodes[2].key.lowerBound, 7), "page \(page)")
        }
        #expect(branches > 0)
    }

    @Test func `are free or in use, not both, and once`() throws {
        let free = try freeLists()
        try #require(!free.isEmpty)
        var lost = 0
        for (offset, count) in free {
            for word in 0...count {
                for bit in 0..<16 {
                    try flipped(offset + 8 * word + bit / 8, bit % 8) {
                        let result = try audit(.tables([]))
                        // A list that says that it is shorter forgets pages: space, no data.
                        if result.isFine { lost += try audit().lost > 0 ? 1 : 100_000 }
                    }
                }
            }
        }
        #expect(lost < 2 * free.count * 4)
    }

    /// Where the lists of free pages lie in the file, and how long they are.
    private func freeLists() throws -> [(offset: Int, count: Int)] {
        let data = try scratch.dataBytes()
        let root = try freeRoot()
        let image = try image(root)
        return (image.nodes(of: .leaf) ?? []).compactMap { node in
            node.data.map {
                let offset = root * 4096 + $0.lowerBound
                return (offset, Int(number(data, offset)))
            }
        }
    }

    private func freeRoot() throws -> Int {
        let data = try scratch.dataBytes()
        let metas = [0, 4096].map { base in
            (number(data, base + 144), Int(truncatingIfNeeded: number(data, base + 80)))
        }
        return metas.max { $0.0 < $1.0 }?.1 ?? 0
    }

    @Test func `are not read where a long list of free ones is said to lie elsewhere`() throws {
        let environment = try scratch.open(Self.options)
        let numbers = 1001...1600
        try environment.write { transaction in
            for number in numbers {
                try transaction.put(environment.table("parts"), bigEndian(number), pattern(3000))
            }
        }
        try environment.write { transaction in
            for number in numbers {
                try transaction.delete(environment.table("parts"), bigEndian(number))
            }
        }
        try environment.close()
        let root = try freeRoot()
        let nodes = try image(root).nodes(of: .leaf) ?? []
        let node = try #require(nodes.first { $0.page != nil })
        let start = root * 4096 + node.bytes.lowerBound
        let place = root * 4096 + node.key.upperBound

        // Bits of the page's number, and the highest of the size.
        for bit in [0, 11, 40, 51, 60, 63] + [8 * (start + 3 - place) + 7] {
            let offset = place + (bit >> 3)
            let result = try flipped(offset, bit & 7) { try audit(.tables([])) }
            #expect(!result.isFine, "bit \(bit)")
        }
        #expect(try audit().isFine)
    }

    @Test func `that are leaves are looked at without their records where that is asked`() throws {
        let pages = try usedPages().filter { try image($0).kind == .leaf }
        for page in pages {
            try flipped(page * 4096 + 10, 1) {
                let shallow = try audit(.tables([])).findings.compactMap(\.table)
                #expect(shallow.isEmpty)
                let found = try audit(.tables([], leaves: Set(Self.tables))).findings
                #expect(found.isEmpty || found.allSatisfy { $0.page == UInt64(page) })
                let all = try audit().findings.compactMap(\.table)
                #expect(Set(all) == Set(found.compactMap(\.table)), "page \(page)")
            }
        }
        #expect(pages.count > 6)
    }

    private func number(_ data: [UInt8], _ offset: Int) -> UInt64 {
        data[offset..<offset + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    @Test func `are counted in the record of each tree`() throws {
        let data = try scratch.dataBytes()
        let base = number(data, 144) > number(data, 4096 + 144) ? 0 : 4096
        // Flags, depth, pages and records of both trees that the meta page holds.
        for tree in [40, 88] {
            for byte in [4, 6, 8, 16, 24, 32] {
                #expect(try !isFine(base + tree + byte, 0), "tree \(tree), byte \(byte)")
            }
        }
    }

    @Test func `are looked at beside a writer as one commit left them`() async throws {
        let environment = try scratch.open(Self.options)
        let writing = Task {
            for round in 0..<300 where !Task.isCancelled {
                try await environment.write { transaction in
                    for number in 1...20 {
                        try transaction.put(
                            environment.rows, bigEndian(number), pattern(round % 900, salt: round))
                    }
                }
            }
        }
        for _ in 0..<40 {
            let result = try audit()
            #expect(result.isFine && result.lost == 0, "\(result.findings)")
        }
        writing.cancel()
        try await writing.value
        try environment.close()
    }
}
