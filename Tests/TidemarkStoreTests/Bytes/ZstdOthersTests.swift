// ZstdOthersTests.swift — other users of zstd read our frames, and we read theirs.

import Foundation
import TestSupport
import Testing
import TidemarkStore

private enum Others {
    static let python = ProcessInfo.processInfo.environment["TIDEMARK_PYTHON"] ?? "python3"
    static let havePython = (try? Command.run(python, ["-c", "import zstandard"]))?.code == 0
    static let haveTool = (try? Command.run("zstd", ["--version"]))?.code == 0
}

@Suite struct `zstd of others` {
    private static let contents: [[UInt8]] = {
        var random = SplitMix64(seed: 0x5EED_0407)
        return [0, 1, 100, 2_001, 70_000, 3 << 20].map { count in
            (0..<count).map { $0 % 16 == 0 ? UInt8(random.below(256)) : UInt8($0 % 50) }
        }
    }()

    /// Runs a script that finds `zstandard` imported, and the input in `data`.
    private func python(_ script: String, _ input: [UInt8]) throws -> [UInt8] {
        let opening = "import sys, zstandard\ndata = sys.stdin.buffer.read()\n"
        let ended = try Command.run(Others.python, ["-c", opening + script], input: Data(input))
        #expect(ended.code == 0, "\(ended.complaints)")
        return [UInt8](ended.output)
    }

    private func tool(_ arguments: String..., input: [UInt8]) throws -> [UInt8] {
        let ended = try Command.run("zstd", ["-q"] + arguments, input: Data(input))
        #expect(ended.code == 0, "\(ended.complaints)")
        return [UInt8](ended.output)
    }

    @Test(.enabled(if: Others.havePython, "the Python package zstandard is missing"))
    func `Python reads what we write, and we read what Python writes`() throws {
        for content in Self.contents {
            let read = try python(
                """
                size = zstandard.get_frame_parameters(data)
                assert size.has_checksum and size.dict_id == 0
                content = zstandard.ZstdDecompressor().decompress(data, allow_extra_data=False)
                assert size.content_size == len(content)
                sys.stdout.buffer.write(content)
                """, try Zstd.compress(content))
            let written = try python(
                """
                made = zstandard.ZstdCompressor(level=7, write_checksum=True).compress(data)
                sys.stdout.buffer.write(made)
                """, content)

            #expect(read == content)
            #expect(try Zstd.decompress(written, bytesMax: content.count) == content)
        }
    }

    @Test(.enabled(if: Others.havePython, "the Python package zstandard is missing"))
    func `a frame that Python made with a dictionary, or in a stream, is refused by name`() throws {
        let content = [UInt8](repeating: 1, count: 500)
        let dictionary = try python(
            """
            samples = [f'{{"id":"{n}","title":"tea {n % 9}"}}'.encode() for n in range(2000)]
            trained = zstandard.train_dictionary(4000, samples, dict_id=1234)
            sys.stdout.buffer.write(zstandard.ZstdCompressor(dict_data=trained).compress(data))
            """, content)
        let streamed = try python(
            """
            stream = zstandard.ZstdCompressor().compressobj()
            sys.stdout.buffer.write(stream.compress(data) + stream.flush())
            """, content)

        #expect(throws: ZstdError(.unknownDictionary, "there is no dictionary 1234")) {
            try Zstd.decompress(dictionary, bytesMax: 500)
        }
        #expect(refusal(streamed) == .unknownSize)
    }

    @Test(.enabled(if: Others.haveTool, "zstd is not installed"))
    func `the zstd tool reads what we write, and its widest window is refused`() throws {
        for content in Self.contents {
            #expect(try tool("-d", "-c", input: Zstd.compress(content)) == content)
        }
        let content = [UInt8](repeating: 3, count: 20 << 20)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "zstd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "content").path
        try Data(content).write(to: URL(filePath: file))

        let usual = try tool("-c", file, input: [])
        let wide = try tool("--ultra", "--long=30", "-c", file, input: [])

        #expect(try Zstd.decompress(usual, bytesMax: content.count) == content)
        #expect(refusal(wide, bytesMax: content.count) == .windowTooLarge)
    }
}
