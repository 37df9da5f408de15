// ContentMachineTests.swift — what a run asks before and after it sends the content of a file.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import TidemarkSync

@Suite struct `a run that sends the content of a file` {
    private static let files = CollectionModel(
        "files", references: [Reference("parent", to: "files")],
        tree: .init(
            parent: "parent", name: "name", kind: "kind", isByPath: true, content: "content"))
    private let key = EntityKey("files", "1")

    /// A run with another content of a file of which a version is known.
    private func script(_ version: String?) -> MachineScript {
        var script = MachineScript([Self.files], scope: .push)
        let digits = String(repeating: "0", count: 64)
        let body = Array(#"{"content":{"sha256":"\#(digits)","bytes":1}}"#.utf8)
        let revision = version.map { Revision($0) }
        script.pending = [
            PendingWrite(
                key, isLive: true, revision: revision, covers: [Position(5)],
                write: .update(
                    body: body, changes: body, revision: revision ?? Revision(rawValue: [])))
        ]
        return script
    }

    @Test func `sends it at once where the version is known, and takes the one that is told`() {
        var script = script("\"a\"")
        script.replies["push files/1"] = [.answer(.stored(id: "1", Revision("\"b\"")))]

        #expect(script.run() == ["push files/1", "end"])
    }

    @Test func `asks for the version that it made where none is told`() {
        var script = script("\"a\"")

        #expect(script.run() == ["push files/1", "read files/1", "end"])
    }

    @Test func `asks for the version first where none is known, and sends nothing without one`() {
        var script = script(nil)

        #expect(script.run() == ["read files/1", "refuse files/1", "end"])
    }

    @Test func `waits for a weak version to become a strong one`() {
        var script = script("W/\"a\"")
        script.replies["push files/1"] = [.answer(.stored(id: "1", Revision("\"b\"")))]

        #expect(script.run() == ["after 2 s read files/1", "push files/1", "end"])
    }
}
