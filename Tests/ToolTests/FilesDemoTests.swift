// FilesDemoTests.swift — the story of the files, told by the tool, and the commands that it names.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing)) struct `the files of the demo` {
    @Test func `lose nothing in two conflicts and a lost answer`() async throws {
        let folder = try SyncFolder()
        defer { folder.delete() }

        let demo = try await SyncTool.run("demo", "--story", "files", "--store", folder / "demo")

        #expect(demo.code == 0 && demo.err == "", "\(demo.err)")
        // The folder of a test has a long name.
        let lines = demo.lines.filter { !$0.hasPrefix("   cd ") }
        #expect(lines.allSatisfy { $0.count <= 80 && !$0.hasSuffix(" ") })
        #expect(lines.contains("   laptop    Lisbon/Menu.txt  created, is here"))
        #expect(lines.contains("   phone     Lisbon/Rent.txt  synced, is here"))
        #expect(lines.contains { $0.hasPrefix("   server  Lisbon/Plan (") })
        #expect(lines.contains("   server  Lisbon/Plan.txt: Monday: by plane"))
        #expect(lines.contains("   server  was sent it no more"))
        #expect(lines.contains("   laptop    Lisbon/Photos/Tram.txt  synced"))
        let asked = lines.filter { $0.hasPrefix("   server  was asked ") }
        #expect(asked == ["   server  was asked PROPFIND /Lisbon/"])
        #expect(lines.contains("   phone     Lisbon/Ticket.txt  synced, is here"))

        for line in lines where line.hasPrefix("   tidemark ") {
            var words = line.dropFirst(12).split(separator: " ").map(String.init)
            let place = try #require(words.firstIndex { $0 == "phone" || $0 == "laptop" })
            words[place] = folder / "demo/\(words[place])"
            let shown = try await SyncTool.run(words)
            #expect(shown.code == 0 && !shown.out.isEmpty, "\(line): \(shown.err)")
        }
        for name in ["phone", "laptop"] {
            let verified = try await SyncTool.run("verify", folder / "demo/\(name)", "--deep")
            #expect(verified.code == 0 && verified.out.hasPrefix("fine: "))
        }
    }
}
