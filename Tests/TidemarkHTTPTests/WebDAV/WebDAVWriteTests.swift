// WebDAVWriteTests.swift — what the answers to writes mean, and what they prove.

import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `writes to a WebDAV server` {
    private let dav = WebDAVCase()

    private func status(_ answer: ServerAnswer) -> Int? {
        if case .refused(let refusal) = answer { refusal.status } else { nil }
    }

    private func multistatus(_ status: String, _ href: String = "/base/dav/r%20c/a/b/c") -> String {
        #"<multistatus xmlns="DAV:"><response><href>\#(href)</href><status>HTTP/1.1 \#(status)"#
            + "</status></response></multistatus>"
    }

    @Test func `what was made has the version that the answer tells`() {
        let page = Wsgidav.page("201 Created", "201 Created")
        #expect(
            dav.answer(to: dav.create("file"), 201, page, [.eTag: "\"e\""])
                == .stored(id: "a/b", Revision("\"e\"")))
        #expect(
            dav.answer(to: dav.create("folder"), 201, page)
                == .stored(id: "a/b", Revision("/")))
        #expect(dav.effect(dav.create("folder"), 201) == .done)
    }

    @Test func `a file is not made where there is a folder`() {
        let page = Wsgidav.page("405 Method Not Allowed", "405 Method Not Allowed")
        guard case .refused(let refusal) = dav.answer(to: dav.create("file"), 405, page) else {
            Issue.record("it is taken for made")
            return
        }
        #expect(refusal.message == "there is another one of this name: give it another name")
        #expect(dav.effect(dav.create("file"), 405, page) == .nothing)
    }

    @Test func `where something is there already it is read`() {
        let page = Wsgidav.page("405 Method Not Allowed", "MKCOL can only be executed on …")
        for (call, status) in [
            (dav.create("folder"), 405), (dav.delete(), 412),
            (dav.update(#"{"modified":"2026-11-26T18:45:45Z"}"#), 412),
        ] {
            #expect(dav.answer(to: call, status, page) == .conflictUnknown, "\(status)")
            // A first sending of the same request may be why.
            #expect(dav.effect(call, status, page) == .precondition, "\(status)")
        }
    }

    @Test func `a refusal of one entry stops no other, and proves that nothing was done`() {
        let time = dav.update(#"{"modified":"2026-11-26T18:45:45Z"}"#)
        for code in [400, 403, 409, 413, 414, 415, 423, 424, 451, 501, 507] {
            for call in [dav.create("folder"), dav.create("file"), dav.delete(), time] {
                let answer = dav.answer(to: call, code)
                #expect(status(answer) == code)
                #expect(dav.effect(call, code) == .nothing, "\(code)")
            }
            #expect(status(dav.answer(to: dav.move(to: "c", "d"), code)) == code)
        }
        for call in [dav.delete(), time] {
            #expect(status(dav.answer(to: call, 405)) == 405)
            #expect(dav.effect(call, 405) == .nothing)
        }
        guard case .refused(let refusal) = dav.answer(to: dav.create("folder"), 507) else {
            Issue.record("it is not refused")
            return
        }
        #expect(refusal.message == "there is no space left on the server")
    }

    @Test func `a full server may have kept a part of a content`() {
        var dav = dav
        dav.files.tree?.content = "content"
        let file = #"{"sha256":"\#(String(repeating: "0", count: 64))","bytes":7}"#
        let made = ServerCall.create(
            dav.files, id: "a/b", body: Array(#"{"kind":"file","content":\#(file)}"#.utf8))
        for call in [made, dav.update(#"{"content":\#(file)}"#)] {
            #expect(dav.failure(to: call, 507) == .server(status: 507, retryAfterSeconds: nil))
            #expect(dav.effect(call, 507) == .unknown)
        }
    }

    @Test func `of a deletion all counts as done that was gone before`() {
        let gone = ServerAnswer.deleted(ServerRecord(id: "a/b", revision: nil, document: nil))
        #expect(dav.answer(to: dav.delete(), 204) == gone)
        #expect(dav.answer(to: dav.delete("/"), 207, multistatus("404 Not Found")) == gone)
        #expect(dav.answer(to: dav.delete(), 404) == .absent)
        #expect(dav.effect(dav.delete(), 204) == .done)
        #expect(dav.effect(dav.delete(), 404) == .precondition)
    }

    @Test func `a folder of which a part could not be deleted is still there`() {
        let call = dav.delete("/")
        let locked = multistatus("423 Locked")

        #expect(
            dav.answer(to: call, 207, locked)
                == .refused(
                    ServerRefusal(
                        status: 423,
                        message: "a part of it could not be deleted: it is locked on the server, "
                            + "/base/dav/r%20c/a/b/c")))
        #expect(dav.effect(call, 207, locked) == .nothing)
        #expect(status(dav.answer(to: call, 207, Wsgidav.halfDeleted)) == 412)
        #expect(dav.answer(to: call, 207, "<html>").isMalformed)
        #expect(dav.effect(call, 207, "<html>") == .unknown)
    }

    @Test func `a move is done, refused, or not known`() {
        let own = #"<d:error xmlns:d="DAV:"/>"#
        let page = Wsgidav.page("502 Bad Gateway", "Source and destination must have the same …")
        let move = dav.move(to: "c", "d")

        #expect(dav.answer(to: move, 201, Apache.moved) == .stored(id: "a/b", nil))
        #expect(dav.answer(to: move, 204) == .stored(id: "a/b", nil))
        // The version, or the place: what is there tells. A folder has no version.
        #expect(dav.answer(to: move, 412) == .conflictUnknown)
        #expect(status(dav.answer(to: dav.move(to: "c", "d", "/\"e\""), 412)) == 412)
        #expect(status(dav.answer(to: dav.move(to: "c", "d", ""), 412)) == 412)
        #expect(status(dav.answer(to: move, 405)) == 405)
        #expect(status(dav.answer(to: dav.create("file"), 412)) == 412)
        // What is moved stays known as a folder.
        #expect(
            dav.answer(to: dav.move(to: "c", "d", "/\"e\""), 201)
                == .stored(id: "a/b", Revision("/\"e\"")))
        #expect(dav.answer(to: move, 404) == .absent)
        #expect(status(dav.answer(to: move, 502, own)) == 502)
        #expect(dav.effect(move, 502, own) == .nothing)
        for (code, body) in [(502, page), (500, ""), (207, multistatus("423 Locked")), (202, "")] {
            #expect(dav.failure(to: move, code, body) != nil, "\(code)")
            #expect(dav.effect(move, code, body) == .unknown, "\(code)")
        }
    }

    @Test func `a time is taken or not`() {
        let call = dav.update(#"{"modified":"2026-11-26T18:45:45Z"}"#)
        let taken =
            #"<multistatus xmlns="DAV:"><response><href>/base/dav/r%20c/a/b</href><propstat>"#
            + "<prop><lastmodified/></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
            + "</multistatus>"

        #expect(dav.answer(to: call, 207, taken) == .stored(id: "a/b", nil))
        // A folder stays known as one.
        let ofFolder = dav.update(#"{"modified":"2026-11-26T18:45:45Z"}"#, "/\"e\"")
        #expect(
            dav.answer(to: ofFolder, 207, taken) == .stored(id: "a/b", Revision("/\"e\"")))
        #expect(dav.effect(call, 207, taken) == .done)
        #expect(status(dav.answer(to: call, 207, Wsgidav.refusedTime)) == 403)
        #expect(dav.effect(call, 207, Wsgidav.refusedTime) == .nothing)
        #expect(status(dav.answer(to: call, 207, multistatus("423 Locked"))) == 423)
        #expect(dav.answer(to: call, 207, #"<multistatus xmlns="DAV:"/>"#).isMalformed)
        #expect(dav.answer(to: call, 404) == .absent)
    }

    @Test func `a name that was undone is sent as a look, whatever versions there are`() throws {
        func found(_ properties: String) -> String {
            #"<multistatus xmlns="DAV:"><response><href>/base/dav/r%20c/a/b</href><propstat>"#
                + "<prop><resourcetype/>\(properties)</prop><status>HTTP/1.1 200 OK</status>"
                + "</propstat></response></multistatus>"
        }
        let none = dav.update("{}", "")
        #expect(dav.answer(to: none, 207, found("")) == .stored(id: "a/b", nil))
        let weak = "W/\"e\""
        #expect(dav.adapter.refusal(of: dav.update("{}", weak)) == nil)
        #expect(
            dav.answer(to: dav.update("{}", weak), 207, found("<getetag>\(weak)</getetag>"))
                == .stored(id: "a/b", Revision(weak)))
        #expect(
            dav.answer(to: none, 207, found("<getetag>\"f\"</getetag>")) == .conflictUnknown)
        #expect(try dav.request(dav.update("{}", "/")).path == "/dav/r%20c/a/b/")
    }

    @Test func `failures that are of no entry are those of any server`() {
        for call in [dav.create("folder"), dav.delete(), .read(dav.files, id: "a")] {
            #expect(dav.failure(to: call, 401) == .unauthorized)
            #expect(dav.failure(to: call, 503) == .server(status: 503, retryAfterSeconds: nil))
        }
        let read = ServerCall.read(dav.files, id: "a")
        #expect(dav.failure(to: read, 501) == .client(status: 501, "not implemented"))
        #expect(dav.failure(to: .read(dav.files, id: "a"), 403) == .forbidden)
        guard case .foreign? = dav.failure(to: dav.create("file"), 200, " <html>") else {
            Issue.record("a page counts as a success")
            return
        }
        #expect(dav.effect(dav.create("file"), 200, "<html>") == .unknown)
        #expect(dav.effect(dav.create("file"), 503) == .turnedAway)
        #expect(dav.effect(dav.delete(), 500) == .unknown)
    }
}

@Suite struct `hostile answers to a WebDAV client` {
    private let dav = WebDAVCase()

    @Test func `a list that is cut off anywhere is malformed`() {
        let bytes = Array(Wsgidav.root.utf8)
        for length in 0..<(bytes.count - 1) {
            let body = String(decoding: bytes[..<length], as: UTF8.self)
            #expect(dav.page("", body) == nil, "\(length) bytes")
        }
    }

    @Test func `a damaged list is malformed, or tells what it can't take`() {
        var random = SplitMix64(seed: 0xDA5)
        let bytes = Array(Wsgidav.root.utf8)
        var whole = 0
        for round in 0..<3000 {
            var damaged = bytes
            let index = Int(random.next() % UInt64(damaged.count))
            switch random.next() % 3 {
            case 0: damaged[index] ^= 1 << UInt8(random.next() % 8)
            case 1: damaged.remove(at: index)
            default: damaged.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
            }
            let response = HTTPResponse(status: .init(code: 207))
            switch dav.adapter.answer(to: dav.list(""), response, body: damaged) {
            case .page(let page):
                let told = page.isPartial || !page.unreadable.isEmpty
                #expect(page.records.count == 2 || told, "round \(round)")
                if !told { whole += 1 }
            case .failure(.malformed): break
            case let other: Issue.record("round \(round): \(other)")
            }
        }
        #expect(whole > 0 && whole < 3000)
    }

    @Test(arguments: [
        #"<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><multistatus xmlns="DAV:">"#
            + "<response><href>&x;</href></response></multistatus>",
        String(repeating: "<a>", count: 100_000), "<multistatus/>",
        #"<multistatus xmlns="DAV:"><response><status>HTTP/1.1 200 OK</status></response>"#
            + "</multistatus>",
        #"<multistatus xmlns="DAV:"><response><href>/a</href><status>200</status></response>"#
            + "</multistatus>",
    ])
    func `hostile XML is malformed`(_ body: String) {
        #expect(dav.answer(to: dav.list(""), 207, body).isMalformed)
        let read = ServerCall.read(dav.files, id: "a")
        #expect(dav.answer(to: read, 207, body).isMalformed)
    }
}
