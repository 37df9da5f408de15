// CapsuleFileTests.swift — a capsule as a file: what was written is read, by us and by others.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkStore
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

private enum Others {
    static let haveZstd = (try? Command.run("zstd", ["--version"]))?.code == 0
    static let haveProtoc = (try? Command.run("protoc", ["--version"]))?.code == 0
    static let schemas = Checkout.root.appending(path: "Schemas").path
}

@Suite struct `the file of a capsule` {
    @Test(arguments: [100_000, 60, 1])
    func `is read back as what was written`(_ last: Int) async throws {
        try await CapsuleWorld.with { world in
            var capsule = try world.capsule(last: last)
            capsule.provenance.note = "line one\nline two ✓"
            capsule.provenance.isRedacted = true
            capsule.provenance.redaction = "values: kept in length"
            capsule.provenance.isShrunk = true
            let bytes = try capsule.encoded

            #expect(try Capsule(parsing: bytes) == capsule)
            #expect(try Capsule(parsing: bytes).encoded == bytes)
            #expect(!capsule.commits.isEmpty)
            if last == 1 { #expect(capsule.commits.count == 1 && capsule.base.rows.count > 20) }
            if last == 100_000 { #expect(capsule.base.rows.isEmpty && !capsule.bodies.isEmpty) }
        }
    }

    @Test func `of nothing is read back`() throws {
        let empty = Capsule(
            provenance: Capsule.Provenance(build: "", last: .start, root: []), base: Capsule.Base(),
            commits: [])
        #expect(try Capsule(parsing: try empty.encoded) == empty)
    }

    @Test func `is written whole, in the place of what was there, for its owner alone`()
        async throws
    {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule()
            let path = scratchPath()
            try Data("something else".utf8).write(to: URL(filePath: path))
            try capsule.write(to: path)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)

            #expect(try Capsule(file: path) == capsule)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            try FileManager.default.removeItem(atPath: path)
            #expect(throws: StoreError.self) { try Capsule(file: path) }
        }
    }

    @Test func `is no link and no directory`() async throws {
        let folder = scratchPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let link = folder + "/link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: "/dev/zero")
        for path in [folder, link, "/dev/zero"] {
            #expect(throws: StoreError.self) { try Capsule(file: path) }
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test(.enabled(if: Others.haveZstd && Others.haveProtoc, "zstd or protoc is not installed"))
    func `zstd and protoc read it, and protoc writes the same bytes`() async throws {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule(last: 60)
            let unpacked = try Command.run(
                "zstd", ["-q", "-d", "-c"], input: Data(try capsule.encoded))
            #expect(unpacked.code == 0, "\(unpacked.complaints)")
            let text = try protoc("decode", [UInt8](unpacked.output))
            let again = try protoc("encode", text)

            #expect(again == [UInt8](unpacked.output))
            let words = String(decoding: text, as: UTF8.self)
            #expect(words.contains("kind: LOCAL_UPDATED"))
            #expect(words.components(separatedBy: "\n  events {").count - 1 >= 60)
            // A field without a name here would be shown by its number.
            #expect(words.firstMatch(of: try Regex(#"(?m)^ *\d+[: ]"#)) == nil)
        }
    }

    @Test func `is without the answers as they came where it would be too large with them`()
        async throws
    {
        try await CapsuleWorld.with { world in
            var capsule = try world.capsule(last: 60)
            #expect(!capsule.answers.isEmpty)
            #expect(try Capsule(parsing: try capsule.encoded) == capsule)
            var limits = CapsuleLimits()
            limits.contentBytesMax =
                try Zstd.decompress(
                    capsule.encoded, bytesMax: 1 << 24
                ).count - 1

            let least = try Capsule(parsing: try capsule.encoded(limits))

            capsule.answers = []
            #expect(least == capsule)
        }
    }

    private func protoc(_ action: String, _ input: [UInt8]) throws -> [UInt8] {
        let ended = try Command.run(
            "protoc",
            [
                "--\(action)=tidemark.v1.Capsule", "-I", Others.schemas,
                "tidemark/v1/capsule.proto",
            ], input: Data(input))
        #expect(ended.code == 0, "\(ended.complaints)")
        return [UInt8](ended.output)
    }

    @Test func `of several frames is read as one`() async throws {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule(last: 10)
            let content = try RawCapsule.content(try capsule.encoded)
            for size in [1, 7, 1_000] {
                var file: [UInt8] = []
                for start in stride(from: 0, to: content.count, by: size) {
                    file += try Zstd.compress(
                        Array(content[start..<min(start + size, content.count)]))
                }
                #expect(try Capsule(parsing: file) == capsule, "frames of \(size)")
            }
        }
    }

