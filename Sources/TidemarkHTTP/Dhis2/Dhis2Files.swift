// Dhis2Files.swift — files that are values of tracker data.
//
//   sent      POST api/fileResources?domain=DATA_VALUE, multipart/form-data, one part `file`; the
//             answer has the id by which the value names it
//
//   fetched   up to 2.41                                later
//   events    api/events/files?eventUid=E&              api/tracker/events/E/dataValues/D/file
//               dataElementUid=D
//   entities  api/trackedEntityInstances/T/A/file       api/tracker/trackedEntities/T/
//                                                         attributes/A/file
//
// By its own id, api/fileResources/ID/data, DHIS2 gives no file of a value. That of an aggregate
// one it tells by the parts of its attribute option combination, which the value does not name.

public import TidemarkEvents
public import TidemarkSync

extension Dhis2Adapter {
    /// A form with one part, `file`; its type is told by the file's first bytes.
    public func form(ofFile sha256: String, head: [UInt8]) -> FileForm? {
        // At most 70 characters, which no file holds that does not hold its own hash.
        let boundary = "tidemark-\(sha256.prefix(48))"
        let type = Dhis2FileType(head)
        let part = """
            --\(boundary)\r
            Content-Disposition: form-data; name="file"; \
            filename="\(sha256.prefix(16)).\(type.suffix)"\r
            Content-Type: \(type.name)\r
            \r

            """
        return FileForm(
            contentType: "multipart/form-data; boundary=\(boundary)", before: Array(part.utf8),
            after: Array("\r\n--\(boundary)--\r\n".utf8),
            name: ["response", "fileResource", "id"])
    }

    /// By the value that names it; see the table at the top of the file.
    public func address(
        ofFile name: String, in field: String, of entity: EntityKey?
    ) -> String? {
        guard let entity else { return nil }
        let steps = field.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let kind = Dhis2Kind(entity.collection)
        let list = kind == .events ? "dataValues" : "attributes"
        guard kind == .events || kind == .trackedEntities, steps.count == 4, steps[0].isEmpty,
            steps[1] == list, steps[2] != "*", steps[3] == "value",
            ![entity.id, steps[2]].contains(where: URLPath.isPlace)
        else { return nil }
        let id = ServerRequest.percentEncoded(entity.id)
        let element = ServerRequest.percentEncoded(steps[2])
        if dialect.minor > 41 {
            let names = dialect.listName(of: kind)
            return "/api/tracker/\(names)/\(id)/\(list)/\(element)/file"
        }
        return kind == .events
            ? "/api/events/files?eventUid=\(id)&dataElementUid=\(element)"
            : "/api/trackedEntityInstances/\(id)/\(element)/file"
    }
}

/// What a file is called by what it begins with: DHIS2 shows images only of their types.
private struct Dhis2FileType {
    var name = "application/octet-stream"
    var suffix = "bin"

    private static let known: [(head: [UInt8], name: String, suffix: String)] = [
        ([0xFF, 0xD8, 0xFF], "image/jpeg", "jpg"),
        ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A], "image/png", "png"),
        (Array("GIF8".utf8), "image/gif", "gif"),
        (Array("%PDF-".utf8), "application/pdf", "pdf"),
    ]

    init(_ head: [UInt8]) {
        guard let type = Self.known.first(where: { head.starts(with: $0.head) }) else { return }
        (name, suffix) = (type.name, type.suffix)
    }
}
