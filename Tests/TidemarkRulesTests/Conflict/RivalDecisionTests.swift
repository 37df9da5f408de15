// RivalDecisionTests.swift — who goes on among rivals and when the others stop, by the documented
// cases.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

/// A case: two or more that hold the state, and others.
struct RivalStory: Sendable, CustomTestStringConvertible {
    struct Entry: Sendable {
        var id: String
        var start: String
        var at: String
    }

    var name: String
    var runners: [Entry]
    var others: [Entry] = []
    var now: String
    var stop = RivalRule.Stop.nextStart
    /// Whether those that run count among the starts: in the documented table of the rule alone
    /// they do not.
    var countsRunners = true
    var winner: String
    /// Seconds of each loser.
    var losers: [String: Int64]

    var testDescription: String { name }

    static let all: [RivalStory] = [
        RivalStory(
            name: "RV-02: at the earliest later start of the others",
            runners: [
                Entry(id: "1", start: "2017-09-13T12:00:00.000Z", at: "2017-09-11T12:00:00.000Z"),
                Entry(id: "2", start: "2017-09-14T12:00:00.000Z", at: "2017-09-12T12:00:00.000Z"),
            ],
            others: ["01", "06", "11", "16"].map { day in
                Entry(
                    id: "1\(day)", start: "2017-09-\(day)T12:00:00.000Z",
                    at: "2017-09-01T12:00:00.000Z")
            },
            now: "2017-09-15T12:00:00.000Z", countsRunners: false, winner: "2",
            losers: ["1": 259_200]),
        RivalStory(
            name: "RV-05: the winner started before the loser, nothing later: now",
            runners: [
                Entry(id: "1", start: "2017-09-01T14:00:00.000Z", at: "2017-09-01T14:00:00.000Z"),
                Entry(id: "2", start: "2017-09-01T12:00:00.000Z", at: "2017-09-01T15:00:00.000Z"),
            ],
            now: "2017-09-01T16:00:00.000Z", winner: "2", losers: ["1": 7200]),
        RivalStory(
            name: "RV-06: changed at the same time: the later start goes on",
            runners: [
                Entry(id: "1", start: "2017-09-01T12:00:00.000Z", at: "2017-09-01T13:00:00.000Z"),
                Entry(id: "2", start: "2017-09-01T12:30:00.000Z", at: "2017-09-01T13:00:00.000Z"),
            ],
            now: "2017-09-01T14:00:00.000Z", winner: "2", losers: ["1": 1800]),
        RivalStory(
            name: "RV-07: what is less than a second is cut off",
            runners: [
                Entry(id: "1", start: "2017-09-01T12:00:00.000Z", at: "2017-09-01T12:00:00.000Z"),
                Entry(id: "2", start: "2017-09-01T12:00:10.900Z", at: "2017-09-01T12:00:10.900Z"),
            ],
            now: "2017-09-01T13:00:00.000Z", winner: "2", losers: ["1": 10]),
        RivalStory(
            name: "RV-08: started here offline, a newer one is pulled",
            runners: [
                Entry(id: "7", start: "2018-06-13T11:00:00.000Z", at: "2018-06-13T11:00:00.000Z"),
                Entry(id: "-1", start: "2018-06-13T10:00:00.000Z", at: "2018-06-13T10:00:00.000Z"),
            ],
            now: "2018-06-13T12:00:00.000Z", winner: "7", losers: ["-1": 3600]),
        RivalStory(
            name: "RV-09: an older one is pulled while a newer one runs here",
            runners: [
                Entry(id: "7", start: "2018-06-13T09:00:00.000Z", at: "2018-06-13T09:00:00.000Z"),
                Entry(id: "-1", start: "2018-06-13T10:00:00.000Z", at: "2018-06-13T10:00:00.000Z"),
            ],
            now: "2018-06-13T12:00:00.000Z", winner: "-1", losers: ["7": 3600]),
        RivalStory(
            name: "RV-11: only what was changed no earlier than the loser is a place to stop",
            runners: [
                Entry(id: "3", start: "2018-06-13T12:00:00.000Z", at: "2018-06-13T12:00:00.000Z"),
                Entry(id: "1", start: "2018-06-13T10:00:00.000Z", at: "2018-06-13T10:30:00.000Z"),
            ],
            others: [
                Entry(id: "2", start: "2018-06-13T11:00:00.000Z", at: "2018-06-13T10:20:00.000Z")
            ],
            now: "2018-06-13T12:00:00.000Z", stop: .nextStartNotOlder, winner: "3",
            losers: ["1": 7200]),
        RivalStory(
            name: "RV-11, as documented: whatever started later is a place to stop",
            runners: [
                Entry(id: "3", start: "2018-06-13T12:00:00.000Z", at: "2018-06-13T12:00:00.000Z"),
                Entry(id: "1", start: "2018-06-13T10:00:00.000Z", at: "2018-06-13T10:30:00.000Z"),
            ],
            others: [
                Entry(id: "2", start: "2018-06-13T11:00:00.000Z", at: "2018-06-13T10:20:00.000Z")
            ],
            now: "2018-06-13T12:00:00.000Z", winner: "3", losers: ["1": 3600]),
        RivalStory(
            name: "RV-12: of three the one that was changed last goes on",
            runners: [
                Entry(id: "1", start: "2018-06-13T10:00:00.000Z", at: "2018-06-13T10:00:00.000Z"),
                Entry(id: "2", start: "2018-06-13T11:00:00.000Z", at: "2018-06-13T11:00:00.000Z"),
                Entry(id: "3", start: "2018-06-13T09:00:00.000Z", at: "2018-06-13T11:30:00.000Z"),
            ],
            now: "2018-06-13T12:00:00.000Z", winner: "3", losers: ["1": 3600, "2": 3600]),
        RivalStory(
            name: "a loser that starts later than now stops at once",
            runners: [
                Entry(id: "1", start: "2018-06-13T13:00:00.000Z", at: "2018-06-13T10:00:00.000Z"),
                Entry(id: "2", start: "2018-06-13T11:00:00.000Z", at: "2018-06-13T11:00:00.000Z"),
            ],
            now: "2018-06-13T12:00:00.000Z", winner: "2", losers: ["1": 0]),
        RivalStory(
            name: "a model may say that losers always stop now",
            runners: [
                Entry(id: "1", start: "2018-06-13T10:00:00.000Z", at: "2018-06-13T10:00:00.000Z"),
                Entry(id: "2", start: "2018-06-13T11:00:00.000Z", at: "2018-06-13T11:00:00.000Z"),
            ],
            now: "2018-06-13T12:00:00.000Z", stop: .now, winner: "2", losers: ["1": 7200]),
    ]
}

