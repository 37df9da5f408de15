// TodoExampleTests.swift — the to-do client of Tools/Examples, with a real Kinto and two devices.

import Foundation
import TestSupport
import Testing

@testable import SyncSupport

@Suite(.enabled(if: TodoExample.program != nil && TodoExample.kinto != nil, "needs both"))
struct `the to-do client` {
    @Test func `works offline, and syncs two devices`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-todo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (phone, laptop) = (TodoExample(folder, "phone"), TodoExample(folder, "laptop"))
        let title = "Buy tea \(UUID().uuidString)"

        #expect(try phone.run("add", title, "Home").hasPrefix("added "))
        let line = try #require(try phone.lines(title).first)
        #expect(line.hasPrefix("* ") && line.hasSuffix("\(title) (Home)"))
        #expect(try phone.run("sync").hasPrefix("synced: "))
        #expect(try phone.lines(title) == [line.replacing("* ", with: "  ", maxReplacements: 1)])

        #expect(try laptop.run("sync").hasPrefix("synced: "))
        let id = String(try #require(line.split(separator: " ").dropFirst().first))
        try laptop.run("done", id)
        #expect(try laptop.lines(title) == [])
        #expect(try laptop.run("sync").hasPrefix("synced: "))
        #expect(try phone.run("sync").hasPrefix("synced: "))
        #expect(try phone.lines(title) == [])
        #expect(try phone.run("issues") == "")
    }

    @Test func `says what it does not understand`() throws {
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-todo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }

        let refused = try TodoExample(folder, "phone").command("dance")
        #expect(refused.code == 1)
        #expect(refused.complaints.hasPrefix("todo: that is none of these:\ntodo add TITLE"))
    }
}

/// One device of the client.
private struct TodoExample {
    static let program = ProcessInfo.processInfo.environment["TIDEMARK_BIN"].map { $0 + "/todo" }
    static let kinto = ProcessInfo.processInfo.environment["TIDEMARK_KINTO"]

    let folder: URL
    let store: String

    init(_ folder: URL, _ store: String) { (self.folder, self.store) = (folder, store) }

    func command(_ words: String...) throws -> Command { try command(words) }

    @discardableResult
    func run(_ words: String...) throws -> String {
        let command = try command(words)
        #expect(command.code == 0, "\(words): \(command.complaints)")
        return command.text
    }

    /// The lines of its list that hold a text.
    func lines(_ text: String) throws -> [String] {
        try run("list").split(separator: "\n").map(String.init).filter { $0.contains(text) }
    }

    private func command(_ words: [String]) throws -> Command {
        let server = try #require(Self.kinto).replacing("/v1", with: "")
        return try Command.run(
            try #require(Self.program), words,
            environment: ["TODO_STORE": store, "TODO_SERVER": server],
            in: folder.path(percentEncoded: false))
    }
}