    @Test func `of a large store is in several frames`() throws {
        let commits = (1...40).map { number in
            var event = Event(.localCreated, recordedAt: Timestamp(rawValue: 1))
            event.payload = [UInt8](repeating: UInt8(number), count: 300_000)
            event.payloadType = .opaque
            return Capsule.Commit(
                entries: [Capsule.Entry(position: Position(UInt64(number)), event: event)],
                views: [])
        }
        let capsule = Capsule(
            provenance: Capsule.Provenance(build: "test", last: Position(40), root: []),
            base: Capsule.Base(), commits: commits)
        let bytes = try capsule.encoded
        let first = try Zstd.frame(in: bytes, at: 0)

        #expect(first.contentBytes == 4 << 20)
        #expect(first.range.count < bytes.count)
        #expect(try Capsule(parsing: bytes) == capsule)
    }

    @Test func `of a newer version with more to it is read as far as it is known`() async throws {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule(last: 10)
            var raw = try RawCapsule(capsule)
            raw.records.append((10, [1, 2, 3]))
            raw.records.append((10, []))
            #expect(try Capsule(parsing: try raw.file) == capsule)
        }
    }

    @Test func `is refused where it would not be read`() async throws {
        try await CapsuleWorld.with { world in
            let good = try world.capsule(last: 10)
            func refused(_ code: CapsuleError.Code, _ change: (inout Capsule) -> Void) {
                var capsule = good
                change(&capsule)
                #expect { try capsule.encoded } throws: { ($0 as? CapsuleError)?.code == code }
            }
            refused(.invalid) { $0.commits.reverse() }
            refused(.invalid) { $0.base.rows.reverse() }
            refused(.invalid) { $0.provenance.note = "\u{1B}[2J" }
            refused(.tooLarge) {
                $0.provenance.note = String(repeating: "a", count: 64 << 10 | 1)
            }
            var limits = CapsuleLimits()
            limits.eventsMax = 9
            #expect { try good.encoded(limits) } throws: {
                ($0 as? CapsuleError)?.code == .tooLarge
            }
            var bare = good
            bare.answers = []
            limits = CapsuleLimits()
            limits.contentBytesMax =
                try Zstd.decompress(bare.encoded, bytesMax: 1 << 24).count - 1
            #expect { try bare.encoded(limits) } throws: {
                ($0 as? CapsuleError)?.code == .tooLarge
            }
        }
    }

    @Test func `tells of a copy where the rows before the events are too many`() async throws {
        try await CapsuleWorld.with { world in
            let capsule = try world.capsule(last: 1)
            #expect(!capsule.base.rows.isEmpty)
            var limits = CapsuleLimits()
            limits.contentBytesMax = capsule.base.rows.reduce(0) {
                $0 + $1.key.bytes.count + $1.value.count
            }

            let error = #expect(throws: CapsuleError.self) { try capsule.encoded(limits) }

            #expect(error?.code == .rowsTooLarge)
            #expect(error?.description.contains("tidemark copy STORE") == true)
            #expect(error?.description.contains("nothing is redacted") == true)
            #expect(error?.description.contains("after much was deleted or wiped") == true)
            #expect(error?.description.contains("--last") == false)
            limits = CapsuleLimits()
            limits.rowsMax = capsule.base.rows.count - 1
            let tooMany = #expect(throws: CapsuleError.self) { try capsule.encoded(limits) }
            #expect(tooMany?.code == .rowsTooLarge)
        }
    }
}
