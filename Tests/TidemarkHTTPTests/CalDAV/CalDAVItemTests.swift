// CalDAVItemTests.swift — what the answers about items mean, and what their ids are.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `answers of a CalDAV server about items` {
    private let caldav = CalDAVCase()

    @Test func `an item is the same whether it came in XML or alone`() {
        let copy = ServerRecord(
            id: "u99", revision: nil,
            document: Array(#"{"id":"u99","data":"BEGIN:X\r\nEND:X"}"#.utf8))
        #expect(
            caldav.answer(to: caldav.fetch, 207, Radicale.bothItems)
                == .records([Radicale.record, copy]))
        let alone: HTTPFields = [.eTag: Radicale.etag]
        #expect(
            caldav.answer(to: caldav.read, 200, Radicale.item, alone) == .record(Radicale.record))
        #expect(
            caldav.answer(to: .fetch(caldav.tasks, ids: ["u1"]), 200, Radicale.item, alone)
                == .records([Radicale.record]))
    }

    @Test(arguments: [
        ("a\nb", #"a\r\nb"#), ("a\rb", #"a\r\nb"#), ("a\r\nb\n\n", #"a\r\nb\r\n\r\n"#),
        ("\n\r\r\n", #"\r\n\r\n\r\n"#), ("\u{FEFF}a\"\\", "\u{FEFF}a\\\"\\\\"),
    ])
    func `line ends are CR LF, and nothing else is changed`(_ text: String, _ data: String) {
        let whole = #"BEGIN:X\r\n\#(data)\r\nEND:X"#
        let record = ServerRecord(
            id: "u1", revision: nil, document: Array(#"{"id":"u1","data":"\#(whole)"}"#.utf8))

        #expect(
            caldav.answer(to: caldav.read, 200, "BEGIN:X\n\(text)\nEND:X") == .record(record))
    }

    @Test(arguments: [
        "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMM", "BEGIN:VCALENDAR\r\nEND:VEVENT", "",
        #"{"error":"login"}"#, "\u{FEFF}<html></html>", "\r\n",
    ])
    func `what has no beginning and no end is no item`(_ text: String) {
        let alone = ServerCall.fetch(caldav.tasks, ids: ["u1"])
        for call in [caldav.read, alone] {
            #expect(caldav.answer(to: call, 200, text).isMalformed)
        }
    }

    @Test func `an item may begin with a mark of UTF-8, and end with empty lines`() {
        for text in ["\u{FEFF}BEGIN:VCARD\nEND:VCARD\n\n", "\r\nbegin:vcard\r\nend:vcard "] {
            guard case .record = caldav.answer(to: caldav.read, 200, text) else {
                Issue.record("\(text)")
                continue
            }
        }
    }

    @Test func `no room for what is written is a refusal, and for a list a failure`() {
        for call in [caldav.create, caldav.update, caldav.delete] {
            guard case .refused(let refusal) = caldav.answer(to: call, 507, "") else {
                Issue.record("\(call)")
                continue
            }
            #expect(refusal.status == 507)
        }
        let list = ServerCall.list(caldav.tasks, after: nil, page: nil)
        guard case .failure(.server(507, _)) = caldav.answer(to: list, 507, "") else {
            Issue.record("no failure")
            return
        }
    }

    @Test(arguments: ["*", "w/\"1\"", "W/\"1\""])
    func `an ETag that a precondition can't use is no version`(_ tag: String) {
        let item = "BEGIN:X\r\nEND:X"
        let answer = caldav.answer(to: caldav.read, 200, item, [.eTag: tag])
        guard case .record(let record) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(record.revision == nil)
    }

    @Test func `bytes that are no text are kept as they are`() {
        let record = ServerRecord(
            id: "u1", revision: nil,
            document: Array(#"{"id":"u1","dataBase64":"QkVHSU46WAr/CkVORDpY"}"#.utf8))

        let item = Array("BEGIN:X\n".utf8) + [0xFF] + Array("\nEND:X".utf8)
        #expect(caldav.answer(to: caldav.read, 200, item) == .record(record))
    }

    @Test func `an item that is not there is absent`() {
        for status in [404, 410] {
            for call in [caldav.read, caldav.update, caldav.delete] {
                #expect(caldav.answer(to: call, status, "not found") == .absent)
            }
        }
    }

    @Test func `that an item is gone which a list has just named a fetch does not tell`() {
        for status in [404, 410] {
            #expect(
                caldav.answer(to: .fetch(caldav.tasks, ids: ["u1"]), status, "not found")
                    == .failure(.client(status: status, "not found")))
        }
    }

    @Test func `a report that passes an item over does not say that it is gone`() {
        let call = ServerCall.fetch(caldav.tasks, ids: ["u1", "u2", "u99"])

        #expect(
            caldav.answer(to: call, 207, Radicale.bothItems)
                == .failure(.malformed("u2 was passed over")))
    }

    @Test func `a report that one of several is not there does not say that it is gone`() {
        let call = ServerCall.fetch(caldav.tasks, ids: ["u1", "u99"])

        #expect(
            caldav.answer(to: call, 207, Radicale.items)
                == .failure(.malformed("u99 is not there, as one of several")))
    }

    @Test(arguments: [
        "<D:status>HTTP/1.1 403 Forbidden</D:status>", "",
        "<D:propstat><D:prop><C:calendar-data/></D:prop>"
            + "<D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>",
        "<D:propstat><D:prop><D:calendar-data>x</D:calendar-data></D:prop>"
            + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat>",
    ])
    func `an item without its text is not taken for a missing one`(_ inner: String) {
        #expect(caldav.answer(to: caldav.fetch, 207, Radicale.list(inner)).isMalformed)
    }

    @Test func `names that Swift takes for equal are two items`() {
        let call = ServerCall.fetch(caldav.tasks, ids: ["é", "e\u{301}"])
        func item(_ name: String, _ text: String) -> String {
            "<D:response><D:href>/base/demo/tasks/\(name).ics</D:href><D:propstat><D:prop>"
                + "<C:calendar-data>BEGIN:X\n\(text)\nEND:X</C:calendar-data></D:prop>"
                + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
        }
        let body =
            #"<D:multistatus xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">"#
            + item("%C3%A9", "1") + item("e%CC%81", "2") + "</D:multistatus>"

        let answer = caldav.answer(to: call, 207, body)

        guard case .records(let records) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(records.compactMap(\.text?.utf8.count) == [42, 43])
        #expect(records[0].text?.contains(#"X\r\n1\r\nEND"#) == true)
    }

    @Test func `a write that is taken says the new version, not what it made of the item`() {
        for status in [200, 201, 204] {
            let answer = caldav.answer(to: caldav.update, status, "", [.eTag: Radicale.etag])
            #expect(answer == .stored(id: "u1", Revision(Radicale.etag)))
            #expect(
                caldav.answer(to: caldav.create, status, "", [.eTag: "W/\"1\""])
                    == .stored(id: "u1", nil))
        }
    }

    @Test func `a deletion is taken with or without a body`() {
        let gone = ServerAnswer.deleted(ServerRecord(id: "u1", revision: nil, document: nil))

        #expect(caldav.answer(to: caldav.delete, 200, Radicale.deleted) == gone)
        #expect(caldav.answer(to: caldav.delete, 204) == gone)
        #expect(caldav.answer(to: caldav.delete, 207, Radicale.deleted).isMalformed)
        #expect(caldav.answer(to: caldav.delete, 202).isMalformed)
    }

    @Test func `a broken precondition does not say how the item is now`() {
        for call in caldav.writes {
            #expect(caldav.answer(to: call, 412, "Precondition failed.") == .conflictUnknown)
        }
    }

    @Test func `an item is refused with the condition that it breaks, or the server's words`() {
        func refused(_ status: Int, _ message: String) -> ServerAnswer {
            .refused(ServerRefusal(status: status, message: message))
        }
        let invalid =
            #"<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:message>No UID"#
            + #"</s:message><c:valid-calendar-data xmlns:c="urn:ietf:params:xml:ns:caldav"/>"#
            + "</d:error>"

        #expect(
            caldav.answer(to: caldav.create, 409, Radicale.noUIDConflict)
                == refused(409, "no-uid-conflict"))
        #expect(
            caldav.answer(to: caldav.update, 403, invalid)
                == refused(403, "valid-calendar-data: No UID"))
        #expect(caldav.answer(to: caldav.create, 400, "Bad Request") == refused(400, "Bad Request"))
        for status in [405, 406, 413, 414, 415, 422, 431, 451] {
            #expect(caldav.answer(to: caldav.update, status, "<html>no") == refused(status, ""))
        }
    }

    @Test func `a refusal that breaks no condition is about the collection`() {
        #expect(caldav.failure(to: caldav.create, 403, "Access forbidden.") == .forbidden)
        let privileges = #"<error xmlns="DAV:"><need-privileges/></error>"#
        #expect(caldav.failure(to: caldav.delete, 403, privileges) == .forbidden)
        for status in [404, 409, 410, 423] {
            #expect(
                caldav.failure(to: caldav.create, status, "Conflict in the request.")
                    == .client(status: status, "Conflict in the request."))
        }
        #expect(caldav.failure(to: caldav.read, 400, "no") == .client(status: 400, "no"))
        #expect(caldav.failure(to: caldav.fetch, 404) == .client(status: 404, ""))
        #expect(caldav.failure(to: caldav.fetch, 501)?.name == "client")
    }

    @Test func `failures mean the same for every call`() {
        for call in caldav.all {
            #expect(caldav.failure(to: call, 401) == .unauthorized)
            #expect(caldav.failure(to: call, 408) == .timeout("408"))
            #expect(
                caldav.failure(to: call, 429, "", [.retryAfter: "30"])
                    == .tooManyRequests(retryAfterSeconds: 30))
            #expect(
                caldav.failure(to: call, 503, "", [.retryAfter: "30"])
                    == .server(status: 503, retryAfterSeconds: 30))
            for status in [100, 301, 304, 511, 600] {
                #expect(caldav.failure(to: call, status, Radicale.empty)?.name == "foreign")
            }
        }
    }

    @Test(arguments: [
        "<html>Welcome to the hotel</html>", "\n <!DOCTYPE html>", "<?xml version='1.0'?><html/>",
        "<",
    ])
    func `a sign-in page is neither an item nor a success`(_ page: String) {
        for call in caldav.all {
            for status in [200, 201, 203] {
                #expect(caldav.failure(to: call, status, page)?.name == "foreign")
            }
        }
    }
}

