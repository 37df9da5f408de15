// CalDAVTestSupport.swift — an adapter, a calendar, and what a real Radicale 3.9.0 answered.

import HTTPTypes
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// One adapter and one calendar.
struct CalDAVCase: AdapterCase {
    var adapter = CalDAVAdapter(origin: "https://dav.test:8443/base", home: "/demo/")
    var tasks = CollectionModel("tasks")

    func request(_ call: ServerCall) throws -> ServerRequest { try adapter.request(for: call) }

    static let document = #"{"id":"u1","data":"BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"}"#

    var list: ServerCall { .list(tasks, after: nil, page: nil) }
    var later: ServerCall { .list(tasks, after: Revision(Radicale.token), page: nil) }
    var read: ServerCall { .read(tasks, id: "u1") }
    var fetch: ServerCall { .fetch(tasks, ids: ["u1", "u99"]) }
    var create: ServerCall { .create(tasks, id: "u1", body: Array(Self.document.utf8)) }
    var update: ServerCall {
        .update(tasks, id: "u1", body: Array(Self.document.utf8), revision: Revision("\"e\""))
    }
    var delete: ServerCall { .delete(tasks, id: "u1", revision: Revision("\"e\"")) }
    var writes: [ServerCall] { [create, update, delete] }
    var all: [ServerCall] { [list, later, read, fetch, .fetch(tasks, ids: ["u1"])] + writes }

    func answer(
        to call: ServerCall, _ status: Int, _ body: [UInt8], _ fields: HTTPFields = [:]
    ) -> ServerAnswer {
        adapter.answer(
            to: call,
            HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields),
            body: body)
    }

    /// The page that a list's answer is taken for, or nil.
    func page(_ body: String) -> ListPage? {
        if case .page(let page) = answer(to: later, 207, body) { page } else { nil }
    }
}

/// Recorded bodies; only the base path before the addresses was added.
enum Radicale {
    static let start = "<?xml version='1.0' encoding='utf-8'?>\n"
    static let token =
        "http://radicale.org/ns/sync/"
        + "b3bd52ad048f9a04587f14e9da4a177686b8c5d354f5bf923374cb3225573024"
    static let etag = "\"44e59025a1c746481fcd4b1feea245e3f5fb3c9a54b24714f9820e252f666d67\""

    static let empty =
        start + #"<multistatus xmlns="DAV:"><sync-token>\#(token)</sync-token></multistatus>"#
    static let changes =
        start + #"<multistatus xmlns="DAV:"><sync-token>\#(token)</sync-token><response>"#
        + "<href>/base/demo/tasks/caf%C3%A9%20%26%3C%25.txt</href>"
        + "<status>HTTP/1.1 404 Not Found</status></response>"
        + "<response><href>/base/demo/tasks/u1.ics</href><propstat><prop><getetag>\(etag)"
        + "</getetag></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
    static let noToken = start + #"<error xmlns="DAV:"><valid-sync-token /></error>"#
    static let noUIDConflict =
        start + #"<error xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">"#
        + "<C:no-uid-conflict /></error>"
    static let deleted =
        start + #"<multistatus xmlns="DAV:"><response><href>/base/demo/tasks/u1.ics</href>"#
        + "<status>HTTP/1.1 200 OK</status></response></multistatus>"
    static let item =
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\nBEGIN:VTODO\r\n"
        + "DTSTAMP:20260101T000000Z\r\nSUMMARY:a & <b> é\r\nUID:u1\r\nEND:VTODO\r\n"
        + "END:VCALENDAR\r\n"
    static let items =
        start + #"<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response>"#
        + "<href>/base/demo/tasks/u99.ics</href><status>HTTP/1.1 404 Not Found</status>"
        + "</response><response><href>/base/demo/tasks/u1.ics</href><propstat><prop><getetag>"
        + "\(etag)</getetag><C:calendar-data>BEGIN:VCALENDAR\r\nVERSION:2.0\r\n"
        + "PRODID:-//t//EN\r\nBEGIN:VTODO\r\nDTSTAMP:20260101T000000Z\r\n"
        + "SUMMARY:a &amp; &lt;b&gt; é\r\nUID:u1\r\nEND:VTODO\r\nEND:VCALENDAR\r\n"
        + "</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
        + "</multistatus>"

    /// The same where the other one is there, too, as a copy.
    static let bothItems =
        items.replacing(
            "<status>HTTP/1.1 404 Not Found</status>",
            with: "<propstat><prop><C:calendar-data>BEGIN:X\nEND:X</C:calendar-data></prop>"
                + "<status>HTTP/1.1 200 OK</status></propstat>")

    /// The entity that `item` is.
    static let record = ServerRecord(
        id: "u1", revision: Revision(etag),
        document: Array(
            (#"{"id":"u1","data":"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//t//EN\r\n"#
                + #"BEGIN:VTODO\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:a & <b> é\r\nUID:u1\r\n"#
                + #"END:VTODO\r\nEND:VCALENDAR\r\n"}"#).utf8))

    /// A list of one item, of which this is said.
    static func list(_ inner: String, href: String = "/base/demo/tasks/u1.ics") -> String {
        #"<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">"#
            + "<D:response><D:href>\(href)</D:href>\(inner)</D:response>"
            + "<D:sync-token>t2</D:sync-token></D:multistatus>"
    }
}
