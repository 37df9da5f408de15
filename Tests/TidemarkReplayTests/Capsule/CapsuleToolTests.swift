// CapsuleToolTests.swift — `tidemark capsule`, and the verbs that take a capsule for a store.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay
import TidemarkStore

@testable import CapsuleSupport
@testable import SyncSupport

extension BuiltTool {
    fileprivate static let havePython = (try? Command.run("python3", ["--version"]))?.code == 0
}

@Suite(.enabled(if: BuiltTool.isThere, BuiltTool.missing))
struct `the tool's capsules` {
    private func inFolder(_ body: (Device<CapsuleWorld>, String) throws -> Void) async throws {
        let folder = scratchPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try await CapsuleWorld.with { try body($0, folder) }
        try FileManager.default.removeItem(atPath: folder)
    }

    @Test func `are made, and told of`() async throws {
        try await inFolder { world, folder in
            let made = try BuiltTool.run(
                "capsule", world.replica.directory, "-o", "a.capsule", "--note", "one\ntwo",
                in: folder)
            let told = try BuiltTool.run("capsule", "a.capsule", in: folder)
            let capsule = try world.capsule()
            let events = capsule.commits.flatMap(\.entries)
            let root = Hexadecimal.encode(capsule.provenance.root)
            let size = try FileManager.default.attributesOfItem(atPath: folder + "/a.capsule")

            #expect(made.code == 0, "\(made.complaints)")
            #expect(told.text == made.text)
            #expect(
                made.text == """
                    file       \(size[.size] as? Int ?? 0) bytes
                    events     \(events.count) in \(capsule.commits.count) commits, \
                    @1 to \(capsule.last)
                    recorded   \(events[0].event.recordedAt) to \
                    \(events[events.count - 1].event.recordedAt)
                    base       none: it begins with nothing
                    bodies     1, \(capsule.bodies[0].count) bytes
                    taken of   a log up to \(capsule.last)
                    root       \(root)
                    build      \(Replica.version)
                    remote     not named
                    redacted   no: what users and servers wrote is in it
                    note       one
                               two

                    """)
            #expect(
                made.text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(made.text)")
        }
    }

    @Test func `are read like the store that they are from`() async throws {
        try await inFolder { world, folder in
            let store = world.replica.directory
            for last in ["100000", "40"] {
                let made = try BuiltTool.run(
                    "capsule", store, "-o", "a.capsule", "--last", last, "--force", "--keep-remote",
                    in: folder)
                #expect(made.code == 0, "\(made.complaints)")
                for verb in [
                    ["list"], ["list", "-o", "json"], ["get", "tasks/t1"], ["get", "tasks/none"],
                    ["outbox", "--all"], ["outbox", "--all", "-o", "json"], ["issues"],
                    ["why", "lists/l1"], ["dump", "-r", "-n", "30"],
                    ["dump", "-o", "json", "-r", "-n", "30"], ["status"], ["status", "-o", "json"],
                    ["list", "tasks", "--where", "list=l1"],
                ] {
                    let tool = try #require(BuiltTool.path)
                    let words = verb.dropFirst()
                    // Only which events are there may differ, and it speaks of earlier ones.
                    if last == "40", verb[0] == "why" { continue }
                    let left = try Command.run(tool, [verb[0], store] + words, in: folder)
                    let right = try Command.run(tool, [verb[0], "a.capsule"] + words, in: folder)
                    #expect(right.code == left.code, "\(verb): \(right.complaints)")
                    #expect(right.text == left.text, "\(verb) of the last \(last)")
                }
            }
        }
    }

    @Test func `of a part of a capsule say where they are from`() async throws {
        try await inFolder { world, folder in
            let store = world.replica.directory
            _ = try BuiltTool.run("capsule", store, "-o", "a.capsule", "--note", "x", in: folder)
            _ = try BuiltTool.run(
                "capsule", "a.capsule", "-o", "b.capsule", "--last", "10", in: folder)
            let part = try Capsule(file: folder + "/b.capsule")
            let direct = try world.replica.journal.capsule(
                last: 10, note: "x", namesRemote: false)
            #expect(part == direct)
        }
    }

    @Test func `are refused where a store is needed, or a file is there`() async throws {
        try await inFolder { world, folder in
            let store = world.replica.directory
            try world.capsule().write(to: folder + "/a.capsule")
            let cases: [([String], String)] = [
                (
                    ["verify", "a.capsule"],
                    "a.capsule is no store but a file; a capsule has no Merkle tree, and its own "
                        + "checksum is checked whenever it is read; tidemark replay a.capsule "
                        + "folds it and compares"
                ),
                (
                    ["checkpoint", "a.capsule"],
                    "a.capsule is no store but a file; a capsule has no Merkle tree; ask the store "
                        + "that it is from"
                ),
                (
                    ["put", "a.capsule", "tasks/t1", "{}"],
                    "a.capsule is no store but a file; a capsule is only read"
                ),
                (
                    ["capsule", store, "-o", "a.capsule"],
                    "a.capsule is there already; with --force it is replaced"
                ),
                (["capsule", "none"], "there is nothing at none"),
                (["capsule", "."], ". is neither a capsule nor a store"),
                (
                    ["capsule", store],
                    "\(store) is a store; to make a capsule of it: tidemark capsule \(store) -o "
                        + "bug.capsule"
                ),
            ]
            for (arguments, words) in cases {
                let ended = try Command.run(
                    try #require(BuiltTool.path), arguments, in: folder)
                #expect(ended.code == 2, "\(arguments)")
                #expect(ended.complaints == "tidemark: \(words)\n")
                #expect(ended.text.isEmpty)
            }
        }
    }

    @Test func `end with the code of what is wrong with them`() async throws {
        try await inFolder { world, folder in
            var raw = try RawCapsule(try world.capsule(last: 10))
            let good = try raw.file
            raw.format = 9
            let cases: [([UInt8], Int32, String)] = [
                (try raw.file, 3, "capsule newerFormat: format 9 is not known"),
                (Array(good.dropLast(9)), 1, "capsule truncated: frame 1: "),
                (Array("hello".utf8), 2, "capsule notACapsule: it does not begin with"),
            ]
            for (bytes, code, words) in cases {
                try Data(bytes).write(to: URL(filePath: folder + "/x.capsule"))
                for verb in ["capsule", "list"] {
                    let ended = try BuiltTool.run(verb, "x.capsule", in: folder)
                    #expect(ended.code == code)
                    #expect(ended.complaints.hasPrefix("tidemark: x.capsule: \(words)"))
                }
            }
        }
    }

    @Test(.enabled(if: BuiltTool.havePython, "python3 is not installed"))
    func `that say they hold 1 GiB take less than 64 MiB to be refused`() async throws {
        let folder = scratchPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let mebibyte = try Zstd.compress([UInt8](repeating: 0, count: 1 << 20))
        let bodies = RawCapsule.sealed([8, 1])
        // What a frame says it holds can be less than it does.
        var liar = mebibyte
        for index in 5..<9 where liar.count > 9 { liar[index] = index == 5 ? 2 : 0 }
        let bombs = [(0..<1_024).flatMap { _ in mebibyte }, bodies + mebibyte, liar]
        for (index, bomb) in bombs.enumerated() {
            try Data(bomb).write(to: URL(filePath: folder + "/bomb"))
            let script = """
                import resource, subprocess, sys
                ended = subprocess.run(sys.argv[1:], capture_output=True)
                used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
                print(ended.returncode, used // 1024)
                """
            let ended = try Command.run(
                "python3", ["-c", script, try #require(BuiltTool.path), "capsule", "bomb"],
                in: folder)
            let numbers = ended.text.split { !$0.isNumber }.compactMap { Int($0) }
            #expect(numbers.count == 2 && [1, 2].contains(numbers[0]), "\(index): \(ended.text)")
            #expect(numbers.count == 2 && numbers[1] < 64, "\(index): \(ended.text)")
        }
    }
}
