// RedactionTextsTests.swift — what texts become: other ones, as long, in the same order, numbers
// where they were numbers.

import TestSupport
import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkRules

@testable import CapsuleSupport

@Suite struct `redacted texts` {
    private static let key = [UInt8](0..<32)

    private func replaced(_ texts: [String], key: [UInt8] = Self.key) throws -> [String] {
        let map = RedactionTexts(Set(texts.map { Array($0.utf8) }), avoiding: [], key: key)
        return try texts.map { text in
            String(decoding: try #require(map[Array(text.utf8)]), as: UTF8.self)
        }
    }

    private func random(_ count: Int, seed: UInt64) -> [String] {
        var generator = SplitMix64(seed: seed)
        let alphabets = ["0123456789", "abc", "0123456789abcdef-", " äöü€漢😀xyz.", "01", "-+.9"]
        return (0..<count).map { _ in
            let alphabet = Array(generator.pick(alphabets))
            let length = 1 + generator.below(24)
            return String((0..<length).map { _ in generator.pick(alphabet) })
        }
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `keep length, order and equality, and what is a number`(seed: UInt64) throws {
        let old = Array(Set(random(200, seed: seed))).sorted()
        let new = try replaced(old)

        #expect(Set(new).count == old.count)
        for (before, after) in zip(old, new) {
            #expect(before.utf8.count == after.utf8.count)
            #expect((Int64(before) == nil) == (Int64(after) == nil), "\(before) \(after)")
        }
        let order = old.indices.sorted {
            old[$0].utf8.lexicographicallyPrecedes(old[$1].utf8)
        }
        for (one, other) in zip(order, order.dropFirst()) {
            #expect(new[one].utf8.lexicographicallyPrecedes(new[other].utf8))
        }
        // Of a number with zeros in front, or a plus, only the order by bytes stays.
        let usual = old.indices.filter { Int64(old[$0]).map(String.init) ?? old[$0] == old[$0] }
        for one in usual {
            for other in usual {
                #expect(
                    IDOrder.precedes(old[one], old[other])
                        == IDOrder.precedes(new[one], new[other]),
                    "\(old[one]) and \(old[other]) became \(new[one]) and \(new[other])")
            }
        }
    }

    @Test func `share nothing with what they were, nor with those of another key`() throws {
        let old = random(300, seed: 99).filter { $0.utf8.filter { $0 > 0x30 }.count > 12 }
        let one = try replaced(old)
        let other = try replaced(old, key: [UInt8](1...32))

        #expect(old.count > 50)
        #expect(Set(one).isDisjoint(with: old))
        #expect(Set(one).isDisjoint(with: other))
        #expect(try replaced(old) == one)
    }

    @Test func `keep white space and what stands between words`() throws {
        let new = try replaced(["Call Anna,\n12 May!"])[0]

        #expect(new.count == 18)
        #expect(new.map { $0.isWhitespace } == "Call Anna,\n12 May!".map { $0.isWhitespace })
        #expect(new.contains(",\n") && new.hasSuffix("!"))
        #expect(!new.contains("Anna"))
    }

    @Test func `dates stay dates, and two writings of one time stay two of another`() throws {
        let old = [
            "2026-01-05", "2026-01-05T00:00:00", "2026-01-05T00:00:00.000",
            "2026-01-05T13:00:00+02:00", "2026-02-28", "2026-12-31T10:00:00Z", "1999-07-01",
        ]
        let new = try replaced(old)

        #expect(Set(new).isDisjoint(with: old))
        #expect(new.sorted() == old.sorted().map { text in new[old.firstIndex(of: text) ?? 0] })
        let midnight = try #require(RFC3339.parseLocal(new[0]))
        #expect(RFC3339.parseLocal(new[1]) == midnight && RFC3339.parseLocal(new[2]) == midnight)
        #expect(RFC3339.parse(new[3]) == midnight.adding(seconds: 11 * 3600))
        #expect(RFC3339.parseLocal(new[4]) != nil && RFC3339.parseLocal(new[6]) != nil)
        #expect(new[5].hasSuffix("T10:00:00Z") && RFC3339.parse(new[5]) != nil)
    }

    @Test func `all days of a leap year keep their order`() throws {
        let first = try #require(RFC3339.parseLocal("2028-01-01"))
        let old = (0..<366).map { day in
            String(first.adding(seconds: Int64(day) * 86_400).description.prefix(10))
        }
        let new = try replaced(old)

        #expect(Set(new).count == 366 && new == new.sorted())
    }

    @Test func `a date beside texts that begin as one is a text`() throws {
        let old = ["2026-01-05", "2026-01", "2026-01-05, at noon", "2026-W05"]
        let new = try replaced(old)

        #expect(new.map(\.utf8.count) == old.map(\.utf8.count))
        #expect(new[2].hasPrefix(new[0]) && new[0].hasPrefix(new[1]) && new[1] < new[3])
        #expect(!new[2].contains("noon"))
    }

    @Test func `numbers keep their zero in front, and grow no zeros there`() throws {
        let new = try replaced(["0", "0.5", "-0.25", "10", "7", "0042"])

        #expect(new[0] == "0")
        #expect(new[1].hasPrefix("0.") && new[1] != "0.5" && new[1] != "0.0")
        #expect(new[2].hasPrefix("-0."))
        #expect(!new[3].hasPrefix("0") && !new[4].hasPrefix("0"))
        #expect(new[5].hasPrefix("0"))
    }

    @Test func `a whole number stays one that fits`() throws {
        let old =
            (0..<40).map { "92233720368547758\($0 < 10 ? "0" : "")\($0 % 8)" } + [
                "9223372036854775807"
            ]
        for (before, after) in zip(old, try replaced(old)) {
            #expect((Int64(before) == nil) == (Int64(after) == nil))
        }
    }

    @Test func `bytes that are no text keep their order, and take two where there are many`() throws
    {
        let all =
            (0...255).map { [UInt8($0), 1, UInt8(255 - $0)] } + (0...255).map { [7, UInt8($0)] }
        let map = RedactionTexts(Set(all), avoiding: [], key: Self.key)
        let sorted = all.sorted { $0.lexicographicallyPrecedes($1) }
        let new = try sorted.map { try #require(map[$0]) }

        for (one, other) in zip(new, new.dropFirst()) {
            #expect(one.lexicographicallyPrecedes(other))
        }
        #expect(new.allSatisfy { $0.count <= 6 && $0.allSatisfy { $0 < 0x7F } })
    }

    // Copied anew with each byte it took hours.
    @Test func `that share a long beginning are copied once each`() throws {
        let text = String(repeating: "a long text of many words, ", count: 40_000)
        let old = [text + "x", text + "xy", text + "z", text, "b"]

        let new = try replaced(old)

        #expect(new.map(\.utf8.count) == old.map(\.utf8.count))
        let beginning = Array(new[3].utf8)
        for other in new.prefix(3) {
            #expect(Array(other.utf8.prefix(text.utf8.count)) == beginning)
        }
        #expect(Set(new).count == 5)
        #expect(new[1].utf8.starts(with: new[0].utf8))
    }

    @Test func `what is taken is left free`() throws {
        let taken = Set(["a", "b", "c", "d"].map { Array($0.utf8) })
        for seed in 0..<50 as Range<UInt8> {
            let key = [UInt8](repeating: seed, count: 32)
            let map = RedactionTexts([Array("x".utf8)], avoiding: taken, key: key)
            #expect(map[Array("x".utf8)].map { !taken.contains($0) } == true)
        }
    }

    @Test func `a long text takes no longer than its length`() throws {
        let long = String(repeating: "all work and no play ", count: 20_000)
        let new = try replaced([long, long + "x"])

        #expect(new[0].utf8.count == long.utf8.count)
        #expect(new[1].hasPrefix(new[0]))
    }
}
