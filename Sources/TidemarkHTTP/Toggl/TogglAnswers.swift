// TogglAnswers.swift — what Toggl's answers mean.
//
//   status          to a list or a read      to a write of one entity
//   2xx             what was asked for       done
//   2xx, and 400, 403, 404, 405, 409 and 422, with a page: of a server in between, a failure
//   401, 408, 410, 418, 429, 5xx             a failure of the call
//   402, quota      a failure of the call: too many requests
//   403, bad token  unauthorized
//   403, to /me     unauthorized             refused
//   403 otherwise   forbidden                refused; where it is about a project, or a task, that
//                   absent, of a workspace   was made a moment ago, sent again a little later
//   400 to a `since` that is too old         everything is listed
//   404             absent, of one entity    refused; absent, of a deletion
//   4xx otherwise   client                   refused

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

extension TogglAdapter {
    /// What the answer to a call means.
    public func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        do throws(SyncFailure) {
            if let failure = Self.failure(call, response, body) { return .failure(failure) }
            let status = response.status.code
            guard (200..<300).contains(status) else { return Self.refused(call, status, body) }
            return try Self.taken(call, body)
        } catch {
            return .failure(error)
        }
    }

    /// Failures that any call can have and that are not about one entity.
    private static func failure(
        _ call: ServerCall, _ response: HTTPResponse, _ body: [UInt8]
    ) -> SyncFailure? {
        let status = response.status.code
        let isAboutWhatWasAsked =
            (200..<300).contains(status) || [400, 403, 404, 405, 409, 422].contains(status)
        if isAboutWhatWasAsked, body.isMarkup {
            return .foreign("\(status) with a page in it")
        }
        switch status {
        case 402: return TogglQuota.failure(response.headerFields)
        case 403 where message(body).contains(badToken): return .unauthorized
        case 403 where call.isWriteOfOne || isReadOfWorkspace(call): return nil
        case 403 where isAboutUser(call): return .unauthorized
        case 410: return .apiDeprecated
        case 418: return .clientDeprecated
        default: return .ofCall(status, response.headerFields)
        }
    }

    /// Whether a call asks for what any user may see, so that only the credentials can be wrong; a
    /// time entry may lie in a workspace that was lost.
    private static func isAboutUser(_ call: ServerCall) -> Bool {
        if case .read(let collection, _) = call {
            return (try? TogglType.known(collection))?.isSingle == true
        }
        return TogglQuota.isOfUser(call)
    }

    /// The message of a 403 for credentials that are not accepted.
    private static let badToken = "Incorrect username and/or password"

    /// A status from 400 to 499 that is about the entity or the list that was asked for.
    private static func refused(
        _ call: ServerCall, _ status: Int, _ body: [UInt8]
    ) -> ServerAnswer {
        let words = message(body)
        switch call {
        case .list(_, _?, _) where status == 400 && words.lowercased().contains("since"):
            return .cursorExpired
        case .delete where status == 404: return .absent
        case .create, .update, .delete:
            var refusal = ServerRefusal(status: status, message: words)
            if status == 403 { refusal.unseen = unseen(words) }
            return .refused(refusal)
        case .read(let collection, _)
        where status == 404 && (try? TogglType.known(collection))?.isSingle == false:
            return .absent
        case .read where status == 403 && isReadOfWorkspace(call): return .absent
        case .read, .describe, .list, .listWindow, .listPart, .feed, .combined, .fetch, .refetch,
            .perform, .batch, .poll, .reserve:
            return .failure(.client(status: status, words))
        }
    }

    /// The fields because of which a time entry is refused that names what the user has no access
    /// to, or what was made so lately that only some requests see it (Toggl, eventual consistency).
    private static func unseen(_ words: String) -> [String] {
        guard words.contains("cannot access") else { return [] }
        if words.contains("selected project") { return ["project_id"] }
        return words.contains("selected task") ? ["task_id"] : []
    }

    /// Whether a workspace is read: one that the user has no access to is refused with 403.
    private static func isReadOfWorkspace(_ call: ServerCall) -> Bool {
        guard case .read(let collection, _) = call else { return false }
        return (try? TogglType.known(collection)) == .workspaces
    }

    // MARK: Successes

    private static func taken(
        _ call: ServerCall, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        switch call {
        case .list(let collection, _, _), .listWindow(let collection, _, _, _):
            return .page(try page(collection, body))
        case .combined(let collections): return .combined(try pages(collections, body))
        case .refetch(let collection, let ids, _):
            // All of them are listed. One that can't be read is asked for again another time.
            let asked = Set(ids.map(ExactString.init))
            let records = try page(collection, body).records
            return .records(records.filter { asked.contains(ExactString($0.id)) })
        case .create(let collection, _, _):
            return said(try record(collection, only(body)))
        case .update(let collection, let id, _, _, _)
        where try TogglType.known(collection) == .preferences
            && (try? JSONDocument(parsing: body)) == nil:
            // A text says that they are stored; the next list says what they are.
            return .stored(id: id, nil)
        case .read(let collection, let id), .update(let collection, let id, _, _, _):
            let record = try record(collection, body)
            guard ExactString(record.id) == ExactString(id) else {
                throw .malformed("\(record.id) in answer to a call about \(id)")
            }
            return said(record)
        case .delete(_, let id, _):
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case .describe, .listPart, .feed, .fetch, .perform, .batch, .poll, .reserve:
            throw .client(status: 0, "Toggl has no such call")
        }
    }

    /// The element of an array of one, which may stand for an entity; else the bytes themselves.
    private static func only(_ body: [UInt8]) -> [UInt8] {
        guard let elements = try? JSON.arrayElements(of: body), elements.count == 1 else {
            return body
        }
        return Array(body[elements[0]])
    }

    private static func said(_ record: ServerRecord) -> ServerAnswer {
        record.isDeleted ? .deleted(record) : .record(record)
    }

    static func page(
        _ collection: CollectionModel, _ body: [UInt8]
    ) throws(SyncFailure) -> ListPage {
        if try TogglType.known(collection).isSingle {
            return ListPage(records: [try record(collection, body)], next: nil, cursor: nil)
        }
        let elements: [Range<Int>]?
        do { elements = try JSON.arrayElements(of: body) } catch {
            throw .malformed("a list: \(error)")
        }
        var page = ListPage(records: [], next: nil, cursor: nil)
        guard let elements else {
            // An empty list may be written as null.
            guard (try? JSONValue(parsing: body)) == .null else {
                throw .malformed("a list that is no array")
            }
            return page
        }
        for element in elements {
            let bytes = Array(body[element])
            do throws(SyncFailure) { page.records.append(try record(collection, bytes)) } catch {
                page.unreadable.append(
                    UnreadableRecord(
                        id: JSON.value(collection.idField, of: bytes)?.idText, bytes: bytes,
                        problem: error.detail))
            }
        }
        return page
    }

    /// An entity, its bytes verbatim; one with the time of its deletion is deleted.
    private static func record(
        _ collection: CollectionModel, _ bytes: [UInt8]
    ) throws(SyncFailure) -> ServerRecord {
        let document: JSONDocument
        do { document = try JSONDocument(parsing: bytes) } catch {
            throw .malformed("a record: \(error)")
        }
        let type = try TogglType.known(collection)
        // Preferences have no id field.
        let id =
            type == .preferences ? type.rawValue : document.value(collection.idField)?.idText
        guard let id, EntityKey(collection.name, id).isValid else {
            throw .malformed("a record without an id that can be used")
        }
        var time: Timestamp?
        let changeField = type.changeField(of: document)
        if let raw = document.rawValue(changeField), !raw.elementsEqual("null".utf8) {
            time = DateFormat.iso8601.timestamp(raw)
            guard time != nil else {
                throw .malformed("record \(id) with \"\(changeField)\" that is no time")
            }
        }
        // Tags have one of the two, and everything else the other.
        let isDeleted = ["server_deleted_at", "deleted_at"].contains {
            document.value($0)?.stringValue != nil
        }
        return ServerRecord(
            id: id, revision: TogglRevision.of(document, type), serverTime: time,
            parsed: document, isDeleted: isDeleted)
    }

    // MARK: Words

    /// The server's message, plain or from a JSON string, on one line: at most 200 characters.
    private static func message(_ body: [UInt8]) -> String {
        guard !body.isMarkup else { return "" }
        let text =
            (try? JSONValue(parsing: body))?.stringValue
            ?? String(decoding: body.prefix(2000), as: UTF8.self)
        return String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").prefix(200))
    }
}
