// CalDAVAnswers.swift — what a CalDAV or CardDAV server's answers mean.

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

extension CalDAVAdapter {
    /// What the answer to a call means.
    public func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        let status = response.status.code
        do throws(SyncFailure) {
            let failure = Self.failure(response, call, body) ?? Self.stranger(call, status, body)
            if let failure { return .failure(failure) }
            switch call {
            case .list(let collection, let after, let page):
                let isFirst = (after?.description ?? "").isEmpty && (page ?? "").isEmpty
                return try listed(collection, status, body, mayExpire: !isFirst)
            case .fetch(let collection, let ids) where ids.count > 1:
                return try fetched(collection, ids, status, body)
            case .fetch(let collection, let ids):
                guard let record = try alone(collection, ids.first ?? "", response, body) else {
                    // A list has just named it, and whoever answers in the server's place says so
                    // of anything.
                    throw Self.refused(status, body)
                }
                return .records([record])
            case .read(let collection, let id):
                return try alone(collection, id, response, body).map { .record($0) } ?? .absent
            case .create(_, let id, _), .update(_, let id, _, _, _), .delete(_, let id, _):
                return try written(call, id, response, body)
            case .describe, .listWindow, .listPart, .feed, .combined, .refetch, .batch, .poll,
                .perform, .reserve:
                throw .client(status: status, "CalDAV has no such call")
            }
        } catch {
            return .failure(error)
        }
    }

    /// Failures that any call can have and that are not about one item.
    private static func failure(
        _ response: HTTPResponse, _ call: ServerCall, _ body: [UInt8]
    ) -> SyncFailure? {
        let status = response.status.code
        return switch status {
        // A 403 is told apart by its body.
        case 403: nil
        // No room (RFC 4331) is a refusal of what is written.
        case 507 where call.isWriteOfOne: nil
        case 507: uncut(call, body) ?? SyncFailure.ofCall(status, response.headerFields)
        // Trying again later does not help where the server lacks the report.
        case 501: .client(status: 501, "not implemented")
        default: .ofCall(status, response.headerFields)
        }
    }

    /// That the server can't cut a list off at the model's limit, or its own (RFC 6578, 3.7): it is
    /// about this list alone, and stays so.
    private static func uncut(_ call: ServerCall, _ body: [UInt8]) -> SyncFailure? {
        guard case .list(let collection, let after, let page) = call else { return nil }
        let error = DAVError(body)
        guard error.conditions.contains("number-of-matches-within-limits") else { return nil }
        // A limit is sent with a token alone.
        let hasLimit = collection.pageSize != nil && !(page ?? after?.description ?? "").isEmpty
        let advice = hasLimit ? "; leave pageSize out of the model" : ""
        return .client(status: 507, error.words + advice)
    }

    /// A success that no CalDAV server sends, most likely the sign-in page of a network.
    ///
    /// An item begins with BEGIN; the answer to a write is empty or XML of WebDAV.
    private static func stranger(
        _ call: ServerCall, _ status: Int, _ body: [UInt8]
    ) -> SyncFailure? {
        guard (200..<300).contains(status), status != 207 else { return nil }
        switch call {
        case .list, .describe, .batch, .poll: break
        case .fetch(_, let ids) where ids.count > 1: break
        case .delete where (try? Multistatus(parsing: body)) != nil: return nil
        default: if !body.isMarkup { return nil }
        }
        return .foreign("\(status) with a body that is not of CalDAV")
    }

    /// An answer that is neither a success nor about an item.
    private static func refused(_ status: Int, _ body: [UInt8]) -> SyncFailure {
        status == 403 ? .forbidden : .client(status: status, DAVError(body).words)
    }

    // MARK: Lists

    private func listed(
        _ collection: CollectionModel, _ status: Int, _ body: [UInt8], mayExpire: Bool
    ) throws(SyncFailure) -> ServerAnswer {
        guard status == 207 else {
            let isExpired = DAVError(body).conditions.contains("valid-sync-token")
            if isExpired, mayExpire { return .cursorExpired }
            throw Self.refused(status, body)
        }
        let answer = try Multistatus(parsing: body)
        guard let token = answer.syncToken, !token.isEmpty, token.utf8.count <= 1024 else {
            throw .malformed("a list without a sync token of at most 1024 bytes")
        }
        var page = ListPage(
            records: [], next: nil, cursor: Revision(token), movesCursor: true)
        for response in answer.responses {
            switch target(of: response.href, in: collection) {
            // The list was cut off; the new token gives the rest.
            case .collection: if response.status == 507 { page.next = token }
            case .inner: break
            case .foreign: throw Self.foreign(response.href)
            case .item(let name): add(response, name, to: &page)
            }
        }
        return .page(page)
    }

    private func add(_ response: Multistatus.Response, _ name: Substring, to page: inout ListPage) {
        guard let id = names.id(ofComponent: name) else {
            page.unreadable.append(
                UnreadableRecord(
                    id: nil, bytes: Array(response.href.utf8),
                    problem: "an address that is too long for an id"))
            return
        }
        if response.isGone {
            page.records.append(ServerRecord(id: id, revision: nil, document: nil))
        } else if CalDAVNames.isPlace(name) {
            page.unreadable.append(
                UnreadableRecord(
                    id: id, bytes: Array(response.href.utf8),
                    problem: "an item whose address leads elsewhere"))
        } else {
            // Without a strong ETag, the reference has no version, and the item is fetched.
            page.references.append(ServerReference(id: id, revision: response.revision))
        }
    }

    private static func foreign(_ href: String) -> SyncFailure {
        .malformed("an address that is none of the collection: \(href.prefix(200))")
    }

    // MARK: Items

    /// The items, all of which must be there: the list has just named them, and that one is gone
    /// the next one tells.
    private func fetched(
        _ collection: CollectionModel, _ ids: [String], _ status: Int, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        guard status == 207 else { throw Self.refused(status, body) }
        let (namespace, _, data) = dialect
        var found: [ExactString: ServerRecord] = [:]
        for response in try Multistatus(parsing: body).responses {
            guard case .item(let name) = target(of: response.href, in: collection),
                let id = names.id(ofComponent: name)
            else { throw Self.foreign(response.href) }
            if response.isGone {
                throw .malformed("\(id) is not there, as one of several")
            } else if let text = response.properties?.first(data, in: namespace)?.text {
                found[ExactString(id)] = try record(
                    id, collection, response.revision, Array(text.utf8))
            } else {
                throw .malformed(
                    "\(id) came without its text"
                        + (response.status.map { ", with status \($0)" } ?? ""))
            }
        }
        var records: [ServerRecord] = []
        for id in ids {
            guard let record = found[ExactString(id)] else {
                throw .malformed("\(id) was passed over")
            }
            records.append(record)
        }
        return .records(records)
    }

    /// The item that a GET returned; nil when there is none.
    private func alone(
        _ collection: CollectionModel, _ id: String, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerRecord? {
        switch response.status.code {
        case 200: try record(id, collection, ETag.strong(response.headerFields[.eTag]), body)
        case 404, 410: nil
        default: throw Self.refused(response.status.code, body)
        }
    }

    private func record(
        _ id: String, _ collection: CollectionModel, _ revision: Revision?, _ content: [UInt8]
    ) throws(SyncFailure) -> ServerRecord {
        guard CalDAVItem.isWhole(content) else {
            throw .malformed("\(id) came without its end, or is no item")
        }
        return ServerRecord(
            id: id, revision: revision,
            document: CalDAVItem.document(id: id, idField: collection.idField, content))
    }

    // MARK: Writes

    private func written(
        _ call: ServerCall, _ id: String, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let status = response.status.code
        switch (call, status) {
        case (.delete, 200), (.delete, 204):
            let parts = (try? Multistatus(parsing: body))?.responses ?? []
            guard parts.allSatisfy({ (200..<300).contains($0.status ?? 200) }) else {
                throw .malformed("a deletion that went wrong")
            }
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case (.create, 200), (.create, 201), (.create, 204), (.update, 200), (.update, 201),
            (.update, 204):
            return .stored(id: id, ETag.strong(response.headerFields[.eTag]))
        case (_, 200..<300): throw .malformed("status \(status) to a write")
        case (.update, 404), (.update, 410), (.delete, 404), (.delete, 410): return .absent
        case (_, 412): return .conflictUnknown
        default: break
        }
        let error = DAVError(body)
        switch status {
        // An error that names no broken precondition is about the collection: it is read-only,
        // missing, or locked.
        case 403, 409:
            if error.conditions.allSatisfy({ $0 == "need-privileges" }) {
                throw Self.refused(status, body)
            }
        case 404, 407, 410, 421, 423, 424, 425, 426: throw Self.refused(status, body)
        default: break
        }
        return .refused(ServerRefusal(status: status, message: error.words))
    }
}
