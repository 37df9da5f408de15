// CalDAVRequestTests.swift — what a call becomes on the wire: method, path, preconditions, body.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `requests to a CalDAV server` {
    private let caldav = CalDAVCase()

    private func text(_ request: ServerRequest) -> String {
        String(decoding: request.body ?? [], as: UTF8.self)
    }

    @Test func `a list asks for names and ETags since the token, which is empty at first`() throws {
        let request = try caldav.request(caldav.list)
        let depth = try #require(HTTPField.Name("Depth"))

        #expect(request.method.rawValue == "REPORT")
        #expect(request.path == "/demo/tasks/")
        #expect(
            request.headers == [.contentType: "application/xml; charset=utf-8", depth: "0"])
        #expect(
            text(request)
                == #"<?xml version="1.0" encoding="utf-8"?><D:sync-collection xmlns:D="DAV:">"#
                + "<D:sync-token></D:sync-token><D:sync-level>1</D:sync-level>"
                + "<D:prop><D:getetag/></D:prop></D:sync-collection>")
    }

    @Test func `a token is sent as it came, whatever is in it`() throws {
        let token = Revision("<a>&\"\r]]> é")
        let later = try caldav.request(.list(caldav.tasks, after: token, page: nil))
        let next = try caldav.request(.list(caldav.tasks, after: token, page: "p&2"))

        #expect(
            text(later).contains("<D:sync-token>&lt;a&gt;&amp;&quot;&#13;]]&gt; é</D:sync-token>"))
        #expect(text(next).contains("<D:sync-token>p&amp;2</D:sync-token>"))
    }

    @Test func `a page size is asked for at a token, and not where everything is listed`() throws {
        var tasks = caldav.tasks
        tasks.pageSize = 30

        let all = try caldav.request(.list(tasks, after: nil, page: nil))
        let changes = try caldav.request(.list(tasks, after: Revision("t1"), page: nil))
        let next = try caldav.request(.list(tasks, after: nil, page: "t2"))

        #expect(text(all) == text(try caldav.request(caldav.list)))
        for request in [changes, next] {
            #expect(
                text(request).contains(
                    "</D:sync-level><D:limit><D:nresults>30</D:nresults></D:limit><D:prop>"))
        }
    }

    @Test func `several items are fetched in one report, by full paths`() throws {
        let request = try caldav.request(.fetch(caldav.tasks, ids: ["a&b", "=x.txt"]))

        #expect(request.method.rawValue == "REPORT")
        #expect(request.path == "/demo/tasks/")
        #expect(
            text(request)
                == #"<?xml version="1.0" encoding="utf-8"?><C:calendar-multiget xmlns:D="DAV:" "#
                + #"xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop><D:getetag/>"#
                + "<C:calendar-data/></D:prop><D:href>/base/demo/tasks/a%26b.ics</D:href>"
                + "<D:href>/base/demo/tasks/x.txt</D:href></C:calendar-multiget>")
    }

    @Test func `one item is got, fetched or read`() throws {
        let request = ServerRequest(method: .get, path: "/demo/tasks/u1.ics")

        #expect(try caldav.request(caldav.read) == request)
        #expect(try caldav.request(.fetch(caldav.tasks, ids: ["u1"])) == request)
    }

    @Test func `every write carries its precondition, and the item's text as its body`() throws {
        let type = "text/calendar; charset=utf-8"
        let item = Array("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n".utf8)

        #expect(
            try caldav.request(caldav.create)
                == ServerRequest(
                    method: .put, path: "/demo/tasks/u1.ics",
                    headers: [.ifNoneMatch: "*", .contentType: type], body: item))
        #expect(
            try caldav.request(caldav.update)
                == ServerRequest(
                    method: .put, path: "/demo/tasks/u1.ics",
                    headers: [.ifMatch: "\"e\"", .contentType: type], body: item))
        #expect(
            try caldav.request(caldav.delete)
                == ServerRequest(
                    method: .delete, path: "/demo/tasks/u1.ics", headers: [.ifMatch: "\"e\""]))
    }

    @Test func `an address book has its own names`() throws {
        let adapter = CalDAVAdapter(origin: "https://dav.test", home: "me", content: .contacts)
        let people = CollectionModel("people")
        let body = Array(#"{"id":"a","data":"BEGIN:VCARD\r\nEND:VCARD\r\n"}"#.utf8)

        let create = try adapter.request(for: .create(people, id: "a", body: body))
        let fetch = try adapter.request(for: .fetch(people, ids: ["a", "b"]))

        #expect(create.path == "/me/people/a.vcf")
        #expect(create.headers[.contentType] == "text/vcard; charset=utf-8")
        #expect(
            text(fetch).contains(
                #"<C:addressbook-multiget xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">"#
                    + "<D:prop><D:getetag/><C:address-data/></D:prop><D:href>/me/people/a.vcf"))
    }

    @Test(arguments: ["", "/", "a", "/a", "a/", "/a/", "//a//"])
    func `a home is a path, however its slashes are written`(_ home: String) throws {
        let adapter = CalDAVAdapter(origin: "https://dav.test/", home: home)
        let expected = home.contains("a") ? "/a/tasks/x.ics" : "/tasks/x.ics"

        #expect(try adapter.request(for: .read(caldav.tasks, id: "x")).path == expected)
    }

    @Test func `bytes that are no text are sent as they came`() throws {
        let body = Array(#"{"id":"u1","dataBase64":"QkX/"}"#.utf8)
        let request = try caldav.request(.create(caldav.tasks, id: "u1", body: body))

        #expect(request.body == [0x42, 0x45, 0xFF])
    }
}

