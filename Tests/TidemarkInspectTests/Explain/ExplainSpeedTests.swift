// ExplainSpeedTests.swift — that an entity of a long log is explained without reading all of it.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport
@testable import ViewsSupport

@Suite(.serialized) struct `explanations of a long log` {
    /// A log of 100,000 events about 5,000 entities, with conflicts; `TIDEMARK_EXPLAIN_STORE=PATH`
    /// leaves it there, to be timed with the tool as it is built for users.
    private func withLongLog(_ body: (Replica) async throws -> Void) async throws {
        let world = SyncWorld()
        let replica = try Replica.temporary(
            model: world.model, dependencies: .seeded(1, clock: world.clock))
        let now = world.clock.now
        for block in 0..<100 {
            try await replica.journal.write(at: now) { draft in
                for number in 0..<500 {
                    let key = EntityKey("lists", "l\((block * 500 + number) % 5000)")
                    let title = "title \(block)"
                    if block % 20 == 10 {
                        try draft.append(
                            Event(
                                .localUpdated, recordedAt: now, key: key,
                                json: Array(#"{"set":{"title":"mine"},"unset":[]}"#.utf8)))
                    } else {
                        try draft.append(
                            Event(.syncStarted, recordedAt: now, json: Array("{}".utf8)))
                    }
                    try draft.append(
                        Event(
                            .serverUpserted, recordedAt: now, key: key,
                            json: Array(#"{"id":"\#(key.id)","title":"\#(title)","n":1}"#.utf8)))
                }
            }
        }
        try await body(replica)
        if let path = ProcessInfo.processInfo.environment["TIDEMARK_EXPLAIN_STORE"] {
            try await replica.close()
            try FileManager.default.moveItem(atPath: replica.directory, toPath: path)
        } else {
            try replica.deleteTemporary()
        }
    }

    @Test(.enabled(if: TestRun.isWhole)) func `are made of the events of the entity`() async throws
    {
        try await withLongLog { replica in
            #expect(try replica.read { $0.position } > Position(100_000))
            let key = EntityKey("lists", "l17")
            let words = try #require(try replica.explanation(of: key))
            #expect(words.contains("serverWins/8: serverWins on title"))
            #expect(try replica.blame(of: key).map(\.author) == [.pull, .pull, .pull])
            let history = try #require(try replica.history(of: key))
            #expect(history.entries.count == 15)
        }
    }
}