@Suite struct `the decision between rivals` {
    private func runner(_ entry: RivalStory.Entry, _ position: Int) throws -> RivalRunner {
        RivalRunner(
            id: entry.id, start: try #require(RFC3339.parse(entry.start)),
            at: try #require(RFC3339.parse(entry.at)), position: Position(UInt64(position)))
    }

    @Test(arguments: RivalStory.all) func `is that of the documented cases`(
        _ story: RivalStory
    ) throws {
        let now = try #require(RFC3339.parse(story.now))
        let runners = try story.runners.enumerated().map { try runner($1, $0 + 1) }
        let others = try story.others.map { try runner($0, 9) }
        let starts = ((story.countsRunners ? runners : []) + others).map {
            RivalStart(EntityKey("entries", $0.id), start: $0.start, at: $0.at)
        }
        for order in [runners, runners.reversed()] {
            let winner = try #require(RivalDecision.winner(order, ties: .start))
            #expect(winner.id == story.winner)
            var losers: [String: Int64] = [:]
            for loser in order where loser != winner {
                let stop = RivalDecision.stop(loser, starts: starts, rule: story.stop, now: now)
                losers[loser.id] = Int64(stop.text(since: loser.start))
            }
            #expect(losers == story.losers)
        }
    }

    @Test func `of the same start goes to the greater id, by number where both are`() {
        let time = Timestamp(rawValue: 5)
        func runner(_ id: String) -> RivalRunner {
            RivalRunner(id: id, start: time, at: time, position: .start)
        }
        #expect(RivalDecision.outranks(runner("10"), runner("9"), ties: .start))
        #expect(!RivalDecision.outranks(runner("9"), runner("10"), ties: .start))
        #expect(RivalDecision.outranks(runner("9a"), runner("10"), ties: .start))
        #expect(RivalDecision.outranks(runner("b"), runner("a"), ties: .arrival))
    }

    @Test func `lets the one that was here first go on where the model says so`() {
        let time = Timestamp(rawValue: 5)
        let stored = RivalRunner(id: "1", start: time, at: time, position: Position(3))
        let incoming = RivalRunner(id: "2", start: time, at: time, position: Position(4))
        #expect(RivalDecision.winner([incoming, stored], ties: .arrival) == stored)
        #expect(RivalDecision.winner([incoming, stored], ties: .start) == incoming)
    }

    @Test func `holds with times at the ends of the range`() {
        let stop = RivalStop(.now, at: Timestamp(rawValue: .max))
        #expect(stop.text(since: Timestamp(rawValue: .min)) == "\(Int64.max / 1_000_000)")
        let early = RivalStop(.now, at: Timestamp(rawValue: .min))
        #expect(early.text(since: Timestamp(rawValue: .max)) == "0")
    }

    @Test func `ends a loser with the value that the model asks for`() throws {
        let start = try moment("2017-09-01T12:00:00.250Z")
        let stop = RivalStop(.now, at: try moment("2017-09-01T12:01:30.500Z"))

        #expect(stop.text(since: start) == "90")
        #expect(stop.text(.millisecondsSinceStart, since: start) == "90250")
        #expect(stop.text(.stopTime, since: start) == "\"2017-09-01T12:01:30.500Z\"")
        #expect(stop.text(.stopTime, since: start, .seconds) == "1504267290.5")
        #expect(stop.text(.stopTime, since: start, .milliseconds) == "1504267290500")
    }

    @Test func `never ends a loser before its start`() throws {
        let start = try moment("2017-09-01T12:00:00Z")
        let stop = RivalStop(.startedHere, at: try moment("2017-09-01T11:59:00Z"))

        #expect(stop.text(.millisecondsSinceStart, since: start) == "0")
        #expect(stop.text(.stopTime, since: start) == "\"2017-09-01T12:00:00Z\"")
    }

    @Test func `ties by ids have one winner in whatever order numbers and texts are compared`() {
        let ids = ["2", "10", "1a", "-1", "local", "9"]
        let time = Timestamp(rawValue: 1)
        let runners = ids.map { RivalRunner(id: $0, start: time, at: time, position: .start) }

        for turn in runners.indices {
            let turned = Array(runners[turn...] + runners[..<turn])
            #expect(RivalDecision.winner(turned, ties: .start)?.id == "local")
            #expect(RivalDecision.winner(turned.reversed(), ties: .start)?.id == "local")
        }
        let few = ["2", "10", "1a"].map { id in
            RivalRunner(id: id, start: time, at: time, position: .start)
        }
        for one in few {
            for other in few where one != other {
                let wins = RivalDecision.outranks(one, other, ties: .start)
                #expect(wins != RivalDecision.outranks(other, one, ties: .start))
            }
        }
        #expect(RivalDecision.outranks(few[2], few[0], ties: .start))
        #expect(RivalDecision.outranks(few[2], few[1], ties: .start))
        #expect(RivalDecision.outranks(few[1], few[0], ties: .start))
    }
}

private func moment(_ text: String) throws -> Timestamp { try #require(RFC3339.parse(text)) }

extension RivalStop {
    fileprivate func text(
        _ end: RivalRule.End = .secondsSinceStart, since start: Timestamp,
        _ dates: DateFormat = .iso8601
    ) -> String {
        String(decoding: value(end, since: start, dates: dates), as: UTF8.self)
    }
}
