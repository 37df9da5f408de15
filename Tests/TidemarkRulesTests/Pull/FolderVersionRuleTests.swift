// FolderVersionRuleTests.swift — when every folder of a tree is listed.

import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `the folders that are left out by their versions` {
    private static let day: Int64 = 86_400_000_000

    private func isDue(_ last: Int64?, _ now: Int64) -> Bool {
        FolderVersionRule.isDue(
            last: last.map { Timestamp(rawValue: $0 * Self.day) },
            now: Timestamp(rawValue: now * Self.day))
    }

    @Test func `are listed every seventh day`() {
        #expect(!isDue(10, 10) && !isDue(10, 16) && isDue(10, 17) && isDue(10, 40))
    }

    @Test func `are listed where they never were, or the clock was set back`() {
        #expect(isDue(nil, 10) && isDue(10, 9))
    }
}
