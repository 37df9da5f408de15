// AnEverydayServer.swift — the code of the article of that name: a model, and an adapter, for a
// server that was not made for sync.

package import HTTPTypes
package import Tidemark
package import TidemarkSync

package enum AnEverydayServer {
    package struct Project: Entity {
        package static let collection: CollectionName = "projects"
        package let id: ID<Project>
        package var name: String
    }

    package struct Item: Entity {
        package static let collection: CollectionName = "items"
        package let id: ID<Item>
        package var title: String
        package var project: ID<Project>?
    }

    package static let model = SyncModel(
        name: "work",
        collections: [
            collection("projects", match: ["name"]),
            collection(
                "items", match: ["project", "title"],
                references: [Reference("project", to: "projects")]),
        ])

    private static func collection(
        _ name: CollectionName, match: [String], references: [Reference] = []
    ) -> CollectionModel {
        CollectionModel(
            name, lastChangeField: "updated_at", references: references, keys: .snakeCase,
            ids: .serverNumber, updates: .changes, match: match,
            since: .init(ageMax: .days(60), serverDate: true, overlap: .minutes(1)))
    }
}

/// Speaks to a server that numbers its entities, lists them by the time of their last change, and
/// knows no versions.
package struct EverydayAdapter: ServerAdapter {
    package init() {}

    package var traits: ServerTraits {
        var traits = ServerTraits(hasVersions: false, sendsChanges: true)
        traits.numberedPages = 100
        return traits
    }

    package func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, let page):
            var query = "?with_deleted=true&ordering=-updated_at,-id&page=\(page ?? "1")"
            query += "&page_size=\(collection.pageSize ?? 100)"
            if let after {
                query += "&updated_at__gte=" + ServerRequest.percentEncoded(after.description)
            }
            return json(.get, "/\(collection.name)/" + query)
        case .read(let collection, let id): return json(.get, path(collection, id))
        case .create(let collection, _, let body): return json(.post, "/\(collection.name)/", body)
        case .update(let collection, let id, let body, let changes, _):
            return json(.patch, path(collection, id), changes.isEmpty ? body : changes)
        case .delete(let collection, let id, _): return json(.delete, path(collection, id))
        default: throw .client(status: 0, "this server has no such call")
        }
    }

    private func path(_ collection: CollectionModel, _ id: String) -> String {
        "/\(collection.name)/" + ServerRequest.percentEncoded(id) + "/"
    }

    private func json(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]? = nil
    ) -> ServerRequest {
        var headers: HTTPFields = [.accept: "application/json"]
        if body != nil { headers[.contentType] = "application/json" }
        return ServerRequest(method: method, path: path, headers: headers, body: body)
    }

    package func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        let (status, headers) = (response.status.code, response.headerFields)
        // A page of HTML is of a machine in between, or about a path that is none.
        let isPage = headers[.contentType]?.hasPrefix("text/html") ?? false
        guard !isPage else { return .failure(SyncFailure(status: status, headerFields: headers)) }
        switch (call, status) {
        case (.list(_, _, let page), 200): return list(body, page.flatMap { Int($0) } ?? 1)
        case (.list(_, _, _?), 404):  // the last page went while those before it were listed
            var page = ListPage(records: [], next: nil, cursor: nil)
            page.total = 0
            return .page(page)
        case (.read, 200), (.create, 201), (.update, 200):
            guard let record = record(body) else { return .failure(.malformed("no entity")) }
            return record.isDeleted ? .deleted(record) : .record(record)
        case (.delete(_, let id, _), 204):
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case (.read, 404), (.read, 410), (.update, 404), (.update, 410), (.delete, 404),
            (.delete, 410):
            return .absent
        case (.list, _), (.read, _): break
        case (_, 400), (_, 403), (_, 409), (_, 422): return .refused(refusal(status, body))
        default: break
        }
        let message = refusal(status, body).message
        return .failure(SyncFailure(status: status, headerFields: headers, message: message))
    }

    /// A page: `{"count":205,"next":"https://…","results":[{"id":7,"updated_at":…},…]}`.
    private func list(_ body: [UInt8], _ number: Int) -> ServerAnswer {
        guard let items = try? JSON.arrayElements(of: body, at: "results") else {
            return .failure(.malformed("a list without results"))
        }
        let isLast = JSON.value("next", of: body)?.stringValue == nil
        var page = ListPage(records: [], next: isLast ? nil : "\(number + 1)", cursor: nil)
        page.total = JSON.value("count", of: body)?.int64Value.map { Int($0) }
        for range in items {
            let bytes = Array(body[range])
            if let record = record(bytes) {
                page.records.append(record)
            } else {
                page.unreadable.append(
                    UnreadableRecord(
                        id: JSON.value("id", of: bytes)?.idText, bytes: bytes,
                        problem: "no JSON, or without an id and the time of its last change"))
            }
        }
        return .page(page)
    }

    private func record(_ bytes: [UInt8]) -> ServerRecord? {
        guard let document = try? JSONDocument(parsing: bytes),
            let id = document.value("id")?.idText,
            let time = document.value("updated_at")?.stringValue.flatMap({ Timestamp($0) })
        else { return nil }
        return ServerRecord(
            id: id, revision: nil, serverTime: time, parsed: document,
            isDeleted: document.value("deleted_at")?.stringValue != nil)
    }

    /// What the server says of an entity, and what of it is about a field.
    private func refusal(_ status: Int, _ body: [UInt8]) -> ServerRefusal {
        let said = (try? JSONValue(parsing: body)).map { issues(in: $0) } ?? []
        let words = said.map { issue in (issue.path.map { "\($0): " } ?? "") + issue.message }
        return ServerRefusal(
            status: status, message: words.joined(separator: " "),
            issues: said.filter { $0.path != nil })
    }

    /// `{"title":["is too long"],"lines":[{},{"price":["is no number"]}]}`, `{"detail":"…"}`, or
    /// `["…"]`.
    private func issues(in said: JSONValue, of path: String? = nil) -> [ServerIssue] {
        if let words = said.stringValue { return [ServerIssue(.error, words, path: path)] }
        if let list = said.array { return list.flatMap { issues(in: $0, of: path) } }
        var found: [ServerIssue] = []
        for (name, value) in said.object ?? JSONObject() {
            let isOfAll = ["detail", "non_field_errors"].contains(name)
            let field = path.map { "\($0)/\(name)" } ?? name
            found += issues(in: value, of: isOfAll ? path : field)
        }
        return found
    }
}

extension AnEverydayServer {
    package static func engine(
        _ replica: Replica, _ transport: any Transport,
        _ token: @escaping @Sendable () async throws -> String
    ) -> SyncEngine {
        let remote = Remote(origin: "https://api.example.org/api", adapter: "everyday")
        let engine = SyncEngine(
            replica, remote: remote, adapter: EverydayAdapter(), transport: transport
        ) {
            .authorization(try await "Token " + token())
        }
        return engine
    }
}
