// CheckpointTests.swift — the text of a checkpoint, and what is no such text.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog

@Suite struct `a checkpoint` {
    private let checkpoint = LogCheckpoint(
        origin: "tidemark/phone", size: 1234, root: (0..<32).map { UInt8($0) })
    private let text = """
        tidemark/phone
        1234
        AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=


        """

    @Test func `is three lines and an empty one`() throws {
        #expect(checkpoint.text == text)
        #expect(try LogCheckpoint(parsing: Array(text.utf8)) == checkpoint)
    }

    @Test func `may be signed`() throws {
        let signed = text + "— tidemark/phone Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe\n"
        #expect(try LogCheckpoint(parsing: Array(signed.utf8)) == checkpoint)
    }

    @Test(arguments: [
        "", "\n\n\n\n", "tidemark/phone\n1234\n", "x\n1\n",
        // A size that is not written the one way there is.
        "o\n01\nR\n\n", "o\n+1\nR\n\n", "o\n-1\nR\n\n", "o\n \nR\n\n", "o\n1 \nR\n\n",
        "o\n1_0\nR\n\n",
        "o\n18446744073709551616\nR\n\n", "o\n0x1\nR\n\n", "o\n١\nR\n\n",
        // A root that is.
        "o\n1\n\n\n", "o\n1\nAAAA\n\n", "o\n1\nR=\n\n", "o\n1\n R\n\n", "o\n1\nr-\n\n",
        "o\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=\n\n",
        "o\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8\n\n",
        // No origin, further lines, no signature, no end of line.
        "\n1\nR\n\n", "a b\n1\nR\n\n", "o\n1\nR\nextension\n\n", "o\n1\nR\n\nsigned by me\n",
        "o\n1\nR\n\n— x", "o\r\n1\r\nR\r\n\r\n",
    ])
    func `is refused in any other form`(_ text: String) {
        let root = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let bytes = Array(text.replacing("R", with: root).utf8)
        #expect(throws: LogCheckpoint.Mistake.self) { try LogCheckpoint(parsing: bytes) }
    }

    @Test func `of whatever bytes is read as it would be written, or refused`() {
        var random = SplitMix64(seed: 0x5EED_0C00)
        var read = 0
        for _ in 0..<50_000 {
            var bytes = random.once(in: 4) ? random.bytes(random.below(120)) : Array(text.utf8)
            for _ in 0..<random.below(4) where !bytes.isEmpty {
                let place = random.below(bytes.count)
                switch random.below(4) {
                case 0: bytes[place] ^= 1 << UInt8(random.below(8))
                case 1: bytes.remove(at: place)
                case 2: bytes.insert(UInt8(random.below(256)), at: place)
                default: bytes.removeSubrange(place...)
                }
            }
            guard let checkpoint = try? LogCheckpoint(parsing: bytes) else { continue }
            read += 1
            let written = Array(checkpoint.text.utf8)
            #expect(bytes.starts(with: written), "\(bytes)")
        }
        #expect(read > 5000 && read < 30_000, "\(read)")
    }

    @Test func `base64 is read as it is written, and in no other way`() {
        var random = SplitMix64(seed: 0x5EED_0C01)
        for count in 0..<200 {
            let bytes = random.bytes(count)
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        for text in ["A", "AA", "AA=", "AAA", "A===", "AB==", "AAE=AAE=", "AA==\n", "AA=A", "é==="]
        {
            #expect(Base64.decode(text) == nil, "\(text)")
        }
    }
}
