// ContentMachineTests.swift — what a run asks before and after it sends the content of a file, and
// after it made something.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

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

@Suite struct `a run that makes what a server gives an id` {
    private static let files = CollectionModel(
        "files", references: [Reference("parent", to: "files")],
        tree: .init(
            parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))

    /// A run with so many new folders.
    private func script(_ count: Int) -> MachineScript {
        var script = MachineScript([Self.files], scope: .push)
        let body = Array(#"{"kind":"folder"}"#.utf8)
        script.pending = (1...count).map { number in
            PendingWrite(
                EntityKey("files", "\(number)"), covers: [Position(5)],
                write: .create(body: body))
        }
        return script
    }

    private func entity(_ document: String) -> MachineScript.Reply {
        .answer(.record(ServerRecord(id: "1", revision: nil, document: Array(document.utf8))))
    }

    @Test func `reads it for that once all is sent, and counts no answer that was lost`() {
        var script = script(2)
        script.replies["read files/1"] = [entity(#"{"kind":"folder","fileId":"7"}"#)]

        #expect(
            script.run() == [
                "push files/1", "push files/2", "read files/1", "read files/2", "end",
            ])
        #expect(script.machine.outcome.counts.readBack == 0)
    }

    @Test func `reads nothing else where the first answer tells none`() {
        var script = script(3)
        script.replies["read files/1"] = [entity(#"{"kind":"folder"}"#)]

        #expect(
            script.run() == [
                "push files/1", "push files/2", "push files/3", "read files/1", "end",
            ])
    }

    @Test func `leaves it to the next list where it can't be read`() {
        var script = script(1)
        let failure = SyncFailure.server(status: 500, retryAfterSeconds: nil)
        script.replies["read files/1"] = [.answer(.failure(failure))]

        #expect(script.run() == ["push files/1", "read files/1", "end"])
        #expect(script.machine.outcome.failure == nil)
    }

    @Test func `asks for no other once one can't be read, and does not fail`() {
        var script = script(3)
        for number in 1...3 {
            let failure = SyncFailure.server(status: 500, retryAfterSeconds: nil)
            script.replies["read files/\(number)"] = [.answer(.failure(failure))]
        }

        #expect(
            script.run() == [
                "push files/1", "push files/2", "push files/3", "read files/1", "end",
            ])
        #expect(script.machine.outcome.failure == nil)
        #expect(script.machine.askedForIDs.isEmpty)
    }

    @Test func `reads one first of many, and lists not too many folders for the others`() {
        var script = script(22)
        script.replies["read files/1"] = [entity(#"{"kind":"folder","fileId":"7"}"#)]

        #expect(script.run() == (1...22).map { "push files/\($0)" } + ["read files/1", "end"])
        #expect(script.foldersMax == 20)
    }

    @Test func `lists nothing for many where the first answer tells none`() {
        var script = script(22)
        script.replies["read files/1"] = [entity(#"{"kind":"folder"}"#)]

        #expect(script.run() == (1...22).map { "push files/\($0)" } + ["read files/1", "end"])
        #expect(script.foldersMax == nil)
    }

    @Test func `lists nothing for many where the first one can't be read`() {
        var script = script(22)
        script.replies["read files/1"] = [.answer(.failure(.forbidden))]

        #expect(script.run() == (1...22).map { "push files/\($0)" } + ["read files/1", "end"])
        #expect(script.foldersMax == nil)
    }

    @Test func `does not ask for the id of what was deleted since`() {
        var script = script(2)
        script.entities[EntityKey("files", "1")] = EntityFacts(serverID: "1", .deleted)

        #expect(script.run() == ["push files/1", "push files/2", "read files/2", "end"])
        #expect(script.machine.askedForIDs.isEmpty)
    }

    @Test func `asks for it no more where it can't be asked for in the run`() {
        var withheld = script(1)
        withheld.replies["push files/1"] = [.withheld("files")]
        #expect(withheld.run() == ["push files/1", "end"])
        #expect(withheld.machine.askedForIDs.isEmpty)

        var held = script(1)
        held.replies["read files/1"] = [.held(.tooManyRequests(retryAfterSeconds: 60))]
        #expect(held.run() == ["push files/1", "read files/1", "end"])
        #expect(held.machine.askedForIDs.isEmpty)
    }
}
