// JSONSkimmingTests.swift — looking members up without checking agrees with checking everything.

import TestSupport
import Testing

@testable import TidemarkEvents

@Suite struct `looking at checked JSON` {
    @Test(arguments: [0x5C1_0001, 0x5C1_0002] as [UInt64])
    func `members are found as a document finds them`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<3000 {
            var object = JSONObject()
            for _ in 0..<random.below(6) {
                let key = random.once(in: 3) ? random.pick(["a", "b\"", "\\"]) : random.string()
                object[key] = try random.value(depth: 3)
            }
            let bytes = random.text(of: .object(object))
            let document = try JSONDocument(parsing: bytes)
            let names = ["a", "b\"", "\\", random.string()] + document.keys.prefix(1)
            let found = JSON.members(names.map { Array($0.utf8) }, of: bytes[...])
            var seen: Set<ExactString> = []
            for (name, value) in zip(names, found) where seen.insert(ExactString(name)).inserted {
                #expect(
                    value == document.rawValue(name), "\(name), seed \(seed), round \(round)")
            }
        }
    }

    @Test(arguments: [0x5C1_0003] as [UInt64])
    func `damaged bytes are survived`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<5000 {
            let text = random.damaged(random.text(of: ["a": try random.value(), "b": []]))
            let found = JSON.members([[0x61], [0x62]], of: text[...])
            #expect(found.count == 2)
        }
    }

    @Test func `integers of up to 18 digits are read at once`() {
        func value(_ text: String) -> Int64? { JSON.smallInteger(Array(text.utf8)[...]) }
        #expect(value("0") == 0)
        #expect(value("-17") == -17)
        #expect(value("999999999999999999") == 999_999_999_999_999_999)
        for text in ["", "-", "1.0", "1e3", "1000000000000000000", "\"1\""] {
            #expect(value(text) == nil)
        }
    }
}
