// WebDAVChecksumTests.swift — the checksums of files, as ownCloud 10.15 and oCIS 5 tell them.

import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `checksums of files` {
    private let dav = WebDAVCase()

    private func record(_ document: String) -> ServerRecord {
        ServerRecord(id: "a", revision: Revision("\"e\""), document: Array(document.utf8))
    }

    private func told(_ checksums: String, tag: String = "&quot;e&quot;") -> FileChecksums? {
        let body = """
            <?xml version="1.0"?>
            <d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:response>
            <d:href>/dav/r%20c/a</d:href><d:propstat><d:prop>
            <d:getetag>\(tag)</d:getetag><d:getcontentlength>3</d:getcontentlength>\(checksums)
            </d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>
            """
        return dav.adapter.checksums(of: record("{}"), in: Array(body.utf8))
    }

    @Test func `are asked for where a server gives files ids`() throws {
        let known = record(#"{"kind":"file","fileId":"7"}"#)
        let request = try #require(dav.adapter.checksumRequest(of: known, at: "a b"))
        let body = try XMLReader.read(request.body ?? [])

        #expect(request.path == "/dav/r%20c/a%20b")
        #expect(
            body.first("prop", in: "DAV:")?.children.map(\.name)
                == ["getetag", "getcontentlength", "checksums"])
        #expect(dav.adapter.checksumRequest(of: record(#"{"kind":"file"}"#), at: "a") == nil)
    }

    @Test func `are read in one text, or in several, without those that are not known`() {
        let one = told(
            "<oc:checksums><oc:checksum>SHA1:AB MD5:cd ADLER32:ef</oc:checksum></oc:checksums>")
        let several = told(
            """
            <oc:checksums><oc:checksum>sha1:AB</oc:checksum>
            <oc:checksum>MD5:cd</oc:checksum></oc:checksums>
            """)
        let expected = FileChecksums(
            revision: Revision("\"e\""), bytes: 3, digits: [.sha1: "AB", .md5: "cd"])

        #expect(one == expected && several == expected)
    }

    @Test func `are none where the answer has none, or no version`() {
        #expect(told("") == nil)
        #expect(
            told("<oc:checksums><oc:checksum>MD5:cd</oc:checksum></oc:checksums>", tag: "") == nil)
        #expect(dav.adapter.checksums(of: record("{}"), in: Array("no XML".utf8)) == nil)
    }
}
