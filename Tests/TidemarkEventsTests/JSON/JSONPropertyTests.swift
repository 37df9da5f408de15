// JSONPropertyTests.swift — what holds for every text, on seeded random ones.

import TestSupport
import Testing
import TidemarkEvents

@Suite struct `JSON properties` {
    @Test(arguments: [0x5EED_0001, 0x5EED_0002] as [UInt64])
    func `what is written reads back equal`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<1_500 {
            let value = try random.value()
            let encoded = value.encoded()
            let sorted = value.encoded(sortedKeys: true)

            #expect(try JSONValue(parsing: encoded) == value, "seed \(seed), round \(round)")
            #expect(try JSONValue(parsing: encoded).encoded() == encoded)
            #expect(try JSONValue(parsing: sorted) == value)
            #expect(try JSONValue(parsing: sorted).hashValue == value.hashValue)
            #expect(try JSONValue(parsing: random.text(of: value)).encoded() == encoded)
        }
    }

    @Test(arguments: [0x5EED_0003, 0x5EED_0004] as [UInt64])
    func `validating agrees with parsing on damaged texts`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var accepted = 0
        var codes: Set<JSONError.Code> = []
        for round in 0..<12_500 {
            let text = random.damaged(random.text(of: try random.value(depth: 3)))
            let parsed = jsonError(text)
            let validated = jsonValidationError(text)
            if parsed != validated {
                Issue.record("seed \(seed), round \(round): \(text)")
            }
            if let parsed { codes.insert(parsed.code) } else { accepted += 1 }
        }
        #expect(accepted > 1_000 && accepted < 11_500)
        #expect(codes.count >= 9)
    }

    @Test(arguments: [0x5EED_0005] as [UInt64])
    func `documents agree with parsing on damaged objects`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<4_000 {
            let text = random.damaged(random.text(of: ["a": try random.value(), "b": []]))
            do throws(JSONError) {
                let document = try JSONDocument(parsing: text)
                let object = try JSONValue(parsing: text).object
                #expect(document.keys == object?.keys, "seed \(seed), round \(round)")
                #expect(object?.allSatisfy { document.value($0.key) == $0.value } == true)
            } catch {
                guard error.code != .notAnObject else { continue }
                #expect(jsonError(text) == error, "seed \(seed), round \(round)")
            }
        }
    }

    @Test(arguments: [0x5EED_0006] as [UInt64])
    func `applying changes equals setting members`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let keys = ["a", "b", "c", "d", "\"", "é", "e\u{301}", "😀"]
        for round in 0..<1_000 {
            var object = JSONObject()
            for _ in 0..<random.below(6) { object[random.pick(keys)] = try random.value(depth: 2) }
            let text = random.text(of: .object(object))
            var set: [(key: String, value: [UInt8])] = []
            let unset = (0..<random.below(3)).map { _ in random.pick(keys) }
            for key in unset { object[key] = .none }
            for _ in 0..<random.below(3) {
                let value = try random.value(depth: 2)
                let key = random.pick(keys.filter { !unset.contains($0) })
                set.append((key, value.encoded()))
                object[key] = value
            }

            let result = try JSONDocument(parsing: text).applying(set: set, unset: unset)

            #expect(
                try JSONValue(parsing: result).encoded() == JSONValue.object(object).encoded(),
                "seed \(seed), round \(round)")
        }
    }
}
