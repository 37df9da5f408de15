// PreconditionRuleTests.swift — when a server's preconditions are tried, and what is read first.

import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `preconditions of writes` {
    private let tried = Timestamp(rawValue: 1_800_000_000_000_000)

    @Test func `are tried by the first upload, and again after seven days`() {
        let known = KnownPreconditions(areHeeded: true, triedAt: tried)
        let days = { (count: Int64) in tried.adding(seconds: count * 86_400) }
        #expect(PreconditionRule.isDue(nil, now: tried))
        #expect(!PreconditionRule.isDue(known, now: tried))
        #expect(!PreconditionRule.isDue(known, now: days(7).adding(seconds: -1)))
        #expect(PreconditionRule.isDue(known, now: days(7)))
    }

    @Test func `are tried anew where the device's clock was set back`() {
        let known = KnownPreconditions(areHeeded: true, triedAt: tried)
        #expect(PreconditionRule.isDue(known, now: tried.adding(seconds: -1)))
    }

    @Test(
        arguments: [
            (nil, true, true), (nil, false, false), (true, true, false), (true, false, false),
            (false, true, true), (false, false, true),
        ] as [(Bool?, Bool, Bool)])
    func `say what is read first: what is not known to be safe`(
        _ areHeeded: Bool?, _ mayReplace: Bool, _ isRead: Bool
    ) {
        let known = areHeeded.map { KnownPreconditions(areHeeded: $0, triedAt: tried) }
        #expect(PreconditionRule.readsFirst(known, mayReplace: mayReplace) == isRead)
    }
}
