// NameTests.swift — which names can be used, and that keys sort as their bytes do.

import TestSupport
import Testing
import TidemarkEvents

@Suite struct `names` {
    @Test func `a collection has one to a hundred bytes`() {
        #expect(CollectionName("t").isValid)
        #expect(CollectionName(String(repeating: "t", count: 100)).isValid)
        #expect(CollectionName(String(repeating: "é", count: 50)).isValid)

        #expect(!CollectionName("").isValid)
        #expect(!CollectionName(String(repeating: "t", count: 101)).isValid)
        #expect(!CollectionName(String(repeating: "é", count: 51)).isValid)
    }

    @Test(arguments: ["a/b", "/", "a\u{0}", "a\n", "\u{1F}", "a\u{7F}"])
    func `a collection has neither slashes nor control characters`(_ name: String) {
        #expect(!CollectionName(name).isValid)
        #expect(!EntityKey(CollectionName(name), "1").isValid)
    }

    @Test func `an id has one to four hundred bytes`() {
        #expect(EntityKey("t", "1").isValid)
        #expect(EntityKey("t", String(repeating: "x", count: 400)).isValid)

        #expect(!EntityKey("t", "").isValid)
        #expect(!EntityKey("t", String(repeating: "x", count: 401)).isValid)
        #expect(!EntityKey("t", "a\u{0}b").isValid)
        #expect(!EntityKey("t", "a\tb").isValid)
    }

    @Test func `the longest key that is valid fits the store`() {
        let key = EntityKey(
            CollectionName(String(repeating: "c", count: CollectionName.bytesMax)),
            String(repeating: "i", count: EntityKey.idBytesMax))

        #expect(key.isValid)
        // A binding's key has one byte more in front.
        #expect(key.bytes.count + 1 <= 511)
    }
}

@Suite struct `entity keys` {
    @Test func `an id may hold slashes, a collection ends at the first`() {
        let key = EntityKey("files/a/b/c")

        #expect(key == EntityKey("files", "a/b/c"))
        #expect(key?.description == "files/a/b/c")
        #expect(EntityKey("files//") == EntityKey("files", "/"))
    }

    @Test(arguments: ["", "files", "files/", "/1", "/", "files/a\nb"])
    func `a text without both parts is no key`(_ text: String) {
        #expect(EntityKey(text) == nil)
    }

    @Test func `bytes read back to the same key`() {
        for key in [
            EntityKey("t", "1"), EntityKey("t", "a/b"), EntityKey("é", "e\u{301}😀"),
            EntityKey("t", "a\u{0}b"),
        ] {
            #expect(EntityKey(bytes: key.bytes) == key)
        }
        #expect(EntityKey("t", "1").bytes == Array("t".utf8) + [0] + Array("1".utf8))
        #expect(EntityKey(bytes: Array("nothing".utf8)) == nil)
        #expect(EntityKey(bytes: [0x74, 0, 0xFF]) == nil)
        #expect(EntityKey(bytes: [0xFF, 0, 0x31]) == nil)
    }

    @Test func `keys of one collection begin alike, and no other key does`() {
        let prefix = EntityKey.prefix(of: "task")

        #expect(EntityKey("task", "s/1").bytes.starts(with: prefix))
        #expect(!EntityKey("tasks", "1").bytes.starts(with: prefix))
    }

    @Test func `composed and decomposed letters name different entities`() {
        let composed = EntityKey("caf\u{E9}", "\u{E9}")
        let decomposed = EntityKey("caf\u{E9}", "e\u{301}")

        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(CollectionName("\u{E9}") != CollectionName("e\u{301}"))
    }

    @Test(arguments: [0x5EED_0101] as [UInt64])
    func `the order of the bytes is the order of the keys`(_ seed: UInt64) {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let pieces = ["a", "b", "ab", " ", "!", "~", "é", "e\u{301}", "z", "😀", "\u{10FFFF}"]
        func name() -> String {
            (0...random.below(3)).map { _ in random.pick(pieces) }.joined()
        }
        for _ in 0..<5_000 {
            let left = EntityKey(CollectionName(name()), name() + random.pick(["", "/", "/x"]))
            let right = EntityKey(
                random.below(2) == 0 ? left.collection : CollectionName(name()), name())

            #expect(
                (left < right) == left.bytes.lexicographicallyPrecedes(right.bytes),
                "seed \(seed): \(left) and \(right)")
            #expect((left == right) == (left.bytes == right.bytes), "seed \(seed)")
        }
    }

    @Test func `a version is its bytes, whatever they are`() {
        #expect(Revision("\"1\"").rawValue == [0x22, 0x31, 0x22])
        #expect(Revision("\"1\"") != Revision("1"))
        #expect(Revision(rawValue: [0xFF]).description == "\u{FFFD}")
    }
}
