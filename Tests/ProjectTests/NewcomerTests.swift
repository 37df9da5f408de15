// NewcomerTests.swift — what "Getting started" tells a newcomer to do, done: a new package in an
// empty folder, which syncs with a real Kinto.

import Foundation
import TestSupport
import Testing

@Suite struct `a newcomer` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kinto = environment["TIDEMARK_KINTO"]

    private let article: Article

    init() throws { article = try Article(name: "GettingStarted") }

    // Without a limit of time: all of it is built anew, which takes what the machine takes, and
    // what is built ends by itself.
    @Test(.enabled(if: kinto != nil, "TIDEMARK_KINTO names no Kinto server"))
    func `gets from an empty folder to two devices that sync`() async throws {
        let kinto = try #require(Self.kinto)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-newcomer-\(UUID().uuidString)/hello")
        defer { try? FileManager.default.removeItem(at: folder.deletingLastPathComponent()) }
        let bucket = "newcomer-\(UUID().uuidString.lowercased())"
        try await makeBucket(bucket, at: kinto)

        let files = article.blocks.filter { $0.file != nil }
        #expect(files.map(\.file) == ["Package.swift", "Sources/Hello/Hello.swift"])
        for block in files {
            // Where the server is differs from the article, and nothing else.
            let text = block.text
                .replacing("http://127.0.0.1:8888", with: kinto.replacing("/v1", with: ""))
                .replacing(#"bucket: "todo""#, with: #"bucket: "\#(bucket)""#)
            let file = folder.appending(path: block.file ?? "")
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }

        try FileManager.default.createSymbolicLink(
            at: folder.deletingLastPathComponent().appending(path: "tidemark"),
            withDestinationURL: Project.root)

        let hello = try await Command.running(
            "swift", ["run", "--quiet"], environment: ["TIDEMARK_BIN": ""],
            in: folder.path(percentEncoded: false))

        #expect(hello.code == 0, "\(hello.text)\n\(hello.complaints)")
        #expect(hello.text == article.blocks.first { $0.lead.hasSuffix("It prints:") }?.text)
    }

    private func makeBucket(_ bucket: String, at kinto: String) async throws {
        for path in ["/buckets/\(bucket)", "/buckets/\(bucket)/collections/tasks"] {
            let answer = try await Command.running(
                "curl",
                ["-s", "-o", "/dev/null", "-w", "%{http_code}", "-u", "me:secret", "-X", "PUT"]
                    + [kinto + path])
            #expect(answer.text == "201")
        }
    }
}