@Suite struct `what a CalDAV server is not asked` {
    private let caldav = CalDAVCase()

    private func refusal(_ document: String) -> String? {
        let body = Array(document.utf8)
        let refusals = [
            ServerCall.create(caldav.tasks, id: "u1", body: body),
            .update(caldav.tasks, id: "u1", body: body, revision: Revision("\"e\"")),
        ].map { caldav.adapter.refusal(of: $0)?.message }
        #expect(refusals[0] == refusals[1])
        return refusals[0]
    }

    @Test func `what is an item is sent`() {
        #expect(caldav.all.allSatisfy { caldav.adapter.refusal(of: $0) == nil })
        #expect(refusal(#"{"id":"u1","dataBase64":"QkX/"}"#) == nil)
    }

    @Test(arguments: [
        #"{"id":"u1"}"#, #"{"id":"u1","data":null}"#, #"{"id":"u1","data":{}}"#,
        #"{"id":"u1","dataBase64":"?"}"#, #"{"id":"u1","dataBase64":7}"#,
    ])
    func `a document without an item's text is refused`(_ document: String) {
        #expect(refusal(document)?.contains("\"data\" is needed") == true)
    }

    @Test func `a field that the server has no place for is refused, and named`() {
        let message = refusal(#"{"id":"u1","data":"BEGIN:VCALENDAR","colour":"red"}"#)

        #expect(message == "an item has only id and data, and would lose \"colour\"")
    }

    @Test(arguments: ["a/b", "=", "=.", "=..", "=tea.ics", "%", "%41", "%zz", "%ff", "=a/b"])
    func `an id that names no item of its own is refused`(_ id: String) {
        let call = ServerCall.create(caldav.tasks, id: id, body: Array(CalDAVCase.document.utf8))

        #expect(caldav.adapter.refusal(of: call)?.message.contains("can't name an item") == true)
    }

    @Test(arguments: ["tea", "a b", "é", "e\u{301}", "tea.ics", ".", "..", "=tea.txt", "==a.ics"])
    func `an id that a server would give is none to refuse`(_ id: String) {
        let call = ServerCall.create(caldav.tasks, id: id, body: Array(CalDAVCase.document.utf8))

        #expect(caldav.adapter.refusal(of: call) == nil)
    }
}
