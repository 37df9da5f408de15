// OwnToolTests.swift — a tool that an app makes: it knows the app's adapter beside the library's.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkTesting

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing))
struct `a tool with an adapter of the app` {
    private let folder = FileManager.default.temporaryDirectory.appending(
        path: "tidemark-own-\(UUID().uuidString)")

    /// Runs the app's tool in a folder with a model that names an adapter.
    private func tool(
        _ arguments: [String], adapter: String, origin: String = "http://mine.test"
    ) async throws -> Command {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let model =
            #"{"name":"own","collections":[{"name":"tasks","lastChangeField":"last_modified"}],"#
            + #""remote":{"origin":"\#(origin)","adapter":"\#(adapter)"}}"#
        try Data(model.utf8).write(to: folder.appending(path: "model.json"))
        let path = try #require(SyncTool.path)
        let own = URL(filePath: path).deletingLastPathComponent().appending(path: "own-tool")
        return try await Command.running(
            own.path(percentEncoded: false), arguments,
            environment: ["TIDEMARK_CREDENTIALS": "me:secret"],
            in: folder.path(percentEncoded: false))
    }

    @Test func `makes a store, syncs and replays by it`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = KintoServer(
            bucket: "mine", model: SyncModel(name: "own", collections: [CollectionModel("tasks")]))
        server.put("tasks/a", #"{"title":"theirs"}"#)
        let loopback = try await LoopbackServer.start(server)
        for (arguments, words) in [
            (["init", "store", "--model", "model.json"], "made store"),
            (["sync", "store"], "1 pulled"),
            (["capsule", "store", "-o", "bug.capsule"], ""),
            (["replay", "bug.capsule"], "decided 1 sync run"),
            (["capsule", "store", "-o", "safe.capsule", "--redact"], ""),
        ] {
            let ended = try await tool(arguments, adapter: "mine", origin: loopback.origin)
            #expect(
                ended.code == 0 && (words.isEmpty || ended.text.contains(words)),
                "\(arguments): \(ended.text) \(ended.complaints)")
            #expect(!ended.complaints.contains("not known"), "\(ended.complaints)")
        }
        await loopback.stop()
    }

    @Test func `names it beside the others where a model has none of them`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let ended = try await tool(["init", "store", "--model", "model.json"], adapter: "yours")
        #expect(ended.code == 2)
        #expect(
            ended.complaints.contains(
                #""yours" is not known; "kinto", "caldav", "carddav", "webdav", "toggl", "#
                    + #""dhis2", "mine" are"#
            ))
    }
}
