// WrittenRowsTests.swift — what one event wrote is found again, among few and among many.

import Testing
import TidemarkEvents

@testable import TidemarkViews

@Suite struct `rows that an event wrote` {
    @Test(arguments: [0, 1, 16, 17, 18, 64, 65, 66, 200])
    func `are found as they were written last`(_ count: Int) {
        func key(_ number: Int) -> RowKey { RowKey(.ledger, [UInt8(number)]) }
        var rows = WrittenRows()
        var mutations = WrittenMutations()
        for number in 0..<count {
            rows.append(key(number / 2), [UInt8(number)])
            var mutation = MutationRow(
                key: EntityKey("tasks", "a"), kind: .localUpdated,
                recordedAt: Timestamp(rawValue: 1), fields: [])
            mutation.attempts = UInt64(number)
            mutations.append(mutation, at: Position(UInt64(number / 2) + 1))
        }

        for number in 0..<count {
            let last = min(number / 2 * 2 + 1, count - 1)
            #expect(rows.last(of: key(number / 2))?.value == [UInt8(last)])
            #expect(mutations[Position(UInt64(number / 2) + 1)]?.attempts == UInt64(last))
        }
        #expect(rows.last(of: key(250)) == nil)
        #expect(mutations[Position(1000)] == nil)

        rows.removeAll()
        mutations.removeAll()
        #expect(rows.isEmpty && mutations.isEmpty)
        #expect(rows.last(of: key(0)) == nil)
        #expect(mutations[Position(1)] == nil)
    }
}
