// KintoAnswers.swift — what a Kinto server's answers mean.

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

extension KintoAdapter {
    /// What the answer to a call means.
    public func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        do throws(SyncFailure) {
            if let failure = Self.failure(call, response, body) { return .failure(failure) }
            if case .batch(let calls) = call {
                return try Self.batched(calls, response.status.code, body)
            }
            return try Self.answer(to: call, response.status.code, response.headerFields, body)
        } catch {
            return .failure(error)
        }
    }

    /// What a status and a body mean, once the call as a whole has not failed.
    private static func answer(
        to call: ServerCall, _ status: Int, _ headers: HTTPFields, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        switch call {
        case .describe where status == 200:
            return .description(try described(body), next: nextPage(headers))
        case .list(_, let after, let page):
            if status == 400, after != nil || page != nil, isAboutCursor(body) {
                return .cursorExpired
            }
            return try listed(status, headers, body)
        case .feed(_, let block) where status == 200: return try Self.block(block, headers, body)
        case .fetch(_, let ids) where status == 200: return try fetched(ids, headers, body)
        case .read:
            switch status {
            case 200: return .record(try record(body))
            case 404 where isAboutRecord(body): return .absent
            default: break
            }
        case .create, .update, .delete:
            if let answer = try written(call, status, body) { return answer }
        case .describe, .listWindow, .listPart, .feed, .combined, .fetch, .refetch, .batch, .poll,
            .perform, .reserve:
            break
        }
        return .failure(.client(status: status, message(body)))
    }

    /// Failures that any call can have and that are not about one record.
    private static func failure(
        _ call: ServerCall, _ response: HTTPResponse, _ body: [UInt8]
    ) -> SyncFailure? {
        let status = response.status.code
        if status == 304 { return nil }
        if let failure = failure(call, status, response.headerFields) { return failure }
        // A proxy's refusal for size counts as a refusal, whoever sent it.
        guard !isKintos(body), ![413, 414, 431].contains(status) else { return nil }
        return .foreign("\(status) without a JSON object in it")
    }

    private static func failure(
        _ call: ServerCall, _ status: Int, _ headers: HTTPFields
    ) -> SyncFailure? {
        switch status {
        // A record has permissions of its own.
        case 403 where call.isWriteOfOne: nil
        case 409:
            RetryAfter.seconds(headers).map { .server(status: 409, retryAfterSeconds: $0) }
        case 410: .apiDeprecated
        default: .ofCall(status, headers)
        }
    }

    /// Whether the body begins as a JSON object, as each of Kinto's does, or is empty.
    private static func isKintos(_ body: [UInt8]) -> Bool {
        let first = body.first { !" \t\r\n".utf8.contains($0) }
        return first == nil || first == UInt8(ascii: "{")
    }

    // MARK: Batches

    /// The outcomes of a batch's writes.
    ///
    /// A 409 or a failure of the server for one write means that the server's transaction may have
    /// failed. The other writes may then have been undone, so the outcome of the whole batch is not
    /// known.
    private static func batched(
        _ calls: [ServerCall], _ status: Int, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        guard status == 200 else { return .failure(.client(status: status, message(body))) }
        let ranges: [Range<Int>]?
        do { ranges = try JSON.arrayElements(of: body, at: "responses") } catch {
            throw .malformed("a batch: \(error)")
        }
        guard let ranges, ranges.count == calls.count else {
            throw .malformed("a batch of \(calls.count) with \(ranges?.count ?? 0) answers")
        }
        var answers: [BatchedAnswer] = []
        for (call, range) in zip(calls, ranges) {
            // A record that can't be read says nothing of the other writes.
            let part = Array(body[range])
            guard
                let status = JSON.value("status", of: part)?.int64Value
                    .flatMap(Int.init(exactly:))
            else { throw .malformed("an answer of a batch without a status") }
            let headers = headers(of: part)
            if status == 409 || (500...599).contains(status) {
                let wait = RetryAfter.seconds(headers)
                return .failure(.server(status: status, retryAfterSeconds: wait))
            }
            let own = JSON.member("body", of: part).map { Array(part[$0]) } ?? []
            let answer: ServerAnswer
            if let failure = failure(call, status, headers) {
                answer = .failure(failure)
            } else {
                // An answer that can't be understood says nothing of the other writes.
                do throws(SyncFailure) {
                    answer = try Self.answer(to: call, status, [:], own)
                } catch {
                    answer = .failure(error)
                }
            }
            answers.append(BatchedAnswer(status: status, answer))
        }
        return .batch(answers)
    }

    /// The header fields of an answer in a batch that say how long the server asks to wait.
    private static func headers(of part: [UInt8]) -> HTTPFields {
        var headers: HTTPFields = [:]
        for (name, value) in JSON.value("headers", of: part)?.object ?? JSONObject() {
            let field = HTTPField.Name(name)
            if let field, field == .retryAfter || field == .date {
                headers[field] = value.stringValue
            }
        }
        return headers
    }

    // MARK: Lists

    private static func described(
        _ body: [UInt8]
    ) throws(SyncFailure) -> [CollectionDescription] {
        var list: [CollectionDescription] = []
        for range in try elements(of: body) {
            let record = try record(verbatim: Array(body[range]))
            guard let epoch = record.revision else { continue }
            list.append(CollectionDescription(name: CollectionName(record.id), epoch: epoch))
        }
        return list
    }

    static func elements(of body: [UInt8]) throws(SyncFailure) -> [Range<Int>] {
        let ranges: [Range<Int>]?
        do { ranges = try JSON.arrayElements(of: body, at: "data") } catch {
            throw .malformed("a list: \(error)")
        }
        guard let ranges else { throw .malformed("a list without \"data\"") }
        return ranges
    }

    private static func listed(
        _ status: Int, _ headers: HTTPFields, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        switch status {
        case 304: return .unchanged
        case 200: break
        default: return .failure(.client(status: status, message(body)))
        }
        guard let tag = headers[.eTag], tag.utf8.count <= 1024 else {
            throw .malformed("a list without an ETag of at most 1024 bytes")
        }
        var page = ListPage(
            records: [], next: nextPage(headers), cursor: Revision(strong(tag)))
        for range in try elements(of: body) {
            let bytes = Array(body[range])
            do throws(SyncFailure) {
                let (record, isLikeTombstone) = try element(bytes)
                if isLikeTombstone {
                    page.references.append(
                        ServerReference(
                            id: record.id, revision: record.revision,
                            serverTime: record.serverTime))
                } else {
                    page.records.append(record)
                }
            } catch {
                page.unreadable.append(
                    UnreadableRecord(id: id(in: bytes), bytes: bytes, problem: error.detail))
            }
        }
        return .page(page)
    }

    static func nextPage(_ headers: HTTPFields) -> String? {
        let address = HTTPField.Name("Next-Page").flatMap { headers[$0] } ?? ""
        return address.isEmpty ? nil : address
    }

    static func id(in record: [UInt8]) -> String? {
        JSON.value("id", of: record)?.stringValue
    }

    /// The records that exist among some ids; every record of the list exists.
    private static func fetched(
        _ ids: [String], _ headers: HTTPFields, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        guard nextPage(headers) == nil else {
            throw .client(status: 200, "what was asked for came in pages")
        }
        let asked = Set(ids.map { ExactString($0) })
        var records: [ServerRecord] = []
        for range in try elements(of: body) {
            let bytes = Array(body[range])
            // The list may also hold records that were not asked for.
            if let id = id(in: bytes), !asked.contains(ExactString(id)) { continue }
            records.append(try record(verbatim: bytes))
        }
        return .records(records)
    }

    /// Whether a 400 is about where the list was to go on: a page, or a cursor that the server
    /// can't read, perhaps because the server was replaced.
    private static func isAboutCursor(_ body: [UInt8]) -> Bool {
        guard let document = try? JSONDocument(parsing: body),
            document.value("errno")?.int64Value == 107
        else { return false }
        let names = document.value("details")?.array?.map { $0["name"]?.stringValue ?? "" } ?? []
        // An error about a page's token names no parameter.
        return names.allSatisfy { ["", "_since", "_token", "If-None-Match"].contains($0) }
    }

    private static func written(
        _ call: ServerCall, _ status: Int, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer? {
        switch status {
        case 200, 201:
            var record = try record(body)
            // By its fields alone, a record may look like a tombstone.
            guard case .delete = call else { return .record(record) }
            record.isDeleted = true
            return .deleted(record)
        case 412: return rival(body).map { .conflict($0) } ?? .conflictUnknown
        case 404 where isAboutRecord(body): return .absent
        // The collection or the bucket does not exist: the record is not at fault.
        case 404: throw .client(status: status, message(body))
        case 400..<500: return .refused(ServerRefusal(status: status, message: message(body)))
        default: throw .malformed("status \(status) to a write")
        }
    }

    /// The record in `{"data":{…}}`.
    private static func record(_ body: [UInt8]) throws(SyncFailure) -> ServerRecord {
        let data: [UInt8]?
        do {
            data = try JSONDocument(parsing: body).rawValue("data").map(Array.init)
        } catch { throw .malformed("a record: \(error)") }
        guard let data else { throw .malformed("an answer without \"data\"") }
        return try record(verbatim: data)
    }

    private static func record(verbatim bytes: [UInt8]) throws(SyncFailure) -> ServerRecord {
        try element(bytes).record
    }

    /// A record, and whether it may be a tombstone instead.
    ///
    /// A record with nothing but `"deleted": true` looks just like a tombstone. A list of changes
    /// then only gives a reference to it; a list without `_since` tells the two apart.
    static func element(
        _ bytes: [UInt8]
    ) throws(SyncFailure) -> (record: ServerRecord, isLikeTombstone: Bool) {
        let document: JSONDocument
        do {
            // An answer about one record nests it two levels deep.
            document = try JSONDocument(parsing: bytes, within: 2)
        } catch { throw .malformed("a record: \(error)") }
        guard let id = document.value("id")?.stringValue, !id.isEmpty,
            EntityKey("c", id).isValid
        else { throw .malformed("a record without an id that can be used") }
        guard let version = document.value("last_modified")?.int64Value else {
            throw .malformed("record \(id) without last_modified")
        }
        let record = ServerRecord(
            id: id, revision: Revision(String(version)),
            serverTime: Timestamp(milliseconds: version), parsed: document)
        return (record, document.keys.count == 3 && document.value("deleted") == .bool(true))
    }

    /// The existing record that a 412 contains; nil where it contains none that can be read.
    private static func rival(_ body: [UInt8]) -> ServerRecord? {
        guard let document = try? JSONDocument(parsing: body),
            let details = document.rawValue("details"),
            let inner = try? JSONDocument(parsing: Array(details)),
            let existing = inner.rawValue("existing")
        else { return nil }
        return try? record(verbatim: Array(existing))
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
