// WrittenRowsTests.swift — what one event wrote is found again after few looks.

import Testing

@testable import TidemarkViews

@Suite struct `rows that an event wrote` {
    @Test(arguments: [0, 1, 16, 17, 18, 200])
    func `are found as they were written last`(_ count: Int) {
        var written = WrittenRows<Int, Int>(few: 16)
        for number in 0..<count { written.append(number / 2, number) }

        for number in 0..<count {
            let index = written.lastIndex(of: number / 2)
            #expect(index == min(number / 2 * 2 + 1, count - 1))
            #expect(index.map { written.rows[$0].value } == index)
        }
        #expect(written.lastIndex(of: -1) == nil)

        written.removeAll()
        #expect(written.isEmpty)
        #expect(written.lastIndex(of: 0) == nil)
    }

    @Test func `are found after few looks, also among many`() {
        let looks = Looks()
        let count = 1000
        var written = WrittenRows<CountedKey, Int>(few: 16)
        for number in 0..<count {
            written.append(CountedKey(number: number, looks: looks), number)
            #expect(written.lastIndex(of: CountedKey(number: 0, looks: looks)) == 0)
        }
        // One search from the last one to the first looks at all of them.
        #expect(looks.count < count * 50, "\(looks.count) looks")
    }
}

private final class Looks {
    var count = 0
}

/// A key of which each comparison is counted.
private struct CountedKey: Hashable {
    let number: Int
    let looks: Looks

    static func == (left: CountedKey, right: CountedKey) -> Bool {
        left.looks.count += 1
        return left.number == right.number
    }

    func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
