// ArticleAdapterTests.swift — the adapter that the documentation shows, against a server that
// offers no more than the article asks for.

import DocExamples
import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

@Suite struct `the adapter that the documentation shows` {
    private static let model = SyncModel(
        name: "notes", collections: [CollectionModel("notes", conflict: .localWins)])
    private static let remote = Remote(origin: "https://api.example.org/v2", adapter: "notes")
    private static let key = EntityKey("notes", "n1")

    private static func device(
        _ seed: UInt64, _ server: NotesServer, _ adapter: any ServerAdapter,
        _ model: SyncModel = Self.model
    ) throws -> (Replica, SyncEngine) {
        let replica = try Replica.temporary(
            model: model, dependencies: .seeded(seed, clock: ManualClock()))
        let engine = SyncEngine(
            replica, remote: remote, adapter: adapter, transport: server
        ) { .bearer("token") }
        return (replica, engine)
    }

    private static func title(_ replica: Replica) throws -> String? {
        try replica.read { try $0.document(key) }.flatMap {
            try JSONDocument(parsing: $0).value("title")?.stringValue
        }
    }

    @Test(arguments: [NotesAdapter(), WholeListAdapter()] as [any ServerAdapter])
    func `makes two devices equal, through conflicts and deletions`(
        adapter: any ServerAdapter
    ) async throws {
        let server = NotesServer()
        let (phone, phoneEngine) = try Self.device(1, server, adapter)
        let (laptop, laptopEngine) = try Self.device(2, server, adapter)
        defer {
            try? phone.deleteTemporary()
            try? laptop.deleteTemporary()
        }
        func put(_ replica: Replica, _ json: String) async throws {
            _ = try await replica.write { tx in try tx.put(Self.key, Array(json.utf8)) }
        }
        func syncBoth() async throws {
            for engine in [phoneEngine, laptopEngine, phoneEngine] {
                let outcome = try await engine.sync()
                #expect(outcome.isSynced, "\(outcome)")
            }
        }

        try await put(phone, #"{"title":"Tea"}"#)
        try await syncBoth()
        #expect(try Self.title(laptop) == "Tea")

        try await put(phone, #"{"title":"Green tea"}"#)
        try await put(laptop, #"{"title":"Coffee"}"#)
        try await syncBoth()
        #expect(try [phone, laptop].map(Self.title) == ["Coffee", "Coffee"])

        // More than half of a collection is not taken for deleted.
        for id in ["n2", "n3"] {
            let key = EntityKey("notes", id)
            _ = try await laptop.write { tx in try tx.put(key, Array("{}".utf8)) }
        }
        try await syncBoth()
        _ = try await laptop.write { tx in try tx.delete(Self.key) }
        #expect(try await laptopEngine.sync().isSynced)
        #expect(try await phoneEngine.sync().isSynced)
        #expect(try phone.read { try $0.document(Self.key) } == nil)
    }

    @Test func `takes what can be read, and tells of the rest once`() async throws {
        let server = NotesServer()
        let (replica, engine) = try Self.device(1, server, NotesAdapter())
        defer { try? replica.deleteTemporary() }
        let ids = ["", String(repeating: "x", count: 401), String(repeating: "x", count: 600)]
        for id in ids { server.put(id, "{}") }
        server.put("n1", #"{"title":"Tea"}"#)

        _ = try await engine.sync()

        #expect(try Self.title(replica) == "Tea")
        #expect(try replica.issues().count { $0.kind == .unreadable } == ids.count)

        for (id, data) in [("n2", #""tea""#), ("n3", #"{"a":1,"a":2}"#), ("n4", "[]")] {
            server.put(id, data)
        }
        server.put("n1", "null")
        server.put("n5", "{}")

        _ = try await engine.sync()

        #expect(try Self.title(replica) == nil)
        #expect(try replica.read { try $0.document(EntityKey("notes", "n5")) } != nil)
        #expect(try replica.issues().count { $0.kind == .unreadable } == ids.count + 3)
        #expect(try await engine.sync(full: true).counts.pulled == 0)
    }

    @Test func `takes the rest beside an id that is no key also where the server gives the ids`()
        async throws
    {
        let server = NotesServer()
        var model = Self.model
        model.collections[0].ids = .serverText
        let (replica, engine) = try Self.device(1, server, NamingAdapter(), model)
        defer { try? replica.deleteTemporary() }
        _ = try await replica.write { tx in
            try tx.put(EntityKey("notes", "mine"), Array(#"{"title":"Tea"}"#.utf8))
        }
        #expect(try await engine.sync().pending == 0)
        server.put(String(repeating: "x", count: 600), "{}")
        server.put("n1", #"{"title":"Milk"}"#)

        _ = try await engine.sync()

        #expect(try Self.title(replica) == "Milk")
        #expect(try replica.issues().count { $0.kind == .unreadable } == 1)
    }

    @Test func `has what was taken over without a version read before an edit of it is sent`()
        async throws
    {
        let server = NotesServer()
        server.put("n1", #"{"title":"Tea","place":"Kitchen"}"#)
        var model = Self.model
        model.collections[0].ids = .serverText
        model.collections[0].conflict = .mergeFields(.serverWins)
        let (replica, engine) = try Self.device(1, server, NamingAdapter(), model)
        defer { try? replica.deleteTemporary() }
        let part = Array(#"{"title":"Tea"}"#.utf8)
        try await replica.takeOver(
            [ServerRecord(id: "n1", revision: nil, document: part)], of: "notes")
        _ = try await replica.write { tx in
            try tx.put(Self.key, Array(#"{"title":"Milk"}"#.utf8))
        }

        #expect(try await engine.sync(scope: .push).pending == 0)

        let note = try JSONDocument(parsing: server.data("n1"))
        #expect(note.value("title")?.stringValue == "Milk")
        #expect(note.value("place")?.stringValue == "Kitchen")
        #expect(try replica.issues() == [])
    }

    @Test(arguments: [304, 400, 404, 409, 410, 412, 422])
    func `understands a status by its call`(status: Int) {
        let notes = Self.model.collections[0]
        let version = Revision("7")
        let calls: [ServerCall] = [
            .list(notes, after: version, page: nil), .read(notes, id: "n1"),
            .create(notes, id: "n1", body: []),
            .update(notes, id: "n1", body: [], revision: version),
            .delete(notes, id: "n1", revision: version),
        ]

        for call in calls {
            let answer = NotesAdapter().answer(
                to: call, HTTPResponse(status: .init(code: status)), body: Array("no".utf8)
            ).about(call)
            if case .failure(.malformed) = answer { Issue.record("\(status) to \(call)") }
            if call.isWriteOfOne, [400, 409, 422].contains(status) {
                #expect(answer == .refused(ServerRefusal(status: status, message: "no")))
            }
        }
    }

    @Test func `asks for an entity by any id`() throws {
        let call = ServerCall.read(Self.model.collections[0], id: "../users/1?x")

        #expect(try NotesAdapter().request(for: call).path == "/notes/..%2Fusers%2F1%3Fx")
    }
}

/// The same adapter for a server that gives the ids.
private struct NamingAdapter: ServerAdapter {
    private let notes = NotesAdapter()

    private func named(_ call: ServerCall) -> ServerCall {
        guard case .create(let collection, let id, let body) = call else { return call }
        return .create(collection, id: "s-\(id)", body: body)
    }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        var request = try notes.request(for: named(call))
        if request.headers[.ifMatch] == "" { request.headers[.ifMatch] = nil }
        return request
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        notes.answer(to: named(call), response, body: body)
    }
}

/// The same adapter for a server that lists everything or, for an ETag, nothing.
private struct WholeListAdapter: ServerAdapter {
    private let notes = NotesAdapter()

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard case .list(_, let after, _) = call else { return try notes.request(for: call) }
        var headers: HTTPFields = [:]
        headers[.ifNoneMatch] = after?.description
        return ServerRequest(method: .get, path: "/notes?since=", headers: headers)
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        if case .list(_, _?, _) = call, response.status.code == 200 { return .cursorExpired }
        return notes.answer(to: call, response, body: body)
    }
}

/// A server of notes: versions, preconditions, and lists of changes with deletions.
private final class NotesServer: Transport {
    private struct Note {
        var version: Int
        var data: [UInt8]?
    }
    private struct State {
        var notes: [String: Note] = [:]
        var version = 0
    }
    private let state = Mutex(State())

    /// What another client does: makes a note of whatever text.
    func put(_ id: String, _ data: String) {
        state.withLock { state in
            state.version += 1
            state.notes[id] = Note(version: state.version, data: Array(data.utf8))
        }
    }

    /// What it has of a note; empty for none.
    func data(_ id: String) -> [UInt8] { state.withLock { $0.notes[id]?.data ?? [] } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        return state.withLock { state in
            if let since = path.tail(after: "since=") {
                let known = request.headerFields[.ifNoneMatch]
                if known == "\(state.version)" { return Self.answer(304, "") }
                return Self.list(state, since: Int(since))
            }
            return Self.note(&state, path.tail(after: "/v2/notes/") ?? "", request, body)
        }
    }

    /// What changed since then; everything that is there for nil.
    private static func list(_ state: State, since: Int?) -> TransportResponse {
        let news = state.notes.filter { _, note in
            since.map { note.version > $0 } ?? (note.data != nil)
        }.sorted { $0.key < $1.key }
        let items = news.map { id, note in
            #"{"id":"\#(id)","etag":"\#(note.version)""#
                + (note.data.map { #","data":\#(String(decoding: $0, as: UTF8.self))"# } ?? "")
                + "}"
        }
        let list = items.joined(separator: ",")
        return answer(200, #"{"items":[\#(list)],"cursor":"\#(state.version)"}"#)
    }

    private static func note(
        _ state: inout State, _ id: String, _ request: HTTPRequest, _ body: [UInt8]?
    ) -> TransportResponse {
        let note = state.notes[id].flatMap { $0.data == nil ? nil : $0 }
        guard request.method != .get else {
            guard let note, let data = note.data else { return answer(404, "") }
            return answer(200, String(decoding: data, as: UTF8.self), note.version)
        }
        let wanted = request.headerFields[.ifMatch]
        let isUnconditional = wanted == nil && request.headerFields[.ifNoneMatch] == nil
        guard isUnconditional || wanted == note.map({ "\($0.version)" }) else {
            return answer(412, "")
        }
        state.version += 1
        state.notes[id] = Note(
            version: state.version, data: request.method == .delete ? nil : body)
        return answer(200, "", state.version)
    }

    private static func answer(
        _ status: Int, _ body: String, _ version: Int? = nil
    ) -> TransportResponse {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[.date] = "Wed, 18 Nov 2026 11:06:40 GMT"
        response.headerFields[.eTag] = version.map { "\($0)" }
        return TransportResponse(response: response, body: Array(body.utf8))
    }
}

extension String {
    /// What stands behind a text; nil when it is not in it.
    fileprivate func tail(after text: String) -> String? {
        firstRange(of: text).map { String(self[$0.upperBound...]) }
    }
}
