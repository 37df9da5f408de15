// NewcomerTests.swift — what "Getting started" tells a newcomer to do, done: a new package in an
// empty folder, which syncs with a real Kinto.
//
// The manifest is resolved as it stands, which finds each product that it names. The program is
// compiled and linked against what the build of these tests made: built from nothing, the library
// would be compiled a second time.

import Foundation
import TestSupport
import Testing

@Suite struct `a newcomer` {
    private static let environment = ProcessInfo.processInfo.environment
    private static let kinto = environment["TIDEMARK_KINTO"]
    private static let bin = environment["TIDEMARK_BIN"]

    private let article: Article

    init() throws { article = try Article(name: "GettingStarted") }

    @Test(
        .enabled(if: kinto != nil, "TIDEMARK_KINTO names no Kinto server"),
        .enabled(if: bin != nil, "TIDEMARK_BIN names no folder of built programs"))
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

        let graph = try await Command.running(
            "swift", ["package", "show-dependencies"], in: folder.path(percentEncoded: false))
        #expect(graph.code == 0, "\(graph.complaints)")
        try await compile("Sources/Hello/Hello.swift", in: folder)

        let hello = try await Command.running(
            "./Hello", in: folder.path(percentEncoded: false))
        #expect(hello.code == 0, "\(hello.text)\n\(hello.complaints)")
        #expect(hello.text == article.blocks.first { $0.lead.hasSuffix("It prints:") }?.text)
    }

    /// Makes the program `Hello`, with the modules and objects that are built: the README's example
    /// is linked from the same products.
    private func compile(_ source: String, in folder: URL) async throws {
        let bin = try #require(Self.bin)
        let objects = try String(
            contentsOfFile: "\(bin)/readme-example.product/Objects.LinkFileList", encoding: .utf8
        ).split(separator: "\n").filter { !$0.contains("/readme_example.build/") }
        #expect(objects.contains { $0.contains("/TidemarkHTTP.build/") })
        try Data(objects.joined(separator: "\n").utf8).write(to: folder.appending(path: "objects"))

        let modules =
            ["\(bin)/Modules"]
            + ["CLMDB", "CZstd", "CTidemarkSHA256/include"].map {
                Project.root.appending(path: "Sources/\($0)").path
            }
        let compiled = try await Command.running(
            "swiftc",
            ["-swift-version", "6", "-parse-as-library", "-module-name", "Hello", source]
                + ["@objects", "-o", "Hello", "-L", bin, "-llmdb", "-lzstd", "-lstdc++"]
                + modules.flatMap { ["-I", $0] },
            in: folder.path(percentEncoded: false))
        try #require(compiled.code == 0, "\(compiled.text)\n\(compiled.complaints)")
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
