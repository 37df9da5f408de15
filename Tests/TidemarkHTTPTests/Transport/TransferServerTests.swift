// TransferServerTests.swift — files to and from nginx: whole, by ranges, redirected, and large.

import Foundation
import HTTPTypes
import Testing
import TidemarkHTTP
import TidemarkSync

@Suite(.enabled(if: Nginx.isPossible, Comment(rawValue: Nginx.reason)))
struct `transfers with nginx` {
    let transport = TestedTransport()
    let content = numbered(3_000_017)

    /// Runs `body` with the content on the server as `/file`, and a folder of the test's own.
    private func withContent(_ body: (Nginx, ScratchFolder) async throws -> Void) async throws {
        try await withNginx { server in
            try Data(content).write(to: URL(filePath: server.path("file")))
            try await body(server, try ScratchFolder())
        }
    }

    @Test func `a whole file arrives in the file, which ends where it ends`() async throws {
        try await withContent { server, folder in
            let target = try folder.file([UInt8](repeating: 1, count: content.count + 9))

            let answer = try await transport.transfer(server.request("/file"), into: target)

            #expect(answer.response.status == .ok)
            #expect(answer.written == content.count)
            #expect(answer.body.isEmpty)
            let now = try bytes(of: target)
            #expect(now == content)
        }
    }

    @Test func `a file is put together from ranges of one version`() async throws {
        try await withContent { server, folder in
            let target = try folder.file([])
            let head = try await transport.send(server.request(.head, "/file"))
            let version = try #require(head.response.headerFields[.eTag])
            for start in stride(from: 0, to: content.count, by: 1_000_000) {
                let fields: HTTPFields = [
                    .range: "bytes=\(start)-\(start + 999_999)", .ifMatch: version,
                ]
                let answer = try await transport.transfer(
                    server.request("/file", fields), into: target, at: start)

                #expect(answer.response.status == .partialContent)
                #expect(answer.written == min(1_000_000, content.count - start))
            }

            let now = try bytes(of: target)
            #expect(now == content)
        }
    }

    @Test(arguments: [("bytes=5-9", "\"other\"", 412), ("bytes=3000017-", "*", 416)])
    func `an answer that is no content stays in memory, and the file as it was`(
        _ range: String, _ version: String, _ code: Int
    ) async throws {
        try await withContent { server, folder in
            let target = try folder.file([1, 2, 3, 4, 5, 6])
            let fields: HTTPFields = [.range: range, .ifMatch: version]

            let answer = try await transport.transfer(
                server.request("/file", fields), into: target, at: 5)

            #expect(answer.response.status.code == code)
            #expect(answer.written == nil)
            #expect(String(decoding: answer.body, as: UTF8.self).contains("\(code)"))
            let now = try bytes(of: target)
            #expect(now == [1, 2, 3, 4, 5, 6])
        }
    }

    @Test func `a server that ignores ranges overwrites nothing where a rest was asked for`()
        async throws
    {
        try await withContent { server, folder in
            let target = try folder.file([1, 2, 3, 4, 5, 6])
            let request = server.request("/whole/file", [.range: "bytes=5-9"])

            let answer = try await transport.transfer(request, into: target, at: 5)

            #expect(answer.response.status == .ok)
            #expect(answer.written == nil)
            let kept = try bytes(of: target)
            #expect(kept == [1, 2, 3, 4, 5, 6])

            #expect(try await transport.transfer(request, into: target).written == content.count)
            let isWhole = try bytes(of: target) == content
            #expect(isWhole)
        }
    }

    @Test func `a file of no bytes empties the file`() async throws {
        try await withContent { server, folder in
            let target = try folder.file([1, 2, 3])
            try Data().write(to: URL(filePath: server.path("empty")))

            let answer = try await transport.transfer(server.request("/empty"), into: target)

            #expect(answer.written == 0)
            let now = try bytes(of: target)
            #expect(now == [])
        }
    }

