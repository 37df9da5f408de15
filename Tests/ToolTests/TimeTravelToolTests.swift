// TimeTravelToolTests.swift — `tidemark as-of` and `diff`: what they print, also of the demo.

import Foundation
import Testing
import Tidemark
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's past` {
    private func withEdits(_ body: (SyncFolder, String) async throws -> Void) async throws {
        try await SyncFolder.withStore { folder, store in
            for edit in [
                ["put", store, "tasks/t1", #"{"title":"tea","n":1}"#],
                ["put", store, "lists/l1", #"{"title":"Home"}"#],
                ["patch", store, "tasks/t1", #"{"title":"milk"}"#, "--unset", "n"],
                ["delete", store, "lists/l1"],
            ] {
                let result = try await SyncTool.run(edit)
                #expect(result.code == 0, "\(result.err)")
            }
            try await body(folder, store)
        }
    }

    @Test func `prints what the verbs printed then`() async throws {
        try await withEdits { _, store in
            for (arguments, out) in [
                (["@3", "get", "tasks/t1"], "{\"title\":\"tea\",\"n\":1}\n"),
                (
                    ["@4", "list"],
                    """
                    lists/l1                 created   {"title":"Home"}
                    tasks/t1                 created   {"title":"tea","n":1}

                    """
                ),
                (
                    ["5", "list", "tasks", "-o", "json", "--where", "title=milk"],
                    #"{"collection":"tasks","id":"t1","status":"created","#
                        + "\"data\":{\"title\":\"milk\"}}\n"
                ),
                (
                    ["@4", "outbox"],
                    """
                    @3     local.created  tasks/t1              pending
                    @4     local.created  lists/l1              pending

                    """
                ),
                (
                    ["@4", "status"],
                    """
                    log       @4
                    server    none
                    last run  never synced
                    outbox    2 pending, 0 refused
                    lists     1 created
                    tasks     1 created

                    """
                ),
            ] {
                let result = try await SyncTool.run(["as-of", store] + arguments)
                #expect(result.code == 0 && result.err == "", "\(arguments): \(result.err)")
                #expect(result.out == out)
                let option = try await SyncTool.run(
                    [arguments[1], store] + arguments[2...] + ["--as-of", arguments[0]])
                #expect(option.out == out)
            }
        }
    }

    @Test func `says where there is no past`() async throws {
        try await withEdits { folder, store in
            for (arguments, code, words) in [
                (["as-of", store, "@0", "list"], 2, "before the first event"),
                (["as-of", store, "@7", "list"], 2, "there is no event at @7; the log ends at @6"),
                (
                    ["as-of", store, "2001-01-01", "list"], 2,
                    "nothing was recorded up to 2001-01-01"
                ),
                (["as-of", store, "2100-01-01", "list"], 0, "as of @6, the last event, recorded"),
                (["as-of", store, "noon", "list"], 2, "neither a position nor a time"),
                (["as-of", store, "@3"], 2, "say what to read as of @3"),
                (["as-of", store, "@3", "put", "tasks/t1", "{}"], 2, "say what to read as of @3"),
                (["as-of", store, "@3", "get", "lists/l1"], 1, "there is no lists/l1"),
                (["diff", store, "@3", "@9"], 2, "there is no event at @9"),
                (["replay", store, "--through", "@9"], 2, "there is no event at @9"),
                (
                    ["bisect", store, "--predicate", "refused > 0", "--to", "@9"], 2,
                    "there is no event at @9; the log ends at @6"
                ),
                (["diff", store, folder / "none"], 2, "is no store, no position and no time"),
                (
                    ["diff", store, folder / "backup-2026-11-21.store"], 2,
                    "is no store, no position and no time"
                ),
                (["as-of", store, "2026-11-21T13:09-05", "list"], 2, "nor a time"),
                (["as-of", store, "2026-11-21T13+01:00", "list"], 2, "nor a time"),
            ] {
                let result = try await SyncTool.run(arguments)
                #expect(Int(result.code) == code, "\(arguments)")
                #expect(result.err.contains(words), "\(arguments): \(result.err)")
                #expect(result.err.filter { $0 == "\n" }.count == 1, "\(result.err)")
            }
        }
    }

    @Test func `prints what differs between two moments`() async throws {
        try await withEdits { folder, store in
            let both = try await SyncTool.run("diff", store, "@3", "@5")
            #expect(both.code == 1 && both.err == "")
            #expect(
                both.out == """
                    + lists/l1                 created   {"title":"Home"}
                    ~ tasks/t1                 created
                        title  "tea" → "milk"
                        n      1 → -
                    + @4     local.created  lists/l1               pending
                    + @5     local.updated  tasks/t1               pending  (title, n)

                    """)
            let whole = try await SyncTool.run("diff", store, "@0")
            #expect(whole.code == 1 && whole.out.contains("tasks/t1"))
            #expect(try await SyncTool.run("diff", store, "0").out == whole.out)
            let json = try await SyncTool.run("diff", store, "@5", "-o", "json")
            #expect(json.code == 1 && json.err == "")
            #expect(
                json.lines == [
                    #"{"view":"entities","change":"removed","collection":"lists","id":"l1","#
                        + #""status":{"before":"created","after":null},"data":{"title":"Home"}}"#,
                    #"{"view":"outbox","change":"changed","collection":"lists","id":"l1","#
                        + #""position":4,"kind":"local.created","#
                        + #""outcome":{"before":"pending","after":"annihilated"},"#
                        + #""proof":{"before":null,"after":6},"attempts":{"before":0,"after":0}}"#,
                    #"{"view":"outbox","change":"added","collection":"lists","id":"l1","#
                        + #""position":6,"kind":"local.deleted","#
                        + #""outcome":{"before":null,"after":"annihilated"},"#
                        + #""proof":{"before":null,"after":6},"#
                        + #""attempts":{"before":null,"after":0}}"#,
                ])
            let none = try await SyncTool.run("diff", store, "@6", "@6")
            #expect(none.code == 0 && none.out == "" && none.err == "nothing differs\n")
            let link = folder / "current"
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: store)
            for same in [store, link] {
                let none = try await SyncTool.run("diff", store, same)
                #expect(none.code == 0 && none.err == "nothing differs\n")
            }
            let hidden = try await SyncTool.run("diff", store, "@1", "@2")
            #expect(hidden.code == 0 && hidden.err.contains("1 rows do: --all lists them"))
            let all = try await SyncTool.run("diff", store, "@0", "@2", "--all")
            #expect(all.code == 1)
            #expect(
                all.lines == [
                    "+ the row x/model of view store", "+ the row x/opened of view store",
                ])
        }
    }

    @Test func `of the demo is there, and both devices differ in what one of them lacks`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let demo = try await SyncTool.run("demo", "--store", folder / "demo")
        #expect(demo.code == 0, "\(demo.err)")
        let phone = folder / "demo/phone"
        let created = try await SyncTool.run("dump", phone, "--kind", "local.created", "-n", "2")
        let positions = created.lines.compactMap { $0.split(separator: " ").first.map(String.init) }

        let then = try await SyncTool.run("as-of", phone, positions[1], "list", "time_entries")
        #expect(then.code == 0 && then.err == "")
        #expect(then.lines.map { $0.prefix(32) } == ["time_entries/plan        created"])

        let since = try await SyncTool.run("diff", phone, positions[0], positions[1])
        #expect(
            since.lines.map { $0.prefix(44).filter { $0 != " " } }.map { String($0) } == [
                #"+time_entries/plancreated{"descr"#,
                "+\(positions[1])local.createdtime_entries/plan",
            ])

        let devices = try await SyncTool.run("diff", phone, folder / "demo/laptop")
        #expect(devices.code == 1)
        let entities = devices.lines.prefix { !$0.dropFirst(2).hasPrefix("@") }
        // Entities that go by other ids on the other device are the same ones. Toggl tells one that
        // was sent in other words than a list does: those are ~.
        #expect(
            entities.filter { $0.hasPrefix("+") }.map { $0.prefix(26).filter { $0 != " " } }.map {
                String($0)
            } == [
                "+projects/yacht", "+time_entries/sail",
            ])
    }
}
