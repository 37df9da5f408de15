// RivalSupport.swift — timers of which one may run at a time, for tests.

import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

extension Event {
    /// A model of `entries`, of which one may run at a time.
    static func timers(
        stop: RivalRule.Stop = .nextStart, among: [String] = [],
        end: RivalRule.End = .secondsSinceStart, stopped: String? = nil,
        dates: DateFormat = .iso8601,
        conflict: ConflictPolicy = .preferNewer(field: "at", margin: .seconds(5))
    ) -> Event {
        let entries = CollectionModel(
            "entries", lastChangeField: "at", conflict: conflict, dates: dates,
            rivals: RivalRule(
                whileNull: "duration", start: "start", stopped: stopped, end: end, among: among,
                stop: stop))
        return .registered(SyncModel(name: "timers", collections: [entries]))
    }

    /// The same event, recorded at a time of the day.
    func at(_ time: String) throws -> Event {
        var event = self
        event.recordedAt = try #require(RFC3339.parse(Timers.day + time + ":00Z"))
        return event
    }

    /// The same event, of a sync run.
    func of(run: UInt64) -> Event {
        var event = self
        event.sync = Position(run)
        return event
    }
}

/// Documents of timers on one day.
enum Timers {
    static let day = "2018-06-13T"

    static func entry(
        _ id: String, _ start: String, at: String? = nil, _ duration: Int? = nil,
        more: String = ""
    ) -> String {
        let changed = at.map { #""at":"\#(day)\#($0):00Z","# } ?? ""
        return #"{"id":"\#(id)","start":"\#(day)\#(start):00Z",\#(changed)"#
            + #""duration":\#(duration.map(String.init) ?? "null")\#(more)}"#
    }

    /// The server's word on a timer.
    static func says(
        _ id: String, _ start: String, at: String, _ duration: Int? = nil, more: String = ""
    ) -> Event {
        .about(
            .serverUpserted, "entries/\(id)", entry(id, start, at: at, duration, more: more),
            revision: "\(at)")
    }

    /// The end of a page of the list.
    static func page() -> Event {
        Event(
            .pullPage, recordedAt: Timestamp(rawValue: 1), collection: "entries",
            json: Array("{}".utf8))
    }

    /// The beginning of a sync run, by the device's clock.
    static func run(at time: String) throws -> Event {
        let begunAt = try #require(RFC3339.parse(day + time + ":00Z")).rawValue
        return try Event(
            .syncStarted, recordedAt: Timestamp(rawValue: 1),
            json: Array(#"{"begunAt":\#(begunAt),"bootID":"a","uptime":3}"#.utf8)
        ).at(time)
    }
}
