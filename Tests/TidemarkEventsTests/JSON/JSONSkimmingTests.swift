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

    @Test(arguments: [0x5C1_0004, 0x5C1_0005] as [UInt64])
    func `members are changed as a document changes them`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for round in 0..<2000 {
            let most = random.once(in: 8) ? 60 : 7
            var object = JSONObject()
            for _ in 0..<random.below(most) {
                let key = random.once(in: 3) ? random.pick(["a", "b\"", "\\"]) : random.string()
                object[key] = try random.value(depth: 3)
            }
            let value = JSONValue.object(object)
            let bytes = random.once(in: 2) ? value.encoded() : random.text(of: value)
            let document = try JSONDocument(parsing: bytes)
            var keys = document.keys + ["a", "b\"", "\\", random.string(), ""]
            var (set, unset): ([(key: String, value: [UInt8])], [String]) = ([], [])
            for _ in 0..<random.below(most) {
                let key = random.pick(keys)
                keys.append(random.string())
                switch random.below(4) {
                case 0: unset.append(key)
                case 1: set.append((key, document.rawValue(key).map(Array.init) ?? [0x31]))
                default: set.append((key, try random.value(depth: 2).encoded()))
                }
            }
            let expected = Self.expected(document, set, unset)
            let comment: Comment = "seed \(seed), round \(round)"
            #expect(document.applying(set: set, unset: unset) == expected, comment)
            #expect(JSON.applying(set: set, unset: unset, to: bytes) == expected, comment)
        }
    }

    /// What changing members means, said member by member.
    private static func expected(
        _ document: JSONDocument, _ set: [(key: String, value: [UInt8])], _ unset: [String]
    ) -> [UInt8] {
        var news: [ExactString: [UInt8]] = [:]
        for (key, value) in set { news[ExactString(key)] = value }
        let gone = Set(unset.map(ExactString.init)).subtracting(news.keys)
        var members: [(key: [UInt8], value: [UInt8])] = []
        var isChanged = false
        for member in document.members where !gone.contains(ExactString(member.key)) {
            let old = Array(document.bytes[member.valueRange])
            let new = news.removeValue(forKey: ExactString(member.key)) ?? old
            isChanged = isChanged || new != old
            members.append((Array(document.bytes[member.keyRange]), new))
        }
        isChanged = isChanged || members.count != document.members.count
        for (key, _) in set {
            guard let value = news.removeValue(forKey: ExactString(key)) else { continue }
            isChanged = true
            members.append((JSONValue.string(key).encoded(), value))
        }
        guard isChanged else { return document.bytes }
        var bytes: [UInt8] = []
        for (key, value) in members {
            bytes.append(bytes.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
            bytes += key
            bytes.append(UInt8(ascii: ":"))
            bytes += value
        }
        return (bytes.isEmpty ? [UInt8(ascii: "{")] : bytes) + [UInt8(ascii: "}")]
    }

    @Test(arguments: [0x5C1_0003] as [UInt64])
    func `damaged bytes are survived`(seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        for _ in 0..<5000 {
            let text = random.damaged(random.text(of: ["a": try random.value(), "b": []]))
            let found = JSON.members([[0x61], [0x62]], of: text[...])
            #expect(found.count == 2)
            _ = JSON.applying(set: [("a", [0x31])], unset: ["b"], to: text)
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
