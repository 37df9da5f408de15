// NameBesideTests.swift — the name under which a file is kept beside another one.

import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `the name of a file beside another one` {
    private static let date = Timestamp(microseconds: 1_795_746_017_999_999)
    private static let time = "(2026-11-27 02-20-17)"

    private func next(
        _ name: String, isFolder: Bool = false, taken: Set<String> = []
    ) -> String {
        NameBeside(name, isFolder: isFolder).next(at: Self.date) { taken.contains($0) }
    }

    @Test(arguments: [
        ("Photo.jpg", "Photo", ".jpg"), ("a.tar.gz", "a.tar", ".gz"), ("Makefile", "Makefile", ""),
        (".profile", ".profile", ""), ("..a", "..a", ""), ("...", "...", ""), ("a.", "a.", ""),
        ("a..", "a..", ""), ("Dr. Who and the rest", "Dr. Who and the rest", ""),
        ("a.longerthansixteen", "a.longerthansixteen", ""), ("größe.é", "größe", ".é"),
        (" ", " ", ""),
    ])
    func `has the time before the last suffix`(_ name: String, _ stem: String, _ suffix: String) {
        #expect(next(name) == "\(stem) \(Self.time)\(suffix)")
    }

    @Test func `has it at the end of a folder's`() {
        #expect(next("v1.2", isFolder: true) == "v1.2 \(Self.time)")
    }

    @Test func `has a number where that is taken`() {
        let first = "a \(Self.time).txt"
        #expect(next("a.txt", taken: [first]) == "a \(Self.time) 2.txt")
        #expect(next("a.txt", taken: [first, "a \(Self.time) 2.txt"]) == "a \(Self.time) 3.txt")
    }

    @Test func `goes on counting from one with the same time, and replaces another time`() {
        #expect(next("a \(Self.time).txt") == "a \(Self.time) 2.txt")
        #expect(next("a \(Self.time) 9.txt") == "a \(Self.time) 10.txt")
        #expect(next("a (2025-01-01 00-00-00) 7.txt") == "a \(Self.time).txt")
        #expect(next("a (1).txt") == "a (1) \(Self.time).txt")
        #expect(next("a (2025-01-01 00-00-0x).txt").hasPrefix("a (2025-01-01 00-00-0x) ("))
        #expect(next("\(Self.time).txt") == "\(Self.time) \(Self.time).txt")
        #expect(NameBeside("a \(Self.time) 2.txt").isMade)
        #expect(!NameBeside("a 2.txt").isMade)
        #expect(!NameBeside("a \(Self.time) 02.txt").isMade)
    }

    @Test(arguments: ["n", "é", "日", "👩‍👩‍👧‍👦"])
    func `is no longer than a name can be, and ends no letter in the middle`(_ letter: String) {
        let count = 251 / letter.utf8.count
        let name = String(repeating: letter, count: count) + ".txt"
        let found = next(name)
        #expect(found.utf8.count <= NameBeside.bytesMax)
        #expect(found.utf8.count > NameBeside.bytesMax - letter.utf8.count)
        #expect(found.hasSuffix(" \(Self.time).txt"))
        let stem = found.dropLast(" \(Self.time).txt".count)
        #expect(stem.allSatisfy { String($0) == letter })
        let second = next(name, taken: [found])
        #expect(second.utf8.count <= NameBeside.bytesMax && second.hasSuffix(" 2.txt"))
    }
}
