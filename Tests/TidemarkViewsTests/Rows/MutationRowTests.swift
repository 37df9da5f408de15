// MutationRowTests.swift — rows of mutations, told from one another before they are parsed.

import Testing
import TidemarkEvents

@testable import TidemarkViews

@Suite struct `rows of mutations` {
    @Test func `begin with their entity's key, and those of no other do`() {
        let long = String(repeating: "x", count: 200)
        let keys = [
            EntityKey("tasks", "1"), EntityKey("tasks", "12"), EntityKey("task", "1"),
            EntityKey("tasks", long), EntityKey("tasks", long + "x"),
        ]
        for key in keys {
            let row = MutationRow(
                key: key, kind: .localUpdated, recordedAt: Timestamp(rawValue: 1), fields: ["a"])
            let found = keys.filter { row.encoded.starts(with: MutationRow.beginning(of: $0)) }
            #expect(found == [key])
        }
    }
}
