// ToolTruncateTests.swift — the tool drops the first events of a store, and every verb says where
// the log begins then.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized, .enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool, truncating` {
    /// A store with words of the server about some tasks, again and again.
    private func withStore(_ body: (String) async throws -> Void) async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        try fill(replica)
        try await replica.close()
        try await body(replica.directory)
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    private func fill(_ replica: Replica) throws {
        for number in 0..<60 {
            let id = "t\(number % 7)"
            let json = Array(#"{"id":"\#(id)","title":"title \#(number)"}"#.utf8)
            let day = Timestamp(microseconds: Int64(number) * 86_400_000_000)
            try replica.journal.write(at: day) { draft in
                let key = EntityKey("tasks", id)
                try draft.append(Event(.serverUpserted, recordedAt: day, key: key, json: json))
            }
        }
    }

    @Test func `says what would go, and drops it when it is told to`() async throws {
        try await withStore { store in
            let rows = try await SyncTool.run("list", store).lines

            let dry = try await SyncTool.run("compact", store, "--truncate", "@40")
            #expect(dry.code == 0 && dry.lines.first == "would drop @1 to @40, 40 events")
            #expect(try await SyncTool.run("dump", store).lines.count == 62)

            let file = store + ".capsule"
            let whole = try await SyncTool.run("dump", store, "-o", "json").lines
            let made = try await SyncTool.run(
                "compact", store, "--truncate", "@40", "--archive", file, "--force")
            #expect(made.code == 0, "\(made.err)")
            #expect(made.lines.contains { $0.hasPrefix("archived   40 events") })
            #expect(made.lines.contains("the log    begins at @41"))

            #expect(try await SyncTool.run("list", store).lines == rows)
            let dump = try await SyncTool.run("dump", store, "-o", "json")
            #expect(dump.err.contains("the log begins at @41"))
            #expect(Array(dump.lines.dropLast()) == Array(whole.dropFirst(40)))
            #expect(dump.lines.last?.contains(#""kind":"log.truncated""#) == true)
            let archived = try await SyncTool.run("dump", file, "-o", "json")
            #expect(archived.code == 0 && archived.lines == Array(whole.prefix(40)))
            #expect(try await SyncTool.run("verify", "--deep", store).code == 0)
            try FileManager.default.removeItem(atPath: file)
        }
    }

    @Test func `refuses a place beyond the log's end at once, and says what can go`() async throws {
        try await withStore { store in
            for place in ["@99", "@1795996890707868", "@18446744073709551615"] {
                for force in [[], ["--force"]] {
                    let words = ["compact", store, "--truncate", place] + force
                    let made = try await SyncTool.run(words)
                    #expect(made.code == 2, "\(place)")
                    let refusal = "the events up to \(place) can't be dropped: "
                    #expect(made.err.contains(refusal), "\(made.err)")
                    #expect(made.err.contains("; those up to @"), "\(made.err)")
                }
            }
        }
    }

    @Test func `drops nothing where the archive's folder is missing, and says so`() async throws {
        try await withStore { store in
            let made = try await SyncTool.run(
                "compact", store, "--truncate", "@40", "--archive", store + ".none/a", "--force")
            #expect(made.code == 2 && made.out.isEmpty)
            #expect(made.err.contains("the folder \(store).none is not there"), "\(made.err)")
            #expect(!made.err.contains("there is no store"), "\(made.err)")
            #expect(try await SyncTool.run("dump", store).lines.count == 62)
        }
    }

    @Test func `says of what is gone that it was dropped`() async throws {
        try await withStore { store in
            _ = try await SyncTool.run("compact", store, "--truncate", "@59", "--force")

            let why = try await SyncTool.run("why", store, "tasks/t4")
            #expect(why.lines.contains { $0.contains("before @60, dropped") }, "\(why.lines)")
            let show = try await SyncTool.run("show", store, "@12")
            #expect(show.code == 1 && show.err.contains("the log begins at @60"))
            let past = try await SyncTool.run("as-of", store, "@12", "list")
            #expect(past.code == 2 && past.err.contains("@12 was dropped"), "\(past.err)")
            #expect(try await SyncTool.run("as-of", store, "@59", "list").code == 0)
            let checkpoint = try await SyncTool.run("checkpoint", store, "--at", "@12")
            #expect(checkpoint.code == 2 && checkpoint.err.contains("begins at @60"))
            let again = try await SyncTool.run("compact", store, "--truncate", "@12")
            #expect(again.code == 2 && again.err.contains("dropped before"))
            let stats = try await SyncTool.run("stats", store)
            #expect(stats.lines.contains { $0.hasPrefix("dropped    up to @59") })
            #expect(try await SyncTool.run("history", store, "tasks/t4").code == 0)
            let file = store + ".capsule"
            #expect(try await SyncTool.run("capsule", store, "-o", file).code == 0)
            let replay = try await SyncTool.run("replay", file)
            #expect(replay.code == 0, "\(replay.lines) \(replay.err)")
            let salvage = try await SyncTool.run("salvage", store, "-o", store + ".new")
            #expect(salvage.code == 2 && salvage.err.contains("not salvaged"), "\(salvage.err)")
            try FileManager.default.removeItem(atPath: file)
        }
    }

    @Test func `drops the rows of edits that are over, which a redacted capsule repeats`()
        async throws
    {
        try await withStore { store in
            _ = try await SyncTool.run("put", store, "tasks/mine", #"{"title":"mine"}"#)
            #expect(try await SyncTool.run("discard", store, "tasks/mine").code == 0)
            let replica = try await Replica.open(existing: store)
            let end = try replica.journal.read { $0.last }
            try fill(replica)
            try await replica.close()
            let outbox = ["outbox", store, "--all", "-o", "json"]
            #expect(try await SyncTool.run(outbox).lines.count == 1)

            let cut = ["compact", store, "--truncate", "\(end)", "--force"]
            #expect(try await SyncTool.run(cut).code == 0)

            let left = try await SyncTool.run(outbox)
            #expect(left.code == 0 && left.out.isEmpty)
            #expect(try await SyncTool.run("verify", "--deep", store).code == 0)
            let file = store + ".capsule"
            let made = try await SyncTool.run("capsule", store, "-o", file, "--redact")
            #expect(made.code == 0, "\(made.err)")
            let replay = try await SyncTool.run("replay", file)
            #expect(replay.code == 0, "\(replay.lines) \(replay.err)")
            try FileManager.default.removeItem(atPath: file)
        }
    }

    @Test func `gives the file's free pages back to the disk`() async throws {
        try await withStore { store in
            let bytes = {
                let file = try FileManager.default.attributesOfItem(atPath: store + "/data.mdb")
                return try #require(file[.size] as? Int)
            }
            let before = try bytes()
            let dump = try await SyncTool.run("dump", store, "-o", "json").lines
            let dry = try await SyncTool.run("compact", store, "--truncate", "@40", "--shrink")
            #expect(try dry.code == 0 && bytes() == before)

            let made = try await SyncTool.run("compact", store, "--shrink")
            #expect(made.code == 0, "\(made.err)")
            let after = try bytes()
            #expect(after < before, "\(before) \(after)")
            let line = try #require(made.lines.last)
            #expect(line.hasPrefix("file ") && line.hasSuffix(" bytes before, \(after) now"))
            #expect(try await SyncTool.run("dump", store, "-o", "json").lines == dump)
            #expect(try await SyncTool.run("verify", "--deep", store).code == 0)
            let again = try await SyncTool.run("compact", store, "--shrink")
            #expect(try again.lines.last?.contains("no smaller") == true && bytes() == after)

            let cut = ["--truncate", "@40", "--force", "--shrink"]
            #expect(try await SyncTool.run(["compact", store] + cut).code == 0)
            #expect(try await SyncTool.run("verify", "--deep", store).code == 0)
            #expect(try await SyncTool.run("put", store, "tasks/mine", "{}").code == 0)

            let replica = try await Replica.open(existing: store)
            let busy = try await SyncTool.run("compact", store, "--shrink", "--wait", "0")
            #expect(busy.code == 2 && busy.err.contains("open for writing"), "\(busy.err)")
            #expect(throws: TidemarkError.self) { try Replica.shrink(at: store) }
            try await replica.close()
        }
    }

    @Test func `drops what is older than a duration, and nothing that waits`() async throws {
        try await withStore { store in
            let none = try await SyncTool.run("compact", store, "--keep", "P90D")
            #expect(none.lines == ["nothing to drop"])
            // The store was opened today, long after what it was told.
            let all = try await SyncTool.run("compact", store, "--keep", "P1D")
            #expect(all.lines.first?.hasPrefix("would drop @1 to @") == true, "\(all.lines)")

            _ = try await SyncTool.run("put", store, "tasks/mine", #"{"title":"mine"}"#)
            let held = try await SyncTool.run("compact", store, "--truncate", "@64")
            #expect(held.code == 2 && held.err.contains("outbox"), "\(held.err)")
            for words in [["--truncate", "@3", "--keep", "P1D"], ["--force"], ["--keep", "soon"]] {
                #expect(try await SyncTool.run(["compact", store] + words).code == 2)
            }
        }
    }
}
