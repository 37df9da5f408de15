// PoolKillTests.swift — a process that takes reserved values is killed at any moment: no value is
// handed out twice.

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
struct `values that are taken by a process that is killed` {
    private static let seed: UInt64 = 0x5EED_0081
    private static let rounds = 40

    @Test func `are handed out once, with the write that uses them or alone`() throws {
        var random = SplitMix64(seed: Self.seed)
        let folder = try SyncFolder()
        defer { folder.delete() }
        let path = folder / "store"
        let model = SyncModel(
            name: "m", collections: [CollectionModel("people")], pools: [.init("numbers")])
        try Replica.open(at: path, model: model).close()
        var said: [String] = []
        for round in 0..<Self.rounds {
            let place: Comment = "seed \(Self.seed), round \(round)"
            let child = try Command.run(
                try #require(BuiltProgram.crashChild.path),
                ["pool", path, "\(round)", "\(1 + random.below(60_000))"],
                environment: ["SWIFT_BACKTRACE": "enable=no"])
            try #require(child.signal == 9, "\(child.text) \(child.complaints) \(place)")
            // The last line may have been cut.
            let lines = child.text.split(separator: "\n", omittingEmptySubsequences: false)
            said += lines.dropLast().compactMap { line in
                line.hasPrefix("took ") ? String(line.dropFirst(5)) : nil
            }
        }
        #expect(said.count > Self.rounds / 4)
        #expect(Set(said).count == said.count, "seed \(Self.seed)")

        let replica = try Replica.open(existing: path)
        defer { try? replica.close() }
        var taken: [String] = []
        _ = try replica.journal.dump(EventFilter()) { _, event in
            if let value = event.read(ReservedTaken.self)?.value { taken.append(value) }
        }
        #expect(Set(taken).count == taken.count && Set(taken).isSuperset(of: said))
        var used: [String] = []
        try replica.read { store in
            try store.forEachDocument(in: "people") { _, document, _ in
                used += [JSON.value("number", of: document)?.stringValue].compactMap(\.self)
                return true
            }
        }
        #expect(Set(used).count == used.count && Set(taken).isSuperset(of: used))
        #expect(try replica.journal.verify(.deep).findings == [])
        print("killed \(Self.rounds) times, seed \(Self.seed): \(taken.count) values were taken")
    }
}