@Suite struct `ids and names of items` {
    private let caldav = CalDAVCase()

    /// The id of an item that a list names.
    private func id(_ component: String) -> String? {
        let body = Radicale.list(
            "<D:status>HTTP/1.1 404 Not Found</D:status>", href: "/base/demo/tasks/\(component)")
        return caldav.page(body)?.records.first?.id
    }

    /// The last part of the address under which an entity is read.
    private func component(_ id: String) throws -> String {
        let path = try caldav.request(.read(caldav.tasks, id: id)).path
        return String(path.dropFirst("/demo/tasks/".count))
    }

    @Test(
        arguments: [
            ("tea.ics", "tea", "tea.ics"), ("te%61.ics", "tea", "tea.ics"),
            ("tea.txt", "=tea.txt", "tea.txt"), ("tea", "=tea", "tea"), (".ics", "=.ics", ".ics"),
            ("tea.ICS", "=tea.ICS", "tea.ICS"), ("=tea.ics", "==tea.ics", "%3Dtea.ics"),
            ("%3D", "==", "%3D"), ("%25.ics", "=%.ics", "%25.ics"),
            ("%FF.ics", "%%FF.ics", "%FF.ics"),
            ("a%00b.ics", "%a%00b.ics", "a%00b.ics"), ("caf%C3%A9.ics", "café", "caf%C3%A9.ics"),
            ("café%20x.ics", "café x", "caf%C3%A9%20x.ics"), ("a%2Fb.ics", "a/b", "a%2Fb.ics"),
            ("100%.ics", "100%", "100%25.ics"), ("%zz.ics", "=%zz.ics", "%25zz.ics"),
            ("a.ics.ics", "a.ics", "a.ics.ics"),
        ] as [(String, String, String)])
    func `every name has an id, and every id its name`(
        _ component: String, _ id: String, _ again: String
    ) throws {
        #expect(self.id(component) == id)
        #expect(try self.component(id) == again)
        #expect(self.id(again) == id)
    }

    @Test func `no two names have one id, whatever bytes they are made of`() throws {
        let letters = ["=", "%", ".ics", "a", "/", "%FF", "%00", "é", "%C3", "%A9"]
        var names: [String] = []
        for first in letters {
            for second in letters {
                for third in [".ics", "", "x"] {
                    let name = (first + second + third).replacing("/", with: "%2F")
                    names.append(name)
                }
            }
        }
        var seen: [[UInt8]: String] = [:]
        for name in names {
            let id = try #require(self.id(name), "\(name)")
            let again = try component(id)
            #expect(self.id(again) == id, "\(name)")
            if let other = seen.updateValue(again, forKey: Array(id.utf8)) {
                #expect(other == again, "\(name)")
            }
        }
        #expect(Set(seen.values).count == seen.count)
    }

    @Test func `the longest id that a store takes has its name`() throws {
        let longest = String(repeating: "x", count: EntityKey.idBytesMax)

        #expect(id(longest + ".ics") == longest)
        #expect(try component(longest) == longest + ".ics")
        #expect(id(longest + "x.ics") == nil)
    }
}
