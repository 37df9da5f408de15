// SyncingWithYourServer.swift — the code of the article of that name: an adapter for a plain REST
// server.

package import HTTPTypes
import Tidemark
package import TidemarkSync

/// Speaks to a server with `/COLLECTION?since=CURSOR` and `/COLLECTION/ID`, with ETags.
package struct NotesAdapter: ServerAdapter {
    package init() {}

    package func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, let page):
            let since = ServerRequest.percentEncoded(after?.description ?? "")
            return ServerRequest(method: .get, path: page ?? "/\(collection.name)?since=\(since)")
        case .read(let collection, let id):
            return ServerRequest(method: .get, path: path(collection, id))
        case .create(let collection, let id, let body):
            return ServerRequest(
                method: .put, path: path(collection, id), headers: [.ifNoneMatch: "*"], body: body)
        case .update(let collection, let id, let body, _, let revision):
            return ServerRequest(
                method: .put, path: path(collection, id),
                headers: [.ifMatch: revision.description], body: body)
        case .delete(let collection, let id, let revision):
            return ServerRequest(
                method: .delete, path: path(collection, id),
                headers: [.ifMatch: revision.description])
        default:
            throw .client(status: 0, "this server has no such call")
        }
    }

    private func path(_ collection: CollectionModel, _ id: String) -> String {
        "/\(collection.name)/" + ServerRequest.percentEncoded(id)
    }

    package func refusal(of call: ServerCall) -> ServerRefusal? {
        guard case .create(_, let id, _) = call, [".", ".."].contains(id) else { return nil }
        return ServerRefusal(status: 0, message: "no address can have the id \(id)")
    }

    package func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        // A page of HTML is of a machine in between, as a network's sign-in.
        let isPage = response.headerFields[.contentType]?.hasPrefix("text/html") ?? false
        guard (200..<300).contains(response.status.code), !isPage else {
            return declined(call, response, body)
        }
        let revision = response.headerFields[.eTag].map { Revision($0) }
        switch call {
        case .list: return page(body)
        case .read(_, let id):
            return .record(ServerRecord(id: id, revision: revision, document: body))
        case .create(_, let id, _), .update(_, let id, _, _, _): return .stored(id: id, revision)
        case .delete(_, let id, _):
            return .deleted(ServerRecord(id: id, revision: revision, document: nil))
        default: return .failure(.malformed("not asked for"))
        }
    }

    /// What a status says that is no success: of a list it is another thing than of an entity.
    private func declined(
        _ call: ServerCall, _ response: HTTPResponse, _ body: [UInt8]
    ) -> ServerAnswer {
        let status = response.status.code
        let message = String(decoding: body.prefix(200), as: UTF8.self)
        switch (call, status) {
        case (.list, 304): return .unchanged
        case (.list, 410): return .cursorExpired
        case (.read, 404), (.read, 410), (.update, 404), (.update, 410), (.delete, 404),
            (.delete, 410):
            return .absent
        case (.list, _), (.read, _): break
        case (_, 412): return .conflictUnknown
        case (_, 400), (_, 409), (_, 422):
            return .refused(ServerRefusal(status: status, message: message))
        default: break
        }
        return .failure(
            SyncFailure(status: status, headerFields: response.headerFields, message: message))
    }

    /// `{"items":[{"id":…,"etag":…,"data":{…}},…],"next":…,"cursor":…}`; without data, or
    /// with null, it is deleted.
    private func page(_ body: [UInt8]) -> ServerAnswer {
        // By brackets and strings alone: an item that is no JSON must not hide the others.
        guard let items = try? JSON.arrayElements(of: body, at: "items") else {
            return .failure(.malformed("a list is no JSON object with items"))
        }
        var page = ListPage(
            records: [], next: JSON.value("next", of: body)?.stringValue,
            cursor: JSON.value("cursor", of: body)?.stringValue.map { Revision($0) })
        for range in items {
            let bytes = Array(body[range])
            let id = JSON.value("id", of: bytes)?.stringValue
            guard let id, let item = try? JSONDocument(parsing: bytes) else {
                page.unreadable.append(
                    UnreadableRecord(id: id, bytes: bytes, problem: "no JSON, or without an id"))
                continue
            }
            page.records.append(
                ServerRecord(
                    id: id, revision: item.value("etag")?.stringValue.map { Revision($0) },
                    document: item.value("data") == .null
                        ? nil : item.rawValue("data").map(Array.init)))
        }
        return .page(page)
    }
}

enum SyncingWithYourServer {
    static func engine(_ replica: Replica, _ transport: any Transport) -> SyncEngine {
        let remote = Remote(origin: "https://api.example.org/v2", adapter: "notes")
        let engine = SyncEngine(
            replica, remote: remote, adapter: NotesAdapter(), transport: transport
        ) { .bearer("token") }
        return engine
    }
}
