// HabitRuleTests.swift — when what a server does is looked at again.

import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `what a server does` {
    private static let day: Int64 = 86_400_000_000

    private func isDue(_ last: Int64?, _ now: Int64) -> Bool {
        HabitRule.isDue(
            last: last.map { Timestamp(rawValue: $0 * Self.day) },
            now: Timestamp(rawValue: now * Self.day))
    }

    @Test func `is looked at every seventh day`() {
        #expect(!isDue(10, 10) && !isDue(10, 16) && isDue(10, 17) && isDue(10, 40))
    }

    @Test func `is looked at where it never was, or the clock was set back`() {
        #expect(isDue(nil, 10) && isDue(10, 9))
    }
}
