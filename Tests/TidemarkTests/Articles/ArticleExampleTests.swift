// ArticleExampleTests.swift — the tests that the article on testing shows.

import DocExamples
import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

@Suite struct `an app's todos` {
    typealias Todo = DocExamples.Todo

    static let remote = Remote.kinto(origin: "https://kinto.example.org", bucket: "todo")
    let clock = ManualClock()
    let server: KintoServer

    init() {
        server = KintoServer(bucket: "todo", model: GettingStarted.model, clock: clock)
    }

    func device(_ seed: UInt64) throws -> (Replica, SyncEngine) {
        let replica = try Replica.temporary(
            model: GettingStarted.model, dependencies: .seeded(seed, clock: clock))
        let engine = try SyncEngine(replica, remote: Self.remote, transport: server) {
            .basic(user: "me", password: "secret")
        }
        return (replica, engine)
    }

    @Test func `arrive once, also when the answer is lost`() async throws {
        let (replica, engine) = try device(1)
        defer { try? replica.deleteTemporary() }
        try await replica.write { tx in try tx.create(Todo(id: "t1", title: "Buy tea")) }
        server.faults = FaultPlan([FaultRule(.dropAfterHandling, method: .put, nth: 1)])

        let first = try await engine.sync()
        #expect(first.pending == 1 && first.unsettled == 1)

        let second = try await engine.sync()
        #expect(second.isSynced)
        #expect(second.counts.readBack == 1)
        #expect(server.requestLog.filter { $0.method == .put }.count == 1)
    }

    @Test func `keep the last edit of two devices`() async throws {
        let (phone, phoneEngine) = try device(1)
        let (laptop, laptopEngine) = try device(2)
        defer {
            try? phone.deleteTemporary()
            try? laptop.deleteTemporary()
        }
        try await phone.write { tx in try tx.create(Todo(id: "t1", title: "Buy tea")) }
        _ = try await phoneEngine.sync()
        _ = try await laptopEngine.sync()

        try await phone.write { tx in try tx.update(Todo.self, "t1") { $0.title = "Tea" } }
        try await laptop.write { tx in try tx.update(Todo.self, "t1") { $0.title = "Coffee" } }
        _ = try await phoneEngine.sync()
        clock.advance(by: .seconds(60))
        _ = try await laptopEngine.sync()
        _ = try await phoneEngine.sync()

        let titles = try [phone, laptop].map { replica in
            try replica.read { try $0.get(Todo.self, "t1")?.title }
        }
        #expect(titles == ["Coffee", "Coffee"])
    }
}

@Suite struct `the rule of an app` {
    @Test func `both sides' tags are kept`() throws {
        let conflict = ConflictCase(
            key: EntityKey("notes", "n1"), base: Array(#"{"title":"A","tags":["a"]}"#.utf8),
            local: Array(#"{"title":"B","tags":["a","x"]}"#.utf8),
            server: Array(#"{"title":"A","tags":["a","y"]}"#.utf8), fields: ["title", "tags"])

        let answer = try Conflicts.typedTags.decide(conflict, in: Conflicts.notes)

        #expect(answer == .document(Array(#"{"title":"B","tags":["a","y","x"]}"#.utf8)))
    }

    @Test func `throws where a side is not of its type`() {
        let conflict = ConflictCase(
            key: EntityKey("notes", "n1"), base: nil, local: Array("{}".utf8),
            server: Array(#"{"title":"A","tags":[]}"#.utf8), fields: ["tags"])

        #expect(throws: TidemarkError.self) {
            try Conflicts.typedTags.decide(conflict, in: Conflicts.notes)
        }
    }
}

@Suite struct `the adapter of an app` {
    @Test func `has no known mistake`() {
        let check = AdapterCheck(
            NotesAdapter(),
            model: SyncModel(name: "notes", collections: [CollectionModel("notes")]),
            samples: [EntityKey("notes", "n1"): #"{"title":"Tea"}"#],
            deleted: [EntityKey("notes", "n2")]
        ) { call, _ in
            let note = #"{"title":"Tea"}"#
            let items = #"{"id":"n1","etag":"1","data":\#(note)},{"id":"n2","data":null}"#
            return switch call {
            case .list:
                TransportResponse(status: 200, body: #"{"items":[\#(items)],"cursor":"2"}"#)
            case .read: TransportResponse(status: 200, fields: [.eTag: "1"], body: note)
            case .create: TransportResponse(status: 201, fields: [.eTag: "1"])
            case .update, .delete: TransportResponse(status: 204)
            default: nil
            }
        }

        #expect(check.problems() == [])
    }

    @Test func `sends nothing twice where the answer is lost`() async throws {
        let (notes, clock) = (Notes(), ManualClock())
        let server = FaultyTransport(
            faults: FaultPlan([FaultRule(.dropAfterHandling, method: .put, nth: 1)]), clock: clock
        ) { request, body in notes.answer(request, body) }
        let replica = try Replica.temporary(
            model: SyncModel(name: "notes", collections: [CollectionModel("notes")]),
            dependencies: .seeded(1, clock: clock))
        defer { try? replica.deleteTemporary() }
        let remote = Remote(origin: "https://api.example.org/v2", adapter: "notes")
        let engine = SyncEngine(
            replica, remote: remote, adapter: NotesAdapter(), transport: server
        ) { .bearer("token") }
        _ = try await replica.write { tx in
            try tx.put(EntityKey("notes", "n1"), Array(#"{"title":"Tea"}"#.utf8))
        }

        #expect(try await engine.sync().unsettled == 1)
        #expect(try await engine.sync().isSynced)
        #expect(server.requestLog.filter { $0.method == .put }.map(\.path) == ["/v2/notes/n1"])
    }

    /// The server, as far as the test needs it.
    private final class Notes: Sendable {
        private let all = Mutex<[String: String]>([:])

        func answer(_ request: HTTPRequest, _ body: [UInt8]) -> TransportResponse {
            all.withLock { all in
                let id = request.path?.split(separator: "/").last.map { String($0) } ?? ""
                if request.method == .put {
                    all[id] = String(decoding: body, as: UTF8.self)
                    return TransportResponse(status: 201, fields: [.eTag: "1"])
                }
                if let note = all[id] {
                    return TransportResponse(status: 200, fields: [.eTag: "1"], body: note)
                }
                let items = all.map { #"{"id":"\#($0.key)","etag":"1","data":\#($0.value)}"# }
                let list = items.joined(separator: ",")
                return TransportResponse(status: 200, body: #"{"items":[\#(list)],"cursor":"1"}"#)
            }
        }
    }
}
