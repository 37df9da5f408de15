// ToolTests.swift — the verbs that edit and read a store: what they print, and where.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool` {
    @Test func `makes a store once, and says which collections it has`() async throws {
        try await SyncFolder.withStore { folder, store in
            let again = try await SyncTool.run("init", store, "--model", folder / "model.json")
            #expect(again.code == 2)
            #expect(again.err == "tidemark: \(store) holds a store already\n")

            let other = try await SyncTool.run(
                "init", folder / "other", "--model", folder / "model.json")
            #expect(other.out == "made \(folder / "other") with the collections lists, tasks\n")
            #expect(other.err == "")
        }
    }

    @Test func `says where a model is wrong, and makes nothing`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        for (model, words) in [
            (#"{"collections":[{"name":"a","conflict":"never"}]}"#, "collections[0].conflict"),
            (#"{"collections":[]}"#, "collections"), ("{", "not a JSON document"),
            (
                #"{"collections":[{"name":"a"}],"remote":{"origin":"x","adapter":"kinto"}}"#,
                "remote.origin"
            ),
            (
                #"{"collections":[{"name":"a"}],"remote":{"origin":"http://x","adapter":"no"}}"#,
                "remote.adapter"
            ),
        ] {
            try Data(model.utf8).write(to: URL(filePath: folder / "model.json"))
            let result = try await SyncTool.run(
                "init", folder / "store", "--model", folder / "model.json")

            #expect(result.code == 2 && result.out == "")
            #expect(result.err.hasPrefix("tidemark: \(folder / "model.json"): \(words)"))
            #expect(!FileManager.default.fileExists(atPath: folder / "store"))
        }
        let missing = try await SyncTool.run("init", folder / "s", "--model", folder / "none")
        #expect(missing.code == 2 && missing.err.contains("can't be read"))
    }

    @Test func `edits an entity, one event an edit`() async throws {
        try await SyncFolder.withStore { _, store in
            let edits: [([String], String)] = [
                (["put", store, "tasks/t1", #"{"title":"tea","n":1}"#], "@3 tasks/t1\n"),
                (
                    ["put", store, "tasks/t1", #"{"n":1.0,"title":"tea"}"#],
                    "tasks/t1 is so already\n"
                ),
                (
                    ["patch", store, "tasks/t1", #"{"title":"milk"}"#, "--unset", "n"],
                    "@4 tasks/t1\n"
                ),
                (["patch", store, "tasks/t1", "--unset", "n"], "tasks/t1 is so already\n"),
                (["delete", store, "tasks/t1"], "@5 tasks/t1\n"),
            ]
            for (arguments, out) in edits {
                let result = try await run(arguments)
                #expect(result.code == 0 && result.err == "")
                #expect(result.out == out)
            }

            let made = try await SyncTool.run("put", store, "lists", "-", input: "{\"n\":2}\n")
            #expect(made.out.hasPrefix("@6 lists/"))
            let key = try #require(made.out.dropLast().split(separator: " ").last)
            #expect(try await SyncTool.run("get", store, String(key)).out == "{\"n\":2}\n")
        }
    }

    private func run(_ arguments: [String]) async throws -> SyncTool.Result {
        let quoted = arguments.map { "'\($0)'" }.joined(separator: " ")
        return try await SyncTool.bash("\"$tidemark\" \(quoted)")
    }

    @Test func `says what is wrong with an edit, and changes nothing`() async throws {
        try await SyncFolder.withStore { _, store in
            let before = try hash(store)
            let edits: [([String], String)] = [
                (
                    ["put", store, "tasks/t1", #"{"a":"#],
                    "not a JSON object: unexpected end at byte 5"
                ),
                (["put", store, "tasks/t1", #"{"a":1,"a":2}"#], "duplicate key \"a\" at byte 7"),
                (["put", store, "tasks/t1", "[1]"], "not an object at byte 0"),
                (
                    ["put", store, "nope/t1", "{}"],
                    "the model has no collection nope; it has lists, tasks"
                ),
                (["put", store, "tasks/", "{}"], "\"tasks/\" names no entity"),
                (["get", store, "tasks"], "\"tasks\" names no entity; write COLLECTION/ID"),
                (["patch", store, "tasks/t1", #"{"a":1}"#], "there is no tasks/t1"),
                (["patch", store, "tasks/t1"], "nothing to set or unset"),
                (["patch", store, "tasks/t1", "{"], "not a JSON object"),
                (["delete", store, "tasks/t1"], "there is no tasks/t1"),
                (["list", store, "nope"], "the model has no collection nope"),
                (["list", store, "--limit", "1"], "--explain need a collection"),
                (["list", store, "tasks", "--where", "n"], "\"n\" is no condition; write FIELD="),
                (["list", store, "tasks", "--where", "n=[1]"], "can't be compared with"),
                (["dump", store, "--kind", "nope"], "\"nope\" is no kind of event; there are"),
                (["dump", store, "--from", "x"], "\"x\" is no position; write @12 or 12"),
                (["dump", store, "--since", "x"], "\"x\" is no time; write 2026-11-21"),
                (["show", store, "x"], "\"x\" is no position"),
            ]
            for (arguments, words) in edits {
                let result = try await run(arguments)
                let code: Int32 = words.hasPrefix("there is no") ? 1 : 2
                #expect(result.code == code, "\(arguments)")
                #expect(result.out == "")
                #expect(result.err.hasPrefix("tidemark: "), "\(result.err)")
                #expect(result.err.contains(words), "\(result.err)")
                #expect(result.err.filter { $0 == "\n" }.count == 1)
            }
            #expect(try hash(store) == before)
        }
    }

    @Test(arguments: [
        "put STORE tasks/t '{}'", "patch STORE tasks/t '{\"a\":1}'", "delete STORE tasks/t",
        "get STORE tasks/t", "list STORE", "sync STORE", "status STORE", "outbox STORE",
        "dump STORE", "show STORE @1", "verify STORE", "stats STORE", "rebuild STORE",
        "as-of STORE @1 list", "diff STORE @1",
        "why STORE tasks/t", "history STORE tasks/t", "outbox STORE --explain",
    ])
    func `says what to do where there is no store`(_ line: String) async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let store = folder / "none"
        let result = try await SyncTool.bash(
            "\"$tidemark\" " + line.replacing("STORE", with: store))

        #expect(result.code == 2)
        #expect(result.out == "")
        #expect(result.err.contains(store), "\(result.err)")
        #expect(result.err.contains("tidemark init"), "\(result.err)")
        #expect(!FileManager.default.fileExists(atPath: store))
    }

    @Test func `prints entities, as text and as lines of JSON`() async throws {
        try await SyncFolder.withStore { _, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", #"{"title":"d\u00e9j\u00e0"}"#)
            _ = try await SyncTool.run("put", store, "tasks/a \"q\"", "{\n\"n\":1.0}")
            _ = try await SyncTool.run("put", store, "lists/home", "{}")
            _ = try await SyncTool.run("put", store, "lists/gone", "{}")
            _ = try await SyncTool.run("delete", store, "lists/gone")

            #expect(
                try await SyncTool.run("list", store, "-o", "json").lines == [
                    #"{"collection":"lists","id":"home","status":"created","data":{}}"#,
                    #"{"collection":"tasks","id":"a \"q\"","status":"created","data":{"n":1.0}}"#,
                    #"{"collection":"tasks","id":"t1","status":"created","#
                        + #""data":{"title":"d\u00e9j\u00e0"}}"#,
                ])
            #expect(
                try await SyncTool.run("list", store, "tasks").lines == [
                    #"tasks/a "q"              created   { "n":1.0}"#,
                    #"tasks/t1                 created   {"title":"d\u00e9j\u00e0"}"#,
                ])
            #expect(try await SyncTool.run("get", store, "lists/home").out == "{}\n")
            #expect(
                try await SyncTool.run("get", store, "lists/home", "-o", "json").out
                    == #"{"collection":"lists","id":"home","status":"created","data":{}}"# + "\n")
            let none = try await SyncTool.run("get", store, "lists/gone")
            #expect(none.code == 1 && none.out == "")
            #expect(none.err == "tidemark: there is no lists/gone\n")
        }
    }

    @Test func `prints the entities of a query, and how they are found`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let (model, store) = (folder / "model.json", folder / "store")
        let json = """
            {"collections":[{"name":"lists"},{"name":"tasks","references":{"list":"lists"},
            "indexes":[[{"date":"due"}],["n"]]}]}
            """
        try Data(json.utf8).write(to: URL(filePath: model))
        _ = try await SyncTool.run("init", store, "--model", model)
        for (id, fields) in [
            ("a", #""n":1,"due":"2026-11-03T00:00:00+01:00""#),
            ("b", #""n":2,"list":"home","due":"2026-11-02T12:00:00Z""#), ("c", #""n":null"#),
        ] {
            _ = try await SyncTool.run("put", store, "tasks/\(id)", "{\(fields)}")
        }
        func listed(_ arguments: String...) async throws -> String {
            let lines = try await run(["list", store, "tasks"] + arguments).lines
            return lines.map { $0.prefix { $0 != " " } }.joined(separator: " ")
        }

        #expect(try await listed("--where", "n>=1") == "tasks/a tasks/b")
        #expect(try await listed("--where", "n=null") == "tasks/c")
        #expect(try await listed("--where", "due<2026-11-02 18:00:00") == "tasks/b")
        #expect(try await listed("--where", "list=home", "--where", "n != 2") == "")
        #expect(
            try await listed("--order", "due", "--descending", "--limit", "2") == "tasks/a tasks/b")
        #expect(
            try await run(
                ["list", store, "tasks", "--where", "list=home", "--order", "due", "--explain"]
            ).out == "index [list] of tasks: list = \"home\"; sorted by due\n")
    }

    @Test func `prints how a store stands`() async throws {
        try await SyncFolder.withStore(remote: "http://127.0.0.1:9") { _, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", #"{"title":"tea","n":1}"#)

            #expect(
                try await SyncTool.run("status", store).lines == [
                    "log       @3", "server    http://127.0.0.1:9", "last run  never synced",
                    "outbox    1 pending, 0 refused", "lists     empty", "tasks     1 created",
                ])
            let json = try await SyncTool.run("status", store, "-o", "json").out
            let value = try JSONValue(parsing: Array(json.utf8.dropLast()))
            #expect(value["position"] == 3 && value["pending"] == 1 && value["refused"] == 0)
            #expect(value["lastRun"] == "never synced")
            #expect(value["collections"]?.array?.map { $0["created"] } == [0, 1])
            #expect(
                try await SyncTool.run("outbox", store).out
                    == "@3     local.created  tasks/t1              pending\n")
            let entry = try await SyncTool.run("outbox", store, "-o", "json").out
            #expect(
                entry
                    == #"{"collection":"tasks","id":"t1","position":3,"kind":"local.created","#
                    + #""fields":[],"outcome":"pending","proof":null,"revision":null,"#
                    + #""attempts":0}"# + "\n")
        }
    }

    @Test func `says that an outbox is empty where nobody mistakes it for data`() async throws {
        try await SyncFolder.withStore { _, store in
            let result = try await SyncTool.run("outbox", store)
            #expect(result.code == 0 && result.out == "" && result.err == "the outbox is empty\n")
            let json = try await SyncTool.run("outbox", store, "-o", "json")
            #expect(json.code == 0 && json.out == "" && json.err == "")
        }
    }

    @Test func `changes nothing on disk with the verbs that read`() async throws {
        try await SyncFolder.withStore { _, store in
            _ = try await SyncTool.run("put", store, "tasks/t1", #"{"title":"tea"}"#)
            let before = try hash(store)
            for line in [
                "get S tasks/t1", "list S", "list S -o json", "status S", "status S -o json",
                "outbox S --all", "dump S", "dump S -o json", "dump S -o verbose", "show S @1",
                "verify S", "stats S", "as-of S @3 list", "as-of S @3 outbox", "why S tasks/t1",
                "why S tasks/t1 --blame",
                "history S tasks/t1.title", "history S tasks/t1 -r -o json", "outbox S --explain",
            ] {
                let result = try await SyncTool.bash(
                    "\"$tidemark\" " + line.replacing(" S", with: " \(store)"))
                #expect(result.code == 0 && !result.out.isEmpty && result.err == "", "\(line)")
            }
            #expect(try hash(store) == before)
        }
    }

    private func hash(_ store: String) throws -> Int {
        try Data(contentsOf: URL(filePath: store + "/data.mdb")).hashValue
    }
}
