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
        use.imports(digest, at: Position(4))
        #expect(!use.isInFlight(digest, stored) && !use.inFlightNow()(digest, stored))
        use.imports(digest, at: Position(5))
        #expect(use.isInFlight(digest, stored) && use.inFlightNow()(digest, stored))
    }
}
