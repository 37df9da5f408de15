// WebDAVRequestTests.swift — what is asked of a WebDAV server.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `requests to a WebDAV server` {
    private let dav = WebDAVCase()

    private func line(_ request: ServerRequest) -> String {
        let known = ["Depth", "Destination", "Overwrite", "If-Match", "If-None-Match"]
        let fields = request.headers.filter { known.contains($0.name.rawName) }
            .map { " \($0.name.rawName)=\($0.value)" }
        return "\(request.method.rawValue) \(request.path)\(fields.joined())"
    }

    @Test func `paths are encoded name by name below the home`() throws {
        let line = line(try dav.request(.read(dav.files, id: "a b/50%/#?&+;é/e\u{301}")))
        #expect(line == "PROPFIND /dav/r%20c/a%20b/50%25/%23%3F%26%2B%3B%C3%A9/e%CC%81 Depth=0")
        #expect(
            self.line(try dav.request(.read(dav.files, id: ""))) == "PROPFIND /dav/r%20c/ Depth=0")
        let root = WebDAVAdapter(origin: "https://dav.test", home: "/")
        #expect(self.line(try root.request(for: dav.list(""))) == "PROPFIND / Depth=1")
    }

    @Test func `lists ask for what documents and versions are made of`() throws {
        let folder = try dav.request(dav.list("a/b"))

        #expect(line(folder) == "PROPFIND /dav/r%20c/a/b/ Depth=1")
        let body = try XMLReader.read(folder.body ?? [])
        #expect(
            body.first("prop", in: "DAV:")?.children.map(\.name) == [
                "resourcetype", "getcontentlength", "getlastmodified", "getcontenttype", "getetag",
                "id", "fileid",
            ])
    }

    @Test func `a folder is made, and a file only where there is nothing`() throws {
        #expect(line(try dav.request(dav.create("folder"))) == "MKCOL /dav/r%20c/a/b/")
        #expect(
            line(try dav.request(dav.create("file"))) == "PUT /dav/r%20c/a/b If-None-Match=*")
        var other = dav
        other.files.tree = CollectionModel.TreeRule(
            parent: "in", name: "title", kind: "type", folder: "dir", isByPath: true)
        let call = ServerCall.create(other.files, id: "a", body: Array(#"{"type":"dir"}"#.utf8))
        #expect(line(try other.request(call)) == "MKCOL /dav/r%20c/a/")
    }

    @Test func `a content is a file of the store's, and replaces only the version that was known`()
        throws
    {
        var dav = dav
        dav.files.tree?.content = "content"
        let file = #"{"sha256":"\#(String(repeating: "0", count: 64))","bytes":7}"#
        let made = ServerCall.create(
            dav.files, id: "a/b", body: Array(#"{"kind":"file","content":\#(file)}"#.utf8))
        let changed = dav.update(#"{"content":\#(file),"size":null}"#)

        #expect(line(try dav.request(made)) == "PUT /dav/r%20c/a/b If-None-Match=*")
        #expect(line(try dav.request(changed)) == #"PUT /dav/r%20c/a/b If-Match="e""#)
        for call in [made, changed] {
            let request = try dav.request(call)
            #expect(request.body == nil)
            #expect(
                request.file == .file(sha256: String(repeating: "0", count: 64), bytes: 7))
            #expect(dav.adapter.refusal(of: call) == nil)
        }
        #expect(try dav.request(dav.create("file")).file == nil)
        let both = dav.update(
            #"{"content":\#(file),"modified":"2026-11-26T18:45:45Z"}"#)
        #expect(dav.adapter.refusal(of: both)?.message.contains("by itself") == true)
        let weak = dav.update(#"{"content":\#(file)}"#, #"W/"e""#)
        #expect(dav.adapter.refusal(of: weak)?.message.contains("weak") == true)
        for version in ["", "/", "/\"e\""] {
            let blind = dav.update(#"{"content":\#(file)}"#, version)
            #expect(dav.adapter.refusal(of: blind)?.message.contains("no version") == true)
        }
        #expect(
            dav.adapter.address(
                ofFile: #"@1.1 "e""#, in: "content", of: EntityKey("files", "a b/c"))
                == "/dav/r%20c/a%20b/c")
    }

    @Test func `a move names its target as a whole address, and overwrites nothing`() throws {
        let file = try dav.request(dav.move(to: "c d", "é"))
        let folder = try dav.request(dav.move(to: nil, "c", "/\"e\""))
        let unknown = try dav.request(dav.move(to: "a", "c", ""))

        #expect(
            line(file)
                == "MOVE /dav/r%20c/a/b If-Match=\"e\" "
                + "Destination=https://dav.test:8443/base/dav/r%20c/c%20d/%C3%A9 Overwrite=F")
        #expect(
            line(folder)
                == "MOVE /dav/r%20c/a/b/ Destination=https://dav.test:8443/base/dav/r%20c/c/ "
                + "Overwrite=F")
        #expect(line(unknown).hasPrefix("MOVE /dav/r%20c/a/b Destination"))
    }

    @Test func `what is moved is not changed otherwise by the same request`() {
        let both = dav.move(to: "c", "d", also: #","modified":"2026-11-26T18:45:45Z""#)

        #expect(dav.adapter.refusal(of: both)?.message.contains("modified, not both") == true)
        #expect(dav.adapter.refusal(of: dav.move(to: "c", "d")) == nil)
        for (folder, name) in [("c", ".."), ("c/..", "d"), ("c", "d\u{0}")] {
            #expect(dav.adapter.refusal(of: dav.move(to: folder, name)) != nil, "\(name)")
        }
    }

    @Test func `a deletion names the version of a file, and of a folder never`() throws {
        #expect(line(try dav.request(dav.delete())) == "DELETE /dav/r%20c/a/b If-Match=\"e\"")
        #expect(line(try dav.request(dav.delete("/\"e\""))) == "DELETE /dav/r%20c/a/b/")
        #expect(line(try dav.request(dav.delete("/"))) == "DELETE /dav/r%20c/a/b/")
        #expect(line(try dav.request(dav.delete(""))) == "DELETE /dav/r%20c/a/b")
    }

    @Test func `only the time of the last change is written`() throws {
        let call = dav.update(#"{"modified":"2026-11-26T19:45:45.7+01:00"}"#)
        let request = try dav.request(call)

        #expect(dav.adapter.refusal(of: call) == nil)
        #expect(line(request) == "PROPPATCH /dav/r%20c/a/b If-Match=\"e\"")
        let patch = try XMLReader.read(request.body ?? [])
        let property = patch.children.first?.children.first?.children.first
        #expect(property?.is("lastmodified", in: "DAV:") == true)
        #expect(property?.text == "1795718745")
        for changes in [
            "", "[]", #"{"modified":null}"#, #"{"modified":"soon"}"#, #"{"size":1}"#,
            #"{"modified":"2026-11-26T18:45:45Z","size":1}"#,
        ] {
            #expect(dav.adapter.refusal(of: dav.update(changes)) != nil, "\(changes)")
            #expect(throws: SyncFailure.self, "\(changes)") {
                try dav.request(dav.update(changes))
            }
        }
    }

    @Test func `a change of nothing is a look, and known by its version`() throws {
        let call = dav.update("{}")
        let request = try dav.request(call)

        #expect(dav.adapter.refusal(of: call) == nil)
        #expect(request.method.rawValue == "PROPFIND" && request.path == "/dav/r%20c/a/b")
    }

    /// mod_dav_svn 1.14 tells `"12//a&b"` in a list, and has `"12//a&amp;b"` in the field ETag.
    @Test(arguments: [
        ("\"12//a b\"", "\"12//a b\""), ("\"12//é\"", "\"12//é\""),
        ("\"12//a&<\"", "\"12//a&<\", \"12//a&amp;&lt;\""), ("\"12//a\"b\"", "\"12//a&quot;b\""),
    ])
    func `a write names a version as it may be escaped, too`(
        _ version: String, _ condition: String
    ) throws {
        #expect(try dav.request(dav.delete(version)).headers[.ifMatch] == condition)
    }

    @Test func `what is known only by a weak ETag is not written`() {
        #expect(dav.adapter.refusal(of: dav.delete("W/\"e\""))?.message.contains("weak") == true)
        for revision in ["\"e\"", "\"é\"", "/W/\"e\"", "/\"e\"", "/", ""] {
            #expect(dav.adapter.refusal(of: dav.delete(revision)) == nil, "\(revision)")
        }
    }

    @Test func `names that no address can have are refused`() {
        for id in ["", ".", "..", "a/..", "a//b", "/a", "a/", "a\u{0}b"] {
            #expect(dav.adapter.refusal(of: dav.create("file", id)) != nil, "\(id)")
        }
        for id in ["...", "a/.b", "%2F", "~", " ", "a\\b"] {
            #expect(dav.adapter.refusal(of: dav.create("file", id)) == nil, "\(id)")
        }
    }
}
