// MemoryFileTests.swift — files that a server in memory takes, each under an address of its own.

import HTTPTypes
import Testing
import TidemarkSync
import TidemarkTesting

@Suite struct `files that a server in memory takes` {
    private static let place = "http://server.test/files"

    /// Sends a file; the path that the server tells of it.
    private func post(_ text: String, to files: InMemoryFiles) async throws -> String {
        let request = HTTPRequest(
            method: .post, scheme: "http", authority: "server.test", path: "/files")
        let answer = try await files.send(
            request, body: Array(text.utf8), limits: TransportLimits())
        return answer.response.headerFields[.location] ?? ""
    }

    @Test func `replace none that was put by hand, and get no address of one that was removed`()
        async throws
    {
        let files = InMemoryFiles(beside: ServerWorld().server)
        files.takeFiles(below: Self.place)
        files[Self.place + "/2"] = InMemoryFiles.File(Array("by hand".utf8))

        let first = try await post("first", to: files)
        let second = try await post("second", to: files)
        files[Self.place + "/4"] = nil
        let third = try await post("third", to: files)

        #expect([first, second, third] == ["/files/3", "/files/4", "/files/5"])
        #expect(files[Self.place + "/2"]?.bytes == Array("by hand".utf8))
        #expect(files[Self.place + "/3"]?.bytes == Array("first".utf8))
        #expect(files[Self.place + "/4"]?.bytes == nil)
        #expect(files[Self.place + "/5"]?.bytes == Array("third".utf8))
    }
}
