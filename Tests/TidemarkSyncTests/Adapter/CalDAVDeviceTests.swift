// CalDAVDeviceTests.swift — a device that reads a calendar, of which a router answers a request.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a calendar behind a router` {
    @Test func `keeps an item that the router says is not there, once`() async throws {
        let clock = ManualClock()
        let calendar = OneItemCalendar()
        let device = try Device<OneItemCalendar>(
            of: calendar, over: calendar,
            model: SyncModel(name: "calendars", collections: [CollectionModel("tasks")]),
            dependencies: .seeded(1, clock: clock))
        try await device.lendAndVerify { device in
            try await device.sync()
            #expect(try device.document("tasks/u1")?.contains("one") == true)

            calendar.change("two", missing: 1)
            clock.advance(by: .seconds(3_600))
            try await device.sync()
            #expect(try device.document("tasks/u1")?.contains("one") == true)

            clock.advance(by: .seconds(3_600))
            let outcome = try await device.sync()
            #expect(outcome.isSynced, "\(outcome)")
            #expect(try device.document("tasks/u1")?.contains("two") == true)
        }
    }

    @Test func `has the items that are still there where many went while they were listed`()
        async throws
    {
        let clock = ManualClock()
        let calendar = ShrinkingCalendar()
        let device = try Device<ShrinkingCalendar>(
            of: calendar, over: calendar,
            model: SyncModel(name: "calendars", collections: [CollectionModel("tasks")]),
            dependencies: .seeded(1, clock: clock))
        try await device.lendAndVerify { device in
            try await device.sync()
            clock.advance(by: .seconds(3_600))
            try await device.sync()
            clock.advance(by: .seconds(3_600))
            let outcome = try await device.sync()

            #expect(outcome.isSynced, "\(outcome)")
            #expect(try device.documents("tasks").keys.sorted() == ["u12", "u13", "u14", "u15"])
        }
    }
}

@Suite struct `calendars that the server can't list in pages` {
    @Test func `don't keep what waits in another one`() async throws {
        let server = UncutCalendars()
        let names: [CollectionName] = ["home", "team", "work", "tasks"]
        let device = try Device<UncutCalendars>(
            of: server, over: server,
            model: SyncModel(
                name: "calendars", collections: names.map { CollectionModel($0, pageSize: 10) }),
            dependencies: .seeded(1, clock: ManualClock()))
        try await device.lendAndVerify { device in
            try device.put(
                "tasks/u1", #"{"id":"u1","data":"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"}"#)

            let outcome = try await device.sync()

            #expect(outcome.failure == nil && outcome.counts.pushed == 1, "\(outcome)")
            #expect(outcome.failed.keys.map(\.rawValue).sorted() == ["home", "team", "work"])
            #expect(server.written == ["/demo/tasks/u1.ics"])
        }
    }
}

/// Calendars of which all but one can't be listed, as the server can't cut the lists off.
private final class UncutCalendars: DeviceServer, Transport {
    typealias Wire = UncutCalendars

    private let paths = Mutex<[String]>([])

    var remote: Remote { .caldav(origin: "http://dav.test", home: "/demo/") }

    /// The paths of what was written.
    var written: [String] { paths.withLock(\.self) }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        if request.method == .put {
            paths.withLock { $0.append(path) }
            var response = HTTPResponse(status: 201)
            response.headerFields[.eTag] = "\"1\""
            return TransportResponse(response: response, body: [])
        }
        let isListed = path == "/demo/tasks/"
        let answer =
            isListed
            ? #"<multistatus xmlns="DAV:"><sync-token>t</sync-token></multistatus>"#
            : #"<error xmlns="DAV:"><number-of-matches-within-limits/></error>"#
        return TransportResponse(
            response: HTTPResponse(status: isListed ? 207 : 507), body: Array(answer.utf8))
    }
}

/// A calendar with fifteen items in two pages, of which eleven are gone once the pages were told.
private final class ShrinkingCalendar: DeviceServer, Transport {
    typealias Wire = ShrinkingCalendar

