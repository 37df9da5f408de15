// SyncRuleTests.swift — conflicts that a rule of the app decides, and rules that don't.

import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// How often a rule was asked.
private final class Calls: Sendable {
    private let number = Atomic<Int>(0)
    var count: Int { number.load(ordering: .relaxed) }
    func add() { number.add(1, ordering: .relaxed) }
}

private struct Undecided: Error, CustomStringConvertible {
    var description: String { "can't decide" }
}

@Suite(.serialized) struct `rules of the app` {
    private func world() -> SyncWorld {
        let world = SyncWorld.notes(.custom("both"))
        world.rivalPuts("notes/a", #"{"title":"old","n":1}"#)
        world.rivalPuts("notes/b", #"{"title":"old"}"#)
        return world
    }

    /// A rule that counts how often it is asked.
    private func rule(
        _ calls: Calls = Calls(),
        _ decide: @escaping @Sendable (ConflictCase) throws -> ConflictAnswer
    ) -> ConflictRule {
        ConflictRule(name: "both", version: 7) { question in
            calls.add()
            return try decide(question)
        }
    }

    /// A rule that joins both titles.
    private func joining(_ calls: Calls = Calls()) -> ConflictRule {
        rule(calls) { question in
            func title(_ bytes: [UInt8]?) throws -> String {
                try bytes.map { try JSONValue(parsing: $0)["title"]?.stringValue ?? "" } ?? "-"
            }
            let joined = try title(question.local) + "+" + title(question.server)
            return .document(Array(#"{"title":"\#(joined)"}"#.utf8))
        }
    }

    /// Edits on both sides; what the rule is asked about is found by the pull.
    private func conflict(_ world: SyncWorld, _ device: SyncDevice) async throws {
        try await device.sync()
        try device.patch("notes/a", #"{"title":"mine"}"#)
        world.rivalPuts("notes/a", #"{"title":"theirs","n":2}"#)
        world.rivalPuts("notes/b", #"{"title":"new"}"#)
    }

    @Test func `make a document of both sides, which is sent`() async throws {
        let (world, calls) = (world(), Calls())
        try await SyncDevice.with(world, rules: [joining(calls)]) { device in
            try await conflict(world, device)
            let outcome = try await device.sync()

            #expect(outcome.isSynced && calls.count == 1)
            #expect(world.record("notes/a") == #"{"title":"mine+theirs"}"#)
            #expect(try device.document("notes/a") == #"{"title":"mine+theirs"}"#)
            #expect(try device.mutations("notes/a") == ["merged"])
            #expect(try device.decisions() == ["notes/a merged title"])
        }
    }

    @Test func `are logged with the answer, right before the word it is about`() async throws {
        let world = world()
        try await SyncDevice.with(world, rules: [rule { _ in .server }]) { device in
            try await conflict(world, device)
            try await device.sync()

            let events = try device.events()
            let index = try #require(events.firstIndex { $0.event.kind == .ruleAnswered })
            let (answer, word) = (events[index], events[index + 1])
            #expect(word.event.kind == .serverUpserted && word.event.cause == answer.position)
            #expect(word.event.key == answer.event.key && answer.event.key?.id == "a")
            let payload = try JSONValue(parsing: answer.event.payload)
            #expect(payload["rule"] == "both" && payload["version"] == 7)
            #expect(payload["answer"] == "server")
            #expect(payload["inputs"]?.stringValue?.count == 64)
            #expect(try device.document("notes/a") == #"{"title":"theirs","n":2}"#)
        }
    }

    @Test func `are never asked again: folding the log anew gives the same rows`() async throws {
        let (world, calls) = (world(), Calls())
        try await SyncDevice.with(world, rules: [joining(calls)]) { device in
            try await conflict(world, device)
            try await device.sync()
            let rows = try device.rows()
            #expect(calls.count == 1)

            try device.replica.journal.rebuild()

            #expect(try device.rows() == rows)
            try device.verify()
            #expect(calls.count == 1)
        }
    }

    @Test func `are asked where a push finds another version, and where the entity is gone`()
        async throws
    {
        for isDeleted in [false, true] {
            let (world, calls) = (world(), Calls())
            try await SyncDevice.with(world, rules: [joining(calls)]) { device in
                try await device.sync()
                try device.patch("notes/a", #"{"title":"mine"}"#)
                let isFirst = SyncFlag()
                device.wire.tap { request, _, pass in
                    if request.isWrite, isFirst.raise() {
                        if isDeleted {
                            world.rivalDeletes("notes/a")
                        } else {
                            world.rivalPuts("notes/a", #"{"title":"theirs"}"#)
                        }
                    }
                    return await pass()
                }
                #expect(try await device.sync().isSynced)

                #expect(calls.count == 1)
                let title = isDeleted ? "mine+-" : "mine+theirs"
                #expect(world.record("notes/a") == #"{"title":"\#(title)"}"#)
                #expect(try device.mutations("notes/a") == ["merged"])
                try device.verify()
            }
        }
    }

    @Test func `are asked where a write without an answer is read back`() async throws {
        let (world, calls) = (world(), Calls())
        try await SyncDevice.with(world, rules: [joining(calls)]) { device in
            try await device.sync()
            try device.patch("notes/a", #"{"title":"mine"}"#)
            device.wire.tap { request, _, pass in
                request.isWrite ? .failure(TransportError(.timeout)) : await pass()
            }
            try await device.sync()
            device.wire.tap(nil)
            world.rivalPuts("notes/a", #"{"title":"theirs"}"#)

            #expect(try await device.sync().isSynced)

            #expect(calls.count == 1)
            #expect(world.record("notes/a") == #"{"title":"mine+theirs"}"#)
            try device.verify()
        }
    }

    @Test func `that are missing pause the collection, lose nothing, and are waited for`()
        async throws
    {
        let world = world()
        let device = try SyncDevice.make(world)
        try await conflict(world, device)
        let cursor = try device.cursor("notes")

        let outcome = try await device.sync()

        #expect(outcome.failed == ["notes": .ruleMissing("both")] && outcome.failure == nil)
        #expect(try device.document("notes/a") == #"{"title":"mine","n":1}"#)
        #expect(try device.document("notes/b") == #"{"title":"new"}"#)
        #expect(try device.mutations("notes/a") == ["pending"])
        #expect(try device.cursor("notes") == cursor)
        #expect(!world.writes.contains { $0.hasPrefix("PUT notes/a =") })
        #expect(try await device.sync().counts.hasNews == false)
        try device.verify()

        // The app comes back with its rule.
        try await device.replica.close()
        let replica = try await Replica.open(
            existing: device.replica.directory, rules: [joining()],
            dependencies: .seeded(1, clock: world.clock))
        let engine = SyncDevice.engine(
            replica, SyncWire(world.server), adapter: try SyncWorld.remote.makeAdapter())
        #expect(try await engine.sync().isSynced)
        #expect(world.record("notes/a") == #"{"title":"mine+theirs"}"#)
        try replica.deleteTemporary()
    }

    @Test func `that are missing keep a feed where it is, and what was left out comes later`()
        async throws
    {
        let feed = FeedRule(order: "released", change: "updated")
        let articles = CollectionModel(
            "articles", lastChangeField: "last_modified", conflict: .custom("both"), feed: feed)
        let world = SyncWorld(model: SyncModel(name: "news", collections: [articles]))
        func put(_ id: String, _ title: String, updated day: Int) {
            let released = #""released":"2026-01-01T00:00:00Z""#
            world.rivalPuts(
                "articles/\(id)",
                #"{\#(released),"updated":"2026-01-0\#(day)T00:00:00Z","title":"\#(title)"}"#)
        }
        for id in ["a", "b"] { put(id, "old", updated: 1) }
        try await SyncDevice.with(world) { device async throws in
            func forward() throws -> FeedCursor? {
                try device.replica.journal.read { views in
                    try views.feedCursor(PullTarget("articles", scope: PullTarget.forward))
                }
            }
            func title(_ id: String) throws -> JSONValue? {
                let text = try #require(try device.document("articles/\(id)"))
                return try JSONValue(parsing: Array(text.utf8))["title"]
            }
            try await device.sync()
            try device.patch("articles/a", #"{"title":"mine"}"#)
            let cursor = try #require(try forward())
            put("a", "theirs", updated: 3)
            put("b", "new", updated: 4)

            for _ in 1...2 {
                let outcome = try await device.sync()

                #expect(outcome.failed == ["articles": .ruleMissing("both")])
                #expect(try forward() == cursor)
                #expect(try title("a") == "mine")
                #expect(try title("b") == "new")
            }

            // Without the edit nobody is to be asked.
            try device.discard("articles/a")
            #expect(try await device.sync().isSynced)
            #expect(try title("a") == "theirs")
            #expect(try forward()?.key == FeedKey("2026-01-04T00:00:00Z"))
            try device.verify()
        }
    }

    @Test(arguments: [
        "throws", "[1]", "{", #"{"a":1,"a":2}"#, "",
        "{\"a\":\"\(String(repeating: "x", count: 1 << 20))\"}",
    ])
    func `that fail or answer nonsense pause the collection until they answer`(
        _ nonsense: String
    ) async throws {
        let (world, isMended) = (world(), SyncBox<Bool>())
        let rule = rule { question in
            if isMended.value == true { return .local }
            guard nonsense != "throws" else { throw Undecided() }
            return .document(Array(nonsense.utf8))
        }
        try await SyncDevice.with(world, rules: [rule]) { device in
            try await conflict(world, device)

            let outcome = try await device.sync()

            guard case .ruleFailed("both", let detail) = outcome.failed["notes"] else {
                Issue.record("not failed: \(outcome)")
                return
            }
            #expect(!detail.isEmpty && detail.utf8.count < 200)
            #expect(try device.mutations("notes/a") == ["pending"])
            #expect(!(try device.kinds().contains("rule.answered")))
            isMended.value = true
            #expect(try await device.sync().isSynced)
            #expect(world.record("notes/a") == #"{"title":"mine","n":2}"#)
            try device.verify()
        }
    }

    @Test func `are given both documents, the fields, and both times`() async throws {
        let (world, asked) = (world(), SyncBox<ConflictCase>())
        let rule = ConflictRule(name: "both") { question in
            asked.value = question
            return .local
        }
        try await SyncDevice.with(world, rules: [rule]) { device in
            try await device.sync()
            world.clock.advance(by: .seconds(10))
            try device.patch("notes/a", #"{"title":"mine"}"#)
            world.rivalPuts("notes/a", #"{"title":"theirs","n":2}"#)
            try await device.sync()
        }

        let question = try #require(asked.value)
        #expect(question.key == EntityKey("notes", "a") && question.fields == ["title"])
        #expect(try question.base.map { try JSONValue(parsing: $0)["title"] } == "old")
        #expect(try question.local.map { try JSONValue(parsing: $0)["title"] } == "mine")
        #expect(try question.server.map { try JSONValue(parsing: $0)["title"] } == "theirs")
        #expect(question.localTime == world.clock.start.adding(seconds: 10))
        let local = try #require(question.localTime)
        #expect(try #require(question.serverTime).milliseconds >= local.milliseconds)
    }
}
