// TruncatedTests.swift — a data file that is cut off while a process has it open. That may end the
// process; the next one is told, or has everything that was acknowledged.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

@testable import SyncSupport

@Suite(
    .serialized, .enabled(if: BuiltProgram.crashChild.isThere, "\(BuiltProgram.crashChild.missing)")
)
struct `a data file that is cut off while it is open` {
    private static let commits = 60

    @Test func `is refused or reported next time, or has all that was acknowledged`() throws {
        var outcomes: [String: Int] = [:]
        for pages in [
            0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32, 48, 64, 80, 96, 10_000,
        ] {
            for extra in [0, 100] {
                let (outcome, hasDied) = try Self.outcome(keeping: pages * 4096 + extra)
                outcomes[outcome, default: 0] += 1
                if hasDied { outcomes["of a child that died", default: 0] += 1 }
            }
        }
        print(
            "cut off while open: "
                + outcomes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", "))
        #expect((outcomes["whole"] ?? 0) >= 2, "what is cut off behind the end does no harm")
        #expect(outcomes.count > 1, "no cut did any harm")
    }

    /// What became of a store of which a child kept so many bytes; whether that killed the child.
    private static func outcome(keeping bytes: Int) throws -> (String, hasDied: Bool) {
        let folder = try SyncFolder()
        defer { folder.delete() }
        let path = folder / "store"
        try Replica.open(at: path, model: SyncWorld.usualModel).close()
        let child = try Command.run(
            try #require(BuiltProgram.crashChild.path),
            ["truncated", path, "\(commits)", "\(bytes)"],
            environment: ["SWIFT_BACKTRACE": "enable=no"])
        let acknowledged = child.text.split(separator: "\n").filter { $0.hasPrefix("wrote ") }
            .compactMap { $0.split(separator: " ").last.map(String.init) }
        try #require(acknowledged.count >= commits, "\(child.text) \(child.complaints)")
        let place: Comment = "\(bytes) bytes kept: \(child.text.suffix(200))"

        let hasDied = child.signal != nil
        let replica: Replica
        do { replica = try Replica.open(existing: path) } catch let error as TidemarkError {
            let codes: [TidemarkError.Code] = [.damaged, .lost, .rolledBack, .unfitIdentity]
            #expect(codes.contains(error.code), "\(error) \(place)")
            return ("refused by \(error.code)", hasDied)
        }
        defer { try? replica.close() }
        guard try Journal.verifyStore(at: path).isFine else {
            return ("reported by verify", hasDied)
        }
        let stored = try replica.read { reader in
            var ids: Set<String> = []
            try reader.forEachDocument { key, _, _ in
                ids.insert(key.id)
                return true
            }
            return ids
        }
        #expect(stored.isSuperset(of: acknowledged), place)
        return ("whole", hasDied)
    }
}
