// WebDAVTestSupport.swift — an adapter, a tree, and what a real wsgidav 4.4.0 answered.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

/// One adapter and one tree.
struct WebDAVCase: AdapterCase {
    var adapter = WebDAVAdapter(origin: "https://dav.test:8443/base", home: "/dav/r%20c/")
    var files = CollectionModel(
        "files", references: [Reference("parent", to: "files")],
        tree: CollectionModel.TreeRule(
            parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId"))

    func request(_ call: ServerCall) throws -> ServerRequest { try adapter.request(for: call) }

    func list(_ path: String) -> ServerCall {
        .list(files, after: nil, page: path.isEmpty ? nil : path)
    }

    /// What the answer to a list of a folder is taken for; nil where it is no page.
    func page(_ path: String, _ body: String, _ status: Int = 207) -> ListPage? {
        guard case .page(let page) = answer(to: list(path), status, body) else { return nil }
        return page
    }

    /// A move of `a/b` into another folder.
    func move(
        to folder: String?, _ name: String, _ revision: String = "\"e\"", also: String = ""
    ) -> ServerCall {
        let parent = folder.map { "\"\($0)\"" } ?? "null"
        return .update(
            files, id: "a/b",
            body: Array(#"{"kind":"file","parent":\#(parent),"name":"\#(name)"}"#.utf8),
            changes: Array(#"{"parent":\#(parent),"name":"\#(name)"\#(also)}"#.utf8),
            revision: Revision(revision))
    }

    func create(_ kind: String, _ id: String = "a/b") -> ServerCall {
        .create(files, id: id, body: Array(#"{"kind":"\#(kind)"}"#.utf8))
    }

    func delete(_ revision: String = "\"e\"") -> ServerCall {
        .delete(files, id: "a/b", revision: Revision(revision))
    }

    func update(_ changes: String, _ revision: String = "\"e\"") -> ServerCall {
        .update(
            files, id: "a/b", body: Array(#"{"parent":"a","name":"b"}"#.utf8),
            changes: Array(changes.utf8), revision: Revision(revision))
    }

    /// What an answer is taken for, and what it proves.
    func effect(_ call: ServerCall, _ status: Int, _ body: String = "") -> WriteEffect {
        let response = HTTPResponse(status: .init(code: status))
        return adapter.effect(of: answer(to: call, status, body), to: call, response)
    }
}

/// Bodies of Apache 2.4.71 as they came, only with another base path.
enum Apache {
    static let root = """
        <?xml version="1.0" encoding="utf-8"?>
        <D:multistatus xmlns:D="DAV:" xmlns:ns1="http://owncloud.org/ns" xmlns:ns0="DAV:">
        <D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/" xmlns:g0="DAV:" \
        xmlns:g1="http://owncloud.org/ns">
        <D:href>/base/dav/r%20c/</D:href>
        <D:propstat>
        <D:prop>
        <lp1:resourcetype><D:collection/></lp1:resourcetype>
        <lp1:getlastmodified>Thu, 26 Nov 2026 19:11:12 GMT</lp1:getlastmodified>
        <D:getcontenttype>httpd/unix-directory</D:getcontenttype>
        <lp1:getetag>W/"1000-66132b4f90a53"</lp1:getetag>
        </D:prop>
        <D:status>HTTP/1.1 200 OK</D:status>
        </D:propstat>
        <D:propstat>
        <D:prop>
        <g0:getcontentlength/>
        <g1:id/>
        <g1:fileid/>
        </D:prop>
        <D:status>HTTP/1.1 404 Not Found</D:status>
        </D:propstat>
        </D:response>
        <D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/" xmlns:g0="DAV:" \
        xmlns:g1="http://owncloud.org/ns">
        <D:href>/base/dav/r%20c/a%20b&amp;%c3%a9/</D:href>
        <D:propstat>
        <D:prop>
        <lp1:resourcetype><D:collection/></lp1:resourcetype>
        <lp1:getlastmodified>Thu, 26 Nov 2026 19:11:12 GMT</lp1:getlastmodified>
        <D:getcontenttype>httpd/unix-directory</D:getcontenttype>
        <lp1:getetag>W/"1000-66132b4f79353"</lp1:getetag>
        </D:prop>
        <D:status>HTTP/1.1 200 OK</D:status>
        </D:propstat>
        <D:propstat>
        <D:prop>
        <g0:getcontentlength/>
        <g1:id/>
        <g1:fileid/>
        </D:prop>
        <D:status>HTTP/1.1 404 Not Found</D:status>
        </D:propstat>
        </D:response>
        <D:response xmlns:lp1="DAV:" xmlns:lp2="http://apache.org/dav/props/" \
        xmlns:g0="http://owncloud.org/ns">
        <D:href>/base/dav/r%20c/n%3c1%3e.txt</D:href>
        <D:propstat>
        <D:prop>
        <lp1:resourcetype/>
        <lp1:getcontentlength>3</lp1:getcontentlength>
        <lp1:getlastmodified>Thu, 26 Nov 2026 19:11:12 GMT</lp1:getlastmodified>
        <D:getcontenttype>text/plain</D:getcontenttype>
        <lp1:getetag>W/"3-66132b4f90a53"</lp1:getetag>
        </D:prop>
        <D:status>HTTP/1.1 200 OK</D:status>
        </D:propstat>
        <D:propstat>
        <D:prop>
        <g0:id/>
        <g0:fileid/>
        </D:prop>
        <D:status>HTTP/1.1 404 Not Found</D:status>
        </D:propstat>
        </D:response>
        </D:multistatus>

        """

    static let moved = """
        <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01//EN" "http://www.w3.org/TR/html4/strict.dtd">
        <html>
        <head>
        <title>201 Created</title>
        </head><body>
        <h1>Created</h1>
        <p>Destination /x has been created.</p>
        </body></html>
        """
}

/// Bodies as they came, only with another base path.
enum Wsgidav {
    private static let start = #"<?xml version="1.0" encoding="utf-8" ?>"# + "\n"
    private static let open =
        #"<ns0:multistatus xmlns:ns0="DAV:" xmlns:ns1="http://owncloud.org/ns">"#
    private static let folderRest =
        "<ns0:propstat><ns0:prop><ns0:resourcetype><ns0:collection /></ns0:resourcetype>"
        + "<ns0:getlastmodified>Thu, 26 Nov 2026 18:55:22 GMT</ns0:getlastmodified></ns0:prop>"
        + "<ns0:status>HTTP/1.1 200 OK</ns0:status></ns0:propstat><ns0:propstat><ns0:prop>"
        + "<ns0:getcontentlength /><ns0:getcontenttype /><ns0:getetag /><ns1:id /><ns1:fileid />"
        + "</ns0:prop><ns0:status>HTTP/1.1 404 Not Found</ns0:status></ns0:propstat>"
        + "</ns0:response>"
    static let file =
        "<ns0:response><ns0:href>/base/dav/r%20c/n%3C1%3E.txt</ns0:href><ns0:propstat><ns0:prop>"
        + "<ns0:resourcetype /><ns0:getcontentlength>3</ns0:getcontentlength>"
        + "<ns0:getlastmodified>Thu, 26 Nov 2026 18:55:22 GMT</ns0:getlastmodified>"
        + "<ns0:getcontenttype>text/plain; charset=utf-8</ns0:getcontenttype>"
        + "<ns0:getetag>5603408-1795719322-3</ns0:getetag></ns0:prop>"
        + "<ns0:status>HTTP/1.1 200 OK</ns0:status></ns0:propstat><ns0:propstat><ns0:prop>"
        + "<ns1:id /><ns1:fileid /></ns0:prop><ns0:status>HTTP/1.1 404 Not Found</ns0:status>"
        + "</ns0:propstat></ns0:response>"

    static func folder(_ href: String) -> String {
        "<ns0:response><ns0:href>\(href)</ns0:href>" + folderRest
    }

    static func multistatus(_ responses: String...) -> String {
        start + open + responses.joined() + "</ns0:multistatus>\n"
    }

    /// The root with a folder and a file.
    static let root = multistatus(
        folder("/base/dav/r%20c/"), folder("/base/dav/r%20c/a%20b%26%C3%A9/"), file)

    static let refusedTime = multistatus(
        "<ns0:response><ns0:href>/base/dav/r%20c/a/b</ns0:href><ns0:propstat><ns0:prop>"
            + "<ns0:lastmodified /></ns0:prop><ns0:status>HTTP/1.1 403 Forbidden</ns0:status>"
            + "</ns0:propstat></ns0:response><ns0:responsedescription>403 Forbidden: Access denied"
            + " to the specified resource</ns0:responsedescription>")

    /// What it answers to a deletion with an If-Match that does not hold.
    static let halfDeleted = multistatus(
        "<ns0:response><ns0:href>/base/dav/r%20c/t/u/f</ns0:href>"
            + "<ns0:status>HTTP/1.1 412 Precondition Failed</ns0:status></ns0:response>")

    static func page(_ title: String, _ line: String) -> String {
        "<!DOCTYPE HTML PUBLIC '-//W3C//DTD HTML 4.01//EN' 'http://www.w3.org/TR/html4/strict.dtd'>"
            + "\n<html><head>\n  <meta http-equiv='Content-Type' content='text/html; "
            + "charset=utf-8'>\n  <title>\(title)</title>\n</head><body>\n  <h1>\(title)</h1>\n"
            + "  <p>\(line)</p>\n<hr/>\n<a href='https://github.com/mar10/wsgidav/'>WsgiDAV/4.4.0"
            + "</a> - 2026-11-26 18:55:22.552469\n</body></html>"
    }
}
