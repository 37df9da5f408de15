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

        for _ in 0..<3 { _ = try await world.replica.useFiles(of: EntityKey("tasks", "1")) }

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

@Suite struct `a file that is not here` {
    private static let digest = String(repeating: "0f", count: 32)
    private static func list(_ title: String, _ digest: String = digest) -> String {
        #"[{"file":{"bytes":3,"sha256":"\#(digest)"},"title":"\#(title)"}]"#
    }

    @Test("is no matter of an edit around it that names it as before")
    func edited() async throws {
        for rule in [
            ContentRule("/attachments/*/file"),
            ContentRule("/attachments/*/file", upload: "/files/{sha256}"),
        ] {
            let world = try TransferWorld(rule)
            world.world.rivalPuts("tasks/1", #"{"attachments":\#(Self.list("tea"))}"#)
            _ = try await world.engine.sync()

            try world.set("attachments", Self.list("milk"))
            try world.set("attachments", Self.list("sugar"))

            #expect(try await world.engine.transfer().sent == 0)
            #expect(try await world.engine.sync().counts.pushed >= 1)
            #expect(try world.status() == .synced)
            // Another one is still to be here.
            let other = String(repeating: "0e", count: 32)
            let error = #expect(throws: TidemarkError.self) {
                try world.set("attachments", Self.list("sugar", other))
            }
            #expect(error?.code == .unfitFile)
        }
    }

    @Test("is no damage where it never was here")
    func elsewhere() async throws {
        let world = try TransferWorld(ContentRule("photo"))
        let photo = #"{"bytes":3,"sha256":"\#(Self.digest)"}"#
        world.world.rivalPuts("tasks/1", #"{"photo":\#(photo)}"#)
        _ = try await world.engine.sync()

        #expect(try world.problems() == [])
        let notes = try Journal.verifyStore(at: world.path, .full).notes
        let said = "files of users that entities name and that are not here: 1; none was lost here"
        #expect(notes.contains { $0.hasPrefix(said) })
    }
}
