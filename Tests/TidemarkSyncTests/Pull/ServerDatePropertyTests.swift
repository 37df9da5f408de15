// ServerDatePropertyTests.swift — whatever the server's Date says for a while: two runs after it is
// right again, a store is as one that never saw anything wrong.

import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// What is compared of a store: what people see, how far lists went, and what waits.
private struct StoreState: Sendable, Equatable {
    var documents: [String: String] = [:]
    var marks: [String: [String]] = [:]
    var outbox: [String] = []

    init() {}

    init(_ replica: Replica) throws {
        try replica.journal.read { views throws in
            for collection in try views.model().collections {
                try views.forEachEntity(in: collection.name) { key, row in
                    if let document = row.document {
                        documents["\(key)"] =
                            row.status.rawValue + " " + String(decoding: document, as: UTF8.self)
                    }
                    for item in row.pending {
                        outbox.append("\(key) \(item.kind) \(item.rule)")
                    }
                    return true
                }
                guard let mark = try views.watermark(PullTarget(collection.name)) else { continue }
                marks["\(collection.name)"] = [
                    mark.cursor?.description, mark.since?.description, mark.epoch?.description,
                ].map { $0 ?? "none" }
            }
        }
    }
}

/// One story of wrong dates, and the same without them.
private struct DateStory {
    var wrong: [String] = []
    var right: [String] = []

    init(_ random: inout SplitMix64, isFirst: Bool) {
        if !isFirst { add(#"{"sync":"all"}"#) }
        var ahead = 0
        for _ in 0..<1 + random.below(9) {
            // Now and then another time, else one that goes on from the one before.
            if ahead == 0 || random.once(in: 3) { ahead = Self.leap(&random) }
            wrong.append(#"{"serverDate":\#(ahead)}"#)
            add(#"{"sync":"all"}"#)
            if random.once(in: 3) { add(#"{"sync":"cleanUp"}"#) }
            if random.once(in: 4) { add(#"{"restart":true}"#) }
            add(#"{"advance":\#(random.below(1_200))}"#)
        }
        wrong.append(#"{"serverDate":0}"#)
        for _ in 0..<2 {
            add(#"{"advance":\#(random.below(1_200))}"#)
            add(#"{"sync":"all"}"#)
        }
        add(#"{"sync":"cleanUp"}"#)
    }

    private mutating func add(_ step: String) {
        wrong.append(step)
        right.append(step)
    }

    /// Minutes to decades, in seconds; less is what clocks are off by.
    private static func leap(_ random: inout SplitMix64) -> Int {
        let size = random.pick([600, 7_200, 86_400, 5_000_000, 1_000_000_000])
        let seconds = 120 + random.below(size)
        return random.once(in: 2) ? seconds : -seconds
    }

    static func scenario(_ steps: [String], _ rest: String) throws -> Scenario {
        let text = """
            {"id":"dates","title":"wrong dates","clock":"2017-09-01T12:00:00Z",\(rest),
             "steps":[\(steps.joined(separator: ","))]}
            """
        let file = try ScenarioFile(parsing: Array(text.utf8), name: "dates.json")
        return try #require(file.scenarios.first)
    }
}

@Suite struct `dates that are wrong for a while` {
    private static let toggl = #"""
        "model":{"base":"toggl","change":{"sync":{"limits":[]}}},
        "server":{"kind":"toggl","nextID":100,"rows":{
            "workspaces":[{"id":1,"name":"Mine","at":"2017-08-01T00:00:00Z"}],
            "user":[{"id":7,"default_workspace_id":1,"at":"2017-08-01T00:00:00Z"}],
            "projects":[{"id":5,"workspace_id":1,"name":"P","at":"2017-08-01T00:00:00Z"}],
            "time_entries":[
                {"id":1,"workspace_id":1,"project_id":5,"description":"Yesterday",
                 "start":"2017-08-31T10:00:00Z","duration":60,"at":"2017-08-31T12:00:00Z"},
                {"id":2,"workspace_id":1,"description":"Weeks ago",
                 "start":"2017-07-10T10:00:00Z","duration":60,"at":"2017-07-10T12:00:00Z"},
                {"id":3,"workspace_id":1,"description":"Long ago",
                 "start":"2017-02-10T10:00:00Z","duration":60,"at":"2017-02-10T12:00:00Z"},
                {"id":4,"workspace_id":1,"description":"Runs",
                 "start":"2017-09-01T10:00:00Z","duration":null,"at":"2017-09-01T10:00:00Z"}]}}
        """#
    private static let kinto = #"""
        "model":{"collections":[
            {"name":"lists"},
            {"name":"tasks","retention":{"field":"when","days":30},
             "conflict":{"preferNewer":{"field":"last_modified","marginSeconds":5}}}],
            "sync":{"batchSize":1,"cleanUp":"inPull"}},
        "server":{"kind":"kinto","rows":{
            "lists":[{"id":"l1","name":"home"}],
            "tasks":[{"id":"t1","when":"2017-08-31T10:00:00Z"},
                     {"id":"t2","when":"2017-08-15T10:00:00Z"},
                     {"id":"t3","when":"2017-06-15T10:00:00Z"}]}}
        """#

    private func state(_ steps: [String], _ rest: String) async throws -> StoreState {
        let found = Mutex(StoreState())
        let result = try await DateStory.scenario(steps, rest).run { replica in
            let state = try StoreState(replica)
            found.withLock { $0 = state }
        }
        #expect(result.isPassed, "\(result)")
        return found.withLock { $0 }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: [0x5EED_DA7E] as [UInt64])
    func `leave nothing behind two runs later`(_ seed: UInt64) async throws {
        print("seed \(seed)")
        for round in 0..<20 {
            var random = SplitMix64(seed: seed &+ UInt64(round))
            let story = DateStory(&random, isFirst: random.once(in: 3))
            for server in [Self.toggl, Self.kinto] {
                let seen = try await state(story.wrong, server)
                let twin = try await state(story.right, server)
                #expect(
                    seen == twin,
                    "seed \(seed), round \(round): \(story.wrong.joined(separator: ","))")
            }
        }
    }
}
