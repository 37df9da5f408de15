// Dhis2Files.swift — files that values name, as clients send and fetch them.
//
// Not known: what a server says of a form without a file, and how many bytes it takes.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// A file that was sent.
struct Dhis2File: Sendable, Hashable {
    var name: String
    var contentType: String
    var bytes: [UInt8]
    var created: Timestamp
    /// The object of which a value names it; nil for none.
    var owner: String?

    /// The part `file` of a form; nil where there is none.
    init?(form bytes: [UInt8], boundary: String, now: Timestamp) {
        let (mark, gap) = (Array("--\(boundary)".utf8), Array("\r\n\r\n".utf8))
        guard bytes.starts(with: mark), let headEnd = bytes.firstRange(of: gap),
            let end = bytes[headEnd.upperBound...].firstRange(of: Array("\r\n".utf8) + mark)
        else { return nil }
        let head = String(decoding: bytes[mark.count..<headEnd.lowerBound], as: UTF8.self)
        var fields: [String: String] = [:]
        for line in head.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        let place = fields["content-disposition"] ?? ""
        guard Self.value("name", in: place) == "file" else { return nil }
        name = Self.value("filename", in: place) ?? "untitled"
        contentType = fields["content-type"] ?? "application/octet-stream"
        self.bytes = Array(bytes[headEnd.upperBound..<end.lowerBound])
        created = now
    }

    private static func value(_ name: String, in field: String) -> String? {
        for part in field.split(separator: ";").dropFirst() {
            let sides = part.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].drop(while: { $0 == " " }) == name else { continue }
            return sides[1].filter { $0 != "\"" }
        }
        return nil
    }
}

extension Dhis2ServerModel {
    /// `POST fileResources`: keeps a file, under an id of its own.
    mutating func take(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        let type = call.contentType ?? ""
        let boundary = type.firstRange(of: "boundary=").map { String(type[$0.upperBound...]) }
        guard type.hasPrefix("multipart/form-data"), let boundary else {
            throw Dhis2Rejection(415, "Content-Type '\(type)' is not supported")
        }
        guard let file = Dhis2File(form: call.body, boundary: boundary, now: call.now) else {
            throw Dhis2Rejection(400, "Required part 'file' is not present.")
        }
        let id = newID()
        files[id] = file
        var object = Dhis2Reply.message(202, "OK", "")
        object["response"] = [
            "responseType": "FileResource", "fileResource": .object(wire(file, id)),
        ]
        return Dhis2Reply.json(202, .object(object))
    }

    /// `GET fileResources/ID`: what is known of a file.
    func fileResource(_ id: String) throws(Dhis2Rejection) -> TransportResponse {
        guard let file = files[id] else { throw .missing("FileResource", id) }
        return Dhis2Reply.json(200, .object(wire(file, id)))
    }

    /// `GET fileResources/ID/data`: files of values are given by their values alone.
    func fileData(_ id: String) throws(Dhis2Rejection) -> TransportResponse {
        guard files[id] != nil else { throw .missing("FileResource", id) }
        throw Dhis2Rejection(
            409,
            "You don't have access to fileResource '\(id)' or this fileResource is not "
                + "available from this endpoint")
    }

    /// `GET events/files`.
    func eventFile(_ call: Dhis2Call) throws(Dhis2Rejection) -> TransportResponse {
        guard let event = call.query.text("eventUid"),
            let element = call.query.text("dataElementUid")
        else { throw Dhis2Rejection(400, "Required parameters eventUid and dataElementUid") }
        return try file(of: .events, event, element, call)
    }

    /// The file that a value of an object names, whole.
    func file(
        of kind: Dhis2Kind, _ id: String, _ element: String, _ call: Dhis2Call
    ) throws(Dhis2Rejection) -> TransportResponse {
        guard let record = live(kind, id) else { throw .missing(kind.word, id) }
        try checkAccess(record, call)
        guard let name = record.value(of: element), let file = files[name] else {
            throw Dhis2Rejection(404, "No file for \(element) of \(kind.word) \(id)")
        }
        var fields: HTTPFields = [:]
        fields[.contentType] = file.contentType
        fields[.contentLength] = String(file.bytes.count)
        return TransportResponse(
            response: HTTPResponse(status: .ok, headerFields: fields), body: file.bytes)
    }

    private func wire(_ file: Dhis2File, _ id: String) -> JSONObject {
        [
            "name": .string(file.name), "created": .string(time.text(file.created)),
            "lastUpdated": .string(time.text(file.created)), "externalAccess": false,
            "contentType": .string(file.contentType),
            "contentLength": .integer(Int64(file.bytes.count)), "domain": "DATA_VALUE",
            "hasMultipleStorageFiles": false, "storageStatus": "PENDING",
            "displayName": .string(file.name), "id": .string(id),
        ]
    }
}
