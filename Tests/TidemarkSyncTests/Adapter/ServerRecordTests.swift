// ServerRecordTests.swift — a record of a document that the adapter parsed, and an id in the path
// of a request.

import Testing
import TidemarkEvents
import TidemarkSync

@Suite struct `a record of a parsed document` {
    private let text = Array(#"{"id":"t1","title":"tea"}"#.utf8)

    @Test func `is the record of its bytes`() throws {
        let document = try JSONDocument(parsing: text)
        let parsed = ServerRecord(id: "t1", revision: Revision("1"), parsed: document)
        let plain = ServerRecord(id: "t1", revision: Revision("1"), document: text)

        #expect(parsed == plain && Set([parsed, plain]).count == 1)
        #expect(parsed.document == text && !parsed.isDeleted)
        #expect(parsed.isChecked && !plain.isChecked)
    }

    @Test func `is looked at again once its document is another one`() throws {
        let document = try JSONDocument(parsing: text)
        var record = ServerRecord(id: "t1", revision: nil, parsed: document, isDeleted: true)
        #expect(record.isChecked && record.isDeleted)

        record.document = Array("no JSON".utf8)

        #expect(!record.isChecked)
    }
}

@Suite struct `an id in a path` {
    @Test(arguments: [
        ("n-1._~Z", "n-1._~Z"), ("a/b", "a%2Fb"), ("x?y#z", "x%3Fy%23z"),
        ("../users/1", "..%2Fusers%2F1"), ("50% off", "50%25%20off"), ("größe", "gr%C3%B6%C3%9Fe"),
        ("\t", "%09"), ("", ""),
    ])
    func `is one part of it, whatever it is`(id: String, part: String) {
        #expect(ServerRequest.percentEncoded(id) == part)
        #expect(ServerRequest.percentEncoded(Substring(id)) == part)
    }
}
