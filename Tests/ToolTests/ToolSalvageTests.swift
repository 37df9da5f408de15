// ToolSalvageTests.swift — `tidemark salvage`: a new store of what can be proven, and the damaged
// one as it was.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkTesting

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing))
struct `tidemark salvage` {
    /// A closed store with some edits, and a folder for others.
    private func withStore(
        _ body: (_ store: String, _ folder: SyncFolder) async throws -> Void
    ) async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        for number in 1...40 {
            try await replica.write { tx in
                try tx.put(EntityKey("tasks", "t\(number)"), Array(#"{"n":\#(number)}"#.utf8))
            }
        }
        try await replica.close()
        let folder = try SyncFolder()
        try await body(replica.directory, folder)
        folder.delete()
        try FileManager.default.removeItem(atPath: replica.directory)
    }

    private func damage(_ store: String, _ body: (inout Data) throws -> Void) throws {
        let path = URL(filePath: store + "/data.mdb")
        var data = try Data(contentsOf: path)
        try body(&data)
        try data.write(to: path)
    }

    private func contents(_ store: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: store)
        return try names.reduce(into: [:]) { files, name in
            files[name] = try Data(contentsOf: URL(filePath: store + "/" + name))
        }
    }

    @Test func `makes the same store of one that LMDB can't open`() async throws {
        try await withStore { store, folder in
            let log = try await SyncTool.run("dump", store, "-o", "json").out
            let checkpoint = try await SyncTool.run("checkpoint", store).out
            try checkpoint.write(toFile: folder / "old", atomically: true, encoding: .utf8)
            try damage(store) { data in
                for index in 0..<512 { data[index] = 0 }
            }
            let before = try contents(store)
            let refused = try await SyncTool.run("verify", store)
            #expect(refused.code == 1)
            #expect(refused.err.contains("tidemark salvage \(store) -o NEW"))

            let new = folder / "new"
            let made = try await SyncTool.run("salvage", store, "-o", new)
            #expect(made.code == 0, "\(made.err)")
            #expect(made.lines.contains("proven     events up to @42"))
            #expect(made.lines.contains("ended      @42"))
            #expect(made.lines.last?.hasSuffix(", the old one's id") == true)
            #expect(made.lines.allSatisfy { $0.count <= 80 || $0.contains(new) })
            #expect(try contents(store) == before, "the damaged store is left as it is")

            #expect(try await SyncTool.run("dump", new, "-o", "json").out == log)
            let verified = try await SyncTool.run(
                "verify", "--deep", new, "--checkpoint", folder / "old")
            #expect(verified.code == 0, "\(verified.out)")
            #expect(try await SyncTool.run("put", new, "tasks/a", "{}").out == "@43 tasks/a\n")
        }
    }

    @Test func `gives a log that lost events an id of its own`() async throws {
        try await withStore { store, folder in
            let log = try await SyncTool.run("dump", store, "-o", "json").lines
            let parts = ["--at", "@20"]
            for (name, at) in [("covered", parts), ("lost", [])] {
                let text = try await SyncTool.run(["checkpoint", store] + at).out
                try text.write(toFile: folder / name, atomically: true, encoding: .utf8)
            }
            let id = try #require(try StoreIdentity.find(in: store).identity).storeID
            try damage(store) { data in
                let payload = Data(#"{"n":28}"#.utf8)
                while let range = data.firstRange(of: payload) {
                    data.replaceSubrange(range, with: Data(repeating: 0, count: range.count))
                }
            }

            let new = folder / "new"
            let made = try await SyncTool.run("salvage", store, "-o", new, "--json")
            #expect(made.code == 1, "\(made.err)")
            let report = try JSONDocument(parsing: Array(made.out.utf8))
            #expect(report.value("complete")?.boolValue == false)
            #expect(report.value("proven")?.int64Value == 29)
            #expect(report.value("end")?.int64Value == 42)
            #expect(report.value("keepsID")?.boolValue == false)

            #expect(try await SyncTool.run("dump", new, "-o", "json").lines == Array(log[..<29]))
            let newID = try #require(try StoreIdentity.find(in: new).identity).storeID
            #expect(newID != id)
            let covered = try await SyncTool.run(
                "verify", new, "--checkpoint", folder / "covered")
            #expect(covered.code == 0, "\(covered.out)")
            #expect(covered.err.contains("salvaged from the store \(id)"))
            #expect(covered.err.contains("up to @29"))
            let lost = try await SyncTool.run("verify", new, "--checkpoint", folder / "lost")
            #expect(lost.code == 1)
            #expect(lost.out.contains("of which only the events up to @29 were salvaged"))
            #expect(try await SyncTool.run("put", new, "tasks/a", "{}").out == "@30 tasks/a\n")
        }
    }

    @Test func `takes what no root proves only when it is asked to`() async throws {
        try await withStore { store, folder in
            // One commit of five events, of which the third is lost.
            let replica = try await Replica.open(existing: store)
            try await replica.write { tx in
                for number in 1...5 {
                    try tx.put(EntityKey("lists", "l\(number)"), Array(#"{"l":\#(number)}"#.utf8))
                }
            }
            try await replica.close()
            try damage(store) { data in
                let payload = Data(#"{"l":3}"#.utf8)
                while let range = data.firstRange(of: payload) {
                    data.replaceSubrange(range, with: Data(repeating: 0, count: range.count))
                }
            }

            let proven = try await SyncTool.run("salvage", store, "-o", folder / "proven")
            #expect(proven.code == 1)
            #expect(
                proven.lines.contains("unproven   @43 to @44: not taken; with --unproven they are"))
            #expect(proven.lines.contains("lost       @45: no frame with a right checksum"))
            #expect(proven.lines.contains("lost       @46 to @47: frames that no root proves"))
            let more = try await SyncTool.run(
                "salvage", store, "-o", folder / "more", "--unproven")
            #expect(more.code == 1)
            #expect(more.lines.contains("unproven   @43 to @44: taken, but no root proves them"))
            let verified = try await SyncTool.run("verify", "--deep", folder / "more")
            #expect(verified.code == 0, "\(verified.out)")
            #expect(verified.lines.first?.hasPrefix("fine: 44 events") == true)
            #expect(verified.err.contains("up to @42"))
        }
    }

    @Test func `makes nothing where nothing is proven, or where something is`() async throws {
        try await withStore { store, folder in
            let there = try await SyncTool.run("salvage", store, "-o", folder.path)
            #expect(there.code == 2)
            #expect(there.err.contains("is there already"))
            let none = try await SyncTool.run("salvage", folder / "none", "-o", folder / "new")
            #expect(none.code == 2)

            try damage(store) { $0 = Data(repeating: 7, count: $0.count) }
            let nothing = try await SyncTool.run("salvage", store, "-o", folder / "new")
            #expect(nothing.code == 1)
            #expect(nothing.lines.last == "made       nothing")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        }
    }
}
