// CalDAVListTests.swift — what the answers to a sync-collection report mean.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `lists of a CalDAV server` {
    private let caldav = CalDAVCase()

    @Test func `a list names items with their ETags, and those that are gone`() {
        #expect(
            caldav.answer(to: caldav.later, 207, Radicale.changes)
                == .page(
                    ListPage(
                        records: [
                            ServerRecord(id: "=café &<%.txt", revision: nil, document: nil)
                        ],
                        references: [ServerReference(id: "u1", revision: Revision(Radicale.etag))],
                        next: nil, cursor: Revision(Radicale.token), movesCursor: true)))
    }

    @Test func `a list without news has only a token`() {
        #expect(
            caldav.answer(to: caldav.list, 207, Radicale.empty)
                == .page(
                    ListPage(
                        records: [], next: nil, cursor: Revision(Radicale.token), movesCursor: true)
                ))
    }

    @Test func `a token that the server does not know means to list everything`() {
        for status in [403, 409, 400, 410] {
            #expect(caldav.answer(to: caldav.later, status, Radicale.noToken) == .cursorExpired)
            let next = ServerCall.list(caldav.tasks, after: nil, page: "t1")
            #expect(caldav.answer(to: next, status, Radicale.noToken) == .cursorExpired)
        }
    }

    @Test func `a server that refuses to list everything leads into no circle`() {
        #expect(caldav.failure(to: caldav.list, 403, Radicale.noToken) == .forbidden)
        #expect(
            caldav.failure(to: caldav.list, 409, Radicale.noToken)
                == .client(status: 409, "valid-sync-token"))
    }

    @Test func `a list that the server can't cut off fails alone, and says what to do`() {
        var tasks = caldav.tasks
        tasks.pageSize = 30
        let paged = ServerCall.list(tasks, after: Revision("t1"), page: nil)
        let body = #"<d:error xmlns:d="DAV:"><d:number-of-matches-within-limits/></d:error>"#
        let words = "number-of-matches-within-limits"

        #expect(
            caldav.failure(to: paged, 507, body)
                == .client(status: 507, words + "; leave pageSize out of the model"))
        #expect(caldav.failure(to: caldav.list, 507, body) == .client(status: 507, words))
        // Where no limit was sent, the model's is not why.
        let whole = ServerCall.list(tasks, after: nil, page: nil)
        #expect(caldav.failure(to: whole, 507, body) == .client(status: 507, words))
        #expect(
            caldav.failure(to: caldav.list, 507, #"<d:error xmlns:d="DAV:"/>"#)
                == .server(status: 507, retryAfterSeconds: nil))
    }

    @Test func `a list that was cut off goes on at its token`() {
        let body = Radicale.list(
            "<D:status>HTTP/1.1 507 Insufficient Storage</D:status>", href: "/base/demo/tasks/")

        #expect(
            caldav.page(body)
                == ListPage(records: [], next: "t2", cursor: Revision("t2"), movesCursor: true))
    }

    @Test(arguments: [
        "/base/demo/tasks/", "https://dav.test:8443/base/demo/tasks", "/base/demo/tasks/inner/",
        "/base/demo/tasks/a/b.ics", "/base/demo/%74asks/",
    ])
    func `what is no item of the collection is passed over`(_ href: String) {
        let body = Radicale.list(
            "<D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status></D:propstat>", href: href)

        #expect(
            caldav.page(body)
                == ListPage(records: [], next: nil, cursor: Revision("t2"), movesCursor: true))
    }

    @Test(arguments: [
        "/demo/tasks/u1.ics", "/base/demo/lists/u1.ics", "u1.ics", "", "/",
        "https://dav.test:8443/tasks/u1.ics",
    ])
    func `an address elsewhere makes the list malformed, so that nothing is taken for gone`(
        _ href: String
    ) {
        let body = Radicale.list("<D:status>HTTP/1.1 404 Not Found</D:status>", href: href)

        #expect(caldav.answer(to: caldav.list, 207, body).isMalformed)
    }

    @Test(arguments: [
        ("\"a\"", "\"a\""), ("\n \"a\" \n", "\"a\""), ("W/\"a\"", nil), ("", nil), ("a", "a"),
        ("\"a b\"", nil), ("\"é\"", nil), (String(repeating: "x", count: 1025), nil),
    ])
    func `a version is an ETag that a precondition can name`(_ text: String, _ etag: String?) {
        let body = Radicale.list(
            "<D:propstat><D:prop><D:getetag>\(text)</D:getetag></D:prop>"
                + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat>")

        #expect(
            caldav.page(body)?.references
                == [ServerReference(id: "u1", revision: etag.map { Revision($0) })])
    }

    @Test(arguments: [
        "<D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status>"
            + "</D:propstat>",
        "<D:propstat><D:prop><D:getetag/></D:prop><D:status>HTTP/1.1 403 Forbidden</D:status>"
            + "</D:propstat>",
        "<D:status>HTTP/1.1 403 Forbidden</D:status>", "",
    ])
    func `an item without an ETag is there all the same`(_ inner: String) {
        #expect(
            caldav.page(Radicale.list(inner))?.references
                == [ServerReference(id: "u1", revision: nil)])
    }

    @Test func `several addresses may share a status`() {
        let body = Radicale.list(
            "<D:href>/base/demo/tasks/u2.ics</D:href><D:status>HTTP/1.1 404 gone</D:status>")

        #expect(caldav.page(body)?.records.map(\.id) == ["u1", "u2"])
    }

    @Test(arguments: [
        "", "{}", "<a/>", "<multistatus/>", #"<multistatus xmlns="DAV:"/>"#,
        #"<multistatus xmlns="DAV:"><sync-token/></multistatus>"#,
        #"<multistatus xmlns="DAV:"><sync-token>t</sync-token><response/></multistatus>"#,
        #"<multistatus xmlns="dav:"><sync-token>t</sync-token></multistatus>"#,
        Radicale.noToken, Radicale.list("<D:status>404</D:status>"),
        Radicale.list("<D:status>HTTP/1.1 4040 x</D:status>"),
        Radicale.list("<D:status/>"), Radicale.list("<D:propstat><D:prop/></D:propstat>"),
        Radicale.list("", href: "</D:href><D:href>"), Radicale.empty + "<a/>",
        Radicale.empty + "tail", String(Radicale.empty.dropLast()),
    ])
    func `a list that says nothing understandable is malformed`(_ body: String) {
        #expect(caldav.answer(to: caldav.list, 207, body).isMalformed)
    }

    @Test func `a list is answered with a multistatus, else it is a failure`() {
        #expect(
            caldav.failure(to: caldav.list, 404, "The requested resource could not be found.")
                == .client(status: 404, "The requested resource could not be found."))
        #expect(caldav.failure(to: caldav.list, 200, Radicale.empty)?.name == "foreign")
        #expect(caldav.failure(to: caldav.list, 403, "<html/>") == .forbidden)
    }

    @Test(arguments: [("..", "=.."), ("%2E%2e", "=.."), (".", "=."), ("%2E", "=.")])
    func `an item whose address leads elsewhere is kept by its name and passed over`(
        _ name: String, _ id: String
    ) throws {
        let href = "/base/demo/tasks/" + name
        let part = "<D:propstat><D:prop/><D:status>HTTP/1.1 200 OK</D:status></D:propstat>"
        let page = try #require(caldav.page(Radicale.list(part, href: href)))

        #expect(page.references == [] && page.records == [])
        #expect(page.unreadable.map(\.id) == [id])
        #expect(page.unreadable.map(\.bytes) == [Array(href.utf8)])
        // Nothing is asked of where it leads.
        for call in [
            ServerCall.read(caldav.tasks, id: id), .fetch(caldav.tasks, ids: [id]),
            .fetch(caldav.tasks, ids: ["u1", id]),
            .delete(caldav.tasks, id: id, revision: Revision("\"e\"")),
        ] {
            #expect(throws: SyncFailure.self) { try caldav.request(call) }
        }
    }

    @Test func `an address that is too long for an id is kept and passed over`() {
        let href = "/base/demo/tasks/" + String(repeating: "x", count: 405)
        let page = caldav.page(
            Radicale.list("<D:status>HTTP/1.1 404 Not Found</D:status>", href: href))

        #expect(page?.records == [])
        #expect(page?.unreadable.map(\.bytes) == [Array(href.utf8)])
    }
}
