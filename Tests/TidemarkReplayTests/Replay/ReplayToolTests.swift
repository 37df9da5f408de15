// ReplayToolTests.swift — `tidemark replay`: what it prints, and how it ends.

import Foundation
import TestSupport
import Testing
import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay
import TidemarkViews

@testable import CapsuleSupport

@Suite(.enabled(if: BuiltTool.isThere, BuiltTool.missing))
struct `the tool's replay` {
    /// A folder with `good.capsule`, `bad.capsule`, and a corpus of recorded bugs in `bugs`.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = scratchPath()
        for name in ["bugs/lost-edit", "bugs/kept-edit"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
        }
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let good = try ReplayLog.editDuringPush().capsule()
        let bad = try ReplayLog.editDuringPush().capsule { fold, event, position in
            var event = event
            if event.kind == .pushAccepted { event.mutation = position }
            try fold.apply(event, at: position)
        }
        try good.write(to: folder + "/good.capsule")
        try bad.write(to: folder + "/bad.capsule")
        try ReplayLog.conflict().capsule().write(to: folder + "/conflict.capsule")
        try bad.write(to: folder + "/bugs/lost-edit/a.capsule")
        try good.write(to: folder + "/bugs/kept-edit/a.capsule")
        try story("lost-edit", "diverges at @7 (digest)", folder)
        try story("kept-edit", "replays", folder)
        try body(folder)
    }

    private func story(_ name: String, _ expected: String, _ folder: String) throws {
        try Data("# A story\n\nExpected: \(expected)\nMode: fold\n".utf8)
            .write(to: URL(filePath: "\(folder)/bugs/\(name)/STORY.md"))
    }

    private func run(_ arguments: String..., in folder: String) throws -> Command {
        try Command.run(try #require(BuiltTool.path), ["replay"] + arguments, in: folder)
    }

    @Test func `says that all is the same`() throws {
        try inFolder { folder in
            let result = try run("good.capsule", "--mode", "fold", in: folder)
            #expect(result.code == 0)
            #expect(result.complaints == "")
            #expect(
                result.text
                    == "folded 8 events in 7 commits @1 to @8: the same (11 digests compared)\n")
        }
    }

    @Test func `says where it differs, and how it came to it`() throws {
        try inFolder { folder in
            let result = try run("bad.capsule", "--mode", "fold", in: folder)
            #expect(result.code == 1)
            #expect(
                result.text == """
                    folded 7 events in 6 commits @1 to @7: differs at @7 (10 digests compared)
                    @7: the same events make another row today than when recorded
                      differs in tasks/t1 in view entities: status, base, pending; 2 other rows
                      recorded   synced, base @7, {"title":"milk"}
                      replayed   updated, base @7, pending @5, {"title":"milk"}
                      came from  @7 push.accepted tasks/t1
                                 @4 request.sent tasks/t1 PUT /tasks/t1
                                 @3 sync.started userRequested
                                 @2 local.created tasks/t1 {"title":"tea"}
                      look at    tidemark show bad.capsule @7
                                 tidemark why bad.capsule tasks/t1

                    """)
            #expect(result.text.split(separator: "\n").allSatisfy { $0.count <= 80 })
            let before = try run("bad.capsule", "--through", "@6", in: folder)
            #expect(before.code == 0)
        }
    }

    @Test func `of the demo's stores finds no difference`() throws {
        try inFolder { folder in
            let tool = try #require(BuiltTool.path)
            let demo = try Command.run(tool, ["demo", "--store", "demo"], in: folder)
            #expect(demo.code == 0, "\(demo.complaints)")
            for store in ["demo/phone", "demo/laptop"] {
                let made = try Command.run(
                    tool, ["capsule", store, "-o", "\(store).capsule"], in: folder)
                #expect(made.code == 0, "\(made.complaints)")
                for place in [store, "\(store).capsule"] {
                    let result = try run(place, in: folder)
                    let numbers = try Regex("[0-9]+")
                    #expect(result.code == 0, "\(result.text)")
                    #expect(
                        result.text.replacing(numbers, with: "N") == """
                            folded N events in N commits @N to @N: the same (N digests compared)
                            decided N sync runs in N events @N to @N: the same (N acts, N answers)

                            """)
                }
            }
        }
    }

    @Test func `gives commands that work`() throws {
        try inFolder { folder in
            let report = try run("bad.capsule", in: folder).text
            let commands = report.split(separator: "\n").compactMap { line in
                line.firstRange(of: "tidemark ").map {
                    line[$0.upperBound...].split(separator: " ")
                }
            }
            #expect(commands.count == 2)
            for words in commands {
                let result = try Command.run(
                    try #require(BuiltTool.path), words.map { String($0) }, in: folder)
                #expect(result.code == 0, "\(words) \(result.complaints)")
            }
        }
    }

    @Test func `prints an object for programs`() throws {
        try inFolder { folder in
            let result = try run("bad.capsule", "--mode", "fold", "-o", "json", in: folder)
            let value = try JSONValue(parsing: Array(result.text.dropLast().utf8))

            #expect(result.code == 1)
            #expect(value["same"] == .bool(false))
            #expect(value["mode"]?.stringValue == "fold")
            #expect(value["divergence"]?["position"]?.int64Value == 7)
            #expect(value["divergence"]?["kind"]?.stringValue == "digest")
            #expect(value["divergence"]?["entity"]?.stringValue == "tasks/t1")
            #expect(value["divergence"]?["causes"]?.array?.count == 4)
        }
    }

    @Test func `plays mishaps`() throws {
        try inFolder { folder in
            let restart = try run("good.capsule", "--inject", "restart@5,restart@7", in: folder)
            #expect(restart.code == 0)
            #expect(restart.text == "")
            #expect(restart.complaints == "nothing differs\n")

            let drop = try run("good.capsule", "--inject", "drop@7", in: folder)
            #expect(drop.code == 1)
            #expect(drop.text.contains("tasks/t1"))
        }
    }

    @Test func `shows what would have been otherwise`() throws {
        try inFolder { folder in
            let policy = try run("conflict.capsule", "--policy", "tasks=localWins", in: folder)
            #expect(policy.code == 1)
            #expect(policy.text.contains("\"beer\" → \"milk\""))

            let same = try run("conflict.capsule", "--policy", "tasks=serverWins", in: folder)
            #expect(same.code == 0)
            #expect(same.text == "")
            #expect(same.complaints == "nothing differs\n")

            let without = try run("good.capsule", "--without", "@4", in: folder)
            #expect(without.code == 1)
            #expect(
                without.complaints == """
                    tidemark: without @4 request.sent tasks/t1 PUT /tasks/t1
                    tidemark: without @6 request.answered tasks/t1 200
                    tidemark: without @7 push.accepted tasks/t1

                    """)

            let json = try run(
                "conflict.capsule", "--policy", "tasks=localWins", "-o", "json", in: folder)
            for line in json.text.split(separator: "\n") {
                #expect(throws: Never.self) { try JSONValue(parsing: Array(line.utf8)) }
            }
        }
    }

    @Test func `takes another model`() throws {
        try inFolder { folder in
            let model = SyncModel(
                name: "m",
                collections: [
                    CollectionModel("tasks", lastChangeField: "at", conflict: .localWins)
                ])
            try Data(ModelRegistration(model: model).encoded)
                .write(to: URL(filePath: folder + "/model.json"))
            let result = try run("conflict.capsule", "--model", "model.json", in: folder)
            #expect(result.code == 1)
            #expect(result.text.contains("\"beer\" → \"milk\""))
        }
    }

    @Test func `replays a folder of recorded bugs by their stories`() throws {
        try inFolder { folder in
            let good = try run("bugs", in: folder)
            #expect(good.code == 0, "\(good.complaints)")
            #expect(good.text == "kept-edit: as its story says\nlost-edit: as its story says\n")
            #expect(
                try run("bugs", "-o", "json", in: folder).text == """
                    {"name":"kept-edit","expected":true}
                    {"name":"lost-edit","expected":true}

                    """)

            try story("lost-edit", "replays", folder)
            try story("kept-edit", "diverges at @7 (digest)", folder)
            let bad = try run("bugs", in: folder)
            #expect(bad.code == 1)
            #expect(bad.text.hasPrefix("kept-edit: it should differ at @7 (digest)"))
            #expect(bad.text.contains("lost-edit: otherwise than its story says\n  @7: the same"))
        }
    }

    @Test func `replays the other bugs of a folder where one can't be read, and names that`() throws
    {
        try inFolder { folder in
            try FileManager.default.createDirectory(
                atPath: folder + "/bugs/broken", withIntermediateDirectories: true)
            try Data("no capsule".utf8)
                .write(to: URL(filePath: folder + "/bugs/broken/a.capsule"))
            try story("broken", "replays", folder)

            let result = try run("bugs", in: folder)
            let objects = try run("bugs", "-o", "json", in: folder).text.split(separator: "\n")

            #expect(result.code == 1 && result.complaints == "")
            #expect(result.text.hasPrefix("broken: capsule notACapsule: "), "\(result.text)")
            #expect(
                result.text.hasSuffix(
                    "kept-edit: as its story says\nlost-edit: as its story says\n"))
            #expect(objects.count == 3 && objects[0].contains(#""name":"broken""#))
            #expect(objects[0].contains(#""expected":false"#))
        }
    }

    @Test(
        arguments: [
            ("none", "there is no none; name a capsule or the folder of a store"),
            (".", ". is no store, and has no folder with a STORY.md and a capsule"),
            ("good.capsule --through x", "\"x\" is no position; write @12 or 12"),
            ("good.capsule --inject stop@3", "\"stop@3\" is none of restart@P, duplicate@P"),
            ("good.capsule --inject drop@99", "there is no event @99 in it; it has events from"),
            ("good.capsule --without @99", "there is no event @99 in it; it has events from"),
            ("good.capsule --policy tasks", "\"tasks\" is no policy; write tasks=serverWins"),
            ("good.capsule --policy a=localWins", "the model has no collection a; it has tasks"),
            ("good.capsule --policy tasks=x", "\"x\" is no conflict policy: "),
            ("good.capsule --model none", "none can't be read"),
            ("good.capsule --model good.capsule", "good.capsule: not a JSON document"),
            ("good.capsule --inject drop@3 --without @4", "--inject goes with none of --policy"),
            ("bugs --through @3", "bugs is a folder of recorded bugs; name one of its capsules"),
            ("bugs/lost-edit/STORY.md", "capsule notACapsule: "),
        ] as [(String, String)])
    func `says what is wrong with what is asked`(_ line: String, _ words: String) throws {
        try inFolder { folder in
            let result = try Command.run(
                try #require(BuiltTool.path),
                ["replay"] + line.split(separator: " ").map(String.init), in: folder)
            #expect(result.code == 2)
            #expect(result.text == "")
            #expect(result.complaints.hasPrefix("tidemark: " + words), "\(result.complaints)")
            #expect(result.complaints.filter { $0 == "\n" }.count == 1)
        }
    }

    @Test func `says that a capsule is of a later version`() throws {
        try inFolder { folder in
            // Format 2, in a frame of its own.
            let content = folder + "/newer"
            try Data([0x08, 0x02]).write(to: URL(filePath: content))
            guard try Command.run("zstd", ["-q", content]).code == 0 else { return }
            let result = try run("newer.zst", in: folder)
            #expect(result.code == 3, "\(result.complaints)")
        }
    }
}
