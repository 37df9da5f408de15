// KintoAnswers.swift — what a Kinto server's answers mean.

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

extension KintoAdapter {
    /// What the answer to a call means.
    public func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        let status = response.status.code
        do throws(SyncFailure) {
            if let failure = Self.failure(response, body) { return .failure(failure) }
            switch call {
            case .list: return try Self.listed(response, body)
            case .read:
                switch status {
                case 200: return .record(try Self.record(body))
                case 404 where Self.isAboutRecord(body): return .absent
                default: break
                }
            case .create, .update, .delete:
                if let answer = try Self.written(status, body) { return answer }
            case .describe, .fetch, .batch: break
            }
            return .failure(.client(status: status, Self.message(body)))
        } catch {
            return .failure(error)
        }
    }

    /// Failures that are not about one record, whatever was asked.
    private static func failure(_ response: HTTPResponse, _ body: [UInt8]) -> SyncFailure? {
        let wait = RetryAfter.seconds(response.headerFields)
        switch response.status.code {
        case 401: return .unauthorized
        case 403: return .forbidden
        case 408: return .timeout("408")
        case 409 where wait != nil: return .server(status: 409, retryAfterSeconds: wait)
        case 410: return .apiDeprecated
        case 429: return .tooManyRequests(retryAfterSeconds: wait)
        case 500...599: return .server(status: response.status.code, retryAfterSeconds: wait)
        case 200..<300, 304, 400..<500: return nil
        default: return .malformed("status \(response.status.code)")
        }
    }

    private static func listed(
        _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        switch response.status.code {
        case 304: return .unchanged
        case 200: break
        default: return .failure(.client(status: response.status.code, message(body)))
        }
        let ranges: [Range<Int>]?
        do { ranges = try JSON.arrayElements(of: body, at: "data") } catch {
            throw .malformed("a list: \(error)")
        }
        guard let ranges else { throw .malformed("a list without \"data\"") }
        var records: [ServerRecord] = []
        for range in ranges { records.append(try record(verbatim: Array(body[range]))) }
        let nextPage = HTTPField.Name("Next-Page").flatMap { response.headerFields[$0] }
        guard let cursor = response.headerFields[.eTag], cursor.utf8.count <= 1024 else {
            throw .malformed("a list without an ETag of at most 1024 bytes")
        }
        return .page(
            ListPage(
                records: records,
                next: nextPage.flatMap { $0.isEmpty ? nil : $0 },
                cursor: Revision(cursor)))
    }

    private static func written(
        _ status: Int, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer? {
        switch status {
        case 200, 201:
            let record = try record(body)
            return record.isDeleted ? .deleted(record) : .record(record)
        case 412: return .conflict(try rival(body))
        case 404 where isAboutRecord(body): return .absent
        case 400..<500: return .refused(ServerRefusal(status: status, message: message(body)))
        default: throw .malformed("status \(status) to a write")
        }
    }

    /// The record of `{"data":{…}}`.
    private static func record(_ body: [UInt8]) throws(SyncFailure) -> ServerRecord {
        let data: [UInt8]?
        do {
            data = try JSONDocument(parsing: body).rawValue("data").map(Array.init)
        } catch { throw .malformed("a record: \(error)") }
        guard let data else { throw .malformed("an answer without \"data\"") }
        return try record(verbatim: data)
    }

    private static func record(verbatim bytes: [UInt8]) throws(SyncFailure) -> ServerRecord {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: bytes) } catch {
            throw .malformed("a record: \(error)")
        }
        guard let id = document.value("id")?.stringValue, !id.isEmpty,
            EntityKey("c", id).isValid
        else { throw .malformed("a record without an id that can be used") }
        guard let version = document.value("last_modified")?.int64Value else {
            throw .malformed("record \(id) without last_modified")
        }
        // A record may have a field of that name; a tombstone has nothing else.
        let isDeleted = document.value("deleted") == .bool(true) && document.keys.count == 3
        return ServerRecord(
            id: id, revision: Revision(String(version)),
            serverTime: Timestamp(milliseconds: version), document: bytes, isDeleted: isDeleted)
    }

    /// The record that a 412 names as the one that is there; nil when there is none.
    private static func rival(_ body: [UInt8]) throws(SyncFailure) -> ServerRecord? {
        guard let document = try? JSONDocument(parsing: body),
            let details = document.rawValue("details"),
            let inner = try? JSONDocument(parsing: Array(details)),
            let existing = inner.rawValue("existing")
        else { return nil }
        return try record(verbatim: Array(existing))
    }

    /// Whether a 404 says that the record is missing, and not the collection or the bucket.
    private static func isAboutRecord(_ body: [UInt8]) -> Bool {
        guard let document = try? JSONDocument(parsing: body) else { return false }
        return document.value("errno")?.int64Value == 110
    }

    private static func message(_ body: [UInt8]) -> String {
        guard let document = try? JSONDocument(parsing: body) else { return "" }
        let text = document.value("message")?.stringValue ?? ""
        return text.isEmpty ? document.value("error")?.stringValue ?? "" : text
    }
}
