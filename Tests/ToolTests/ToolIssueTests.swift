// ToolIssueTests.swift — `tidemark issues` and `answer` against a server on the loopback address.

import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's issues` {
    private static let me = [Remote.usualCredentialsVariable: "me:secret"]

    private func sync(_ store: String) async throws -> SyncTool.Result {
        try await SyncTool.run("sync", store, environment: Self.me)
    }

    /// A store whose edit of a list lost, and whose task the server refused.
    private func withIssues(_ body: (SyncWorld, String) async throws -> Void) async throws {
        let world = SyncWorld.live()
        let listener = try await Task(priority: .high) {
            try await LoopbackServer.start(world.server)
        }.value
        do {
            try await SyncFolder.withStore(remote: listener.origin, model: world.model) {
                _, store in
                world.rivalPuts("lists/home", #"{"title":"s"}"#)
                _ = try await sync(store)
                _ = try await SyncTool.run("patch", store, "lists/home", #"{"title":"mine"}"#)
                _ = try await SyncTool.run("put", store, "tasks/bad", "{}")
                world.rivalPuts("lists/home", #"{"title":"theirs"}"#)
                let words = "far too long"
                world.server.faults = FaultPlan([
                    FaultRule(
                        .answer(
                            status: 400, body: Array(#"{"code":400,"message":"\#(words)"}"#.utf8)),
                        method: .put, nth: 1)
                ])
                #expect(try await sync(store).code == 1)
                try await body(world, store)
            }
        } catch {
            await listener.stop()
            throw error
        }
        await listener.stop()
    }

    /// The names of the open issues, by their kinds.
    private func names(_ store: String) async throws -> [String: String] {
        let lines = try await SyncTool.run("issues", store, "-o", "json").lines
        var names: [String: String] = [:]
        for line in lines {
            let issue = try JSONValue(parsing: Array(line.utf8))
            names[try #require(issue["kind"]?.stringValue)] = issue["issue"]?.stringValue
        }
        return names
    }

    @Test func `are none in a store without any, and that is 0`() async throws {
        try await SyncFolder.withStore { _, store in
            let none = try await SyncTool.run("issues", store)
            #expect(none.code == 0 && none.out == "")
            #expect(none.err == "there are no issues\n")
            let json = try await SyncTool.run("issues", store, "-o", "json")
            #expect(json.code == 0 && json.out == "" && json.err == "")
        }
    }

    @Test func `are a line each, of 80 columns at most, and 1`() async throws {
        try await withIssues { _, store in
            let issues = try await SyncTool.run("issues", store)

            #expect(issues.code == 1 && issues.err == "")
            let words = issues.lines.map { line in
                line.split(separator: " ").dropFirst().prefix(2).joined(separator: " ")
            }
            #expect(words == ["conflict lists/home", "rejected tasks/bad"])
            #expect(issues.lines.allSatisfy { $0.hasPrefix("@") && $0.count <= 80 })
            #expect(issues.lines.first?.hasSuffix("(title)") == true)
            for verb in ["issues", "answer"] {
                let help = try await SyncTool.run(verb, "--help")
                #expect(help.code == 0 && help.lines.allSatisfy { $0.count <= 80 })
            }
        }
    }

    @Test func `say in JSON all that the app is told`() async throws {
        try await withIssues { _, store in
            let issues = try await SyncTool.run("issues", store, "-o", "json")

            #expect(issues.code == 1 && issues.lines.count == 2)
            let conflict = try JSONValue(parsing: Array(issues.lines[0].utf8))
            #expect(conflict["kind"] == "conflict" && conflict["collection"] == "lists")
            #expect(conflict["id"] == "home" && conflict["fields"] == .array(["title"]))
            #expect(conflict["answers"] == .array(["keepMine", "keepTheirs"]))
            let rejected = try JSONValue(parsing: Array(issues.lines[1].utf8))
            #expect(
                rejected["answers"] == .array(["retry", "discard", "keepMine", "keepTheirs"]))
            #expect(rejected["message"] == "400 far too long")
        }
    }

    @Test func `show what both sides have, by their names`() async throws {
        try await withIssues { _, store in
            let names = try await names(store)
            let conflict = try #require(names["conflict"])

            let shown = try await SyncTool.run("issues", store, conflict)

            #expect(shown.code == 1 && shown.err == "")
            try #require(shown.lines.count == 4)
            let list = try await SyncTool.run("issues", store)
            #expect(shown.lines[0] == list.lines[0])
            for (line, start) in zip(
                shown.lines.dropFirst(),
                [
                    #"  base   {"title":"s","#, #"  mine   {"title":"mine","#,
                    #"  theirs {"title":"theirs","#,
                ])
            {
                #expect(line.hasPrefix(start), "\(line)")
            }
            let json = try await SyncTool.run("issues", store, conflict, "-o", "json")
            #expect(json.code == 1 && json.lines.count == 1)
            let sides = try JSONValue(parsing: Array(json.out.utf8))
            #expect(sides["mine"]?["title"] == "mine" && sides["theirs"]?["title"] == "theirs")
            #expect(sides["conflictingFields"] == .array(["title"]))

            let rejected = try #require(names["rejected"])
            let refused = try await SyncTool.run("issues", store, rejected)
            #expect(refused.lines.dropFirst() == ["  base   -", "  mine   {}", "  theirs -"])
            let wrong = try await SyncTool.run("issues", store, "@99999")
            #expect(wrong.code == 1 && wrong.err.contains("there is no open issue @99999"))
        }
    }

    @Test func `are answered by their names, and the next sync does the rest`() async throws {
        try await withIssues { world, store in
            let names = try await names(store)
            let conflict = try #require(names["conflict"])
            let rejected = try #require(names["rejected"])

            let kept = try await SyncTool.run("answer", store, conflict, "keepMine")
            #expect(kept.code == 0 && kept.err == "")
            #expect(kept.out.hasPrefix("@") && kept.out.hasSuffix(" \(conflict) keepMine\n"))
            #expect(try await SyncTool.run("answer", store, rejected, "discard").code == 0)

            #expect(try await SyncTool.run("issues", store).code == 0)
            #expect(try await sync(store).out == "synced: 1 pushed\n")
            #expect(world.record("lists/home") == #"{"title":"mine"}"#)
            #expect(world.record("tasks/bad") == nil)
            #expect(try await SyncTool.run("verify", store).code == 0)
        }
    }

    @Test func `take no wrong names and answers, and say what is right`() async throws {
        try await withIssues { _, store in
            let conflict = try #require(try await names(store)["conflict"])
            for (arguments, words) in [
                (["twelve", "retry"], "names no issue; write @12"),
                (["@", "retry"], "names no issue; write @12"),
                (["\(conflict).x", "retry"], "names no issue; write @12"),
                (["@99999", "retry"], "there is no open issue @99999"),
                (["\(conflict).1", "keepMine"], "there is no open issue \(conflict).1"),
                ([conflict, "keepmine"], "is none of retry, discard, keepMine, keepTheirs"),
                ([conflict, "retry"], "does not take retry; it takes keepMine, keepTheirs"),
                ([conflict], "Missing expected argument"),
            ] {
                let wrong = try await SyncTool.run(["answer", store] + arguments)
                let code: Int32 = words.hasPrefix("there is no open issue") ? 1 : 2
                #expect(wrong.code == code && wrong.out == "", "\(arguments)")
                #expect(wrong.err.contains(words), "\(wrong.err)")
            }
            #expect(try await names(store).count == 2)

            #expect(try await SyncTool.run("answer", store, conflict, "keepTheirs").code == 0)
            let twice = try await SyncTool.run("answer", store, conflict, "keepTheirs")
            #expect(twice.code == 1 && twice.err.contains("no open issue"))
            #expect(try await SyncTool.run("issues", "\(store)/none").code == 2)
        }
    }
}
