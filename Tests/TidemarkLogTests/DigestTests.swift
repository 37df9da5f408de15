// DigestTests.swift — SHA-256 where the bytes lie is SHA-256.

import Crypto
import TestSupport
import Testing
import TidemarkStore

@Suite struct `SHA-256` {
    @Test func `of random bytes is what swift-crypto says of the same`() {
        let seed: UInt64 = 0x5EED_0311
        var random = SplitMix64(seed: seed)
        for count in Array(0...200) + [1000, 4096, 65_537] {
            let bytes = random.bytes(count)
            let expected = Array(SHA256.hash(data: bytes))
            var output: [UInt8] = [7]
            TidemarkStore.SHA256Digest.append(bytes.span, to: &output)

            let ofArray = TidemarkStore.SHA256Digest.of(bytes)
            let ofSpan = TidemarkStore.SHA256Digest.of(bytes.span)

            #expect(ofArray == expected, "\(count) bytes, seed \(seed)")
            #expect(ofSpan == expected, "\(count) bytes, seed \(seed)")
            #expect(output.first == 7)
            #expect(Array(output.dropFirst()) == expected, "\(count) bytes, seed \(seed)")
            #expect(expected.count == TidemarkStore.SHA256Digest.byteCount)
        }
    }

    @Test func `of nothing and of "abc" is what FIPS 180-4 says`() {
        let (ofNothing, ofABC) = (
            TidemarkStore.SHA256Digest.of([]), TidemarkStore.SHA256Digest.of(Array("abc".utf8))
        )

        #expect(
            hexadecimal(ofNothing)
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(
            hexadecimal(ofABC)
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
}
