// ZstdTests.swift — what is compressed comes back; what is no frame of ours is refused by name.

import TestSupport
import Testing
import TidemarkStore

@Suite struct `zstd` {
    /// Bytes that compress, all but the first in every eight.
    private func sample(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SplitMix64(seed: seed)
        return (0..<count).map { $0 % 8 == 0 ? UInt8(random.below(256)) : UInt8($0 % 100) }
    }

    @Test func `bytes come back as they were, at every size and level`() throws {
        for count in [0, 1, 2, 255, 256, 2_000, 131_071, 131_072, 131_073, 1 << 20, 9 << 20] {
            let content = sample(count, seed: 0x5EED_0401)
            for level in [1, 3, 9] as [Int32] where count < 1 << 20 || level == 3 {
                let frame = try Zstd.compress(content, level: level)

                #expect(try Zstd.decompress(frame, bytesMax: count) == content)
            }
        }
        var random = SplitMix64(seed: 0x5EED_0402)
        let noise = random.bytes(300_000)
        #expect(try Zstd.decompress(Zstd.compress(noise), bytesMax: 300_000) == noise)
    }

    @Test func `the same bytes give the same frame, with size and checksum`() throws {
        let content = sample(100_000, seed: 0x5EED_0403)

        let frame = try Zstd.compress(content)

        #expect(try Zstd.compress(content) == frame)
        #expect(frame.count < content.count / 2)
        #expect(Array(frame.prefix(4)) == HandMadeFrame.magic)
        #expect(frame[4] & 0b100 != 0, "no checksum")
        #expect(frame[4] >> 6 == 2, "no size of four bytes")
    }

    @Test func `content over the bound is refused, and at the bound taken`() throws {
        let frame = try Zstd.compress([UInt8](repeating: 7, count: 5_000))

        #expect(try Zstd.decompress(frame, bytesMax: 5_000).count == 5_000)
        #expect(refusal(frame, bytesMax: 4_999) == .tooLarge)
        #expect(refusal(frame, bytesMax: 0) == .tooLarge)
        #expect(refusal(frame, bytesMax: -1) == .tooLarge)
    }

    @Test func `no bytes, other bytes and skippable frames are no frame`() throws {
        let frame = try Zstd.compress([1, 2, 3])
        let skippable: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 2, 0, 0, 0, 9, 9]

        #expect(refusal([]) == .empty)
        #expect(refusal([1, 2, 3, 4, 5, 6, 7, 8, 9]) == .notAFrame)
        #expect(refusal(skippable) == .notAFrame)
        #expect(refusal(skippable + frame) == .notAFrame)
        #expect(refusal(frame + skippable) == .trailingBytes)
        #expect(refusal(frame + frame) == .trailingBytes)
        #expect(refusal(frame + [0]) == .trailingBytes)
    }

    @Test func `a frame cut short anywhere is refused`() throws {
        for content in [sample(700, seed: 0x5EED_0404), [], [5]] {
            let frame = try Zstd.compress(content)
            for count in 1..<frame.count {
                #expect(refusal(Array(frame.prefix(count))) == .truncated, "\(count) bytes")
            }
        }
    }

    @Test func `a flipped bit anywhere is refused, or changes nothing`() throws {
        let content = sample(3_000, seed: 0x5EED_0405)
        let frame = try Zstd.compress(content)
        var harmless = 0
        for index in frame.indices {
            for bit in 0..<8 {
                var changed = frame
                changed[index] ^= 1 << UInt8(bit)
                if let read = try? Zstd.decompress(changed, bytesMax: 1 << 20) {
                    harmless += 1
                    #expect(read == content, "bit \(bit) of byte \(index)")
                }
            }
        }
        // The header has a bit without a meaning, and some streams are padded.
        #expect(harmless * 100 < frame.count * 8)
    }

    @Test func `a dictionary that nobody has is named`() {
        let frame = HandMadeFrame(size: 9, dictionary: 0xD1C7, blocks: [9]).bytes

        #expect(throws: ZstdError(.unknownDictionary, "there is no dictionary 53703")) {
            try Zstd.decompress(frame, bytesMax: 9)
        }
    }

    @Test func `a size that is missing or not the content's is refused`() throws {
        let right = HandMadeFrame(size: 9, blocks: [9]).bytes

        #expect(try Zstd.decompress(right, bytesMax: 9) == [UInt8](repeating: 0, count: 9))
        #expect(refusal(HandMadeFrame(size: nil, blocks: [9]).bytes) == .unknownSize)
        #expect(refusal(HandMadeFrame(size: 8, blocks: [9]).bytes) == .damaged)
        #expect(refusal(HandMadeFrame(size: 10, blocks: [9]).bytes) == .damaged)
        #expect(refusal(HandMadeFrame(size: .max - 2, blocks: [9]).bytes) == .tooLarge)
        #expect(
            refusal(HandMadeFrame(size: .max - 2, blocks: [9]).bytes, bytesMax: .max) == .tooLarge)
        #expect(
            refusal(HandMadeFrame(size: 1 << 62, blocks: [9]).bytes, bytesMax: .max) == .damaged)
    }

    @Test(arguments: [24, 30, 31])
    func `a window over 8 MiB is refused`(_ windowLog: Int) throws {
        let wide = HandMadeFrame(size: 9, windowLog: windowLog, blocks: [9])
        let widest = HandMadeFrame(size: 9, windowLog: 23, blocks: [9])

        #expect(refusal(wide.bytes) == .windowTooLarge)
        #expect(refusal(widest.bytes) == nil)
    }

    @Test(.enabled(if: ProcessMemory.now != nil))
    func `a gibibyte of zeros in 32 KiB is refused in little memory`() throws {
        let bombs: [(HandMadeFrame, ZstdError.Code)] = [
            (.bomb(size: 1 << 30), .tooLarge), (.bomb(size: 1_000), .damaged),
            (.bomb(size: nil), .unknownSize), (.bomb(size: 1_000, windowLog: 30), .windowTooLarge),
        ]
        ProcessMemory.forgetPeak()
        let before = try #require(ProcessMemory.now)

        for (bomb, code) in bombs {
            #expect(bomb.bytes.count < 33 << 10)
            #expect(refusal(bomb.bytes) == code)
        }

        let peak = try #require(ProcessMemory.peak)
        #expect(peak - before < 64 << 20, "\((peak - before) >> 20) MiB")
    }

    @Test(arguments: [0x5EED_0406] as [UInt64])
    func `whatever the bytes are, the answer is content or an error`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        let frames = try [0, 1, 40, 500].map { try Zstd.compress(sample($0, seed: seed)) }
        var counts: [ZstdError.Code: Int] = [:]
        for round in 0..<50_000 {
            var bytes = random.pick(frames)
            if round % 4 == 0 { bytes = HandMadeFrame.magic + random.bytes(random.below(30)) }
            for _ in 0...random.below(4) where !bytes.isEmpty {
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
            }
            if random.once(in: 3) { bytes.removeLast(random.below(bytes.count + 1)) }
            if random.once(in: 5) { bytes += random.bytes(random.below(9)) }
            if let code = refusal(bytes) { counts[code, default: 0] += 1 }
        }
        #expect(counts.count >= 6, "\(counts)")
    }
}
