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
