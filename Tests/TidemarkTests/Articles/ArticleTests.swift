// ArticleTests.swift — what the documentation's articles show of a terminal happens, on stores and
// a server of their own; and what they show of models is one.

import DocExamples
import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized) struct `the documentation's articles` {
    @Test(.enabled(if: SyncTool.isThere, SyncTool.missing), arguments: ArticleTranscript.names)
    func `print what the tool prints`(name: String) async throws {
        let transcript = try ArticleTranscript(name)
        guard !transcript.steps.isEmpty else { return }
        let server = KintoServer(now: Dependencies.live.now)
        server.request(.put, "/v1/buckets/todo")
        for collection in ["lists", "tasks"] {
            server.request(.put, "/v1/buckets/todo/collections/\(collection)")
        }
        let listener = try await Task(priority: .high) {
            try await LoopbackServer.start(server)
        }.value
        let folder = try SyncFolder()
        defer { folder.delete() }
        do {
            try Data(Self.model.utf8.map { $0 }).write(to: URL(filePath: folder / "model.json"))
            if !transcript.makesStore {
                try await perform(Self.usualStore, name, in: folder, origin: listener.origin)
            }
            for step in transcript.steps {
                try await perform(step, name, in: folder, origin: listener.origin)
            }
        } catch {
            await listener.stop()
            throw error
        }
        await listener.stop()
    }

    private static let origin = "http://127.0.0.1:8888"

    /// The model of each article that shows no other.
    private static let model = """
        {"name":"todo","collections":[{"name":"lists"},{"name":"tasks","conflict":"localWins",
        "references":{"list":"lists"}}],"remote":{"origin":"\(origin)","adapter":"kinto",
        "bucket":"todo"}}
        """

    /// The store of each article that does not say how it is made.
    private static let usualStore = ArticleTranscript.Step.command(
        "tidemark init todo.store --model model.json", prints: ["…"])

    private func perform(
        _ step: ArticleTranscript.Step, _ name: String, in folder: SyncFolder, origin: String
    ) async throws {
        switch step {
        case .file(let file, let text): try Data(text.utf8).write(to: URL(filePath: folder / file))
        case .command(let command, let shown):
            let tool = try #require(SyncTool.path)
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            try point(folder, at: origin)
            let ended = try await Command.running(
                "/bin/bash", ["-c", "{ \(command)\n} 2>&1"],
                environment: [
                    "PATH": "\(URL(filePath: tool).deletingLastPathComponent().path):\(path)",
                    Remote.usualCredentialsVariable: "me:secret",
                ], in: folder.path)
            var printed = ended.text.replacing(origin, with: Self.origin)
                .components(separatedBy: "\n")
            while printed.last == "" { printed.removeLast() }
            var shown = shown
            while shown.last == "" { shown.removeLast() }
            #expect(
                ArticleTranscript.fits(printed[...], shown[...]),
                "\(name): \(command)\n\(printed.joined(separator: "\n"))")
        }
    }

    /// Makes model files name the server of this test.
    private func point(_ folder: SyncFolder, at origin: String) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where file.hasSuffix(".json") {
            let url = URL(filePath: folder / file)
            let text = try String(contentsOf: url, encoding: .utf8)
            try Data(text.replacing(Self.origin, with: origin).utf8).write(to: url)
        }
    }

    @Test func `show only JSON that can be read, and models that hold`() throws {
        var models = 0
        for name in ArticleTranscript.names {
            for text in try ArticleTranscript(name).json {
                let bytes = Array(text.utf8)
                do {
                    let value = try JSONValue(parsing: bytes)
                    guard value["collections"] != nil else { continue }
                    _ = try ModelRegistration(parsing: bytes)
                    models += 1
                } catch { Issue.record("\(name): \(error): \(text)") }
            }
        }
        #expect(models >= 2)
    }

    @Test func `on the model say the same in JSON and in Swift`() throws {
        let blocks = try ArticleTranscript("TheModel").json
        let whole = try ModelRegistration(parsing: Array(try #require(blocks.first).utf8))
        #expect(try whole.withAdapterDefaults() == TheModel.whole().checked())

        let collections = blocks.dropFirst().prefix(TheModel.collections().count)
        for (text, wanted) in zip(collections, TheModel.collections()) {
            let model = #"{"collections":[{"name":"lists"},\#(text)]}"#
            let read = try ModelRegistration(parsing: Array(model.utf8))
            #expect(read.model[wanted.name] == wanted, "\(text)")
        }
        #expect(collections.count == TheModel.collections().count)

        let sync = #"{"collections":[{"name":"lists"}],"settings":\#(try #require(blocks.last))}"#
        let read = try ModelRegistration(parsing: Array(sync.utf8))
        #expect(read.model.settings == TheModel.settings())
    }

    @Test func `on queries show the plans that are made`() throws {
        let replica = try Replica.temporary(model: TheModel.whole().model)
        defer { try? replica.deleteTemporary() }
        let page = try ArticleTranscript.text("Queries")

        for plan in try Queries.plans(replica) { #expect(page.contains("\n\(plan)\n"), "\(plan)") }
    }

    @Test func `begin with what works`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let replica = try await GettingStarted.open(folder.path)
        let id = try await GettingStarted.write(replica)
        try await GettingStarted.change(replica, id)

        let titles = try GettingStarted.read(replica, id).map(\.title)
        #expect(titles == ["Buy green tea", "Buy green tea"])
        try await replica.close()
    }
}
