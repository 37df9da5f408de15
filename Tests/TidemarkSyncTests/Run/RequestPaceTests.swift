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
            RequestWindow([limit]), begun: begun,
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
