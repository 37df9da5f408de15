// DamageTests.swift — data files that aren't whole are refused before LMDB maps them.

import Foundation
import Testing
import TidemarkStore

@Suite struct `damaged files` {
    let scratch: Scratch
    let pageBytes: Int

    init() throws {
        scratch = try Scratch()
        let environment = try scratch.open()
        pageBytes = try environment.info().pageBytes
        try environment.write { transaction in
            for number in 1...400 {
                try transaction.append(environment.events, bigEndian(number), pattern(300))
            }
        }
        try environment.close()
    }

    private func openingFailure() -> StoreError? {
        let writable = Result { try scratch.open() }.failure
        let readOnly = Result { try scratch.open(.small.with { $0.readOnly = true }) }.failure
        #expect(writable?.code == readOnly?.code)
        return writable
    }

    @Test func `a file without its last page is refused`() throws {
        let before = try scratch.dataBytes()
        try scratch.setDataLength(before.count - pageBytes)

        #expect(openingFailure()?.code == .damaged)
        #expect(try scratch.dataBytes() == Array(before.dropLast(pageBytes)), "left as it is")
    }

    @Test func `a file cut anywhere is refused`() throws {
        let bytes = try scratch.dataBytes().count
        for cut in [bytes - 1, bytes / 2, 3 * pageBytes, 2 * pageBytes, 2 * pageBytes - 1] {
            try scratch.setDataLength(cut)
            #expect(openingFailure()?.code == .damaged, "\(cut) of \(bytes)")
        }
        for cut in [pageBytes, 200, 151, 1] {
            try scratch.setDataLength(cut)
            #expect(openingFailure()?.code == .damaged, "\(cut)")
        }
    }

    @Test func `an empty file is a lost store, not a new one`() throws {
        try scratch.setDataLength(0)

        #expect(openingFailure()?.code == .lost)
        #expect(try scratch.dataBytes() == [])
    }

    @Test func `a file longer than needed is fine`() throws {
        try scratch.setDataLength(scratch.dataBytes().count + 3 * pageBytes + 7)

        let environment = try scratch.open()
        #expect(try environment.read { try $0.count(environment.events) } == 400)
    }

    @Test func `a meta page that isn't one is refused`() throws {
        let good = try scratch.dataBytes()
        let wrongs: [(Int, [UInt8])] = [
            (16, [0]), (20, [2]), (40, [1, 16]), (40, [0, 0, 0, 0]), (10, [0]),
            (136, [0, 0, 0, 0, 0, 0, 0, 0xFF]),
        ]
        for page in 0...1 {
            for (offset, bytes) in wrongs {
                try scratch.overwriteData(at: page * pageBytes + offset, bytes)
                #expect(openingFailure()?.code == .damaged, "page \(page), offset \(offset)")
                try Data(good).write(to: URL(fileURLWithPath: scratch.dataFile))
            }
        }
        #expect(openingFailure() == nil)
    }

    @Test func `meta pages are refused when one bit makes an older commit the last one`() throws {
        let good = try scratch.dataBytes()
        for page in 0...1 {
            for byte in page * pageBytes + 144..<page * pageBytes + 152 {
                // By bit 1 of the least byte it becomes that of two commits before or after.
                for bit in 0..<8 where byte % pageBytes > 144 || bit != 1 {
                    try scratch.overwriteData(at: byte, [good[byte] ^ 1 << UInt8(bit)])
                    #expect(openingFailure()?.code == .damaged, "bit \(bit) of byte \(byte)")
                }
                try scratch.overwriteData(at: byte, [good[byte]])
            }
        }
        #expect(openingFailure() == nil)
    }

    @Test func `a root outside of the file is refused`() throws {
        for page in 0...1 {
            try scratch.overwriteData(at: page * pageBytes + 128, bigEndian(0xFF).reversed())
        }

        #expect(openingFailure()?.code == .damaged)
    }

    @Test func `a leaf whose first key has no bytes is not read`() throws {
        let data = try scratch.dataBytes()
        var changed = 0
        for start in stride(from: 2 * pageBytes, to: data.count, by: pageBytes) {
            let page = PageImage(Array(data[start..<start + pageBytes]))
            guard page.kind == .leaf, let first = page.nodes(of: .leaf)?.first,
                page.bytes[first.key].elementsEqual(bigEndian(1))
            else { continue }
            try scratch.overwriteData(at: start + first.key.lowerBound - 2, [0, 0])
            changed += 1
        }
        #expect(changed == 1)

        let environment = try scratch.open()
        let error = #expect(throws: StoreError.self) {
            try environment.read { transaction in
                try transaction.scan(environment.events, from: nil, prefix: [], reversed: false) {
                    _, _ in true
                }
            }
        }
        #expect(error?.code == .damaged)
        try environment.close()
    }

    @Test func `some other file is refused`() throws {
        try Data(pattern(100_000)).write(to: URL(fileURLWithPath: scratch.dataFile))

        #expect(openingFailure()?.code == .damaged)
    }
}