    @Test func `a redirect within the origin leads to the file`() async throws {
        try await withContent { server, folder in
            let target = try folder.file([1, 2, 3])

            let answer = try await transport.transfer(
                server.request("/same/file", [.range: "bytes=2-4"]), into: target, at: 2)

            #expect(answer.response.status == .partialContent)
            let now = try bytes(of: target)
            #expect(now == [1, 2] + content[2..<5])
        }
    }

    @Test(arguments: ["/other/", "/disk/"])
    func `a redirect elsewhere leaves the file as it was`(_ path: String) async throws {
        try await withContent { server, folder in
            let target = try folder.file([1, 2, 3])

            let error = await transport.transferFailure(server.request(path), into: target)

            #expect(error?.code == .redirectRefused)
            let now = try bytes(of: target)
            #expect(now == [1, 2, 3])
        }
    }

    @Test(arguments: [(0, 3_000_017), (1_234_567, 1_765_450), (5, 700_000), (3_000_017, 0)])
    func `a file is sent from any place to any place`(_ offset: Int, _ count: Int) async throws {
        try await withContent { server, folder in
            let source = TransportFile(try folder.file(content), offset: offset)

            let answer = try await transport.transfer(
                server.request(.put, "/sent"), body: .file(source, count: count))

            #expect(answer.response.status == .created)
            let sent = try bytes(of: server.path("sent"))
            #expect(sent == Array(content[offset..<(offset + count)]))
        }
    }

    #if os(Linux)
        // In a process of its own, because other tests use memory meanwhile.
        @Test func `a quarter of a gibibyte goes through little memory, in parts and at once`()
            async
        {
            await #expect(processExitsWith: .success) {
                try await withNginx { server in
                    let (size, part) = (256 << 20, 8 << 20)
                    let transport = TestedTransport()
                    let folder = try ScratchFolder()
                    let block = numbered(1 << 20)
                    let large = try FileHandle(
                        forWritingTo: URL(filePath: try folder.file([], "large")))
                    for _ in 0..<256 { try large.write(contentsOf: block) }
                    let source = TransportFile(folder.path + "/large")
                    let target = try folder.file([], "target")
                    _ = try await transport.transfer(server.request("/none"), into: target)
                    let memory = MemoryWatch()

                    _ = try await transport.transfer(
                        server.request(.put, "/large"), body: .file(source, count: size))
                    for start in stride(from: 0, to: size, by: part) {
                        let range = "bytes=\(start)-\(start + part - 1)"
                        let answer = try await transport.transfer(
                            server.request("/large", [.range: range]), into: target, at: start)
                        #expect(answer.written == part)
                    }
                    #expect(
                        FileManager.default.contentsEqual(atPath: source.path, andPath: target))
                    _ = try await transport.transfer(server.request("/large"), into: target)

                    #expect(
                        FileManager.default.contentsEqual(atPath: source.path, andPath: target))
                    #expect(memory.stop() < 48 << 20)
                }
            }
        }
    #endif
}

#if os(Linux)
    /// Looks at this process's private memory again and again, until it is stopped.
    private final class MemoryWatch: @unchecked Sendable {
        // @unchecked because: the variables are only touched while `lock` is held.
        private let lock = NSLock()
        private let idle = MemoryWatch.bytes
        private var largest = 0
        private var isStopped = false

        init() {
            Thread.detachNewThread { [self] in
                while !lock.withLock({ isStopped }) {
                    let bytes = Self.bytes
                    lock.withLock { largest = max(largest, bytes) }
                    RawSocket.wait(-1, milliseconds: 2)
                }
            }
        }

        /// How many bytes more than at the beginning there were at most.
        func stop() -> Int {
            lock.withLock {
                isStopped = true
                return max(largest, Self.bytes) - idle
            }
        }

        /// What is in memory and no file's.
        private static var bytes: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
            return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) << 10
        }
    }
#endif
