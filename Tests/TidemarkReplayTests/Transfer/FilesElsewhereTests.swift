// FilesElsewhereTests.swift — files that came by a wrong clock, and files that are not here: edits
// around them, and those that are back.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

extension TransferWorld {
    private static let years = Int64(5 * 366 * 86_400)

    /// Has a record name a file that came while the clock was five years ahead.
    fileprivate func attachAhead() throws {
        world.clock.advance(by: .seconds(Self.years))
        try attach("tea")
        world.clock.advance(by: .seconds(-Self.years))
    }

    fileprivate func count(_ kind: EventKind) throws -> Int {
        var count = 0
        _ = try replica.journal.dump(EventFilter()) { _, event in
            if event.kind == kind { count += 1 }
        }
        return count
    }

    /// Sets a member of the record.
    fileprivate func set(_ field: String, _ value: String) throws {
        try replica.write { tx in
            _ = try tx.patch(
                EntityKey("tasks", "1"), Patch(set: [Patch.Field(field, Array(value.utf8))]))
        }
    }
}

@Suite struct `a file that came while the clock was ahead` {
    @Test("is used once a day, as the others are")
    func used() async throws {
        let world = try TransferWorld(ContentRule("photo", quotaBytes: 100))
        try world.attachAhead()

        for _ in 0..<3 { _ = try world.replica.useFiles(of: EntityKey("tasks", "1")) }

        #expect(try world.count(.assetUsed) == 1)
        try await world.expectSound(acts: 0)
    }

    @Test("goes with a sweep once nothing names it")
    func swept() async throws {
        let world = try TransferWorld(ContentRule("photo", quotaBytes: 100))
        try world.attachAhead()
        try await world.replica.write { tx in try tx.discard(EntityKey("tasks", "1")) }
        world.world.clock.advance(by: .seconds(2 * 86_400))

        #expect(try world.replica.journal.sweepContents(at: world.world.clock.now).removed == 1)
        try await world.expectSound(acts: 0)
    }
}
