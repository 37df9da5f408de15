// RequestWindowsTests.swift — limits of all requests, and of groups of them.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules

@Suite struct `limits of groups of requests` {
    private func at(_ seconds: Int64) -> Timestamp { Timestamp(rawValue: seconds * 1_000_000) }

    private let user = RequestGroup("user")
    private let home = RequestGroup("workspace", id: "7")
    private let work = RequestGroup("workspace", id: "8")

    @Test func `count each group of a name by itself, and no other request`() {
        var windows = RequestWindows([
            RequestLimit(requests: 1, within: .seconds(10), group: "workspace")
        ])
        windows.add(at(0), of: home)

        #expect(windows.wait(at: at(4), of: home) == 6_000_000)
        for group in [work, user, nil] { #expect(windows.wait(at: at(4), of: group) == 0) }
        #expect(windows.wait(at: at(4)) == 0)
    }

    @Test(arguments: [Int64.min, .max])
    func `hold nobody for long where requests have times that no clock shows`(_ time: Int64) {
        for burst in [nil, 3] as [Int?] {
            var windows = RequestWindows([
                RequestLimit(requests: 2, within: .seconds(10), burst: burst)
            ])
            for _ in 0..<8 { windows.add(Timestamp(rawValue: time)) }
            for now in [Int64.min, 0, .max] {
                let wait = windows.wait(at: Timestamp(rawValue: now))
                #expect((0...60_000_000).contains(wait), "at \(now)")
            }
        }
    }

    @Test func `count for the limits of all requests as well`() {
        var windows = RequestWindows([RequestLimit(requests: 1, within: .seconds(10))])
        windows.add(at(0), of: home)

        #expect(windows.wait(at: at(4)) == 6_000_000)
        #expect(windows.wait(at: at(4), of: home) == 0)
    }

    @Test func `that ask for it hold a whole pull`() {
        let windows = RequestWindows(
            [RequestLimit(requests: 30, within: .hours(1), wholePulls: true, group: "user")],
            groups: [user: (0..<25).map { at($0) }])

        #expect(windows.pullWait(at: at(30), lists: 5, of: user) == 0)
        #expect(windows.pullWait(at: at(30), lists: 6, of: user) == 3_570_000_000)
        #expect(windows.pullWait(at: at(30), lists: 6, of: home) == 0)
    }

    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `are never exceeded, whatever is sent when its turn comes`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
        let groups = [nil, user, home, work]
        let limits = [nil, "user", "workspace"].map { name in
            RequestLimit(
                requests: 1 + below(5), within: .seconds(1 + below(60)), group: name)
        }
        var windows = RequestWindows(limits)
        var sent: [(time: Timestamp, group: RequestGroup?)] = []
        var now = at(0)
        for _ in 0..<200 {
            let group = groups[below(4)]
            let wait = max(windows.wait(at: now), windows.wait(at: now, of: group))
            if wait > 0, below(2) == 0 {
                now = Timestamp(rawValue: now.rawValue + wait)
            } else if wait > 0 {
                continue
            }
            windows.add(now, of: group)
            sent.append((now, group))
            now = Timestamp(rawValue: now.rawValue + Int64(below(3_000_000)))
        }

        for limit in limits {
            let length = Int64(limit.within.seconds) * 1_000_000
            for group in groups where limit.group == nil || group?.name == limit.group {
                let own = sent.filter { limit.group == nil || $0.group == group }.map(\.time)
                for first in own {
                    let count = own.count {
                        $0 >= first && $0.rawValue < first.rawValue + length
                    }
                    #expect(count <= limit.requests, "seed \(seed), \(limit)")
                }
            }
        }
        #expect(sent.count > 20, "seed \(seed)")
    }
}
