// EverydayServerTests.swift — the model and the adapter that the documentation shows for a server
// that was not made for sync, against one of that kind.

import DocExamples
import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

@Suite struct `the adapter for an everyday server` {
    private typealias Item = AnEverydayServer.Item

    private let clock = ManualClock()

    private func device(
        _ seed: UInt64, _ server: EverydayServer, _ model: SyncModel = AnEverydayServer.model
    ) throws -> (Replica, SyncEngine) {
        let replica = try Replica.temporary(
            model: model, dependencies: .seeded(seed, clock: clock))
        return (replica, AnEverydayServer.engine(replica, server) { "token" })
    }

    private func put(_ replica: Replica, _ collection: CollectionName, _ id: String, _ json: String)
        async throws
    {
        _ = try await replica.write { tx in
            try tx.put(EntityKey(collection, id), Array(json.utf8))
        }
    }

    @Test func `has no known mistake`() {
        let item =
            #"{"id":7,"title":"Tea","updated_at":"2026-11-18T10:00:00Z","deleted_at":null}"#
        let gone = item.replacing("null", with: #""2026-11-18T10:00:00Z""#)
            .replacing(":7,", with: ":8,")
        let check = AdapterCheck(
            EverydayAdapter(), model: AnEverydayServer.model,
            samples: [EntityKey("items", "7"): #"{"id":7,"title":"Tea"}"#],
            deleted: [EntityKey("items", "8")],
            errors: AdapterCheck.usualErrors.mapValues { #"{"detail":"\#($0)"}"# }
        ) { call, _ in
            switch call {
            case .list: TransportResponse(status: 200, body: #"{"results":[\#(item),\#(gone)]}"#)
            case .read, .update: TransportResponse(status: 200, body: item)
            case .create: TransportResponse(status: 201, body: item)
            case .delete: TransportResponse(status: 204)
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    /// Syncs, a minute after whatever was before.
    private func sync(_ engines: SyncEngine...) async throws {
        for engine in engines {
            clock.advance(by: .seconds(60))
            let outcome = try await engine.sync()
            #expect(outcome.isSynced, "\(outcome)")
        }
    }

    @Test func `makes two devices equal, by numbers of the server and lists of changes`()
        async throws
    {
        let server = EverydayServer(clock)
        let (phone, phoneEngine) = try device(1, server)
        let (laptop, laptopEngine) = try device(2, server)
        defer {
            try? phone.deleteTemporary()
            try? laptop.deleteTemporary()
        }

        try await put(phone, "projects", "house", #"{"name":"House"}"#)
        try await put(phone, "items", "paint", #"{"title":"Paint","project":"house"}"#)
        try await sync(phoneEngine, laptopEngine)

        #expect(server.document("items", 8)?.contains(#""project":7"#) == true)
        let item = try #require(try laptop.read { try $0.get(Item.self, "8") })
        #expect(item.title == "Paint" && item.project == "7")

        server.forgetRequests()
        try await laptop.write { tx in
            try tx.update(Item.self, "8") { $0.title = "Paint the door" }
        }
        try await sync(laptopEngine, phoneEngine)

        #expect(try phone.read { try $0.get(Item.self, "paint")?.title } == "Paint the door")
        #expect(server.requests.contains(#"PATCH items/8/ {"title":"Paint the door"}"#))
        let lists = server.requests.filter { $0.hasPrefix("GET ") && $0.contains("?") }
        #expect(!lists.isEmpty && lists.allSatisfy { $0.contains("updated_at__gte=") }, "\(lists)")

        _ = try await phone.write { tx in try tx.delete(EntityKey("items", "paint")) }
        try await sync(phoneEngine, laptopEngine)

        #expect(server.document("items", 8)?.contains(#""deleted_at":null"#) == false)
        #expect(try laptop.read { try $0.get(Item.self, "8") } == nil)
        #expect(try phone.issues().isEmpty && laptop.issues().isEmpty)
    }

    @Test func `takes what a batch took, and says of the rest what is wrong with it`() async throws
    {
        let server = EverydayServer(clock)
        let (replica, _) = try device(1, server)
        let engine = SyncEngine(
            replica, remote: Remote(origin: "https://api.example.org/api", adapter: "everyday"),
            adapter: BatchingAdapter(EverydayAdapter()), transport: server
        ) { .authorization("Token token") }
        defer { try? replica.deleteTemporary() }
        let long = "Paint the whole house, and the fence"
        for (id, title) in [("a", "Paint"), ("b", long), ("c", "Sweep")] {
            try await put(replica, "items", id, #"{"title":"\#(title)"}"#)
        }

        let outcome = try await engine.sync()

        #expect(outcome.counts.pushed == 2 && outcome.refused == 1 && outcome.pending == 0)
        #expect(server.requests.contains { $0.hasPrefix("POST batch/ ") })
        let issue = try #require(try replica.issues().first { $0.kind == .rejected })
        #expect(issue.key == EntityKey("items", "b"))
        #expect(issue.message == "400 title: is too long")
        #expect(issue.details.map(\.path) == ["title"])
        #expect(issue.details.map(\.message) == ["is too long"])
    }

    @Test func `lists all pages`() async throws {
        let server = EverydayServer(clock)
        for number in 1...5 { server.put("items", #"{"title":"\#(number)"}"#) }
        var model = AnEverydayServer.model
        model.collections[1].pageSize = 2
        let (replica, engine) = try device(1, server, model)
        defer { try? replica.deleteTemporary() }

        try await sync(engine)

        #expect(try replica.read { try $0.all(Item.self).map(\.title).sorted() }.count == 5)
        #expect(server.requests.count { $0.hasPrefix("GET items/?") } == 3)
    }

    private let items = AnEverydayServer.model.collections[1]

    private func answer(
        _ call: ServerCall, _ status: Int, _ fields: HTTPFields = [:],
        _ body: String = #"{"detail":"no"}"#, by adapter: any ServerAdapter = EverydayAdapter()
    ) -> ServerAnswer {
        adapter.answer(
            to: call, HTTPResponse(status: .init(code: status), headerFields: fields),
            body: Array(body.utf8))
    }

    @Test func `says of a status what it means of the call`() {
        let delete = ServerCall.delete(items, id: "7", revision: Revision(""))

        #expect(answer(delete, 410) == .absent)
        #expect(answer(.read(items, id: "7"), 404) == .absent)
        #expect(
            answer(.list(items, after: nil, page: nil), 404)
                == .failure(.client(status: 404, "no")))
        for status in [400, 403, 409, 422] {
            let refusal = ServerRefusal(status: status, message: "no")
            #expect(answer(.create(items, id: "a", body: []), status) == .refused(refusal))
        }
        #expect(answer(.read(items, id: "7"), 403) == .failure(.forbidden))
        let batching = BatchingAdapter(EverydayAdapter())
        #expect(answer(.batch([delete]), 401, by: batching) == .failure(.unauthorized))
    }

    @Test func `takes no page of HTML for a word about an entity`() {
        let fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]

        #expect(
            answer(.read(items, id: "7"), 404, fields) == .failure(.client(status: 404, "")))
        #expect(
            answer(.create(items, id: "a", body: []), 500, fields)
                == .failure(.server(status: 500, retryAfterSeconds: nil)))
    }

    @Test func `has a list begin again whose last page went meanwhile`() throws {
        guard case .page(let page) = answer(.list(items, after: nil, page: "3"), 404) else {
            Issue.record("no page")
            return
        }

        #expect(page.records.isEmpty && page.next == nil && page.total == 0)
    }

    @Test func `finds the words about each field, however deep they stand`() throws {
        let body = """
            {"title":["is too long","has no verb"],"non_field_errors":["ends before it begins"],
             "lines":[{},{"price":["is no number"]}]}
            """
        guard
            case .refused(let refusal) = answer(.create(items, id: "a", body: []), 400, [:], body)
        else {
            Issue.record("no refusal")
            return
        }

        #expect(
            refusal.message == "title: is too long title: has no verb ends before it begins "
                + "lines/price: is no number")
        #expect(refusal.issues.map(\.path) == ["title", "title", "lines/price"])
        // A plain list of sentences, and a page of another machine.
        #expect(
            answer(.create(items, id: "a", body: []), 400, [:], #"["no","never"]"#)
                == .refused(ServerRefusal(status: 400, message: "no never")))
        #expect(
            answer(.create(items, id: "a", body: []), 400, [:], "no")
                == .refused(ServerRefusal(status: 400, message: "")))
    }
}

/// A server that numbers its entities and knows no versions: lists by the time of the last change,
/// in pages, the newest first; PATCH; deletions that stay in lists; batches.
private final class EverydayServer: Transport {
    private struct Row {
        var id: Int
        var document: [UInt8]
        var changedAt: Timestamp
        var isDeleted: Bool
    }
    private struct State {
        var rows: [String: [Int: Row]] = [:]
        var last = 6
        var requests: [String] = []
    }
    private let state = Mutex(State())
    private let clock: ManualClock

    init(_ clock: ManualClock) { self.clock = clock }

    /// What was asked, one line each: `PATCH items/7 {"title":"Tea"}`, also within a batch.
    var requests: [String] { state.withLock(\.requests) }

    func forgetRequests() { state.withLock { $0.requests = [] } }

    func document(_ collection: String, _ id: Int) -> String? {
        state.withLock { $0.rows[collection]?[id] }.map {
            String(decoding: $0.document, as: UTF8.self)
        }
    }

    /// What another client makes.
    func put(_ collection: String, _ json: String) {
        state.withLock { state in
            state.last += 1
            _ = write(&state, collection, state.last, Array(json.utf8))
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = String((request.path ?? "").dropFirst("/api/".count))
        let isKnown = request.headerFields[.authorization] == "Token token"
        let method = request.method.rawValue
        let (status, text) = state.withLock { state -> (status: Int, text: String) in
            isKnown ? answer(&state, method, path, body ?? []) : (401, "{}")
        }
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.date] = HTTPDate.text(clock.now)
        return TransportResponse(response: response, body: Array(text.utf8))
    }

    private func answer(
        _ state: inout State, _ method: String, _ path: String, _ body: [UInt8]
    ) -> (status: Int, text: String) {
        state.requests.append("\(method) \(path) \(String(decoding: body, as: UTF8.self))")
        if path == "batch/" { return (200, batch(&state, body)) }
        let parts = path.split { "/?".contains($0) }.map(String.init)
        if method == "GET", path.contains("?") { return (200, list(state, parts[0], parts[1])) }
        if let title = JSON.value("title", of: body)?.stringValue, title.count > 20 {
            return (400, #"{"title":["is too long"]}"#)
        }
        if method == "POST" {
            state.last += 1
            return (201, write(&state, parts[0], state.last, body))
        }
        let id = Int(parts[1]) ?? 0
        guard let row = state.rows[parts[0]]?[id], !row.isDeleted else { return (404, "{}") }
        switch method {
        case "PATCH": return (200, write(&state, parts[0], id, body))
        case "DELETE":
            _ = write(&state, parts[0], id, [], deletes: true)
            return (204, "")
        default: return (200, String(decoding: row.document, as: UTF8.self))
        }
    }

    private func batch(_ state: inout State, _ body: [UInt8]) -> String {
        var results: [String] = []
        for operation in JSON.value("operations", of: body)?.array ?? [] {
            let path = String((operation["path"]?.stringValue ?? "").dropFirst())
            let (status, text) = answer(
                &state, operation["method"]?.stringValue ?? "", path,
                operation["body"]?.encoded() ?? [])
            results.append(#"{"status":\#(status),"body":\#(text.isEmpty ? "null" : text)}"#)
        }
        return #"{"results":[\#(results.joined(separator: ","))]}"#
    }

    private func list(_ state: State, _ collection: String, _ query: String) -> String {
        var words: [String: String] = [:]
        for word in query.split(separator: "&") {
            let pair = word.split(separator: "=").map(String.init)
            words[pair[0]] = pair[1]
        }
        let since = words["updated_at__gte"].flatMap {
            Timestamp($0.split(separator: "%3A").joined(separator: ":"))
        }
        let rows = (state.rows[collection] ?? [:]).values.filter { row in
            since.map { row.changedAt >= $0 } ?? true
        }.sorted { ($0.changedAt, $0.id) > ($1.changedAt, $1.id) }
        let size = words["page_size"].flatMap { Int($0) } ?? 100
        let page = words["page"].flatMap { Int($0) } ?? 1
        let shown = rows.dropFirst((page - 1) * size).prefix(size).map {
            String(decoding: $0.document, as: UTF8.self)
        }
        let next = page * size < rows.count ? #""https://api.example.org/api/…""# : "null"
        return #"{"count":\#(rows.count),"next":\#(next),"#
            + #""results":[\#(shown.joined(separator: ","))]}"#
    }

    private func write(
        _ state: inout State, _ collection: String, _ id: Int, _ members: [UInt8],
        deletes: Bool = false
    ) -> String {
        let now = clock.now
        var set =
            (try? JSONValue(parsing: members))?.object?.map {
                (key: $0.key, value: $0.value.encoded())
            } ?? []
        set.append((key: "id", value: Array("\(id)".utf8)))
        set.append((key: "updated_at", value: Array("\"\(now)\"".utf8)))
        set.append((key: "deleted_at", value: Array((deletes ? "\"\(now)\"" : "null").utf8)))
        let before = state.rows[collection]?[id]?.document ?? Array("{}".utf8)
        let document = (try? JSONDocument(parsing: before))?.applying(set: set) ?? before
        state.rows[collection, default: [:]][id] = Row(
            id: id, document: document, changedAt: now, isDeleted: deletes)
        return String(decoding: document, as: UTF8.self)
    }
}
