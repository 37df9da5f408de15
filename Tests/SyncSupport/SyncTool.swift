// SyncTool.swift — the built tool as a process, and a folder for its stores.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkTesting

/// The tool that was built beside the tests.
enum SyncTool {
    /// Where it is, if the environment says so.
    static let path = BuiltProgram.tidemark.path
    static let isThere = BuiltProgram.tidemark.isThere
    static let missing: Comment = "\(BuiltProgram.tidemark.missing)"

    struct Result: Sendable {
        var code: Int32
        var out: String
        var err: String

        var lines: [String] { out.split(separator: "\n").map(String.init) }
    }

    /// Runs the tool to its end.
    static func run(
        _ arguments: String..., input: String = "", environment: [String: String] = [:]
    ) async throws -> Result {
        try await start(try #require(path), arguments, input, environment)
    }

    /// Runs the tool with a list of arguments.
    static func run(
        _ arguments: [String], environment: [String: String] = [:]
    ) async throws -> Result {
        try await start(try #require(path), arguments, "", environment)
    }

    /// Runs a line of Bash, in which `$tidemark` is the tool.
    static func bash(_ line: String) async throws -> Result {
        try await start("/bin/bash", ["-c", line], "", ["tidemark": try #require(path)])
    }

    private static func start(
        _ executable: String, _ arguments: [String], _ input: String,
        _ environment: [String: String]
    ) async throws -> Result {
        let ended = try await Command.running(
            executable, arguments,
            environment: [Remote.usualCredentialsVariable: ""].merging(environment) { $1 },
            input: Data(input.utf8))
        return Result(code: ended.code ?? -1, out: ended.text, err: ended.complaints)
    }
}

/// A new folder under the temporary one.
struct SyncFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory.path + "/tidemark-test-"
            + Dependencies.live.makeID()
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
    }

    static func / (folder: SyncFolder, name: String) -> String { "\(folder.path)/\(name)" }

    func delete() { try? FileManager.default.removeItem(atPath: path) }

    /// A folder for the time of a test, with a model file and the store `store` made by the tool.
    static func withStore<R>(
        remote: String? = nil, model: SyncModel = SyncWorld.usualModel,
        _ body: (SyncFolder, _ store: String) async throws -> R
    ) async throws -> R {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let model = ModelRegistration(
            model: model,
            remote: remote.map { .kinto(origin: $0, bucket: "b") })
        try Data(model.encoded).write(to: URL(filePath: folder / "model.json"))
        let made = try await SyncTool.run(
            "init", folder / "store", "--model", folder / "model.json")
        #expect(made.code == 0, "\(made.err)")
        return try await body(folder, folder / "store")
    }
}
