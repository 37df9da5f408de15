// RequestPaceTests.swift — when the next request of a run may be sent.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkSync

@Suite struct `the pace of requests` {
    private static let begun = MachineScript.begun

    private static func pace(
        _ requests: Int, within seconds: Int, seconds left: Int64? = nil
    ) -> RequestPace {
        let limit = RequestLimit(requests: requests, within: .seconds(seconds))
        return RequestPace(
            RequestWindows([limit]), begun: begun,
            time: SyncTime(from: begun, deadline: left.map { .seconds($0) }))
    }

    private static func at(_ seconds: Int64) -> Moment {
        Moment(
            now: begun.now.adding(seconds: seconds), bootID: begun.bootID,
            uptime: begun.uptime + seconds * 1_000_000)
    }

    @Test func `lets a request go while the limits have room`() {
        var pace = Self.pace(1, within: 10)
        #expect(pace.verdict(at: Self.at(0)) == .go)
        pace.sent(at: pace.now(at: Self.at(0)))
        #expect(pace.verdict(at: Self.at(4)) == .wait(6_000_000))
        #expect(pace.verdict(at: Self.at(10)) == .go)
    }

    @Test func `is that of a run that has a century at most`() {
        let time = SyncTime(from: Self.begun, deadline: .seconds(Int64.max))

        #expect(time.left(at: Self.begun) == .seconds(3_155_760_000))
    }

    @Test(arguments: [
        (Int64(5), RequestPace.Verdict.end(.deadline)), (30, .wait(10_000_000)),
    ])
    func `ends a run that has less time than it had to wait`(
        _ left: Int64, _ verdict: RequestPace.Verdict
    ) {
        var pace = Self.pace(1, within: 10, seconds: left)
        pace.sent(at: pace.now(at: Self.at(0)))
        #expect(pace.verdict(at: Self.at(0)) == verdict)
    }

    @Test func `ends a run that had to wait for longer than a minute`() {
        var pace = Self.pace(1, within: 50)
        pace.sent(at: pace.now(at: Self.at(0)))
        #expect(pace.verdict(at: Self.at(0)) == .wait(50_000_000))
        #expect(
            pace.verdict(at: Self.at(0), slept: 20_000_000)
                == .end(.tooManyRequests(retryAfterSeconds: 50)))
    }

    // MARK: Groups

    private static func paceOfGroup() -> RequestPace {
        RequestPace(
            RequestWindows([RequestLimit(requests: 1, within: .hours(1), group: "user")]),
            begun: begun, time: SyncTime(from: begun, deadline: nil))
    }

    @Test func `leaves a request out whose group has no room, and lets others go`() {
        var pace = Self.paceOfGroup()
        let user = RequestGroup("user")
        pace.sent(at: pace.now(at: Self.at(0)), of: user)

        #expect(
            pace.verdict(at: Self.at(100), for: user)
                == .hold(.tooManyRequests(retryAfterSeconds: 3500)))
        #expect(pace.verdict(at: Self.at(100), for: RequestGroup("workspace", id: "7")) == .go)
        #expect(pace.verdict(at: Self.at(100)) == .go)
        #expect(pace.verdict(at: Self.at(3550), for: user) == .wait(50_000_000))
        #expect(pace.verdict(at: Self.at(3600), for: user) == .go)
    }

    @Test func `goes by what the server said of a group, however long ago that was`() {
        let user = RequestGroup("user")
        let since = Moment(
            now: Self.begun.now.adding(seconds: -600), bootID: "other", uptime: 5)
        let gate = SyncGate(since: since, microseconds: 900_000_000, position: Position(1))
        var pace = RequestPace(
            RequestWindows([]), gates: [user: gate], begun: Self.begun,
            time: SyncTime(from: Self.begun, deadline: nil))

        #expect(
            pace.verdict(at: Self.at(0), for: user)
                == .hold(.tooManyRequests(retryAfterSeconds: 300)))
        #expect(pace.verdict(at: Self.at(300), for: user) == .go)
        pace.hold(user, seconds: 70, uptime: Self.at(400).uptime)
        #expect(
            pace.verdict(at: Self.at(401), for: user)
                == .hold(.tooManyRequests(retryAfterSeconds: 69)))
        pace.hold(user, seconds: nil, uptime: Self.at(402).uptime)
        guard case .hold = pace.verdict(at: Self.at(900_000), for: user) else {
            Issue.record("a quota without an end came to one")
            return
        }
    }

    @Test func `holds the lists of a group that do not fit together`() {
        let user = RequestGroup("user")
        let limit = RequestLimit(requests: 3, within: .hours(1), wholePulls: true, group: "user")
        var pace = RequestPace(
            RequestWindows([limit]), begun: Self.begun,
            time: SyncTime(from: Self.begun, deadline: nil))
        pace.sent(at: Self.begun.now, of: user)

        #expect(pace.verdict(at: Self.at(0), pulling: [user, nil, user, nil]) == .go)
        #expect(
            pace.verdict(at: Self.at(0), pulling: [user, user, user])
                == .hold(.tooManyRequests(retryAfterSeconds: 3600)))
        #expect(pace.waitsToPull([user, user, user]) && !pace.waitsToPull([user, nil, nil]))
    }

    @Test func `goes by the clock that nobody sets`() {
        let pace = Self.pace(1, within: 10)
        var set = Self.at(4)
        set.now = set.now.adding(seconds: -9_000)
        #expect(pace.now(at: set) == Self.begun.now.adding(seconds: 4))
    }

    @Test(arguments: [(Int64(9), false), (10, true)])
    func `begins no request with less than a second left`(_ seconds: Int64, _ isOver: Bool) {
        let pace = Self.pace(1, within: 10, seconds: 10)
        #expect(pace.isOver(at: Self.at(seconds)) == isOver)
    }
}
