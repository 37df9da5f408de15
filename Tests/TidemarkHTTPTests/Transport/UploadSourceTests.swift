// UploadSourceTests.swift — from where a body is read by a client that takes files and memory only.

import Foundation
import Testing
import TidemarkHTTP
import TidemarkStore
import TidemarkSync

/// The numbers that somebody was told.
private final class Told: Sendable {
    private let counts = Lock<[Int]>([])

    var all: [Int] { counts.withLock { $0 } }

    func note(_ count: Int) { counts.withLock { $0.append(count) } }
}

@Suite struct `a body for a client without streams` {
    private let folder: ScratchFolder
    private let large = 3_000_000

    init() throws { folder = try ScratchFolder() }

    @Test func `is read from its file where it is all of it, and from memory where it is short`() {
        func source(_ body: TransportBody) -> UploadSource {
            UploadSource(of: body) { $0 == "/a" ? large : nil }
        }
        func framed(_ count: Int) -> TransportBody {
            .framed(before: [1], TransportFile("/a"), count: count, after: [2])
        }
        #expect(source(.file(TransportFile("/a"), count: large)) == .file("/a"))
        #expect(source(.file(TransportFile("/a"), count: large - 1)) == .copy)
        #expect(source(.file(TransportFile("/a", offset: 1), count: large - 1)) == .copy)
        #expect(source(.file(TransportFile("/b"), count: large)) == .copy)
        #expect(source(.file(TransportFile("/a"), count: 10)) == .memory)
        #expect(source(framed(large)) == .copy)
        #expect(source(framed((1 << 20) - 2)) == .memory)
        #expect(source(framed((1 << 20) - 1)) == .copy)
        #expect(source(.bytes([1, 2, 3])) == .memory)
    }

    @Test func `is copied with what stands around it, for as long as it is needed`() throws {
        let place = URL(filePath: folder.path)
        let content = numbered(large)
        let file = TransportFile(try folder.file(content), offset: 5)
        let body = TransportBody.framed(
            before: [1, 2], file, count: large - 5, after: [3, 4, 5])
        let part = try #require(try body.part())
        let whole: [UInt8] = [1, 2] + Array(content[5...]) + [3, 4, 5]
        do {
            let copy = try UploadCopy(part, in: place)
            defer { withExtendedLifetime(copy) {} }
            let path = copy.url.path(percentEncoded: false)
            let copied = try bytes(of: path)
            #expect(copied == whole)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }

    @Test func `is told of as it is sent, without what stands around it, and not as it is copied`()
        throws
    {
        let told = Told()
        let file = TransportFile(try folder.file(numbered(10)))
        let body = TransportBody.framed(before: [1, 2], file, count: 10, after: [3])
        var part = try #require(try body.part())
        part.onRead = { told.note($0) }
        _ = try UploadCopy(part, in: URL(filePath: folder.path))
        #expect(told.all.isEmpty)

        for sent in [1, 2, 7, 12, 13] { part.onSent?(sent) }
        #expect(told.all == [0, 0, 5, 10, 10])
    }

    @Test func `that became shorter meanwhile is an error, and leaves no copy`() throws {
        let path = try folder.file(numbered(large))
        let body = TransportBody.file(TransportFile(path, offset: 1), count: large - 1)
        let part = try #require(try body.part())
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.truncate(atOffset: UInt64(large / 2))
        try file.close()

        let error = #expect(throws: TransportError.self) {
            _ = try UploadCopy(part, in: URL(filePath: folder.path))
        }
        #expect(error?.code == .file)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
    }
}
