// ContentUseTests.swift — which files of a store this process uses right now.

import Testing
import TidemarkEvents

@testable import TidemarkViews

@Suite struct `the files in use` {
    private let digest = String(repeating: "a", count: 64)
    /// A file that was stored at position 5.
    private var stored: ContentRow {
        var row = ContentRow()
        row.stored = .init(bytes: 1, position: Position(5), at: Timestamp(rawValue: 0))
        return row
    }

    @Test func `are told to a read as they were before it, also while one is removed`() {
        let use = ContentUse()
        use.begin(digest)
        let before = use.inFlightNow()
        use.end(digest)
        let after = use.inFlightNow()
        var seen: [Bool] = []
        use.remove(digest) { seen = [before(digest, stored), after(digest, stored)] }
        #expect(seen == [true, false])
    }

    @Test func `are those that were imported after their last event`() {
        let use = ContentUse()
        use.imports(digest, at: Position(4), Timestamp(rawValue: 0))
        #expect(!use.isInFlight(digest, stored) && !use.inFlightNow()(digest, stored))
        use.imports(digest, at: Position(5), Timestamp(rawValue: 0))
        #expect(use.isInFlight(digest, stored) && use.inFlightNow()(digest, stored))
    }

    @Test func `are those that were imported, for a day`() {
        let use = ContentUse()
        let start = Timestamp(rawValue: 0)
        let (soon, later) = (start.adding(seconds: 86_399), start.adding(seconds: 86_400))
        use.imports(digest, at: Position(4), start)
        var removals = 0
        for now in [nil, soon, later] { use.remove(digest, at: now) { removals += 1 } }
        #expect(removals == 1 && use.imports.isEmpty)

        use.imports(digest, at: Position(4), start)
        use.forgetImport(of: digest, storedAt: Position(4), soon)
        #expect(use.imports.count == 1)
        use.forgetImport(of: digest, storedAt: Position(5), soon)
        #expect(use.imports.isEmpty)
        // What was imported again and not named again is the log's.
        use.imports(digest, at: Position(9), start)
        use.forgetImport(of: digest, storedAt: Position(5), later)
        #expect(use.imports.isEmpty)
    }
}
