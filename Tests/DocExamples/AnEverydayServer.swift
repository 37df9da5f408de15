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
        package var projectID: ID<Project>?  // the server's project_id
    }

    package static let model = SyncModel(
        name: "work",
        collections: [
            collection("projects", match: ["name"]),
            collection(
                "items", match: ["project_id", "title"],
                references: [Reference("project_id", to: "projects")]),
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
        var traits = ServerTraits(writesPerRequestMax: 20, hasVersions: false, sendsChanges: true)
        traits.numberedPages = 100
        return traits
    }

    package func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, let page):
            var query = "?with_deleted=true&sort=-updated_at&page=\(page ?? "1")"
            query += "&per_page=\(collection.pageSize ?? 100)"
            if let after {
                query += "&updated_since=" + ServerRequest.percentEncoded(after.description)
            }
            return ServerRequest(method: .get, path: "/\(collection.name)" + query)
        case .read(let collection, let id):
            return ServerRequest(method: .get, path: path(collection, id))
        case .create(let collection, _, let body):
            return json(.post, "/\(collection.name)", body)
        case .update(let collection, let id, let body, let changes, _):
            return json(.patch, path(collection, id), changes.isEmpty ? body : changes)
        case .delete(let collection, let id, _):
            return ServerRequest(method: .delete, path: path(collection, id))
        case .batch(let calls):
            var writes: [String] = []
            for call in calls {
                let one = try request(for: call)
                let body = one.body.map { String(decoding: $0, as: UTF8.self) } ?? "null"
                writes.append(#"{"method":"\#(one.method)","path":"\#(one.path)","body":\#(body)}"#)
            }
            let list = writes.joined(separator: ",")
            return json(.post, "/batch", Array(#"{"operations":[\#(list)]}"#.utf8))
        default: throw .client(status: 0, "this server has no such call")
        }
    }

    private func path(_ collection: CollectionModel, _ id: String) -> String {
        "/\(collection.name)/" + ServerRequest.percentEncoded(id)
    }

    private func json(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]
    ) -> ServerRequest {
        ServerRequest(
            method: method, path: path, headers: [.contentType: "application/json"], body: body)
    }

    package func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        guard case .batch(let calls) = call, response.status.code == 200 else {
            return answer(to: call, response.status.code, response.headerFields, body)
        }
        guard let results = try? JSON.arrayElements(of: body, at: "results"),
            results.count == calls.count
        else { return .failure(.malformed("a batch without a result of each write")) }
        var parts: [BatchedAnswer] = []
        for (call, range) in zip(calls, results) {
            let result = Array(body[range])
            let status = JSON.value("status", of: result)?.int64Value.map { Int($0) } ?? 0
            let own = JSON.member("body", of: result).map { Array(result[$0]) } ?? []
            parts.append(BatchedAnswer(status: status, answer(to: call, status, [:], own)))
        }
        return .batch(parts)
    }

    private func answer(
        to call: ServerCall, _ status: Int, _ headers: HTTPFields, _ body: [UInt8]
    ) -> ServerAnswer {
        let message = JSON.value("message", of: body)?.stringValue ?? ""
        switch (call, status) {
        case (.list(_, _, let page), 200): return list(body, page.flatMap { Int($0) } ?? 1)
        case (.read, 200), (.create, 201), (.update, 200):
            guard let record = record(body) else { return .failure(.malformed("no entity")) }
            return record.isDeleted ? .deleted(record) : .record(record)
        case (.delete(_, let id, _), 204):
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case (.read, 404), (.read, 410), (.update, 404), (.update, 410), (.delete, 404),
            (.delete, 410):
            return .absent
        case (.list, _), (.read, _), (.batch, _): break
        case (_, 400), (_, 409), (_, 422):
            return .refused(ServerRefusal(status: status, message: message, issues: issues(body)))
        default: break
        }
        return .failure(SyncFailure(status: status, headerFields: headers, message: message))
    }

    /// A page:
    /// `{"data":[{"id":7,"updated_at":…,"deleted_at":null,…},…],"last_page":3,"total":205}`.
    private func list(_ body: [UInt8], _ number: Int) -> ServerAnswer {
        guard let items = try? JSON.arrayElements(of: body, at: "data") else {
            return .failure(.malformed("a list without data"))
        }
        let last = JSON.value("last_page", of: body)?.int64Value ?? 1
        var page = ListPage(
            records: [], next: number < last ? "\(number + 1)" : nil, cursor: nil)
        page.total = JSON.value("total", of: body)?.int64Value.map { Int($0) }
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

    /// What is wrong with which field: `{"message":"not valid","errors":{"title":["is long"]}}`.
    private func issues(_ body: [UInt8]) -> [ServerIssue] {
        var issues: [ServerIssue] = []
        for (field, words) in JSON.value("errors", of: body)?.object ?? JSONObject() {
            for word in words.array ?? [] {
                issues.append(ServerIssue(.error, word.stringValue ?? "", path: field))
            }
        }
        return issues
    }
}

extension AnEverydayServer {
    package static func engine(
        _ replica: Replica, _ transport: any Transport,
        _ token: @escaping @Sendable () async throws -> String
    ) -> SyncEngine {
        let remote = Remote(origin: "https://api.example.org/v1", adapter: "everyday")
        let engine = SyncEngine(
            replica, remote: remote, adapter: EverydayAdapter(), transport: transport
        ) {
            .bearer(try await token())
        }
        return engine
    }
}
