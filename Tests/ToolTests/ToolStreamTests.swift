// ToolStreamTests.swift — standard input, output and error that are closed, full or no file.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkStore
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.enabled(if: SyncTool.isThere, SyncTool.missing))
struct `the tool's streams` {
    private static let isFullThere = FileManager.default.fileExists(atPath: "/dev/full")

    private func run(_ words: String, _ store: String) async throws -> SyncTool.Result {
        try await SyncTool.bash("S='\(store)'; \"$tidemark\" " + words)
    }

    @Test(arguments: ["<&- >&- 2>&-", ">&- 2>&-", "2>&-", "<&-"])
    func `that are closed are no file of the store`(_ closed: String) async throws {
        try await SyncFolder.withStore { _, store in
            #expect(try await SyncTool.run("put", store, "tasks/a", "{}").code == 0)

            let compacted = try await run("compact $S --force --keep P90D \(closed)", store)
            let made = try await run("put $S tasks/b {} \(closed)", store)

            #expect(compacted.code == 0 && made.code == 0)
            let verified = try await SyncTool.run("verify", store)
            #expect(verified.code == 0, "\(verified.out)")
            for name in ["data.mdb", "lock.mdb"] {
                let bytes = try Data(contentsOf: URL(filePath: store + "/" + name))
                #expect(bytes.range(of: Data("tasks/b\n".utf8)) == nil, "\(name)")
            }
        }
    }

    @Test(
        .enabled(if: isFullThere, "there is no /dev/full"),
        arguments: ["dump $S -o json", "verify $S", "rebuild $S --check", "list $S", "--help"])
    func `that can't be written end it with 2`(_ words: String) async throws {
        try await SyncFolder.withStore { _, store in
            #expect(try await SyncTool.run("put", store, "tasks/a", "{}").code == 0)

            let result = try await run(words + " > /dev/full", store)

            #expect(result.code == 2)
            #expect(result.err.hasPrefix("tidemark: standard output can't be written: "))
            #expect(result.err.split(separator: "\n").count == 1, "\(result.err)")
        }
    }

    @Test(.enabled(if: isFullThere, "there is no /dev/full"))
    func `that messages can't be written to change no outcome`() async throws {
        try await SyncFolder.withStore { _, store in
            let missing = try await run("get $S tasks/a 2> /dev/full", store)
            let verified = try await run("verify $S 2> /dev/full", store)

            #expect(missing.code == 1 && verified.code == 0)
        }
    }

    @Test func `that can't be read end it with 2`() async throws {
        try await SyncFolder.withStore { _, store in
            for words in ["put $S tasks/a -", "verify $S --checkpoint -"] {
                let result = try await run(words + " < /", store)

                #expect(result.code == 2, "\(words)")
                #expect(result.err.hasPrefix("tidemark: standard input can't be read: "))
            }
        }
    }

    @Test func `that nobody takes from keep no read of the store going on`() async throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        let folder = try SyncFolder()
        defer {
            try? replica.close()
            try? FileManager.default.removeItem(atPath: replica.directory)
            folder.delete()
        }
        try await replica.write { tx in
            for number in 1...3000 {
                let title = String(repeating: "tea and milk, ", count: 8)
                try tx.put(
                    EntityKey("tasks", "task-\(number)"), Array(#"{"title":"\#(title)"}"#.utf8))
            }
        }
        // Much more than a pipe holds, of which one line is read for now.
        let (begun, goOn) = (folder / "begun", folder / "goOn")
        async let listed = SyncTool.bash(
            "\"$tidemark\" list '\(replica.directory)' tasks | (read -r line; touch '\(begun)'; "
                + "until [ -e '\(goOn)' ]; do sleep 0.02; done; cat) | wc -l")
        while !FileManager.default.fileExists(atPath: begun) {
            await Task.yield()
        }
        try await replica.write { tx in try tx.put(EntityKey("tasks", "more"), Array("{}".utf8)) }
        let environment = replica.journal.environment
        var lag = try environment.info().oldestReaderLag
        for _ in 0..<200_000 where lag > 0 {
            await Task.yield()
            lag = try environment.info().oldestReaderLag
        }
        try Data().write(to: URL(filePath: goOn))
        let result = try await listed

        #expect(lag == 0)
        #expect(result.code == 0 && result.err == "", "\(result.err)")
        #expect(result.out.trimmingCharacters(in: .whitespacesAndNewlines) == "2999")
    }
}
