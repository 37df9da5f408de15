// ArticleExampleTests.swift — the tests that the article on testing shows.

import DocExamples
import HTTPTypes
import Testing
import Tidemark
import TidemarkHTTP
import TidemarkTesting

@testable import SyncSupport

@Suite struct `an app's todos` {
    typealias Todo = DocExamples.Todo

    static let remote = Remote.kinto(origin: "https://kinto.example.org", bucket: "todo")
    let clock = ManualClock()
    let server: InMemoryServer

    init() {
        server = InMemoryServer(bucket: "todo", model: GettingStarted.model, clock: clock)
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
