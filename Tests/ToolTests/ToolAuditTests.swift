// ToolAuditTests.swift — the verbs that audit, the demo, and manners: help, pipes, terminals.

import Foundation
import HTTPTypes
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's audit` {
    /// A store with five events, made in this process.
    private func withEdits(_ body: (String) async throws -> Void) async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        try write(replica, "tasks/t1", #"{"title":"tea"}"#)
        try write(replica, "lists/l1", #"{"title":"Home"}"#)
        try write(replica, "tasks/t1", #"{"title":"milk"}"#)
        try await replica.close()
        try await body(replica.directory)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    private func write(_ replica: Replica, _ key: String, _ json: String) throws {
        try replica.write { tx in _ = try tx.put(try #require(EntityKey(key)), Array(json.utf8)) }
    }

    @Test func `prints the log, one event a line`() async throws {
        try await withEdits { store in
            let lines = try await SyncTool.run("dump", store).lines
            let times = #"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"#

            #expect(lines.count == 5)
            #expect(try lines.allSatisfy { try !$0.matches(of: Regex(times)).isEmpty })
            let third = try #require(lines.dropFirst(2).first)
            #expect(
                third.replacing(try Regex(times), with: "TIME")
                    == #"@3     TIME  local.created     tasks/t1  {"title":"tea"}"#)
        }
    }

    @Test func `prints the log as lines of JSON, with sorted members`() async throws {
        try await withEdits { store in
            let lines = try await SyncTool.run("dump", store, "-o", "json").lines
            #expect(lines.count == 5)
            for (index, line) in lines.enumerated() {
                let document = try JSONDocument(parsing: Array(line.utf8))
                #expect(document.keys == document.keys.sorted())
                #expect(document.value("position")?.int64Value == Int64(index + 1))
            }
            #expect(
                try #require(lines.last).replacing(try Regex(#"At":\d+"#), with: #"At":0"#)
                    == #"{"collection":"tasks","entity":"t1","kind":"local.updated","#
                    + #""payload":{"set":{"title":"milk"},"unset":[]},"#
                    + #""position":5,"recordedAt":0}"#)
        }
    }

    @Test(
        arguments: [
            ("--kind local.created", ["@3", "@4"]), ("--kind local.updated", ["@5"]),
            ("--kind local.created --kind local.updated", ["@3", "@4", "@5"]),
            ("--collection tasks", ["@3", "@5"]), ("--entity tasks/t1", ["@3", "@5"]),
            ("--entity lists/none", []), ("--from @4", ["@4", "@5"]),
            ("--from 2 --to @3", ["@2", "@3"]),
            ("-n 2", ["@1", "@2"]), ("-n 0", []), ("-r", ["@5", "@4", "@3", "@2", "@1"]),
            ("-r -n 2", ["@5", "@4"]), ("-r --to 4 -n 2", ["@4", "@3"]),
            ("-r --from 4", ["@5", "@4"]), ("--since 2200-01-01", []), ("--until 2020-01-01", []),
            ("--since 2020-01-01 --until 2200-01-01T00:00:00Z -n 1", ["@1"]), ("--sync @1", ["@1"]),
            ("--kind kind-77", []),
        ] as [(String, [String])])
    func `prints what the filters allow`(_ filter: String, _ positions: [String]) async throws {
        try await withEdits { store in
            let result = try await SyncTool.bash("\"$tidemark\" dump '\(store)' \(filter)")
            #expect(result.code == 0 && result.err == "")
            #expect(result.lines.map { String($0.prefix { $0 != " " }) } == positions)
        }
    }

    @Test func `shows one event in full`() async throws {
        try await withEdits { store in
            let lines = try await SyncTool.run("show", store, "@5").lines
            #expect(lines.first == "@5 local.updated")
            #expect(lines.contains("  entity      t1"))
            #expect(lines.last == #"  payload     35 bytes: {"set":{"title":"milk"},"unset":[]}"#)
            let json = try await SyncTool.run("show", store, "5", "-o", "json").out
            #expect(
                json == (try await SyncTool.run("dump", store, "-o", "json", "--from", "5").out))
            let none = try await SyncTool.run("show", store, "@6")
            #expect(none.code == 1 && none.out == "")
            #expect(none.err == "tidemark: there is no event at @6\n")
        }
    }

    @Test func `proves, counts and rebuilds`() async throws {
        try await withEdits { store in
            let fine = try await SyncTool.run("verify", store)
            #expect(fine.code == 0 && fine.lines.first == "fine: 5 events in 4 commits")
            #expect(try #require(fine.lines.last).contains(try Regex("^root: [0-9a-f]{64}$")))

            let stats = try await SyncTool.run("stats", store).lines
            #expect(stats.first == "events     5 in 4 commits")
            #expect(stats.contains("entities   2") && stats.contains("mutations  3"))

            let rebuilt = try await SyncTool.run("rebuild", store)
            #expect(rebuilt.code == 0 && rebuilt.out == "rebuilt from 5 events\n")
            #expect(try await SyncTool.run("verify", store).out == fine.out)
        }
    }

    @Test func `finds a changed byte, says where, and prints the rest`() async throws {
        try await withEdits { store in
            let file = URL(filePath: store + "/data.mdb")
            var bytes = try Data(contentsOf: file)
            // It is in the log, and in a row of the views.
            let needle = Data(#"{"set":{"title":"milk"}"#.utf8)
            while let place = bytes.range(of: needle) {
                bytes[place.lowerBound + 17] = UInt8(ascii: "s")
            }
            try bytes.write(to: file)

            let verified = try await SyncTool.run("verify", store)
            #expect(verified.code == 1)
            #expect(verified.out.contains("@5"))
            let dumped = try await SyncTool.run("dump", store)
            #expect(dumped.code == 1)
            #expect(dumped.lines.count == 4)
            #expect(dumped.err.contains("@5"))
            for filter in ["--to 4", "-r --to 4", "--from 2 --to 4"] {
                let before = try await SyncTool.bash("\"$tidemark\" dump '\(store)' \(filter)")
                #expect(before.code == 0 && before.err == "", "\(filter): \(before.err)")
            }
        }
    }
}

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's manners` {
    @Test func `the help lists verbs that work, each with a help of its own`() async throws {
        let help = try await SyncTool.run("--help")
        #expect(help.code == 0 && help.err == "")
        let verbs =
            help.out.split(separator: "SUBCOMMANDS:").last?.split(separator: "\n")
            .filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.contains("See '") }
            .compactMap { $0.split(separator: " ").first.map(String.init) } ?? []
        #expect(
            Set(verbs).isSuperset(of: [
                "demo", "init", "put", "patch", "delete", "get", "list", "sync", "status",
                "outbox", "dump", "show", "verify", "stats", "rebuild",
            ]))
        for verb in verbs {
            let own = try await SyncTool.run(verb, "--help")
            #expect(own.code == 0 && own.err == "", "\(verb)")
            #expect(own.out.contains("USAGE: tidemark \(verb)"), "\(verb)")
        }
        #expect(try await SyncTool.run("--version").out == Replica.version + "\n")
    }

    @Test func `a mistake on the command line is said on standard error, with code 2`()
        async throws
    {
        for line in ["nope", "put", "list", "dump x --nope", "list x -o xml", "dump x -n three"] {
            let result = try await SyncTool.bash("\"$tidemark\" \(line)")
            #expect(result.code == 2, "\(line)")
            #expect(result.out == "" && result.err.contains("Usage:"), "\(line)")
        }
    }

    /// A store with a long log, made in this process.
    private func withLongLog(_ body: (String) async throws -> Void) async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        try await replica.write { tx in
            for number in 1...1500 {
                let title = String(repeating: "tea and milk, ", count: 8)
                try tx.put(
                    EntityKey("tasks", "task-\(number)"),
                    Array(#"{"title":"\#(title)","n":\#(number)}"#.utf8))
            }
        }
        try await replica.close()
        try await body(replica.directory)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    @Test func `a reader that goes away ends it quietly`() async throws {
        try await withLongLog { store in
            for verb in ["dump", "dump -o json", "list", "outbox"] {
                let words = verb.split(separator: " ", maxSplits: 1)
                let rest = words.count > 1 ? String(words[1]) : ""
                let result = try await SyncTool.bash(
                    "\"$tidemark\" \(words[0]) '\(store)' \(rest) | head -1")
                #expect(result.code == 0 && result.err == "", "\(verb): \(result.err)")
                #expect(result.lines.count == 1)
            }
        }
    }

    @Test(
        .enabled(
            if: FileManager.default.isExecutableFile(atPath: "/usr/bin/script"),
            "there is no script(1) to make a terminal with"))
    func `lines fit a terminal of 80 columns, and are whole in a file`() async throws {
        try await withLongLog { store in
            for verb in ["dump", "list", "outbox"] {
                let shown = try await SyncTool.bash(
                    "script -qec \"stty cols 80; '$tidemark' \(verb) '\(store)'\" /dev/null")
                #expect(shown.code == 0)
                let lines = shown.out.split(whereSeparator: \.isNewline)
                #expect(lines.count > 1000)
                #expect(lines.allSatisfy { $0.count <= 80 }, "\(verb)")
            }
            for verb in ["list", "outbox"] {
                let whole = try await SyncTool.run(verb, store)
                #expect(!whole.out.contains("…"))
            }
        }
    }

    @Test func `the demo needs nothing, ends well, and leaves stores that verify`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }

        let demo = try await SyncTool.run("demo", "--store", folder / "demo")

        #expect(demo.code == 0 && demo.err == "", "\(demo.err)")
        let blocked = demo.lines.filter { $0.contains("blocked") }
        #expect(!blocked.isEmpty && blocked.allSatisfy { $0.contains("blocked by projects/") })
        #expect(demo.lines.allSatisfy { !$0.hasSuffix(" ") })
        for name in ["phone", "laptop"] {
            let verified = try await SyncTool.run("verify", folder / "demo/\(name)")
            #expect(verified.code == 0 && verified.out.hasPrefix("fine: "))
            let root = try #require(verified.lines.last).dropFirst("root: ".count).prefix(16)
            #expect(demo.out.contains(root))
        }
        try await explains(folder / "demo/laptop")
        let again = try await SyncTool.run("demo", "--store", folder / "demo")
        #expect(again.code == 2 && again.err.contains("is not empty"))
    }

    @Test func `the demo makes a folder for its owner alone where none is given`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }

        let demo = try await SyncTool.run(["demo"], environment: ["TMPDIR": folder.path])

        #expect(demo.code == 0 && demo.err == "", "\(demo.err)")
        let made = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasPrefix("tidemark-demo-") }
        let name = try #require(made.first)
        #expect(made.count == 1 && demo.out.contains(name))
        // Nobody can have put a folder, or a link, of that name there before.
        #expect(UUID(uuidString: String(name.dropFirst("tidemark-demo-".count))) != nil)
        for (path, rights) in [(name, 0o700), ("\(name)/model.json", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder / path)
            #expect(attributes[.posixPermissions] as? Int == rights, "\(path)")
        }
    }

    /// Why the timer that was running on the phone was stopped on the laptop.
    private func explains(_ store: String) async throws {
        let why = try await SyncTool.run("why", store, "time_entries/102")
        #expect(why.code == 0 && why.err == "")
        #expect(why.lines.first == "time_entries/102: synced")
        let decision = try #require(why.lines.firstIndex { $0.hasPrefix("@") })
        #expect(why.lines[decision].hasSuffix(" rivals/1: stopped on duration"))
        let rest = why.lines[(decision + 1)...]
        let inputs = rest.filter { $0.hasPrefix("  from ") }.map { $0.split(separator: " ") }
        #expect(
            inputs.map { $0[2...3].joined(separator: " ") } == [
                "server.upserted time_entries/102", "local.created time_entries/mail",
            ])
        #expect(rest.last?.hasPrefix("  gave up duration null of @") == true)
        let json = try await SyncTool.run("why", store, "time_entries/102", "-o", "json")
        let line = try JSONValue(parsing: Array(try #require(json.lines.last).utf8))
        #expect(line["rule"]?.stringValue == "rivals" && line["result"]?.stringValue == "stopped")
        #expect(line["inputs"]?.array?.count == 2)
        for line in ["why", "why --blame", "history", "history -r -n 2"] {
            let words = line.split(separator: " ").map(String.init)
            let lines = try await SyncTool.run(words + [store, "time_entries/102", "-o", "json"])
            #expect(lines.code == 0 && !lines.lines.isEmpty, "\(line)")
            for line in lines.lines {
                let bytes = Array(line.utf8)
                #expect(try JSONValue(parsing: bytes).encoded(sortedKeys: true) == bytes)
            }
        }
        let outbox = try await SyncTool.run("outbox", store, "--explain", "-o", "json").lines
        let next = try outbox.map { try JSONValue(parsing: Array($0.utf8))["next"]?["when"] }
        #expect(next == ["unblocked", "unblocked"])
        for verb in ["why", "why --blame", "history"] {
            let words = verb.split(separator: " ").map(String.init)
            let none = try await SyncTool.run(words + [store, "time_entries/9999"])
            #expect(none.code == 1 && none.out == "", "\(verb)")
            #expect(none.err.contains("never heard of time_entries/9999"), "\(none.err)")
        }
    }
}
