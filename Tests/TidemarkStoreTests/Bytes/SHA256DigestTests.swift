// SHA256DigestTests.swift — SHA-256 by the processor, beside published examples and the library.

import Testing

@testable import TidemarkStore

@Suite struct `SHA-256` {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func `of the examples of FIPS 180 is what they say`(_ message: String, _ digest: String) {
        let bytes = Array(message.utf8)
        #expect(hexadecimal(SHA256Digest.of(bytes)) == digest)
        var two: [UInt8] = []
        SHA256Digest.append(bytes.span, bytes.span, to: &two)
        #expect(hexadecimal(two) == digest + digest)
    }

    @Test func `of a message of any length is the library's`() {
        for count in Array(0...400) + [4_095, 4_096, 4_097, 70_000] {
            let bytes = message(count)
            #expect(SHA256Digest.of(bytes) == byLibrary(bytes), "\(count) bytes")
        }
    }

    @Test func `of two messages of any lengths are those of each`() {
        // Up to three blocks each, and what goes to the library.
        let counts = Array(0...135) + [4_095, 4_096]
        let messages = counts.map { message($0) }
        let digests = messages.map { byLibrary($0) }
        for (first, firstDigest) in zip(messages, digests) {
            var wrong: [Int] = []
            for (second, secondDigest) in zip(messages, digests) {
                var output: [UInt8] = [1]
                SHA256Digest.append(first.span, second.span, to: &output)
                if output != [1] + firstDigest + secondDigest { wrong.append(second.count) }
            }
            #expect(wrong == [], "\(first.count) bytes beside these")
        }
    }

    @Test(arguments: [2, 4, 6, 10, 64])
    func `of two hashes each are in their order`(_ count: Int) {
        let hashes = (0..<count).map { SHA256Digest.of([UInt8($0)]) }
        let expected = stride(from: 0, to: count, by: 2).map {
            byLibrary([7] + hashes[$0] + hashes[$0 + 1])
        }
        let all = hashes.flatMap(\.self)
        let joined = SHA256Digest.joined(all.span, after: 7)
        #expect(joined == expected.flatMap(\.self))

        var last = all
        SHA256Digest.joinLast(of: &last, after: 7)
        #expect(last == hashes.dropLast(2).flatMap(\.self) + (expected.last ?? []))
    }

    private func message(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 131 &+ $0 >> 8 &* 7 &+ count) }
    }

    private func byLibrary(_ bytes: [UInt8]) -> [UInt8] {
        var digest: [UInt8] = []
        SHA256Digest.appendByLibrary(bytes.span, to: &digest)
        return digest
    }

    private func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
