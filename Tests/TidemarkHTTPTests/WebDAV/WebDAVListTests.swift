// WebDAVListTests.swift — what the lists of a WebDAV server mean.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `lists of a WebDAV server` {
    private let dav = WebDAVCase()
    private let home = "/base/dav/r%20c/"

    private func response(
        _ href: String, _ properties: String = "", isFolder: Bool = false
    ) -> String {
        let type = isFolder ? "<D:collection/>" : ""
        return "<D:response><D:href>\(href)</D:href><D:propstat><D:prop><D:resourcetype>\(type)"
            + "</D:resourcetype>\(properties)</D:prop><D:status>HTTP/1.1 200 OK</D:status>"
            + "</D:propstat></D:response>"
    }

    private func list(_ responses: String...) -> String {
        #"<D:multistatus xmlns:D="DAV:" xmlns:o="http://owncloud.org/ns">"#
            + responses.joined() + "</D:multistatus>"
    }

    private func texts(_ page: ListPage?) -> [String] {
        (page?.records ?? []).map { record in
            let document = String(decoding: record.document ?? [], as: UTF8.self)
            return "\(record.id) \(record.revision?.description ?? "none") \(document)"
        }
    }

    @Test func `a list of wsgidav holds folders and files with what it tells of them`() {
        let page = dav.page("", Wsgidav.root)

        #expect(
            texts(page) == [
                #"a b&é / {"kind":"folder","modified":"2026-11-26T18:55:22Z"}"#,
                #"n<1>.txt "5603408-1795719322-3" {"kind":"file","size":3,"#
                    + #""modified":"2026-11-26T18:55:22Z","type":"text/plain; charset=utf-8"}"#,
            ])
        #expect(page?.cursor == nil)
        #expect(page?.unreadable == [])
    }

    @Test func `ids and the versions of folders are taken where there are some`() {
        let page = dav.page(
            "a",
            list(
                response(home + "a/", "<D:getetag>W/\"9//a\"</D:getetag>", isFolder: true),
                response(
                    home + "a/b/", "<D:getetag>\"8\"</D:getetag><o:id>00000003oc</o:id>",
                    isFolder: true),
                response(home + "a/c", "<D:getetag>\"7\"</D:getetag><o:fileid>4</o:fileid>")))

        #expect(
            texts(page) == [
                #"a/b /"8" {"kind":"folder","fileId":"00000003oc"}"#,
                #"a/c "7" {"kind":"file","fileId":"4"}"#,
            ])
        // Compared without what says that it is weak.
        #expect(page?.cursor == Revision("/\"9//a\""))
    }

    @Test(arguments: [
        ("\"e\"", "\"e\""), ("e", "\"e\""), (" \"e\" ", "\"e\""), ("W/\"e\"", "W/\"e\""),
        ("\"12//a%20b\"", "\"12//a%20b\""), ("", "none"), ("\"\"", "none"), ("\"", "none"),
        ("a\"b", "none"), ("\"a b\"", "\"a b\""), ("\"a\"b\"", "\"a\"b\""), ("w/\"e\"", "none"),
        ("\"12//é&<\"", "\"12//é&<\""), ("\"12//&amp;\"", "\"12//&\""), ("\"\t\"", "none"),
        (String(repeating: "e", count: 1025), "none"),
    ])
    func `an ETag is a version as far as it can be one`(_ etag: String, _ version: String) {
        let page = dav.page(
            "",
            list(
                response(home, isFolder: true),
                response(home + "f", "<D:getetag>\(XMLTree.escape(etag))</D:getetag>")))

        #expect(page?.records.map { $0.revision?.description ?? "none" } == [version])
        #expect(page?.unreadable == [])
    }

    @Test func `lengths and times that are none are left out`() {
        for (name, text) in [
            ("getcontentlength", "-1"), ("getcontentlength", "1e3"), ("getcontentlength", " "),
            ("getcontentlength", "99999999999999999999"), ("getlastmodified", "soon"),
            ("getlastmodified", "Thu, 40 Nov 2026 18:55:22 GMT"), ("getcontenttype", ""),
        ] {
            let page = dav.page(
                "",
                list(
                    response(home, isFolder: true),
                    response(home + "f", "<D:\(name)>\(text)</D:\(name)>")))
            #expect(texts(page) == [#"f none {"kind":"file"}"#], "\(name) \(text)")
        }
    }

    @Test func `addresses may be whole, and of the scheme behind a proxy`() {
        for address in [
            "https://dav.test:8443", "http://DAV.test:8443", "HTTPS://dav.test:8443", "",
        ] {
            let page = dav.page(
                "", list(response(address + home, isFolder: true), response(address + home + "f")))
            #expect(page?.records.map(\.id) == ["f"], "\(address)")
            #expect(page?.unreadable == [], "\(address)")
        }
    }

    @Test(arguments: [
        ("https://other.test/base/dav/r%20c/x", "an address of another host"),
        ("https://dav.test/base/dav/r%20c/x", "an address of another host"),
        ("/base/dav/other/x", "an address outside of the tree"),
        ("/base/dav/r%20c/../x", "an address with a name that no entry can have"),
        ("/base/dav/r%20c/a%2Fb", "an address with a name that no entry can have"),
        ("/base/dav/r%20c/a%00b", "an address with a name that no entry can have"),
        ("/base/dav/r%20c/%FF", "an address with a name that no entry can have"),
        ("/base/dav/r%20c/d/deeper", "an address that is not in this folder"),
        ("x", "an address that is neither whole nor from the root on"),
        ("", "an address that is neither whole nor from the root on"),
    ])
    func `an address that can't be of the folder is told, and the list may leave something out`(
        _ href: String, _ problem: String
    ) {
        let page = dav.page(
            "",
            list(response(home, isFolder: true), response(home + "f"), response(href)))

        #expect(page?.records.map(\.id) == ["f"])
        #expect(page?.unreadable.map(\.problem) == [problem])
        #expect(page?.unreadable.map(\.id) == [nil])
        #expect(page?.isPartial == true)
        #expect(page?.cursor == nil)
    }

    @Test func `an entry that is named twice is neither of both`() {
        for other in ["f", "f/", "%66"] {
            let page = dav.page(
                "",
                list(
                    response(home, isFolder: true), response(home + "f"),
                    response(home + other), response(home + "g")))

            #expect(page?.records.map(\.id) == ["g"])
            #expect(page?.unreadable.map(\.id) == ["f", "f"])
            #expect(page?.isPartial == false)
        }
        let both = dav.page(
            "",
            list(
                response(home, isFolder: true), response(home + "e%CC%81"),
                response(home + "%C3%A9")))
        #expect(both?.records.map { Array($0.id.utf8).count } == [3, 2])
    }

    @Test func `a list without the folder itself, or of a file, says nothing of what is missing`() {
        let folder = response(home + "a/", isFolder: true)
        for (body, problem) in [
            (list(response(home + "a/f")), "a list without the folder itself"),
            (list(folder, folder), "a list without the folder itself"),
            (
                list(response(home + "a", "<D:getetag>\"1\"</D:getetag>")),
                "a list of what is a file"
            ),
            (list(), "a list without the folder itself"),
        ] {
            let page = dav.page("a", body)
            #expect(page?.unreadable.last?.problem == problem)
            #expect(page?.unreadable.last?.id == "a")
            #expect(page?.isPartial == true)
            #expect(page?.cursor == nil)
        }
        // Without the root itself nothing at all is known.
        #expect(dav.page("", list())?.unreadable.map(\.id) == [nil])
    }

    @Test func `a member with an error says nothing of what is there, also with 404`() {
        for status in ["403 Forbidden", "404 Not Found", "500 Internal Server Error"] {
            let page = dav.page(
                "",
                list(
                    response(home, "<D:getetag>\"1\"</D:getetag>", isFolder: true),
                    "<D:response><D:href>\(home)d/</D:href><D:status>HTTP/1.1 \(status)</D:status>"
                        + "</D:response>", response(home + "f")))

            #expect(page?.records.map(\.id) == ["f"])
            #expect(page?.unreadable.map(\.id) == ["d"])
            #expect(page?.isPartial == false)
        }
    }

    @Test func `a folder that may not be read stops no other, and the root all`() {
        let forbidden = dav.page("a", "", 403)

        #expect(forbidden?.unreadable.map(\.problem) == ["a list with status 403"])
        #expect(forbidden?.isPartial == true)
        #expect(dav.failure(to: dav.list(""), 403) == .forbidden)
        #expect(dav.answer(to: dav.list("a"), 404) == .absent)
        #expect(dav.answer(to: dav.list("a"), 410) == .absent)
        #expect(dav.failure(to: dav.list(""), 404) == .client(status: 404, ""))
    }

    @Test func `a list of Apache holds folders and files, weak ETags and all`() {
        let page = dav.page("", Apache.root)

        #expect(
            texts(page) == [
                #"a b&é /"1000-66132b4f79353" {"kind":"folder","modified":"2026-11-26T19:11:12Z"}"#,
                #"n<1>.txt W/"3-66132b4f90a53" {"kind":"file","size":3,"#
                    + #""modified":"2026-11-26T19:11:12Z","type":"text/plain"}"#,
            ])
        #expect(page?.cursor == Revision("/\"1000-66132b4f90a53\""))
        #expect(page?.unreadable == [])
    }

    @Test func `one entry is read`() {
        let read = ServerCall.read(dav.files, id: "n<1>.txt")
        let gone = list(
            "<D:response><D:href>\(home)n%3C1%3E.txt</D:href><D:status>HTTP/1.1 404 Not Found"
                + "</D:status></D:response>")
        guard
            case .record(let record) = dav.answer(to: read, 207, Wsgidav.multistatus(Wsgidav.file))
        else {
            Issue.record("no record")
            return
        }
        #expect(record.id == "n<1>.txt")
        #expect(record.revision == Revision("\"5603408-1795719322-3\""))
        #expect(dav.answer(to: read, 404) == .absent)
        #expect(dav.answer(to: read, 207, gone) == .absent)
        for body in [list(), list(response(home + "other")), Wsgidav.page("200", "hello")] {
            #expect(dav.answer(to: read, 207, body).isMalformed, "\(body)")
        }
    }

    @Test func `a page in the place of a list is the network's`() {
        guard case .foreign? = dav.failure(to: dav.list(""), 200, "<html>sign in</html>") else {
            Issue.record("it is none")
            return
        }
    }
}