    private static let gone = 1...11
    var remote: Remote { .caldav(origin: "http://dav.test", home: "/demo/") }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        guard request.method.rawValue == "REPORT" else {
            let isGone = Self.gone.contains { request.path?.hasSuffix("/u\($0).ics") == true }
            var response = HTTPResponse(status: isGone ? 404 : 200)
            response.headerFields[.eTag] = isGone ? nil : "\"1\""
            let item = "BEGIN:VCALENDAR\r\nSUMMARY:one\r\nEND:VCALENDAR\r\n"
            return TransportResponse(
                response: response, body: Array((isGone ? "not found" : item).utf8))
        }
        let asked = String(decoding: body ?? [], as: UTF8.self)
        return TransportResponse(
            response: HTTPResponse(status: 207), body: Array(Self.report(asked).utf8))
    }

    private static func report(_ asked: String) -> String {
        // Of several together it tells nothing.
        guard asked.contains("sync-collection") else { return multistatus("") }
        if asked.contains(">gone</D:sync-token>") { return multistatus(token("gone")) }
        if asked.contains(">all</D:sync-token>") {
            return multistatus(token("gone") + gone.map { response($0, "404 Not Found") }.joined())
        }
        if asked.contains(">half</D:sync-token>") {
            return multistatus(token("all") + (9...15).map { response($0, nil) }.joined())
        }
        let isCut =
            "<response><href>/demo/tasks/</href><status>HTTP/1.1 507 Insufficient Storage</status>"
            + "</response>"
        return multistatus(token("half") + (1...8).map { response($0, nil) }.joined() + isCut)
    }

    private static func multistatus(_ content: String) -> String {
        "<multistatus xmlns=\"DAV:\">" + content + "</multistatus>"
    }

    private static func token(_ token: String) -> String { "<sync-token>\(token)</sync-token>" }

    /// What a list says of an item: its version, or a status.
    private static func response(_ number: Int, _ status: String?) -> String {
        let version =
            "<propstat><prop><getetag>\"1\"</getetag></prop><status>HTTP/1.1 200 OK</status>"
            + "</propstat>"
        let said = status.map { "<status>HTTP/1.1 \($0)</status>" } ?? version
        return "<response><href>/demo/tasks/u\(number).ics</href>\(said)</response>"
    }
}

/// A calendar with one item.
private final class OneItemCalendar: DeviceServer, Transport {
    typealias Wire = OneItemCalendar

    private struct State {
        var summary = "one"
        /// How many requests for it a router answers.
        var missing = 0
    }
    private let state = Mutex(State())

    var remote: Remote { .caldav(origin: "http://dav.test", home: "/demo/") }

    /// Another client changes the item, and the router answers so many requests for it.
    func change(_ summary: String, missing: Int) {
        state.withLock { $0 = State(summary: summary, missing: missing) }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let isList = request.method.rawValue == "REPORT"
        let (summary, isMissing) = state.withLock { state -> (String, Bool) in
            if !isList, state.missing > 0 {
                state.missing -= 1
                return (state.summary, true)
            }
            return (state.summary, false)
        }
        let text = isList ? Self.list(of: summary, since: body ?? []) : Self.item(summary)
        let status: HTTPResponse.Status = isMissing ? 404 : isList ? 207 : 200
        var response = HTTPResponse(status: status)
        response.headerFields[.eTag] = isList || isMissing ? nil : "\"\(summary)\""
        return TransportResponse(
            response: response, body: Array((isMissing ? "not found" : text).utf8))
    }

    private static func item(_ summary: String) -> String {
        "BEGIN:VCALENDAR\r\nSUMMARY:\(summary)\r\nEND:VCALENDAR\r\n"
    }

    private static func list(of summary: String, since request: [UInt8]) -> String {
        let asked = String(decoding: request, as: UTF8.self)
        let isKnown = asked.contains(">\(summary)</D:sync-token>")
        let item =
            "<response><href>/demo/tasks/u1.ics</href><propstat><prop>"
            + "<getetag>\"\(summary)\"</getetag></prop><status>HTTP/1.1 200 OK</status></propstat>"
            + "</response>"
        return "<multistatus xmlns=\"DAV:\"><sync-token>\(summary)</sync-token>"
            + (isKnown ? "" : item) + "</multistatus>"
    }
}
