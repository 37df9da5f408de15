// ReaderDemoTests.swift — the story of the reader, told by the tool: a feed in blocks.

import TestSupport
import Testing

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing)) struct `the reader of the demo` {
    @Test func `shows blocks and what was deleted, and status says where the feed goes on`()
        async throws
    {
        let folder = try SyncFolder()
        defer { folder.delete() }

        let demo = try await SyncTool.run("demo", "--story", "reader", "--store", folder / "demo")

        #expect(demo.code == 0 && demo.err == "", "\(demo.err)")
        #expect(demo.lines.count { $0.contains("releaseDate up to ") } >= 5)
        #expect(demo.lines.contains { $0.contains("updatedAt equal to ") })
        // The folder of a test has a long name.
        let lines = demo.lines.filter { !$0.hasPrefix("   cd ") }
        #expect(lines.allSatisfy { $0.count <= 80 && !$0.hasSuffix(" ") })

        let status = try await SyncTool.run("status", folder / "demo/reader")
        #expect(status.lines.contains("          backfill end"))
        #expect(status.lines.contains { $0.hasPrefix("          changes from ") })
        let verified = try await SyncTool.run("verify", folder / "demo/reader")
        #expect(verified.code == 0 && verified.out.hasPrefix("fine: "))
    }
}
