// Dhis2FileTests.swift — in which form files are sent to DHIS2, and where they are fetched.

import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

private let hash = String(repeating: "0123456789abcdef", count: 4)

@Suite struct `a file of DHIS2` {
    private func place(_ version: String, _ entity: EntityKey?, _ field: String) -> String? {
        Dhis2Adapter(version: version)?.address(ofFile: "f1", in: field, of: entity)
    }

    @Test(arguments: [
        ("2.37", "/api/events/files?eventUid=e%201&dataElementUid=d1"),
        ("2.41", "/api/events/files?eventUid=e%201&dataElementUid=d1"),
        ("2.42", "/api/tracker/events/e%201/dataValues/d1/file"),
    ])
    func `lies where its event has it`(_ version: String, _ path: String) {
        #expect(place(version, EntityKey("events", "e 1"), "/dataValues/d1/value") == path)
    }

    @Test(arguments: [
        ("2.39", "/api/trackedEntityInstances/t1/a1/file"),
        ("2.41", "/api/trackedEntityInstances/t1/a1/file"),
        ("2.42", "/api/tracker/trackedEntities/t1/attributes/a1/file"),
    ])
    func `lies where its tracked entity has it`(_ version: String, _ path: String) {
        #expect(
            place(version, EntityKey("trackedEntities", "t1"), "/attributes/a1/value") == path)
    }

    @Test(arguments: [
        ("events", "/dataValues/*/value"), ("events", "/dataValues/d1/comment"),
        ("events", "/attributes/a1/value"), ("events", "value"),
        ("enrollments", "/attributes/a1/value"), ("dataValues", "value"), ("icons", "href"),
    ])
    func `lies nowhere else`(_ collection: String, _ field: String) {
        #expect(place("2.42", EntityKey(CollectionName(collection), "x"), field) == nil)
        #expect(place("2.42", nil, "/dataValues/d1/value") == nil)
    }

    @Test(
        arguments: [
            ([0xFF, 0xD8, 0xFF, 0xE0], "image/jpeg", "jpg"),
            ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0], "image/png", "png"),
            (Array("GIF89a".utf8), "image/gif", "gif"),
            (Array("%PDF-1".utf8), "application/pdf", "pdf"),
            (Array("tea".utf8), "application/octet-stream", "bin"),
            ([], "application/octet-stream", "bin"),
        ] as [([UInt8], String, String)])
    func `is sent as a part with its type`(_ head: [UInt8], _ type: String, _ end: String) throws {
        let adapter = try #require(Dhis2Adapter(version: "2.41"))
        let form = try #require(adapter.form(ofFile: hash, head: head))
        let mark = "tidemark-" + hash.prefix(48)

        #expect(form.contentType == "multipart/form-data; boundary=" + mark)
        #expect(
            String(decoding: form.before, as: UTF8.self) == """
                --\(mark)\r
                Content-Disposition: form-data; name="file"; filename="0123456789abcdef.\(end)"\r
                Content-Type: \(type)\r
                \r

                """)
        #expect(String(decoding: form.after, as: UTF8.self) == "\r\n--\(mark)--\r\n")
        #expect(form.name == ["response", "fileResource", "id"])
    }
}
